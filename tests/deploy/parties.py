"""Members with real keys, who say and hear words over some wire; a stand-in for the node stores what comes."""

import asyncio
import contextlib
import shutil

from coterie.deploy.federation import federation_text, load_federation
from coterie.deploy.keys import load_keys, make_keys
from coterie.deploy.message import Word
from coterie.deploy.stores import Store, ledger
from coterie.deploy.waiting import Broadcast
from coterie.deploy.wire.broker import lay_out
from coterie.deploy.wire.embedded import EmbeddedBroker, free_port
from coterie.deploy.wire.envelope import sealer, unseal
from coterie.deploy.wire.nats import NatsWire
from coterie.deploy.wire.post import Post

NAMES = ("north", "south", "west")


def make_parties(folder, algorithm="fed-ucb", names=NAMES, tls=False, **tables):
    """A federation file, and a folder with keys for each member."""
    options = algorithm if isinstance(algorithm, dict) else {"name": algorithm}
    tables = {
        "arms": ["aspirin", "ibuprofen", "placebo"],
        "horizon": 100_000,
        "algorithm": options,
        "rewards": {"within": "at once"},
        "broker": {"address": f"{'tls' if tls else 'nats'}://127.0.0.1:{free_port()}"}
        | ({"ca": "broker/ca.pem"} if tls else {}),
        "agents": [public_line(folder, name) for name in names],
    } | tables
    if options["name"] in ("pooled-ucb", "cdp-mab"):
        tables["coordinator"] = public_line(folder, "centre")
    return rewrite(folder, tables)


def rewrite(folder, tables):
    (folder / "federation.toml").write_text(federation_text(tables))
    federation = load_federation(folder / "federation.toml")
    federation.tables = tables
    return federation


def public_line(folder, name):
    """What a member hands over; its keys are made if it has none."""
    keys = load_keys(folder / name) if (folder / name).exists() else make_keys(folder / name)
    return keys.line(name)


class Seen:
    def __init__(self):
        self.connected, self.unsent, self.rejected, self.alarms = None, 0, {}, []

    def reject(self, reason):
        self.rejected[reason] = self.rejected.get(reason, 0) + 1

    def alarm(self, kind, text):
        self.alarms.append((kind, text))

    def calm(self, kind):
        """Alarms are kept here, so that a test can see that there was one."""


class Party:
    """One member: its ledger, its post, and all it has heard, lane by lane in order."""

    def __init__(self, folder, federation, name):
        self.folder, self.federation, self.name = folder, federation, name
        self.keys, self.task, self.store = load_keys(folder), None, None

    async def start(self, wire, pause=None):
        self.seen, self.outgoing, self.wire, self.holding = Seen(), Broadcast(), wire, False
        self.store = Store(self.folder / "ledger.db", ledger.SCHEMA, inline=True)
        facts = ledger.Facts(self.federation.run, self.name, self.federation.arms, "fed-ucb", 1.0)
        await self.store.do(lambda c: ledger.introduce(c, facts))
        incarnation = await self.store.do(ledger.incarnation)
        self.seal = sealer(self.federation, self.name, incarnation)
        self.post = Post(
            self.federation, self.name, self.keys, wire, self.store, self, incarnation, pause or (lambda s: asyncio.sleep(0.01))
        )
        self.task = asyncio.create_task(self.post.run())
        return self

    async def receive(self, message, raw, signature=b""):
        return await self.store.do(lambda c: ledger.put_inbox(c, message.lane, message.seq, raw, signature))

    async def say(self, body, to=None, turn=1):
        word = Word("say" if to is None else "ask", turn, body, to)

        def put(c):
            seq = ledger.lanes(c).get(word.lane, 0) + 1
            ledger.put_outbox(c, [ledger.Said(word.lane, seq, self.seal(word.lane, seq, word, ledger.head(c)))])

        await self.store.do(put)
        self.outgoing.tell()

    async def release(self):
        """One number leaves: from then on an older ledger is short of it."""
        paid = ledger.Release(0, 0, 0, 1, 1, "laplace", 1.0, 0.1, 5, 0.0)

        def commit(c):
            state = ledger.last_state(c)
            s = state.s + 1 if state else 1
            ledger.commit_turn(c, ledger.Turn(s=s, turn=s, state={}, releases=(paid,)))

        await self.store.do(commit)
        await self.say(b"released")

    async def heard(self):
        """Of each lane the bodies that have come, in the order of their numbers and without a gap."""
        rows = await self.store.do(lambda c: c.execute("SELECT lane, seq, body FROM inbox ORDER BY lane, seq").fetchall())
        found, numbers = {}, {}
        for lane, seq, raw in rows:
            assert seq == numbers.get(lane, 0) + 1, f"a gap before word {seq} of {lane}"
            numbers[lane] = seq
            message = unseal(lane, raw)
            if message.kind != "hello":
                found.setdefault(lane, []).append(message.body)
        return found

    async def ended(self):
        """The error the post ended with."""
        with contextlib.suppress(asyncio.CancelledError):
            try:
                await asyncio.wait_for(asyncio.shield(self.task), 20)
            except TimeoutError:
                raise AssertionError("it still runs") from None
            except Exception as error:
                return error

    async def stop(self):
        """As kill -9 does: nothing is told to anybody."""
        if self.task is not None:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self.task
        if self.store is not None:
            self.store.close()
        self.task = self.store = None

    def copy_to(self, folder):
        """The whole folder, as a backup or a clone has it."""
        shutil.copytree(self.folder, folder)
        return Party(folder, self.federation, self.name)


async def until(true, seconds=20.0):
    """Wait for something to become true, and say if it did not."""
    end = asyncio.get_running_loop().time() + seconds
    while True:
        found = true()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        assert asyncio.get_running_loop().time() < end, "it did not happen"
        await asyncio.sleep(0.005)


@contextlib.contextmanager
def broker_of(federation, folder):
    broker = EmbeddedBroker(federation, folder / "broker")
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


@contextlib.asynccontextmanager
async def at_work(folder, federation, names=NAMES):
    assert await lay_out(federation, folder / "broker")
    parties = {name: Party(folder / name, federation, name) for name in names}
    try:
        for party in parties.values():
            await party.start(NatsWire(federation, party.name, party.keys))
        await until(lambda: all(party.post.claimed.is_set() or party.task.done() for party in parties.values()))
        yield parties
    finally:
        for party in parties.values():
            wire = party.wire
            await party.stop()
            await wire.close()


async def has_heard(party, expected):
    async def equal():
        with contextlib.suppress(AssertionError):
            return await party.heard() == expected

    await until(equal)
