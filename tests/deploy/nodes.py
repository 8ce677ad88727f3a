"""Small federations, and nodes on stores that answer at once, with time that passes when somebody sleeps."""

import asyncio
import base64
from hashlib import sha256

import nkeys
from msgspec import msgpack

from coterie.deploy.federation import federation_text, load_federation
from coterie.deploy.message import Message
from coterie.deploy.node import Node, Stores
from coterie.deploy.stores import Store, ledger, rewards


def member(name):
    """With public keys that nobody has the other half of."""
    key = bytes([nkeys.PREFIX_BYTE_USER]) + sha256(f"connects {name}".encode()).digest()
    connects = base64.b32encode(key + nkeys.crc16(key).to_bytes(2, "little")).decode()
    return {"name": name, "signs": sha256(f"signs {name}".encode()).hexdigest(), "connects": connects}


def make_federation(folder, algorithm="fed-ucb", agents=("north", "south", "west"), arms=3, **tables):
    """A federation of these agents; other tables go over the usual ones."""
    options = algorithm if isinstance(algorithm, dict) else {"name": algorithm}
    tables = {
        "arms": [f"arm {k}" for k in range(arms)],
        "horizon": 1000,
        "algorithm": options,
        "rewards": {"within": "at once"},
        "broker": {"address": "tls://127.0.0.1:4222"},
        "agents": [member(name) for name in agents],
    } | tables
    if options["name"] in ("pooled-ucb", "cdp-mab"):
        tables["coordinator"] = member("centre")
    path = folder / "federation.toml"
    path.write_text(federation_text(tables))
    return load_federation(path)


def plain_seal(lane, seq, word, head):
    return msgpack.encode((seq, word.turn, word.kind, word.body))


def plain_unseal(lane, raw):
    seq, turn, kind, body = msgpack.decode(raw)
    return Message(lane, seq, lane.split(".")[-1], turn, kind, body)


def open_stores(folder, **how):
    """They survive the end of a process and, unlike real ones, no power cut: syncing would take most of a test's time."""
    folder.mkdir(parents=True, exist_ok=True)
    files = ((folder / "rewards.db", rewards.SCHEMA), (folder / "ledger.db", ledger.SCHEMA))
    stores = Stores(*(Store(path, schema, **{"inline": True} | how) for path, schema in files))
    for store in stores:
        store._execute("PRAGMA synchronous=OFF")
    return stores


class Clock:
    """Time that passes when somebody sleeps, or by hand."""

    def __init__(self, now=1e9):
        self.seconds = now

    def __call__(self):
        return self.seconds

    async def sleep(self, seconds):
        self.seconds += seconds
        await asyncio.sleep(0)


class Home:
    """Where a node lives. `start` may be called again: what ran before is simply gone, as after kill -9."""

    def __init__(self, folder, federation, name="north", live=None, **how):
        self.folder, self.federation, self.name, self.live, self.how = folder / name, federation, name, live or live_alone, how
        self.clock, self.stores, self.task, self.node = Clock(), (), None, None

    async def start(self, **tools):
        self.stop()
        self.stores = open_stores(self.folder, **self.how)
        tools = {"seal": plain_seal, "unseal": plain_unseal, "sleep": self.clock.sleep} | tools
        self.node = await Node.open(self.federation, self.name, self.stores, self.clock, **tools)
        self.task = asyncio.create_task(self.live(self.node))
        return self.node

    def stop(self):
        if self.task:
            self.task.cancel()
        for store in self.stores:
            store.close()
        self.stores, self.task = (), None

    async def settle(self):
        """Until the clock waits for the application, where nothing else holds it up."""
        waited = 0  # between two turns it looks so for a few passes
        for _ in range(10_000):
            waited = 0 if self.node.playing and self.node.desk.ready else waited + 1
            if waited == 20 or self.task.done():
                break
            await asyncio.sleep(0)
        if self.task and self.task.done():
            self.task.result()


async def live_alone(node):
    """A clock of one's own for a peer that nobody speaks to."""
    while True:
        if not node.playing:
            node.begin(node.t + 1)
        if not await node.played():
            return node.drop()
        await node.end(None if node.agent.algorithm.commits else node.t, lambda: speak(node))


def speak(node):
    said = node.agent.speak(node.t)
    if said:
        node.say("say", said)


class Town:
    """All members of a federation, and somebody who carries every word to those who hear it, once and in order."""

    def __init__(self, folder, federation, live):
        self.federation = federation
        self.homes = {m.name: Home(folder, federation, m.name, lambda node: live(node, federation)) for m in federation.members}
        self.carried = {}  # the last number of each lane, by sender and receiver

    async def start(self):
        for home in self.homes.values():
            await home.start()

    def stop(self):
        for home in self.homes.values():
            home.stop()

    async def carry(self):
        """All that was said and not carried yet."""
        for sender, home in self.homes.items():
            words = [(other, "say", f"say.{sender}") for other in self.federation.heard_by(sender)]
            words += [(other, f"to.{other}", f"to.{sender}") for other in self.homes if other != sender]
            for receiver, lane, named in words:
                for word in await home.stores.ledger.do(
                    lambda c, lane=lane, after=self.carried.get((lane, sender, receiver), 0): ledger.outbox(c, lane, after)
                ):
                    await self.homes[receiver].node.receive(plain_unseal(named, word.body), word.body)
                    self.carried[lane, sender, receiver] = word.seq

    async def customers(self, rounds, draw, means):
        """At every agent, one after the other."""
        for _ in range(rounds):
            for member in self.federation.agents:
                home = self.homes[member.name]
                await home.settle()
                decision = await home.node.ask()
                await home.node.tell(decision.id, float(draw.random() < means[decision.arm]))
            for home in self.homes.values():
                await home.settle()
            await self.carry()
