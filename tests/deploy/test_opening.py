"""A member's folder becomes a running node; what does not fit is said, and nothing is made."""

import asyncio
import logging
import os
import socket
import sys
from pathlib import Path

import pytest
from msgspec import structs
from nodes import member
from served_nodes import VIEW, FakeNode

import coterie
from coterie.deploy.federation import federation_text
from coterie.deploy.keys import load_keys, make_keys
from coterie.deploy.log import LOGGER, Released, Silenced, Stopped
from coterie.deploy.opening import FILE, Chronicle, opened, serve
from coterie.deploy.refusals import Conflict, Unfit, UnknownDecision
from coterie.deploy.web.serve import Listen
from coterie.errors import AuthError, FencedError, StateError, UsageError

ALONE = {"arms": ["a", "b"], "horizon": 200, "tick": 0.01, "algorithm": {"name": "dp-ucb-int", "epsilon": 1.0}}


@pytest.fixture
def home(tmp_path):
    """An agent that learns alone and needs no broker."""
    folder = tmp_path / "north"
    keys = make_keys(folder)
    folder.chmod(0o700)
    tables = ALONE | {
        "rewards": {"within": "at once"},
        "agents": [{"name": "north", "signs": keys.signs, "connects": keys.connects}],
    }
    (folder / FILE).write_text(federation_text(tables))
    return folder


def test_an_application_asks_and_tells(home):
    with coterie.open_agent(home) as agent:
        first = agent.ask(key="patient 17")
        assert first.name == ["a", "b"][first.arm] and first.learned
        assert agent.ask(key="patient 17") == first
        agent.tell(first.id, 1.0)
        agent.tell(first.id, 1.0)
        with pytest.raises(Conflict):
            agent.tell(first.id, 0.0)
        with pytest.raises(UnknownDecision):
            agent.tell("another", 1.0)
        with pytest.raises(Unfit):
            agent.tell(first.id, float("nan"))
        other = agent.ask()
        agent.cancel(other.id)
        agent.withhold("a")
        assert agent.ask().name == "b" and agent.view().silent == "withheld"


@pytest.mark.parametrize("token, mode", [("", 0o600), ("too short", 0o600), ("a" * 40, 0o640)])
def test_a_token_that_is_refused_is_refused_before_anything_is_opened(home, token, mode):
    (home / "token").write_text(token)
    (home / "token").chmod(mode)
    before = {path.name for path in home.iterdir()}
    with pytest.raises(AuthError, match="token"):
        asyncio.run(serve(home, "agent", Listen(port=0), print))
    assert {path.name for path in home.iterdir()} == before


def test_the_same_key_is_the_same_decision_after_a_restart(home):
    with coterie.open_agent(home) as agent:
        made = {key: agent.ask(key) for key in ("x", "y", "z")}
        agent.tell(made["x"].id, 1.0)
    with coterie.open_agent(home) as agent:
        assert {key: agent.ask(key) for key in made} == made
        agent.tell(made["x"].id, 1.0)
        with pytest.raises(Conflict):
            agent.tell(made["x"].id, 0.0)


def test_a_whole_life_alone_learns_and_releases(home):
    with coterie.open_agent(home) as agent:
        for _ in range(150):
            decision = agent.ask()
            agent.tell(decision.id, float(decision.name == "b"))
        seen = agent.view()
    assert seen.decisions == 150 and seen.turn > 0 and sum(arm.choices for arm in seen.arms) == 150


def test_a_ledger_that_is_gone_is_not_begun_again(home):
    with coterie.open_agent(home) as agent:
        agent.tell(agent.ask().id, 1.0)
    for file in home.rglob("ledger.db*"):
        file.unlink()
    for _ in range(2):
        with pytest.raises(StateError, match="the ledger that these rewards had is gone"):
            coterie.open_agent(home)


def test_what_a_refused_start_has_opened_is_closed(home):
    with coterie.open_agent(home):
        (ledger,) = home.rglob("ledger.db")
    ledger.write_bytes(b"no database " * 1000)

    def open_files():
        return sorted(name for link in Path("/proc/self/fd").iterdir() if ".db" in (name := os.path.realpath(link)))

    before = open_files()
    with pytest.raises(StateError):
        coterie.open_agent(home)
    assert open_files() == before


class Pressed(BaseException):
    """Stands for Ctrl-C."""


def ask_interrupted(agent, line):
    """At the line of that number of all that run in `opening.py` while an application waits."""
    left = line

    def trace(frame, event, argument):
        nonlocal left
        left -= event == "line" and frame.f_code.co_filename.endswith("opening.py")
        if left < 0:
            sys.settrace(None)
            raise Pressed
        return trace

    sys.settrace(trace)
    try:
        agent.ask(key="patient 17")
    finally:
        sys.settrace(None)


def test_an_interrupt_while_it_waits_leaves_an_agent_that_answers(home):
    pressed = 0
    with coterie.open_agent(home) as agent:
        first = agent.ask(key="patient 17")
        for line in range(40):
            try:
                ask_interrupted(agent, line)
            except Pressed:
                pressed += 1
            assert agent.ask(key="patient 17").id == first.id
    assert pressed >= 10
    with pytest.raises(UsageError, match="must be open"):
        agent.ask()


def test_one_process_at_a_time(home):
    with coterie.open_agent(home), pytest.raises(FencedError, match="in use by another process"):
        coterie.open_agent(home)


def test_a_closed_agent_says_so(home):
    agent = coterie.open_agent(home)
    agent.close()
    agent.close()
    with pytest.raises(UsageError, match="must be open"):
        agent.ask()


def test_keys_that_the_file_does_not_have_are_refused(home):
    keys = load_keys(home)
    text = (home / FILE).read_text()
    (home / FILE).write_text(text.replace(keys.signs, member("x")["signs"]))
    with pytest.raises(AuthError, match="must have a member with signs"):
        coterie.open_agent(home)
    (home / FILE).write_text(text.replace(keys.connects, member("x")["connects"]))
    with pytest.raises(AuthError, match="connects of north must be"):
        coterie.open_agent(home)
    assert sorted(path.name for path in home.iterdir()) == ["connect.key", FILE, "sign.key"]


def test_an_agent_is_no_coordinator(home):
    async def start():
        async with opened(home, "coordinator"):
            pass

    with pytest.raises(UsageError, match=r"run `coterie agent .*north`"):
        asyncio.run(start())


def test_a_folder_that_others_can_read_is_refused(home):
    home.chmod(0o755)
    with pytest.raises(AuthError, match="chmod 700"):
        coterie.open_agent(home)


def test_a_port_in_use_is_said_before_anything_is_opened(home):
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = Listen(port=other.getsockname()[1])
        with pytest.raises(UsageError, match="cannot be taken"):
            asyncio.run(serve(home, "agent", listen, print))
    assert not (home / "ledger.db").exists()


def test_no_file_of_rewards_can_be_read_by_others(home):
    with coterie.open_agent(home) as agent:
        agent.tell(agent.ask().id, 1.0)
        for name in os.listdir(home):
            if name.startswith(("rewards", "ledger", "sign", "connect", "token")):
                assert (home / name).stat().st_mode & 0o077 == 0, name


def test_what_happens_in_the_last_pause_is_logged_before_the_end(caplog):
    """A member that was stopped within half a second of a release logged only that it had stopped."""
    stopped = Stopped(0, "from outside")

    async def life():
        node = FakeNode()
        chronicle = Chronicle(node, VIEW)
        following = asyncio.create_task(chronicle.follow())
        await asyncio.sleep(0)
        node.shown = structs.replace(VIEW, released=5, silent="budget")
        chronicle.end(stopped)
        following.cancel()

    with caplog.at_level(logging.INFO, LOGGER):
        asyncio.run(life())
    assert [record.event for record in caplog.records] == [Released(2, 7, 0.4, 0.6), Silenced("budget"), stopped]
