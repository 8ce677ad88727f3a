"""A broker in memory, with the faults of real ones drawn from a seed: for tests and rehearsals, without a network."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from coterie.deploy.wire.wire import Delivery, Last, Passed, Unreachable


class Faults(NamedTuple):
    """Chances, each for itself: of one call or one delivery."""

    refused: float = 0.0  # the broker is away: nothing happens
    unanswered: float = 0.0  # it is done, but nobody hears of it
    doubled: float = 0.0  # a delivery comes again
    shuffled: float = 0.0  # a batch comes in another order


class MemoryBroker:
    """One stream. What a real one keeps on disk: its words in order, and what each receiver has not acknowledged."""

    def __init__(self, seed: int = 0, faults: Faults = Faults()):
        self.words: list[tuple[str, bytes]] = []
        self.marks: dict[int, str] = {}
        self.ends: dict[str, int] = {}
        self.subjects: dict[str, set[str]] = {}
        self.waiting: dict[str, dict[int, None]] = {}
        self.rng, self.faults = random.Random(seed), faults
        self.away, self.full, self.gone = False, False, False
        self.life = 0  # raised with every restart, and whenever the stream is gone or made
        self.changed = asyncio.Condition()

    def wire(self, name: str, subjects: Iterable[str]) -> "MemoryWire":
        if name not in self.waiting:
            self.subjects[name] = set(subjects)
            numbered = enumerate(self.words, 1)
            self.waiting[name] = {number: None for number, (subject, _) in numbered if subject in self.subjects[name]}
        return MemoryWire(self, name)

    async def append(self, subject: str, data: bytes, after: int | None = None, beyond: str = "") -> int:
        """Anyone may append without a condition, as a broker's acknowledgements do."""
        if after is not None and self.ends.get(subject, 0) != after:
            raise Passed
        if self.full:
            raise Unreachable("the stream is full")
        self.words.append((subject, data))
        self.ends[subject] = number = len(self.words)
        self.marks[number] = beyond
        for name, subjects in self.subjects.items():
            if subject in subjects:
                self.waiting[name][number] = None
        await self.wake()
        return number

    def last(self, subject: str) -> Last:
        number = self.ends.get(subject, 0)
        return Last(number, self.words[number - 1][1], self.marks[number]) if number else Last()

    async def lose_tail(self, keep: int) -> None:
        """As if it had been restored from an older copy."""
        del self.words[keep:]
        self.ends = {subject: number for number, (subject, _) in enumerate(self.words, 1)}
        self.waiting = {name: {n: None for n in numbers if n <= keep} for name, numbers in self.waiting.items()}
        self.life += 1
        await self.wake()

    async def lose_stream(self) -> None:
        """Its owner deletes it, with all consumers."""
        self.gone = True
        await self.lose_tail(0)

    async def make_stream(self) -> None:
        """An empty one, with a consumer for everybody."""
        self.gone, self.life = False, self.life + 1
        await self.wake()

    async def wake(self) -> None:
        """Whoever waits looks again: there are new words, or the broker is back."""
        async with self.changed:
            self.changed.notify_all()

    def happens(self, chance: float) -> bool:
        return chance > 0 and self.rng.random() < chance


class MemoryWire:
    """One member's end of it."""

    def __init__(self, broker: MemoryBroker, name: str):
        self.broker, self.name = broker, name

    async def append(self, subject: str, data: bytes, after: int, beyond: str = "") -> int:
        await self._reach()
        number = await self.broker.append(subject, data, after, beyond)
        if self.broker.happens(self.broker.faults.unanswered):
            raise Unreachable("no answer")
        return number

    async def last(self, subject: str) -> Last:
        await self._reach()
        return self.broker.last(subject)

    async def receive(self, wait: bool) -> list[Delivery]:
        broker = self.broker
        if not wait:
            await self._reach()
        while wait and not broker.gone and (broker.away or not broker.waiting[self.name]):
            async with broker.changed:
                await broker.changed.wait()
        if broker.gone:
            raise Unreachable("the broker has no stream")
        found = list(broker.waiting[self.name])[:100]
        found += [number for number in found if broker.happens(broker.faults.doubled)]
        if broker.happens(broker.faults.shuffled):
            broker.rng.shuffle(found)
        deliveries = [Delivery(*broker.words[number - 1], self._acknowledge(number)) for number in found]
        await asyncio.sleep(0)
        return deliveries

    async def renewal(self) -> None:
        life = self.broker.life
        while self.broker.life == life:
            async with self.broker.changed:
                await self.broker.changed.wait()

    async def close(self) -> None:
        """Nothing is held open."""

    def _acknowledge(self, number: int) -> Callable[[], Awaitable[None]]:
        async def acknowledge() -> None:
            if not self.broker.happens(self.broker.faults.unanswered):
                self.broker.waiting[self.name].pop(number, None)

        return acknowledge

    async def _reach(self) -> None:
        await asyncio.sleep(0)
        if self.broker.away or self.broker.happens(self.broker.faults.refused):
            raise Unreachable("the broker is away")
        if self.broker.gone:
            raise Unreachable("the broker has no stream")
