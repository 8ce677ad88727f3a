"""The broker in memory keeps the rules of a real one."""

import asyncio

import pytest

from coterie.deploy.wire.memory import Faults, MemoryBroker
from coterie.deploy.wire.wire import Last, Passed, Unreachable


def test_appending_is_compare_and_swap():
    async def run():
        broker = MemoryBroker()
        wire = broker.wire("north", ["a"])
        assert await wire.last("a") == Last()
        assert await wire.append("a", b"1", 0) == 1 and await wire.append("b", b"2", 0) == 2
        with pytest.raises(Passed):
            await wire.append("a", b"3", 0)
        assert await wire.append("a", b"3", 1) == 3 and await wire.last("a") == Last(3, b"3")

    asyncio.run(run())


def test_a_word_comes_until_it_is_acknowledged():
    async def run():
        broker = MemoryBroker()
        wire = broker.wire("north", ["a"])
        await broker.append("a", b"1")
        await broker.append("b", b"not for north")
        for _ in range(2):
            deliveries = await wire.receive(wait=False)
            assert [delivery.data for delivery in deliveries] == [b"1"]
        await deliveries[0].acknowledge()
        assert await wire.receive(wait=False) == []

    asyncio.run(run())


def test_without_a_stream_nobody_is_reached_and_a_new_one_is_empty():
    async def run():
        broker = MemoryBroker()
        wire = broker.wire("north", ["a"])
        waiting, renewed = asyncio.ensure_future(wire.receive(wait=True)), asyncio.ensure_future(wire.renewal())
        await asyncio.sleep(0)
        await broker.append("b", b"1")
        await broker.lose_stream()
        await renewed
        for attempt in (waiting, wire.receive(wait=False), wire.receive(wait=True), wire.last("b"), wire.append("b", b"2", 1)):
            with pytest.raises(Unreachable, match="no stream"):
                await attempt
        renewed = asyncio.ensure_future(wire.renewal())
        await asyncio.sleep(0)
        await broker.make_stream()
        await renewed
        assert await wire.last("b") == Last() and await wire.receive(wait=False) == []

    asyncio.run(run())


def test_all_faults_happen_and_nothing_is_lost():
    async def run():
        broker = MemoryBroker(3, Faults(refused=0.3, unanswered=0.3, doubled=0.5, shuffled=0.5))
        wire = broker.wire("north", ["a"])
        refused = unanswered = 0
        for i in range(50):
            before = len(broker.words)
            try:
                await wire.append("a", b"%d" % i, broker.last("a").number)
            except Unreachable:
                refused += len(broker.words) == before
                unanswered += len(broker.words) > before
        assert refused and unanswered
        came, rounds = [], 0
        while len(set(came)) < len(broker.words) or broker.waiting["north"]:
            try:
                for delivery in await wire.receive(wait=False):
                    came.append(delivery.data)
                    await delivery.acknowledge()
            except Unreachable:
                pass
            rounds += 1
            assert rounds < 100
        assert len(came) > len(set(came)) and came != sorted(came, key=int)

    asyncio.run(run())
