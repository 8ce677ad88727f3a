"""A federation of real nodes for so many hours, with accidents until some time before the end; then all must go on."""

import asyncio
import contextlib
import random
from collections import Counter
from hashlib import sha256
from pathlib import Path

import nkeys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import msgpack
from parties import rewrite

from coterie.deploy.clocks.meetings import KINDS as KINDS_OF_MEETINGS
from coterie.deploy.keys import Keys
from coterie.deploy.roles import make_roles
from coterie.deploy.wire.envelope import SIGNATURE, decode
from coterie.deploy.wire.lanes import Lanes, in_order_of_the_stream
from coterie.deploy.wire.wire import Unreachable
from coterie.errors import FencedError, StateError
from year.disk import Folder
from year.faults import FAULTS
from year.liar import Liar
from year.loop import VirtualLoop
from year.network import Exchange
from year.patients import come
from year.process import HOUR, Member, Process
from year.witness import Violation, Witness

NAMES, LIAR = ("north", "south", "west"), "east"
CALM, SETTLED = 80, 20  # hours at the end without accidents, and those of them after which all must go on
BETWEEN = 5.0  # hours between two accidents, on average
RATE = 0.4  # patients an hour, at each agent

EPOCHS = {"quorum": 2, "within": "6 hours"}
KINDS = {
    "pooled-ucb": {"algorithm": {"name": "pooled-ucb", "epsilon": 1.0}, "epochs": EPOCHS},
    "fed-ucb": {"algorithm": {"name": "fed-ucb"}},
    "pr-ucb": {"algorithm": {"name": "pr-ucb"}},
    "tree": {"algorithm": {"name": "fed-ucb", "mechanism": "tree"}},
    "together": {"algorithm": {"name": "pooled-ucb", "epsilon": 1.0, "through": "peers"}, "epochs": EPOCHS},
    "gossip-ucb": {"algorithm": {"name": "gossip-ucb"}, "privacy": "none"},
}
TURNS = ("pooled-ucb", "fed-ucb", "pr-ucb", "together", "pooled-ucb", "tree", "pr-ucb", "gossip-ucb")  # of seeds


def keys_of(name):
    sign, seed = (sha256(f"{what} {name}".encode()).digest() for what in ("signs", "connects"))
    return Keys(Ed25519PrivateKey.from_private_bytes(sign), nkeys.encode_seed(seed, nkeys.PREFIX_BYTE_USER).decode())


def line(name):
    return {"name": name, "signs": keys_of(name).signs, "connects": keys_of(name).connects}


def federation_of(kind, folder, windows, names):
    tables = {
        "arms": ["aspirin", "ibuprofen", "placebo"],
        "horizon": 5000,
        "tick": "30 minutes",
        "rewards": {"within": "1 day" if windows else "at once"},
        "broker": {"address": "nats://127.0.0.1:4222"},
        "agents": [line(name) for name in names],
    } | KINDS[kind]
    if kind == "pooled-ucb":
        tables["coordinator"] = line("centre")
    return rewrite(folder, tables)


def _meets_nobody(node):
    asked = msgpack.decode(node.memo)[1] if node.memo else None
    return asked is None and not any(word.kind in KINDS_OF_MEETINGS for word in node.arrived)


class Year:
    """`kind`: of the federation; by default the seed's."""

    def __init__(self, seed, hours, folder, kind=None, tell=None):
        self.seed, self.hours, self.folder, self.tell = seed, hours, Path(folder), tell
        self.chance = random.Random(seed)
        self.kind = kind or TURNS[seed % len(TURNS)]
        self.windows = self.chance.random() < 0.5
        self.liars = [LIAR] if self.chance.random() < 0.3 else []
        self.federation = federation_of(self.kind, self.folder, self.windows, (*NAMES, *self.liars))
        self.faults, self.asked, self.marks, self.backups = Counter(), 0, {}, {}
        self.secret_type = make_roles(self.federation, NAMES[0], None, [])["agent"].secret.dtype
        self.trace, self.conserved = sha256(), False

    def play(self):
        """Raises the first violation, with the command that brings it back."""
        try:
            with asyncio.Runner(loop_factory=VirtualLoop) as runner:
                runner.run(self._live())
        except Violation as violation:
            again = f"python tests/deploy/year --seed {self.seed} --hours {self.hours:g} --kind {self.kind}"
            raise Violation(f"{violation}; again: {again}") from None
        return self

    async def _live(self):
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)  # what a dead process leaves behind need not be told
        self.end, self.tasks = loop.create_future(), {}
        self.broker, self.witness = Exchange(self.chance, in_order_of_the_stream(self.federation)), Witness(self)
        self.members = {}
        for member in self.federation.members:
            name = member.name
            if name in self.liars:
                self.broker.wire(name, ())
                self.spawn(Liar(self, name, keys_of(name)).lie())
            else:
                (self.folder / name).mkdir(exist_ok=True)
                self.members[name] = Member(self, name, keys_of(name), Folder(self.folder / name))
        for member in self.members.values():
            self.spawn(member.keep())
            if member.name in NAMES:
                self.spawn(come(self, member, RATE))
        self.spawn(self._go_wrong())
        self.later((self.hours - CALM) * HOUR, self.heal)
        self.later((self.hours - CALM + SETTLED) * HOUR, self.mark)
        self.later(self.hours * HOUR, lambda: self.end.done() or self.end.set_result(None))
        try:
            await self.end
            self._look_back()
            if self.end.exception():
                raise self.end.exception()
        finally:
            for task in list(self.tasks):
                task.cancel()

    # --- tools of the world ---------------------------------------------------------------------------

    def now(self):
        return asyncio.get_running_loop().time()

    def log(self, text):
        said = f"{self.now() / HOUR:9.3f} h  {text}".replace(f"{self.folder}/", "")
        self.trace.update(said.encode())
        if self.tell:
            self.tell(said)

    def fail(self, violation):
        self.log(str(violation))
        if self.end.done():
            raise violation
        self.end.set_exception(violation)

    def spawn(self, work):
        task = asyncio.create_task(work)
        self.tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task):
        self.tasks.pop(task, None)
        if not task.cancelled() and task.exception() and not self.end.done():
            self.end.set_exception(task.exception())

    def later(self, seconds, call):
        asyncio.get_running_loop().call_later(seconds, call)

    def hours_left(self):
        """Until accidents end."""
        return self.hours - CALM - self.now() / HOUR

    def anyone(self, lose=False):
        """A member that is not lost; to `lose` one, only while enough are left."""
        there = [member for member in self.members.values() if not member.lost]
        if lose:
            there = [member for member in there if member.name in NAMES and len(there) > 2]
        return self.chance.choice(there) if there else None

    def broker_back(self):
        self.broker.away = False
        self.spawn(self.broker.wake())

    async def put(self, subject, data):
        """Somebody writes to a lane without asking what is there."""
        with contextlib.suppress(Unreachable):
            await self.broker.append(subject, data)

    def has_spoken_since(self, member, backup):
        lanes = Lanes(self.federation, member.name)
        for lane in lanes.own:
            data = self.broker.last(lanes.subject(lane)).data
            for envelope in (body for (name, its), body in backup.seen.said.items() if name == lane):
                if data[SIGNATURE:] == envelope:
                    break
            else:
                if data[SIGNATURE:] in member.folder.seen.said.values() and decode(data[SIGNATURE:]).kind != "hello":
                    return True
        return False

    async def try_copy(self, member, backup):
        """It must find out by itself that it is old, before it takes a turn."""
        process = Process(self, member, backup)
        try:
            async with asyncio.timeout(HOUR):
                why = await process.ended()
        except TimeoutError:
            process.kill()
            return
        self.log(f"the old copy of {member.name} ended: {why}")
        self.witness.check(isinstance(why, FencedError | StateError), f"an old copy of {member.name} ended with {why!r}")

    # --- accidents ------------------------------------------------------------------------------------

    async def _go_wrong(self):
        kinds, weights = list(FAULTS), list(FAULTS.values())
        while True:
            await asyncio.sleep(self.chance.expovariate(1 / (BETWEEN * HOUR)))
            if self.hours_left() < 0:
                return
            (fault,) = self.chance.choices(kinds, weights)
            what = await fault(self)
            if what != "nobody":
                self.faults[fault.__name__] += 1
                self.log(f"{fault.__name__}: {what or ''}")

    def heal(self):
        self.log("calm")
        self.broker.cut.clear()
        self.broker.full, self.broker.far = False, 1.0
        self.broker_back()
        for member in self.members.values():
            member.folder.full = member.folder.torn = False
            member.folder.slow = 1.0
            if member.process:
                member.process.doom = None

    def mark(self):
        """Where everybody is some time after the last accident."""
        for name, member in self.members.items():
            self.marks[name] = member.node and member.node.t, list(member.folder.seen.said)

    # --- the end --------------------------------------------------------------------------------------

    def _look_back(self):
        living = {name: member for name, member in self.members.items() if not member.lost}
        for name, member in living.items():
            self.witness.check(member.node is not None, f"{name} does not run, long after the last accident")
            if member.node is None:
                continue
            self.witness.look_at_all(member.process)
            self.witness.tell_again(member.process)
            self._goes_on(name, member, living)
            self._was_heard(name, living)
        self._conserved()

    def _goes_on(self, name, member, living):
        node, before = member.node, self.marks[name][0]
        enough = name in NAMES or len(living) + len(self.liars) > self.federation.epochs.quorum
        if node.silent is None and enough:
            on = before is not None and node.t > before
            self.witness.check(on, f"{name} is at turn {node.t}, as {CALM - SETTLED} hours ago")

    def _conserved(self):
        """What one gains in a meeting the other loses, to the last bit, where no meeting is under way."""
        nodes = [member.node for member in self.members.values()]
        apart = all(node and node.agent and _meets_nobody(node) for node in nodes)
        if self.federation.method().meetings and apart and not self.liars and not any(m.twinned for m in self.members.values()):
            for k in range(len(self.federation.arms)):
                sums = [sum(int(getattr(node.agent.open, field)[k]) for node in nodes) for field in ("estimate", "average")]
                self.witness.check(sums[0] == sums[1], f"estimates of arm {k} add up to {sums[0]}, and means to {sums[1]}")
            self.conserved = True

    def _was_heard(self, name, living):
        """All that was said some time ago has come to all who may hear it."""
        for lane, seq in self.marks[name][1]:
            hearers = self.federation.heard_by(name) if lane == "say" else [lane.removeprefix("to.")]
            for other in hearers:
                if other in living and living[other].node:
                    its = f"say.{name}" if lane == "say" else f"to.{name}"
                    c = living[other].folder.files["ledger.db"]
                    row = c.execute("SELECT 1 FROM inbox WHERE lane = ? AND seq = ?", (its, seq)).fetchone()
                    self.witness.check(row, f"{other} has not heard word {seq} of {its}")
