"""Bad networks and a broker that dies: on the common clock all end as without, on own clocks nothing is lost or twice."""

import asyncio
import contextlib
import random
import signal

import nats
from cast import Actor, broker_wires, differences, perform, rehearsed, simulated, simulated_customers
from msgspec import msgpack
from parties import NAMES, Party, broker_of, make_parties, until
from proxy import Proxy, trouble

from coterie.deploy.keys import read_private
from coterie.deploy.wire.broker import OWNER, lay_out, stream_configuration
from coterie.deploy.wire.nats import NatsWire


def through(proxies, make):
    """Wires whose members reach the broker by a proxy each."""

    def wire_of(name):
        wire = make(name)
        wire.address = f"nats://127.0.0.1:{proxies[name].port}"
        return wire

    return wire_of


@contextlib.asynccontextmanager
async def proxies_to(broker, names):
    async with contextlib.AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(Proxy(broker.address.port)) for name in names}


async def kill_and_restart(broker, times, pause):
    """The broker is killed without warning, and comes back with what is on its disk."""
    for _ in range(times):
        await asyncio.sleep(pause)
        broker.process.send_signal(signal.SIGKILL)
        broker.process.wait()
        await asyncio.sleep(pause / 4)
        await asyncio.to_thread(broker.start)


def test_on_the_common_clock_all_end_as_without_faults(tmp_path):
    async def run():
        federation = rehearsed(tmp_path, {"name": "fed-ucb"}, horizon=25, clock="common")
        with broker_of(federation, tmp_path) as broker:
            assert await lay_out(federation, tmp_path / "broker")
            async with proxies_to(broker, NAMES) as proxies:
                troubles = [
                    asyncio.create_task(trouble(list(proxies.values()), seed=3)),
                    asyncio.create_task(kill_and_restart(broker, times=2, pause=0.6)),
                ]
                wires = through(proxies, broker_wires(tmp_path, federation))
                nodes = await perform(tmp_path, federation, wires, simulated_customers)
                for task in troubles:
                    task.cancel()
                assert sum(proxy.cuts for proxy in proxies.values()) > 3
                return nodes, federation

    nodes, federation = asyncio.run(run())
    assert differences(nodes, simulated(federation)) == []


def test_on_own_clocks_what_meetings_average_is_conserved(tmp_path):
    """Agents meet in pairs, over connections that are cut, stalled and parted: no half of a meeting is lost or done twice."""

    async def run():
        federation = rehearsed(tmp_path, {"name": "gossip-ucb"}, horizon=40, privacy="none")
        with broker_of(federation, tmp_path) as broker:
            assert await lay_out(federation, tmp_path / "broker")
            async with proxies_to(broker, NAMES) as proxies:
                wires = through(proxies, broker_wires(tmp_path, federation))
                cast = [Actor(tmp_path, federation, name) for name in NAMES]
                used = [wires(actor.name) for actor in cast]
                for actor, wire in zip(cast, used, strict=True):
                    await actor.start(wire, patients)
                troubles = asyncio.create_task(trouble(list(proxies.values()), seed=5))
                try:
                    await until(lambda: all(actor.finished for actor in cast), 100.0)
                    troubles.cancel()
                    await until(lambda: not any(under_way(actor.node) for actor in cast), 60.0)
                finally:
                    troubles.cancel()
                    for actor, wire in zip(cast, used, strict=True):
                        await actor.stop()
                        await wire.close()
                return [actor.node.agent.open for actor in cast]

    opens = asyncio.run(run())
    for k in range(3):
        assert sum(int(open.estimate[k]) for open in opens) == sum(int(open.average[k]) for open in opens)
    assert any(open.estimate[k] != open.average[k] for open in opens for k in range(3))


async def patients(node):
    coins = random.Random(node.name)
    while not node.over:
        decision = await node.ask()
        await node.tell(decision.id, float(coins.random() < 0.5))
        await asyncio.sleep(0.05)  # else all is over before the first word arrives


def under_way(node):
    """Whether a meeting has begun that is not over, or a word of one waits."""
    begun = bool(node.memo) and msgpack.decode(node.memo)[1] is not None
    return begun or any(word.kind in ("ask", "answer", "busy") for word in node.arrived) or node.seen.unsent


@contextlib.asynccontextmanager
async def parties_through(folder, federation, proxies):
    parties = {name: Party(folder / name, federation, name) for name in NAMES}
    wires = through(proxies, lambda name: NatsWire(federation, name, parties[name].keys))
    try:
        for name, party in parties.items():
            await party.start(wires(name))
        yield parties, wires
    finally:
        for party in parties.values():
            await party.stop()
            await party.wire.close()


async def all_is_heard(parties, said):
    """Each word of each lane once, in order."""

    async def complete():
        for name, party in parties.items():
            expected = {f"say.{other}": words for other, words in said.items() if other != name and words}
            try:
                if await party.heard() != expected:
                    return False
            except AssertionError:  # a gap that is about to close
                return False
        return True

    await until(complete, 60.0)


def test_nothing_is_lost_or_twice_whatever_happens(tmp_path):
    """Cut connections, a broker that is killed, and members that are killed while words are under way."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path) as broker:
            assert await lay_out(federation, tmp_path / "broker")
            async with proxies_to(broker, NAMES) as proxies, parties_through(tmp_path, federation, proxies) as (parties, wires):
                troubles = [
                    asyncio.create_task(trouble(list(proxies.values()), seed=4)),
                    asyncio.create_task(kill_and_restart(broker, times=2, pause=1.0)),
                ]
                said = {name: [] for name in NAMES}
                for i in range(150):
                    for name in NAMES:
                        said[name].append(f"{name} {i}".encode())
                        await parties[name].say(said[name][-1])
                    if i in (50, 100):  # killed, and started again
                        party = parties["west"]
                        await party.stop()
                        await party.wire.close()
                        await party.start(wires("west"))
                    await asyncio.sleep(0.01)
                await troubles[1]
                troubles[0].cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await troubles[0]
                await all_is_heard(parties, said)
                assert not any(party.task.done() for party in parties.values())
                assert all(set(party.seen.rejected) <= {"junk"} for party in parties.values())

    asyncio.run(run())


def test_one_that_stops_reading_holds_nobody_up_and_a_full_stream_is_waited_for(tmp_path):
    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path) as broker:
            assert await lay_out(federation, tmp_path / "broker")
            async with proxies_to(broker, NAMES) as proxies, parties_through(tmp_path, federation, proxies) as (parties, _):
                await until(lambda: all(party.post.claimed.is_set() for party in parties.values()))
                said = {name: [] for name in NAMES}
                proxies["west"].stall(True)
                for i in range(100):
                    said["north"].append(b"%d" % i)
                    await parties["north"].say(said["north"][-1])
                await all_is_heard({"south": parties["south"]}, said)
                proxies["west"].stall(False)
                await all_is_heard(parties, said)
                await full(federation, tmp_path, room=2000)
                for _ in range(100):
                    said["south"].append(bytes(100))
                    await parties["south"].say(said["south"][-1])
                await until(lambda: parties["south"].seen.unsent > 0 and parties["south"].seen.connected is False)
                assert any("does not take a word" in text for _, text in parties["south"].seen.alarms)
                await full(federation, tmp_path, room=1 << 30)
                await all_is_heard(parties, said)
                assert not any(party.task.done() for party in parties.values())

    asyncio.run(run())


async def full(federation, folder, room):
    """The broker's owner leaves this much room in the stream."""
    client = await nats.connect(federation.broker.address, nkeys_seed_str=read_private(folder / "broker" / OWNER))
    stream, wanted = client.jetstream(), stream_configuration(federation)
    used = (await stream.stream_info(wanted.name)).state.bytes
    await stream.update_stream(wanted.evolve(max_bytes=used + room))
    await client.close()
