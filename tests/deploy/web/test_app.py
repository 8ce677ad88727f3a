"""Every answer of the application's side, over a real socket."""

import contextlib
import json
import socket

import msgspec
import pytest

from coterie.deploy.refusals import Closed
from coterie.deploy.view import AlarmView
from coterie.deploy.web import app
from coterie.errors import FencedError, StorageError

CANARY = 0.7310585786300049


def asked(place, key="patient 17"):
    return place("POST", "/v1/decisions", {"key": key})


def test_a_decision_names_its_arm_and_whether_it_is_learned_from(place):
    answer = asked(place)
    assert answer.status == 200
    assert answer.json == {"id": "0", "arm": 1, "name": "bisoprolol", "learned": True}


def test_the_same_key_is_the_same_decision_and_a_key_may_be_left_out(place):
    assert asked(place).json == asked(place).json != asked(place, "patient 18").json
    assert place("POST", "/v1/decisions", {}).status == place("POST", "/v1/decisions").status == 200


def test_a_reward_is_taken_once_and_never_another(place):
    asked(place)
    assert place("PUT", "/v1/decisions/0/reward", {"reward": 1}).status == 204
    assert place("PUT", "/v1/decisions/0/reward", {"reward": 1.0}).status == 204
    assert place("PUT", "/v1/decisions/0/reward", {"reward": 0.5}).status == 409
    assert place.node.rewards == {"0": 1.0}


def test_a_decision_that_was_not_carried_out_is_cancelled(place):
    asked(place)
    assert place("DELETE", "/v1/decisions/0").status == 204
    place("PUT", "/v1/decisions/0/reward", {"reward": 1})
    assert place("DELETE", "/v1/decisions/0").status == 409


def test_who_is_unknown_or_late(place):
    assert place("PUT", "/v1/decisions/7/reward", {"reward": 1}).status == 404
    assert place("DELETE", "/v1/decisions/7").status == 404
    asked(place)
    place.node.closed.add("0")
    assert place("PUT", "/v1/decisions/0/reward", {"reward": 1}).status == 410


VALUES = ["1.5", "-1", "NaN", "Infinity", "true", '"1"', "null", "1" + "0" * 400, "[1]", '1, "arm": 2']
BAD_REWARDS = [*(f'{{"reward": {value}}}' for value in VALUES), "{}", "", "[1]", '{"reward": 1', "\xff"]


@pytest.mark.parametrize("body", [b'{"key": "\xff"}', b"\xff\xfe{}", b'{"key": "\xed\xa0\x80"}'])
def test_a_body_that_is_not_utf_8_is_422(place, body):
    answer = place("POST", "/v1/decisions", body)
    assert answer.status == 422 and answer.json["error"].startswith("the body must be a JSON object with key and person")
    assert place.node.keys == {}


@pytest.mark.parametrize("body", BAD_REWARDS)
def test_what_is_no_reward_in_range_is_422_and_changes_nothing(place, body):
    asked(place)
    answer = place("PUT", "/v1/decisions/0/reward", body.encode("latin-1"))
    assert (answer.status, list(answer.json), place.node.rewards) == (422, ["error"], {})


@pytest.mark.parametrize("body", [{"key": 17}, {"key": "k" * 201}, {"key": "é" * 101}, {"name": "x"}, [], "key"])
def test_what_is_no_key_is_422(place, body):
    assert place("POST", "/v1/decisions", body).status == 422
    assert place.node.keys == {}


def test_an_arm_is_stopped_and_let_go_by_its_name(place):
    assert place("PUT", "/v1/arms/clopidogrel%20%26%20co/withheld", {"withheld": True}).status == 204
    assert place.node.stopped == ("clopidogrel & co", True)
    assert place("PUT", "/v1/arms/aspirin/withheld", {"withheld": "yes"}).status == 422
    missing = place("PUT", "/v1/arms/placebo/withheld", {"withheld": True})
    assert missing.status == 422 and "aspirin, bisoprolol" in missing.json["error"]


def test_the_state_is_the_view_and_nothing_else(place, view):
    assert place("GET", "/v1/state", token=None).json == json.loads(msgspec.json.encode(view))


def test_health_and_what_there_is_not(place):
    assert place("GET", "/health/live").json == {"live": True}
    assert place("GET", "/health/ready").json == {"ready": True}
    assert place("GET", "/v2/state").status == 404
    assert place("POST", "/v1/state").status == 405


def test_an_endpoint_that_writes_is_told_from_its_neighbours(place):
    asked(place)
    assert place("GET", "/v1/decisions").status == place("POST", "/v1/decisions/0/reward").status == 405
    assert place("POST", "/v1/decisions/").status == 307
    assert place("PUT", "/v1/decisions//reward", {"reward": 1}).status == place("PUT", "/v1/decisions/0/1/reward").status == 404
    assert place("POST", "/v1/decisions?key=a", {"key": "patient 17"}).json == asked(place).json


HEAD = b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a token for tests\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.parametrize("begun", [b"", b"{"])
def test_a_body_that_does_not_come_is_not_waited_for(place, monkeypatch, begun):
    monkeypatch.setattr(app, "PATIENCE", 0.05)
    with socket.create_connection(("127.0.0.1", place.listen.port), 20) as line:
        line.sendall(HEAD + begun)
        assert line.recv(1000).startswith(b"HTTP/1.1 408")
    assert place.node.keys == {}


def test_a_body_may_come_after_its_head_and_in_parts(place):
    with socket.create_connection(("127.0.0.1", place.listen.port), 20) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in (HEAD, b"{", b"}"):
            line.sendall(part)
            assert asked(place).status == 200  # so it has been read before the next part comes
        assert line.recv(1000).startswith(b"HTTP/1.1 200")


def test_who_goes_away_before_the_body_is_there_has_asked_nothing(place):
    with socket.create_connection(("127.0.0.1", place.listen.port), 20) as line:
        line.sendall(HEAD + b"{")
    assert asked(place).json["id"] == "0"


def test_whose_disk_refuses_is_alive_and_not_ready(served, fake_node, view):
    alarm = AlarmView("storage", "rewards.db: the disk is full")
    with served(fake_node(msgspec.structs.replace(view, alarms=(alarm,)))) as place:
        assert place("GET", "/health/live").status == 200
        assert (place("GET", "/health/ready").status, place("GET", "/health/ready").json) == (503, {"error": alarm.text})


def test_a_coordinator_shows_and_makes_no_decisions(served, fake_node, view):
    with served(fake_node(msgspec.structs.replace(view, role="coordinator"))) as place:
        assert asked(place).status == 404
        assert place("GET", "/v1/state").status == place("GET", "/").status == 200


def test_events_come_when_something_changes(place, view, monkeypatch):
    monkeypatch.setattr(app, "PAUSE", 0.01)
    with contextlib.closing(place.connection()) as connection:
        connection.request("GET", "/v1/events")
        stream = connection.getresponse()
        assert stream.getheader("content-type").startswith("text/event-stream")
        assert next_state(stream)["turn"] == 7
        place.show(msgspec.structs.replace(view, turn=8))
        assert next_state(stream)["turn"] == 8


def test_a_silent_line_is_kept_alive(place, monkeypatch):
    monkeypatch.setattr(app, "PAUSE", 0.01)
    monkeypatch.setattr(app, "HEARTBEAT", 0.01)
    with contextlib.closing(place.connection()) as connection:
        connection.request("GET", "/v1/events")
        stream = connection.getresponse()
        next_state(stream)
        assert stream.readline() == b": still here\n"


def next_state(stream):
    assert stream.readline() == b"event: state\n"
    state = json.loads(stream.readline().removeprefix(b"data: "))
    assert stream.readline() == b"\n"
    return state


@pytest.mark.parametrize("error", [StorageError("the disk refused"), FencedError("another process has this agent's lanes")])
def test_a_node_that_cannot_go_on_says_so(place, error):
    async def ask(key=None, person=None):
        raise error

    place.node.ask = ask
    assert asked(place).status == 503


def test_a_bug_shows_its_kind_and_no_value(place, capfd):
    async def tell(id, reward):
        raise ValueError(f"{id} {reward}")

    place.node.tell = tell
    answer = place("PUT", "/v1/decisions/patient-4711/reward", {"reward": CANARY})
    assert (answer.status, answer.json) == (500, {"error": "a bug of ours: ValueError"})
    assert "4711" not in "".join(capfd.readouterr()) and str(CANARY) not in "".join(capfd.readouterr())


def test_errors_never_hold_what_was_sent(place):
    for body in (f'{{"reward": "{CANARY}"}}', f'{{"reward": {10 * CANARY}}}', f'{{"{CANARY}": 1}}', f'{{"key": {CANARY}}}'):
        for answer in (place("PUT", "/v1/decisions/0/reward", body), place("POST", "/v1/decisions", body)):
            assert str(CANARY)[:6] not in answer.text
            assert str(10 * CANARY)[:6] not in answer.text


def test_every_refusal_of_a_node_has_a_status():
    assert set(app.STATUS.values()) == {404, 409, 410, 422} and Closed in app.STATUS
