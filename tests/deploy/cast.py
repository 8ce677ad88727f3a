"""A whole federation as tasks of one loop: every member with its stores, its post and its clock, over any wire.

In a rehearsal the customers bring the simulator's rewards, so that the members must end in its bytes.
"""

import asyncio
import random
from types import SimpleNamespace

import numpy as np
from msgspec import msgpack
from nodes import Clock, open_stores
from parties import NAMES, public_line, rewrite

from coterie.deploy.clocks import live
from coterie.deploy.federation import load_federation
from coterie.deploy.keys import load_keys
from coterie.deploy.node import Node
from coterie.deploy.opening import box_of
from coterie.deploy.stores import ledger
from coterie.deploy.wire.embedded import free_port
from coterie.deploy.wire.envelope import sealer, unseal
from coterie.deploy.wire.lanes import Lanes
from coterie.deploy.wire.memory import MemoryBroker
from coterie.deploy.wire.nats import NatsWire
from coterie.deploy.wire.post import Post, end
from coterie.engines.faults import Weather
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.rehearsal import Rehearsal, _deal, compare, rounds_of
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.kernel import REWARD, UNIT, one, stream
from coterie.problem import bernoulli
from coterie.problem.harvest import harvest_record

SEED = 5
MEANS = np.array([0.9, 0.5, 0.2]) + 0.1 * np.array([[-1, 1, 0], [1, -1, 0], [0, 0.5, -0.5]])


def rehearsed(folder, algorithm, horizon, tls=False, **tables):
    """A federation file of a rehearsal, and keys for all members."""
    address = f"{'tls' if tls else 'nats'}://127.0.0.1:{free_port()}"
    tables = {
        "arms": ["aspirin", "ibuprofen", "placebo"],
        "horizon": horizon,
        "rehearsal": {"seed": SEED},
        "algorithm": algorithm,
        "rewards": {"within": "at once"},
        "broker": {"address": address} | ({"ca": "broker/ca.pem"} if tls else {}),
        "agents": [public_line(folder, name) for name in NAMES],
    } | tables
    if algorithm["name"] in ("pooled-ucb", "cdp-mab") and algorithm.get("through") != "peers":
        tables["coordinator"] = public_line(folder, "centre")
    return rewrite(folder, tables)


class Actor:
    """One member. `start` again is what comes after kill -9."""

    def __init__(self, folder, federation, name, clock=None):
        self.folder, self.federation, self.name = folder / name, federation, name
        self.clock, self.tasks, self.stores, self.node = clock or Clock(), [], (), None

    async def start(self, wire, *customers):
        federation, name = self.federation, self.name
        self.stores = open_stores(self.folder)
        for store in self.stores:  # nobody cuts the power here
            store._connection.execute("PRAGMA synchronous=OFF")
        self.node = node = await Node.open(
            federation, name, self.stores, self.clock, seal=lambda *word: sealed(*word), unseal=unseal, sleep=self.clock.sleep
        )
        node.box = box_of(federation, name, load_keys(self.folder))
        incarnation = await self.stores.ledger.do(ledger.incarnation)
        sealed = sealer(federation, name, incarnation)
        works = [live(node, federation), *(each(node) for each in customers if node.agent is not None)]
        if wire is not None:
            keys = load_keys(self.folder)
            works.append(Post(federation, name, keys, wire, self.stores.ledger, node, incarnation, pause=a_moment).run())
        self.tasks = [asyncio.create_task(work) for work in works]
        return node

    @property
    def finished(self):
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()
        return self.node.over

    async def stop_tasks(self):
        await end(self.tasks)
        self.tasks = []

    async def stop(self):
        """As kill -9 does."""
        await self.stop_tasks()
        for store in self.stores:
            store.close()
        self.stores = ()


async def a_moment(seconds):
    await asyncio.sleep(0)


def memory_wires(federation, **how):
    broker = MemoryBroker(**how)
    return lambda name: broker.wire(name, Lanes(federation, name).heard)


def broker_wires(folder, federation):
    """Over the broker that listens where the federation says."""
    return lambda name: NatsWire(federation, name, load_keys(folder / name))


async def perform(folder, federation, wire_of, customers, seconds=120.0):
    """Everyone plays until everyone has finished."""
    cast, wires = [Actor(folder, federation, member.name) for member in federation.members], []
    alone = not any(federation.hears(member.name) for member in federation.members)
    try:
        for actor in cast:
            wires.append(None if alone else wire_of(actor.name))
            await actor.start(wires[-1], customers)
        async with asyncio.timeout(seconds):
            while not all(actor.finished for actor in cast):
                await asyncio.sleep(0.002)
    finally:
        for actor, wire in zip(cast, wires, strict=False):
            await actor.stop()
            if wire is not None:
                await wire.close()
    return [actor.node for actor in cast]


async def eager(node):
    """All rewards are 1, and come at once."""
    while not node.over:
        await node.tell((await node.ask()).id, 1.0)


async def nobody(node):
    """Nobody comes."""


async def until(true, seconds=120.0):
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.001)


def simulated_customers(node):
    """They bring the rewards that the simulator draws for the plan, late and in any order."""
    return _customers(node, bernoulli.world(MEANS).view(np.recarray), node.federation.position(node.name))


async def _customers(node, worlds, i):
    key, served = keys_of(seeds_of(SEED), 0).world, None
    while True:
        plan, t = node.agent.plan, node.t
        if node.playing and t != served:
            served = t
            last = t + max(1, rounds_of(plan)) - 1 if node.agent.algorithm.commits else t
            if rounds_of(plan) <= node.federation.horizon:
                await _serve(node, t, rounds_of(plan), _hands(node, plan, worlds[i], stream(key, i, REWARD, last)))
        else:
            await node.changed.wait()


def _hands(node, plan, world, die):
    harvest = one(harvest_record(node.agent.p))
    bernoulli.draw(world, node.agent.secret, plan, harvest, die)
    return {int(plan.arm[e]): _deal(int(harvest.total[e]), int(plan.pulls[e]), 0, UNIT) for e in range(plan.entries)}


async def _serve(node, t, decisions, hands):
    """After a crash the same customers come again, and get the same answers."""
    late = []
    for n in range(decisions):
        decision = await node.ask(f"customer {n} of turn {t}")
        late.append((decision.id, hands[decision.arm].pop() / UNIT))
    random.Random(t).shuffle(late)
    for id, reward in late + late[:1]:
        await node.tell(id, reward)


async def killed_and_performed(folder, federation, turns):
    """All are killed as soon as one of them has come to each of these turns, and start again; then they play to the end."""
    wires = memory_wires(federation)
    cast = [Actor(folder, federation, member.name) for member in federation.members]
    for t in turns:
        for actor in cast:
            await actor.start(wires(actor.name), simulated_customers)
        await until(lambda t=t: any(actor.node.t >= t for actor in cast))
        for actor in cast:
            await actor.stop()
    return await perform(folder, federation, wires, simulated_customers)


def simulated(federation):
    """The same run in the simulator, interpreted."""
    method, agents, horizon = federation.method()._replace(folds=False, crowds=()), len(federation.agents), federation.horizon
    about = (method, bernoulli, bernoulli.world(MEANS), agents, horizon, np.array([horizon]))
    if method.server is not None:
        return simulate_star(*about, seed=SEED, compiled=False)
    return simulate_mesh(*about, federation.links, seed=SEED, weather=Weather(active=method.active), compiled=False)


def differences(nodes, run):
    """The records in which the members differ from the simulator's. Where every agent counts all reports, all count alike."""
    agents, servers = ([getattr(node, role) for node in nodes if getattr(node, role)] for role in ("agent", "server"))
    alike = run.servers is not None and run.servers.shape[1] == 1
    teams = [[server] for server in servers] if alike else [servers]
    return [each for team in teams or [[]] for each in compare(run, Rehearsal(agents, team), 0)]


# --- as processes ---------------------------------------------------------------------------------------

PARTS = ("secret", "inner", "open", "ledger")


class Ended:
    """What a process has left of a role, under the names by which it is compared."""

    def __init__(self, algorithm, parts):
        self.algorithm = algorithm
        self.__dict__.update({part: np.frombuffer(data, np.uint8) for part, data in parts.items()})


async def act(folder, name):
    """One member in a process of its own, until it is stopped; when it has finished it leaves its bytes in the folder."""
    federation = load_federation(folder / "federation.toml")
    actor, wire = Actor(folder, federation, name), NatsWire(federation, name, load_keys(folder / name))
    node = await actor.start(wire, simulated_customers)
    while not actor.finished:
        await asyncio.sleep(0.01)
    left = {role: {part: getattr(who, part).tobytes() for part in PARTS} for role, who in node.roles.items()}
    (folder / f"{name}.part").write_bytes(msgpack.encode(left))
    (folder / f"{name}.part").rename(folder / f"{name}.ended")
    while True:
        await asyncio.sleep(1.0)
        assert actor.finished


def left_by(folder, federation):
    """The members as their processes have left them."""
    method = federation.method()
    for member in federation.members:
        left = msgpack.decode((folder / f"{member.name}.ended").read_bytes())
        rules = {"agent": method.node, "server": method.server}
        roles = {role: Ended(rules[role], left[role]) if role in left else None for role in rules}
        yield SimpleNamespace(**roles)


def act_alone(folder, name):
    asyncio.run(act(folder, name))
