"""Epochs: who is late does no harm, who is away is named, and all count the same reports."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from cast import (
    Actor,
    differences,
    eager,
    killed_and_performed,
    memory_wires,
    nobody,
    rehearsed,
    simulated,
    until,
)  # fmt: skip

from coterie.deploy.clocks.reports import Hall, Reporters
from coterie.deploy.message import Message
from coterie.engines.agent import Agent
from coterie.engines.chance import System
from coterie.kernel import UNIT, one

CDP, DDP, POOLED = {"name": "cdp-mab"}, {"name": "ddp-mab"}, {"name": "pooled-ucb"}
LONG = 100_000.0


class Stage:
    """A federation of which some have customers."""

    def __init__(self, folder, algorithm, **epochs):
        self.federation = rehearsed(folder, algorithm, 450, epochs={"within": LONG, **epochs})
        self.wires = memory_wires(self.federation)
        self.cast = {member.name: Actor(folder, self.federation, member.name) for member in self.federation.members}

    async def start(self, name, customers=eager):
        return await self.cast[name].start(self.wires(name), customers)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *problem):
        for actor in self.cast.values():
            await actor.stop()


# --- around a coordinator -----------------------------------------------------------------------------


def test_below_the_quorum_an_epoch_stays_open_and_says_who_is_missing(tmp_path):
    async def play():
        async with Stage(tmp_path, POOLED, quorum=3) as stage:
            centre = await stage.start("centre")
            for name in ("north", "south"):
                await stage.start(name)
            await stage.start("west", nobody)
            await until(lambda: centre.seen.missing == ("west",))
            for _ in range(50):
                await asyncio.sleep(0.001)
            assert (centre.t, centre.view().missing) == (1, ("west",))
            await stage.cast["west"].stop()
            await stage.start("west")
            await until(lambda: centre.t > 2)

    asyncio.run(play())


@pytest.mark.parametrize("algorithm", [CDP, POOLED], ids=str)
def test_with_a_quorum_the_others_go_on_and_who_comes_late_is_heard_again(tmp_path, algorithm):
    """Its void reports change nothing, a newer decision replaces its plan, and no reward of it is lost."""

    async def play():
        async with Stage(tmp_path, algorithm, quorum=2) as stage:
            centre = await stage.start("centre")
            west = await stage.start("west", nobody)
            for name in ("north", "south"):
                await stage.start(name)
            await until(lambda: centre.t >= 2)
            told = [await west.ask() for _ in range(30)]
            for decision in told:
                await west.tell(decision.id, 1.0)
            await stage.cast["west"].stop()
            west = await stage.start("west")
            await until(lambda: west.over and centre.over)
            assert sum(map(int, west.agent.secret.count)) + sum(map(len, west.desk.queues)) >= 30
            assert not any(actor.node.seen.rejected for actor in stage.cast.values())

    asyncio.run(play())


def test_a_report_for_a_closed_epoch_is_void(tmp_path):
    async def play():
        async with Stage(tmp_path, POOLED, quorum=2) as stage:
            centre = await stage.start("centre", nobody)
            for name in ("north", "south"):
                await stage.start(name)
            await until(lambda: centre.t > 3)
            await stage.cast["north"].stop_tasks()
            await stage.cast["south"].stop_tasks()
            before, t = centre.server.open.tobytes(), centre.t
            west = stage.cast["west"]
            node = await west.start(stage.wires("west"), nobody)
            await west.stop_tasks()
            node.say("report", b"\1" * 16, to="centre", turn=1)
            await node.commit()
            await west.stop()
            await west.start(stage.wires("west"), nobody)
            await until(lambda: any(word.sender == "west" for word in centre.mail.heard))
            assert (centre.server.open.tobytes(), centre.t) == (before, t)
            assert not centre.seen.rejected

    asyncio.run(play())


# --- late clients of elimination: by hand ---------------------------------------------------------------


def client(tmp_path):
    method = rehearsed(tmp_path, CDP, 450).method()
    agent = Agent(method.node, method.p, System())
    agent.know("server")
    return method, agent


def decide(method, agent, t, samples, pulls, arms):
    decision = one(method.node.hears(method.p))
    decision.survivors, decision.samples, decision.pulls = len(arms), samples, pulls
    decision.arm[: len(arms)] = arms
    assert agent.fits(t, decision.tobytes())
    agent.hear(t, "server", decision.tobytes())
    agent.begin(t)
    return {int(agent.plan.arm[e]): int(agent.plan.pulls[e]) for e in range(agent.plan.entries)}


def test_who_has_missed_epochs_catches_up_on_the_arms_that_survive(tmp_path):
    """Totals cover all samples again, those of dropped arms stay, and every reward is told once."""
    method, agent = client(tmp_path)
    assert decide(method, agent, 1, 0, 5, [0, 1, 2]) == {0: 5, 1: 5, 2: 5}
    agent.finish(1, dict.fromkeys(range(3), (5, 5 * UNIT)))
    state = agent.give()
    assert decide(method, agent, 2, 5, 20, [0, 1, 2]) == {0: 20, 1: 20, 2: 20}
    agent.take(state)  # the plan is dropped
    assert decide(method, agent, 4, 60, 100, [0, 2]) == {0: 155, 2: 155}
    agent.finish(4, {0: (155, 155 * UNIT), 2: (155, 0)})
    assert agent.open.done[:3].tolist() == [160, 5, 160]
    assert agent.secret.mark_count[:3, 0].tolist() == [160, 5, 160]
    report = np.frombuffer(agent.speak(4), np.int64)
    assert report[0] == 2
    assert abs(report[1] - 160 * UNIT) < 100 * UNIT  # two draws of noise of scale 1: false alarm below 1e-30
    assert decide(method, agent, 5, 160, 40, [0, 2]) == {0: 40, 2: 40}


@pytest.mark.parametrize("arms", [[1, 0], [0, 0], [0, 3], [-1, 0], []], ids=str)
def test_a_decision_with_arms_that_nobody_announces_does_not_fit(tmp_path, arms):
    method, agent = client(tmp_path)
    decision = one(method.node.hears(method.p))
    decision.survivors, decision.pulls = len(arms), 5
    decision.arm[: len(arms)] = arms
    assert not agent.fits(1, decision.tobytes())


def test_arms_that_were_dropped_do_not_come_back(tmp_path):
    method, agent = client(tmp_path)
    decide(method, agent, 1, 0, 5, [0, 1])
    decision = one(method.node.hears(method.p))
    decision.survivors, decision.pulls, decision.arm[:2] = 2, 5, [0, 2]
    assert not agent.fits(2, decision.tobytes())


# --- without a coordinator ------------------------------------------------------------------------------


def test_the_first_close_with_a_quorum_before_it_ends_the_epoch_for_everyone(tmp_path):
    """One of three never reports. The others say that the epoch is over, and end in the same bytes."""

    async def play():
        async with Stage(tmp_path, DDP, quorum=2) as stage:
            nodes = [await stage.start(name) for name in ("north", "south")]
            await stage.start("west", nobody)
            await until(lambda: all(node.server.t >= 2 for node in nodes))
            west = stage.cast["west"].node
            await until(lambda: west.server.t >= 2)
            assert len({node.server.open.tobytes() for node in (*nodes, west)}) == 1
            assert int(west.agent.secret.count.sum()) == 0

    asyncio.run(play())


def test_a_report_that_overtakes_the_close_of_the_epoch_before_is_kept(tmp_path):
    """Lanes do not wait for each other."""
    said = [("north", 1, "report"), ("south", 1, "report"), ("north", 2, "report"), ("south", 1, "close")]
    words = [Message(f"say.{who}", turn, who, turn, kind, b"1") for who, turn, kind in said]
    node = SimpleNamespace(server=SimpleNamespace(t=1), arrived=list(words))
    node.skip = node.arrived.remove
    hall = Hall(node, rehearsed(tmp_path, DDP, 450, epochs={"within": LONG, "quorum": 2}))
    assert hall.ended()
    assert hall.reports == {"north": words[0], "south": words[1]}
    assert words[2] in node.arrived


# --- who reports ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rotation", [False, True])
def test_reporters_are_drawn_by_a_coin_that_all_throw_alike(tmp_path, rotation):
    options = {"name": "cdp-mab", "participation": 0.5} | ({"rotation": True} if rotation else {})
    federation = rehearsed(tmp_path, options, 450)
    one, other = Reporters(federation), Reporters(federation)
    last = other.of(8)
    assert [one.of(t) for t in range(1, 9)] == [*(other.of(t) for t in range(1, 8)), last]
    assert all(len(set(one.of(t))) == 2 for t in range(1, 9))
    assert {name for t in range(1, 4) for name in one.of(t)} == {"north", "south", "west"} or not rotation


def test_a_node_that_is_killed_in_an_epoch_goes_on_with_it(tmp_path):
    """All are killed in the middle of a run and started again, and end in the simulator's bytes."""
    federation = rehearsed(tmp_path, POOLED, 200)
    nodes = asyncio.run(killed_and_performed(tmp_path, federation, (3, 6)))
    assert differences(nodes, simulated(federation)) == []
