"""Meetings on own clocks: what they average is conserved to the last bit, whatever the wire does and whoever crashes."""

import asyncio
import random

import pytest
from cast import Actor, memory_wires, rehearsed
from msgspec import msgpack

from coterie.deploy.clocks.meetings import Meetings
from coterie.deploy.message import Message
from coterie.deploy.wire.memory import Faults


def gossip(folder, horizon=60, **options):
    return rehearsed(folder, {"name": "gossip-ucb", **options}, horizon, privacy="none")


async def patients(node):
    """One after the other, each with a coin of its own."""
    coins = random.Random(node.name)
    while not node.over:
        decision = await node.ask()
        await node.tell(decision.id, float(coins.random() < 0.5))
        for _ in range(2):  # whose turns are quicker than words has no time for meetings
            await asyncio.sleep(0)


def under_way(node):
    return bool(node.memo) and msgpack.decode(node.memo)[1] is not None


async def play(folder, federation, crashes=0, **faults):
    """Until all are over and no meeting is under way. Now and then one is killed and started again."""
    wires, rng = memory_wires(federation, seed=7, faults=Faults(**faults)), random.Random(3)
    cast = [Actor(folder, federation, member.name) for member in federation.agents]
    met = 0
    try:
        for actor in cast:
            await actor.start(wires(actor.name), patients)
        async with asyncio.timeout(100):
            while crashes or not all(actor.finished and not under_way(actor.node) for actor in cast) or _mail(cast):
                await asyncio.sleep(0.001)
                if crashes and rng.random() < 0.1:
                    crashes -= 1
                    actor = rng.choice(cast)
                    await actor.stop()
                    await actor.start(wires(actor.name), patients)
        met = sum(actor.node.memo != b"" and msgpack.decode(actor.node.memo)[0] for actor in cast)
    finally:
        for actor in cast:
            await actor.stop()
    return [actor.node for actor in cast], met


def _mail(cast):
    return any(word.kind in ("ask", "answer", "busy") for actor in cast for word in actor.node.arrived)


def check_conserved(nodes):
    """The sum of all estimates is the sum of all means, in whole numbers; and agents did learn from each other."""
    opens = [node.agent.open for node in nodes]
    for k in range(3):
        assert sum(int(open.estimate[k]) for open in opens) == sum(int(open.average[k]) for open in opens)
    assert any(open.estimate[k] != open.average[k] for open in opens for k in range(3))


@pytest.mark.parametrize("crashes", [0, 12])
def test_sums_are_conserved_under_losses_doubles_other_orders_and_crashes(tmp_path, crashes):
    federation = gossip(tmp_path)
    assert federation.clock == "own"
    faults = {"refused": 0.3, "unanswered": 0.3, "doubled": 0.3, "shuffled": 0.5}
    nodes, met = asyncio.run(play(tmp_path, federation, crashes, **faults))
    check_conserved(nodes)
    assert met > 10
    assert not any(node.seen.rejected for node in nodes)


def test_a_tree_with_noise_is_conserved_too(tmp_path):
    federation = rehearsed(tmp_path, {"name": "fed-ucb", "mechanism": "tree"}, 40)
    nodes, met = asyncio.run(play(tmp_path, federation))
    check_conserved(nodes)
    assert met > 5


# --- one end, word by word ------------------------------------------------------------------------------


async def alone(folder, *words):
    """A node that hears these words about meetings; what it then says."""
    actor = Actor(folder, gossip(folder), "north")
    node = await actor.start(None)
    await actor.stop_tasks()
    node.drop()
    meetings = Meetings(node, actor.federation)
    for lane, seq, *rest in words:
        message = Message(f"to.{lane}", seq, lane, *rest)
        await node.receive(message, msgpack.encode(rest))
    await meetings.hear()
    rows = await actor.stores.ledger.do(lambda c: c.execute("SELECT lane, body FROM outbox ORDER BY lane, seq").fetchall())
    await actor.stop()
    return node, meetings, rows


def card(*estimates):
    return b"".join(int(each).to_bytes(8, "little", signed=True) for each in estimates)


NUMBER = (1).to_bytes(8, "big")


def test_who_is_asked_meets_at_once_and_answers_with_the_card_it_had(tmp_path):
    node, _, said = asyncio.run(alone(tmp_path, ("south", 1, 5, "ask", NUMBER + card(100, -7, 2))))
    assert node.agent.open.estimate[:3].tolist() == [50, -3, 1]
    assert len(said) == 1
    assert NUMBER + card(0, 0, 0) in said[0][1]


NO_CARDS = [b"", NUMBER, NUMBER + card(2**62, 0, 0), NUMBER + b"\1" * 7, NUMBER + card(*[0] * 9)]


@pytest.mark.parametrize("body", NO_CARDS, ids=len)
def test_a_card_that_nobody_honest_shows_meets_nobody(tmp_path, body):
    node, _, said = asyncio.run(alone(tmp_path, ("south", 1, 5, "ask", body)))
    assert node.agent.open.estimate[:3].tolist() == [0, 0, 0]
    assert node.seen.rejected == {"suits": 1}
    assert len(said) == 1
    assert b"busy" in said[0][1]


@pytest.mark.parametrize("kind", ["answer", "busy"])
def test_an_answer_that_was_not_asked_for_has_no_effect(tmp_path, kind):
    node, _, said = asyncio.run(alone(tmp_path, ("south", 1, 5, kind, NUMBER + card(100, 0, 0))))
    assert node.agent.open.estimate[:3].tolist() == [0, 0, 0]
    assert node.seen.rejected == {"meeting": 1}
    assert said == []
