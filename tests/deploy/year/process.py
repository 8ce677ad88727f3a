"""A start of a member in a folder, and the operator who starts it again."""

import asyncio
from fractions import Fraction

from coterie.deploy.opening import begin
from coterie.deploy.wire.lanes import Lanes
from coterie.errors import CoterieError, FencedError, StateError, StorageError, UsageError
from coterie.privacy.exact import add_exact

MIDNIGHT = 1e9  # seconds since 1970 when everything begins
HOUR, DAY = 3600.0, 86400.0


class Drawn:
    """Dice and noise from the seed. No two draws are alike, so that a second one shows."""

    rehearsed = False

    def __init__(self, chance):
        self.chance = chance

    def die(self, t):
        return self.chance.getrandbits(63)

    idle_die = die

    def noise(self, mechanism, secret, t, out):
        add_exact(out, mechanism.name, self.laplace)

    def laplace(self, scale: Fraction) -> int:
        return round(self.chance.choice((-1, 1)) * self.chance.expovariate(1 / float(scale)))


class Process:
    """`doom`: (point, how many times it is passed until the process dies there)."""

    def __init__(self, year, member, folder):
        self.year, self.member, self.name, self.folder, self.chance = year, member, member.name, folder, year.chance
        self.dead, self.doom, self.node, self.stores, self.calls = False, None, None, (), {}
        self.lanes = Lanes(year.federation, self.name)
        self.subjects = {self.lanes.subject(lane): lane for lane in self.lanes.own}
        folder.trouble = folder.full or folder.torn
        self.task = asyncio.create_task(self._run())

    async def _run(self):
        """Until it cannot go on: the error."""
        year, skew = self.year, self.member.skew
        try:
            self.stores = self.folder.open(self)
            wire = year.broker.end(self, self.lanes.heard)
            chances = {role: Drawn(self.chance) for role in ("agent", "server")}
            node, life = await begin(
                year.federation, self.name, self.member.keys, self.stores,
                lambda: MIDNIGHT + skew + asyncio.get_running_loop().time(), wire,
                chances=chances, entropy=self.chance.randbytes,
            )  # fmt: skip
            self.node = node
            year.witness.started(self)
            await life
        except CoterieError as error:
            self._vanish()
            return error

    async def ended(self):
        """The error it ended with; None: it was killed."""
        await asyncio.wait([self.task])
        return None if self.task.cancelled() else self.task.result()

    def kill(self):
        """As kill -9 does: what was not committed is gone, and nobody is told."""
        if not self.dead:
            self._vanish()
            self.task.cancel()

    def _vanish(self):
        self.dead, self.node = True, None
        for store in self.stores:
            store.close()
        for call in list(self.calls):
            call.cancel()

    def dies(self, point):
        if not self.dead and self.doom and self.doom[0] == point:
            self.doom = point, self.doom[1] - 1
            if self.doom[1] <= 0:
                self.year.log(f"{self.name} dies: {point}")
                self.kill()
        return self.dead

    def committed(self, store):
        self.year.witness.committed(self, store)

    async def call(self, work):
        """What the application gets; None: the process died before it answered."""
        if self.node is None:
            work.close()
            return None
        task = asyncio.ensure_future(work)
        self.calls[task] = None
        await asyncio.wait([task])
        self.calls.pop(task, None)
        return None if task.cancelled() else task.result()


class Member:
    """One organisation: its folder, its keys, and who looks after it."""

    def __init__(self, year, name, keys, folder):
        self.year, self.name, self.keys, self.folder = year, name, keys, folder
        self.process, self.twin, self.twinned, self.lost, self.skew = None, None, False, False, 0.0
        self.down = 0.0  # seconds until the next start, at least
        self.stopped = False  # by a withheld arm

    @property
    def node(self):
        return self.process and self.process.node

    async def keep(self):
        """It is started again whatever it died of, until that has no sense any more."""
        while not self.lost:
            if self.process is None or self.process.dead:
                self.process = Process(self.year, self, self.folder)
            why = await self.process.ended()
            self.year.log(f"{self.name} ended: {why or 'killed'}")
            await asyncio.sleep(self.down + self.year.chance.expovariate(1 / (0.2 * HOUR)))
            self.down = 0.0
            self._judge(why)

    def _judge(self, why):
        witness = self.year.witness
        if isinstance(why, StorageError):
            witness.check(self.folder.trouble, f"{self.name} stopped, and its disk was well: {why}")
        elif isinstance(why, FencedError | StateError):
            witness.check(self.twinned, f"{self.name} was stopped, and had no twin: {why}")
            if self.twin and not self.twin.dead:
                self.year.log(f"{self.name} goes on as its copy")
                self.process, self.folder, self.twin = self.twin, self.twin.folder, None
            else:
                self.lost = True
        elif isinstance(why, UsageError):
            witness.check(self.skew < 0, f"{self.name} was refused, and its clock is right: {why}")
            self.skew = 0.0
        elif why is not None:
            witness.check(False, f"{self.name} ended with {why!r}")

    async def watch(self, twin):
        """A copy of it, until one of them ends."""
        self.twin, self.twinned = twin, True
        why = await twin.ended()
        if self.twin is twin:  # it has not taken over
            self.twin = None
            self.year.log(f"the copy of {self.name} ended: {why}")
            stopped = isinstance(why, FencedError | StateError)
            self.year.witness.check(stopped, f"the copy of {self.name} ended with {why!r}")
