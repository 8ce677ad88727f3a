"""The broker in memory, where everything takes time and members can be cut off. Only lanes keep their order."""

import asyncio

from coterie.deploy.wire.memory import Faults, MemoryBroker, MemoryWire
from coterie.deploy.wire.wire import Unreachable

LINGER = 1200.0  # seconds until a member that hears nothing looks up
PATIENCE = 300.0  # seconds until it gives a call up
NEAR = 0.2  # seconds to the broker, on average
SOME = Faults(refused=0.01, unanswered=0.02, doubled=0.05, shuffled=0.1)


class Exchange(MemoryBroker):
    """`in_order`: a word comes only after the one before it was acknowledged, as where all count for themselves."""

    def __init__(self, chance, in_order):
        super().__init__(faults=SOME._replace(shuffled=0.0) if in_order else SOME)
        self.batch = 1 if in_order else 100
        self.rng, self.far = chance, 1.0
        self.cut = set()  # members that cannot reach it
        self.losses = 0  # how often its tail was lost

    def end(self, process, subjects):
        self.wire(process.name, subjects)
        return End(self, process)

    async def lose_tail(self, keep):
        self.losses += 1
        await super().lose_tail(keep)


class End(MemoryWire):
    """One process's. What a dead one still does reaches nobody."""

    def __init__(self, broker, process):
        super().__init__(broker, process.name)
        self.process = process

    async def append(self, subject, data, after, beyond=""):
        await self._reach()
        if self.broker.full:
            await asyncio.sleep(PATIENCE)
        self.process.year.witness.sends(self.process, subject, data)
        number = await self.broker.append(subject, data, after, beyond)
        self.process.year.witness.sent(self.process, subject, data)
        if self.process.dies("sent"):
            raise Unreachable("gone")
        await self._travel()
        if self.broker.happens(self.broker.faults.unanswered):
            raise Unreachable("no answer")
        return number

    async def receive(self, wait):
        if not wait:
            return (await super().receive(wait=False))[: self.broker.batch]
        await self._reach()
        try:
            async with asyncio.timeout(LINGER):
                found = await super().receive(wait=True)
        except TimeoutError:
            return []
        return [] if self.name in self.broker.cut else found[: self.broker.batch]

    def _acknowledge(self, number):
        acknowledge = super()._acknowledge(number)

        async def arrive():
            if not (self.process.dead or self.broker.away or self.name in self.broker.cut):
                await acknowledge()

        return arrive

    async def _travel(self):
        await asyncio.sleep(self.broker.rng.expovariate(1 / (NEAR * self.broker.far)))

    async def _reach(self):
        await self._travel()
        if self.broker.away or self.name in self.broker.cut or self.broker.happens(self.broker.faults.refused):
            await asyncio.sleep(PATIENCE)
            raise Unreachable("the broker is away")
