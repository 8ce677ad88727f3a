"""What a member logs: every event has its type and fields, and no line can hold what is private."""

import json
import logging
import signal
from dataclasses import fields
from typing import get_type_hints

import pytest
from commands import call, run_here, started, state, until
from msgspec import structs
from served_nodes import VIEW
from test_canary import KEY, PERSON, REWARD, TRACES, TRIALS, home  # noqa: F401

from coterie.deploy import log as module
from coterie.deploy.log import EVENTS, JsonLines, changes, log
from coterie.deploy.view import AlarmView


def after(**news):
    return [(event.type, event) for event in changes(VIEW, structs.replace(VIEW, **news))]


@pytest.mark.parametrize(
    "news, said",
    [
        ({}, []),
        ({"decisions": 5000, "waiting": 3}, []),
        ({"connected": False}, [module.Connected(False)]),
        ({"released": 5, "turn": 9}, [module.Released(2, 9, 0.4, 0.6)]),
        ({"silent": "budget"}, [module.Silenced("budget")]),
        ({"rejected": {"replayed": 4, "size": 1}}, [module.Rejected("replayed", 2), module.Rejected("size", 1)]),
        ({"missing": ()}, [module.Missing(())]),
        ({"alarms": (AlarmView("storage", "full", 1.0),)}, [module.Alarmed("storage", "full")]),
        ({"arms": (VIEW.arms[0], structs.replace(VIEW.arms[1], withheld=True), VIEW.arms[2])},
         [module.Withheld("bisoprolol", True)]),
    ],
)  # fmt: skip
def test_an_event_is_what_has_changed(news, said):
    assert [event for _, event in after(**news)] == said


def test_an_alarm_is_told_once_and_its_end_too():
    first = structs.replace(VIEW, alarms=(AlarmView("broker", "away", 1.0),))
    second = structs.replace(VIEW, alarms=(AlarmView("broker", "slow", 2.0), AlarmView("broker", "away", 1.0)))
    assert list(changes(first, first)) == []
    assert list(changes(first, second)) == [module.Alarmed("broker", "slow")]
    assert list(changes(second, VIEW)) == [module.Calmed("broker")]


def test_all_events_have_plain_types_and_names_of_their_own(caplog):
    plain = (int, str, bool, float, float | None, tuple[str, ...])
    assert all(kind in plain for event in EVENTS for kind in (get_type_hints(event)[one.name] for one in fields(event)))
    assert {event for event in vars(module).values() if isinstance(event, type) and issubclass(event, module.Event)} == {
        module.Event,
        *EVENTS,
    }
    with caplog.at_level(logging.INFO, module.LOGGER):
        log("north", module.Released(2, 9, 0.4, None))
    line = json.loads(JsonLines().format(caplog.records[0]))
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "level": "info", "event": "released", "member": "north", "sums": 2, "turn": 9, "spent": 0.4, "left": None,
    }  # fmt: skip


def test_a_line_holds_no_reward_no_key_no_person_and_no_sum(home, tmp_path):  # noqa: F811
    """An agent at work, asked and told what can be recognised, and refused all the while."""
    with started("agent", home, "--listen", "127.0.0.1:0", "--log", "json", cwd=tmp_path, first="north: ") as process:
        address = next(line for line in process.said if line.startswith("north: "))
        port, token = int(address.partition("127.0.0.1:")[2].partition("/")[0]), (home / "token").read_text().strip()
        for number in range(TRIALS):
            _, text = call(port, "POST", "/v1/decisions", {"key": f"{KEY} {number}", "person": PERSON}, token)
            decision = json.loads(text)["id"]
            call(port, "PUT", f"/v1/decisions/{decision}/reward", {"reward": REWARD}, token)
            call(port, "PUT", f"/v1/decisions/{decision}/reward", {"reward": 10 * REWARD}, token)
        until(lambda: state(port)["released"])
        call(port, "PUT", "/v1/arms/a/withheld", {"withheld": True}, token)
        until(lambda: state(port)["silent"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    lines = [json.loads(line) for line in process.said if line.startswith("{")]
    assert {"started", "released"} <= {line["event"] for line in lines} <= {event.__name__.lower() for event in EVENTS}
    assert lines[0] | {"event": "started", "role": "agent", "member": "north"} == lines[0]
    said = "".join(process.said).encode()
    assert [trace for trace in TRACES if trace in said] == []


def test_another_form_is_bad_input(home, tmp_path):  # noqa: F811
    done = run_here("agent", home, "--log", "xml", cwd=tmp_path)
    assert done.returncode == 2 and "--log must be text or json, got 'xml'" in done.stderr
