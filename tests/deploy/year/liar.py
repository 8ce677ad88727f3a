"""A member that signs whatever it likes, with its true keys: others go on as if it had been silent, or had other patients."""

import asyncio

import numpy as np

from coterie.deploy.message import Word
from coterie.deploy.wire.accept import TO_ALL, TO_ONE
from coterie.deploy.wire.envelope import sealer, signed
from coterie.deploy.wire.hello import hello
from coterie.deploy.wire.lanes import Lanes

HOUR = 3600.0


class Liar:
    def __init__(self, year, name, keys):
        self.year, self.name, self.keys, self.chance = year, name, keys, year.chance
        self.lanes, self.seqs, self.incarnation = Lanes(year.federation, name), {}, 1

    async def lie(self):
        while True:
            await asyncio.sleep(self.chance.expovariate(1 / (2 * HOUR)))
            lane = self.chance.choice(self.lanes.own)
            subject = self.lanes.subject(lane)
            await self.year.put(subject, signed(self.keys.sign, subject, self._word(lane)))

    def _word(self, lane):
        """Mostly the next of its lane; also an earlier number, a far one, and a start that is over."""
        seq = self.seqs[lane] = self.seqs.get(lane, 0) + 1
        way, start = self.chance.random(), self.incarnation
        if way < 0.1:
            seq = self.chance.randrange(1, seq + 5)
        elif way < 0.2:
            self.incarnation = start = start + 1
        elif way < 0.35:
            start = self.chance.randrange(1, start + 1)
        federation = self.year.federation
        if self.chance.random() < 0.1:
            others = {member.name: (self.chance.randrange(-1, 50), 0) for member in federation.members}
            word = hello(0, others, self.chance.randbytes(200), "say", entropy=self.chance.randbytes)
        else:
            kinds = sorted((TO_ALL if lane == "say" else TO_ONE)[federation.clock])
            word = Word(self.chance.choice(kinds), self.chance.randrange(federation.horizon + 1), self._body())
        return sealer(federation, self.name, start)(lane, seq, word, self.chance.randbytes(32))

    def _body(self):
        method = self.year.federation.method()
        size = method.node.message(method.p).itemsize
        way = self.chance.random()
        if way < 0.3:
            return self.chance.randbytes(self.chance.randrange(100))
        top = 2 ** self.chance.randrange(1, 63)
        return np.array([self.chance.randrange(-top, top) for _ in range(size // 8)], np.int64).tobytes()
