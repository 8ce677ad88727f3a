"""A member that signs whatever it likes: whoever hears it goes on as if it had been silent, and counts what was refused."""

import asyncio
import contextlib
import os
import random

import numpy as np
import pytest
from cast import Actor, rehearsed, simulated_customers
from parties import until

from coterie.deploy.keys import load_keys
from coterie.deploy.message import Word
from coterie.deploy.wire.accept import TO_ALL, TO_ONE
from coterie.deploy.wire.envelope import BYTES_MOST, Kind, sealer, signed
from coterie.deploy.wire.hello import hello
from coterie.deploy.wire.lanes import Lanes
from coterie.deploy.wire.memory import MemoryBroker

TURNS = 12
CASES = [{"name": "fed-ucb"}, {"name": "fed-ucb", "mechanism": "tree"}, {"name": "pr-ucb"}, {"name": "private-ucb"}]


def bodies(record, rng):
    """What no honest node says: of a wrong length, and of numbers beyond all bounds."""
    wild = [2**63 - 1, -(2**63), *np.array([np.nan, np.inf, -np.inf, 1e308, -1e308]).view(np.int64).tolist()]
    words = record.itemsize // 8
    yield b""
    yield b"\xff" * (8 * words + 8)
    yield os.urandom(8 * words - 3)
    yield os.urandom(4096)
    for number in wild:
        yield np.full(words, number, np.int64).tobytes()
        yield np.full(1, number, np.int64).tobytes()
    for _ in range(20):
        yield np.array([rng.choice(wild) for _ in range(words)], np.int64).tobytes()


def kinds(federation, lane):
    """What is said in this lane on the federation's clock."""
    return (TO_ALL if lane == "say" else TO_ONE)[federation.clock] | {"hello"}


class Attacker:
    """West, with its true keys and no manners."""

    def __init__(self, folder, federation, broker):
        self.federation, self.broker, self.keys = federation, broker, load_keys(folder / "west")
        self.lanes, self.seal = Lanes(federation, "west"), sealer(federation, "west", 1)
        self.seqs, self.sent, self.rng = {}, 0, random.Random(7)

    async def say(self, lane, word, seq=None):
        seq = seq or self.seqs.get(lane, 0) + 1
        if word.kind in kinds(self.federation, lane):  # else the number is still free: what comes after is heard, too
            self.seqs[lane] = max(seq, self.seqs.get(lane, 0))
        await self.post(lane, signed(self.keys.sign, self.lanes.subject(lane), self.seal(lane, seq, word, bytes(32))))

    async def post(self, lane, data):
        self.sent += lane in ("say", "to.north", "to.centre")
        await self.broker.append(self.lanes.subject(lane), data)

    async def attack(self):
        """In every lane that somebody hears: every kind, wild numbers, forged, replayed, altered, too long."""
        role = self.federation.method().node
        for lane in self.lanes.own:
            for record in (role.message(self.federation.method().p), role.card(self.federation.method().p)):
                for body in bodies(record, self.rng):
                    kind = self.rng.choice(sorted(kinds(self.federation, lane)))
                    await self.say(lane, Word(kind, self.rng.randrange(self.federation.horizon), body))
            await self.say(lane, Word("say", 1, b"the same number again"), seq=1)
            await self.say(lane, hello(1, whole={"north": (-5, 2**60)}, proof=os.urandom(200), lane="say"))
            await self.say(lane, hello(1, whole={"north": (0, 0)}, proof=os.urandom(64), lane="to.west"))
            for kind in Kind.__args__:
                await self.say(lane, Word(kind, 1, os.urandom(30)))
            for data in (b"", os.urandom(10), os.urandom(300), bytes(BYTES_MOST + 1), b"\x80\x04\x95pickle", b"{}" * 1000):
                await self.post(lane, data)
            for subject, data in list(self.broker.words):
                if subject == Lanes(self.federation, "north").subject("say"):
                    await self.post(lane, data)  # what north said, as if west had said it


async def played(folder, federation, attacked):
    """North plays some turns, alone but for what west sends; its state, and what it has refused."""
    broker = MemoryBroker()
    actor, attacker = Actor(folder, federation, "north"), Attacker(folder, federation, broker)
    wire = broker.wire("north", Lanes(federation, "north").heard)
    await actor.start(wire, simulated_customers)
    try:
        if attacked:
            await attacker.attack()
        await until(lambda: actor.finished or actor.node.t > TURNS, 60.0)
        for task in actor.tasks[1:]:
            assert not task.done(), task
        if attacked:
            await until(lambda: not broker.waiting["north"])
        return actor.node, attacker
    finally:
        await actor.stop()


@pytest.mark.parametrize("algorithm", CASES, ids=str)
def test_a_bad_peer_changes_nothing(tmp_path, algorithm):
    ends = []
    for attacked in (False, True):
        folder = tmp_path / str(attacked)
        folder.mkdir()
        federation = rehearsed(folder, algorithm, horizon=TURNS)
        node, attacker = asyncio.run(played(folder, federation, attacked))
        ends.append(node.agent.give())
    rejected = node.seen.rejected
    assert set(rejected) >= {"signature", "size", "kind", "form", "fits", "other"}
    assert sum(rejected.values()) >= 0.9 * attacker.sent
    quiet, loud = ends
    changed = {part for part in quiet if quiet[part] != loud[part]}
    # In which turn it last showed a card is a matter of time, and of no weight: nobody has answered it.
    assert changed <= {"peers", "card", "place"} and quiet["open"] == loud["open"]


def test_a_coordinator_goes_on_with_those_who_are_honest(tmp_path):
    """West reports nonsense in place of numbers; the quorum closes epochs without it."""

    async def run():
        federation = rehearsed(tmp_path, {"name": "pooled-ucb"}, horizon=300, epochs={"quorum": 2, "within": 1.0})
        broker = MemoryBroker()
        cast = [Actor(tmp_path, federation, name) for name in ("centre", "north", "south")]
        for actor in cast:
            await actor.start(broker.wire(actor.name, Lanes(federation, actor.name).heard), simulated_customers)
        attacker = Attacker(tmp_path, federation, broker)
        try:
            await attacker.attack()
            await until(lambda: cast[1].node.t >= 4, 60.0)
            await attacker.attack()
            before = cast[1].node.t
            await until(lambda: cast[1].finished or cast[1].node.t > before, 60.0)
            for actor in cast:
                for task in actor.tasks[1:]:
                    assert not task.done() or task.cancelled(), task
            assert sum(cast[0].node.seen.rejected.values()) > 20
        finally:
            for actor in cast:
                with contextlib.suppress(asyncio.CancelledError):
                    await actor.stop()

    asyncio.run(run())
