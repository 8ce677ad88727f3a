"""The deployed system beside what it is made of: the disk's sync, a bare web application, a raw broker, the agent in memory."""

import asyncio
import contextlib
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

import nats

from benchmarks.page import Section
from coterie.deploy.federation import federation_text, load_federation
from coterie.deploy.keys import make_keys, read_private
from coterie.deploy.node import Node, Stores
from coterie.deploy.opening import opened, steady_clock
from coterie.deploy.stores import Store, ledger, rewards
from coterie.deploy.stores.rewards import Queued
from coterie.deploy.wire.broker import OWNER, lay_out
from coterie.deploy.wire.embedded import EmbeddedBroker, free_port
from coterie.engines.agent import Agent
from coterie.engines.chance import System
from coterie.kernel import UNIT

START = [sys.executable, "-c", "from coterie.cli import start; start()"]
BARE = """
import socket, sys, uvicorn
async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b'{"id":"0","arm":0,"name":"arm 0","learned":true}'})
uvicorn.run(app, port=int(sys.argv[1]), http="httptools", lifespan="off", log_level="critical", access_log=False)
"""
TRIES, TURN, AT_ONCE, LINES, ROUNDS = 200, 10, 256, 256, 100
LATE = {"within": "28 days"}  # no turn is taken meanwhile: this is about answers


def deploy():
    """The deployed system beside the disk, a bare web application, a raw broker and the agent in memory."""
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(
            (on_disk, over_http, over_the_broker, at_the_desk, in_step, while_others_are_away, after_a_crash)
        ):
            place = Path(folder) / str(number)
            place.mkdir()
            yield part(place)


def federation(folder: Path, names=("north",), algorithm="dp-ucb-int", **tables):
    """A folder for each, with the file beside its keys; those that talk have a broker, on loopback and without TLS."""
    agents = []
    for name in names:
        keys = make_keys(folder / name)
        (folder / name).chmod(0o700)
        agents.append({"name": name, "signs": keys.signs, "connects": keys.connects})
    broker = {"broker": {"address": f"nats://127.0.0.1:{free_port()}"}} if len(names) > 1 else {}
    tables = {
        "arms": [f"arm {k}" for k in range(5)], "horizon": 1_000_000, "tick": 0.001, "algorithm": {"name": algorithm},
        "rewards": {"within": "at once"}, "agents": agents,
    } | broker | tables  # fmt: skip
    for name in names:
        (folder / name / "federation.toml").write_text(federation_text(tables))
    return load_federation(folder / names[0] / "federation.toml")


def times(work, tries=TRIES) -> list[float]:
    found = []
    for _ in range(tries):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return found


async def waits(work, tries=TRIES) -> list[float]:
    found = []
    for _ in range(tries):
        began = time.perf_counter()
        await work()
        found.append(time.perf_counter() - began)
    return found


# --- parts --------------------------------------------------------------------------------------------


def on_disk(folder: Path) -> Section:
    """One at a time, and many at once, beside a sync of 4 KiB."""
    federation(folder, rewards=LATE)

    def sync(file=os.open(folder / "sync", os.O_CREAT | os.O_WRONLY)):
        os.pwrite(file, os.urandom(4096), 0)
        os.fsync(file)

    async def measure() -> dict[str, float]:
        syncs, asks, many, ids = [], [], [], deque()
        async with opened(folder / "north") as (node, _):

            async def ask():
                ids.append((await node.ask()).id)

            async def tell():
                await node.tell(ids.popleft(), 1.0)

            for _ in range(TRIES // TURN):  # by turns: whatever slows the disk meanwhile slows both
                syncs += times(sync, TURN)
                asks += await waits(ask, TURN)
            tells = await waits(tell)
            for _ in range(AT_ONCE):
                await ask()
            single = sum(await waits(tell, AT_ONCE)) / AT_ONCE
            for _ in range(5):
                made = await asyncio.gather(*(node.ask() for _ in range(AT_ONCE)))
                began = time.perf_counter()
                await asyncio.gather(*(node.tell(decision.id, 1.0) for decision in made))
                many.append((time.perf_counter() - began) / AT_ONCE)
        return {
            "sync of 4 KiB": statistics.median(syncs), "ask": statistics.median(asks), "tell": statistics.median(tells),
            "tell, one after the other": single, f"tell, {AT_ONCE} at once": min(many),
        }  # fmt: skip

    rows = asyncio.run(measure())
    return Section("Questions and rewards on disk", "microseconds, p50", {name: 1e6 * value for name, value in rows.items()})


def over_http(folder: Path) -> Section:
    """Ask and tell beside an application that answers the same and keeps nothing."""
    federation(folder, rewards=LATE)
    bare, agent = free_port(), free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen([sys.executable, "-c", BARE, str(bare)], **quiet)
    second = subprocess.Popen([*START, "agent", str(folder / "north"), "--listen", f"127.0.0.1:{agent}"], **quiet)
    try:
        for port in (bare, agent):
            ready(port)
        token = (folder / "north" / "token").read_text().strip()
        rates = {bare: [], agent: []}
        for _ in range(3):
            for port, kept in rates.items():
                kept.append(asyncio.run(rate(port, token, tells=port == agent)))
        return Section("Over HTTP", "requests a second", {"bare": max(rates[bare]), "ask and tell": max(rates[agent])})
    finally:
        for process in (first, second):
            process.kill()
            process.wait()


async def rate(port: int, token: str, tells: bool, seconds: float = 3.0) -> float:
    """Of some lines at once, each of which asks and, if it shall, tells."""
    head = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: ".encode()
    count, end = 0, time.perf_counter() + seconds

    async def line():
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def call(way: bytes, body: bytes) -> bytes:
            writer.write(way + b" " + head + str(len(body)).encode() + b"\r\n\r\n" + body)
            told = await reader.readuntil(b"\r\n\r\n")
            length = told.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
            if length:
                return await reader.readexactly(int(length))
            if b"chunked" not in told:
                return b""
            size = int(await reader.readline(), 16)
            return (await reader.readexactly(size + 7))[:size]

        while time.perf_counter() < end:
            id = (await call(b"POST /v1/decisions", b"{}")).partition(b'"id":"')[2].partition(b'"')[0]
            await (
                call(b"PUT /v1/decisions/" + id + b"/reward", b'{"reward":1.0}')
                if tells
                else call(b"POST /v1/decisions", b"{}")
            )
            count += 2
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(line() for _ in range(LINES)))
    return count / (time.perf_counter() - began)


def over_the_broker(folder: Path) -> Section:
    """Words that are signed, stored, sent, verified and stored, beside publishes that are only acknowledged."""
    found = federation(folder, ("north", "south"), "fed-ucb")
    words = 1000

    async def raw() -> float:
        client = await nats.connect(found.broker.address, nkeys_seed_str=read_private(folder / "broker" / OWNER))
        stream = client.jetstream()
        await stream.add_stream(name="raw", subjects=["raw"])
        began = time.perf_counter()
        for _ in range(words):
            await stream.publish("raw", bytes(200))
        took = time.perf_counter() - began
        await client.close()
        return took / words

    async def ours() -> float:
        async with opened(folder / "north") as (north, _), opened(folder / "south") as (south, _):
            await until(lambda: north.seen.connected and south.seen.connected and not north.seen.unsent)
            heard, receive = 0, south.receive

            async def count(*message):
                nonlocal heard
                told = await receive(*message)
                heard += told == "new"
                return told

            south.receive = count

            def speak():
                for _ in range(words):
                    north.say("answer", bytes(200), "south", turn=1)

            began = time.perf_counter()
            await north.commit(speak)
            await until(lambda: heard >= words)
            return (time.perf_counter() - began) / words

    with broker(found, folder):
        rows = {"raw publish": asyncio.run(raw()), "said and heard": asyncio.run(ours())}
    return Section("Over the broker", "microseconds a word", {name: 1e6 * value for name, value in rows.items()})


def at_the_desk(folder: Path) -> Section:
    """A turn of the node that needs no commit, beside a turn of the agent in memory."""
    found = federation(folder, ("north", "south"), "fed-ucb")
    method = found.method()

    def in_memory() -> list[float]:
        agent, took = Agent(method.node, method.p, System()), []
        for t in range(method.node.first_round, method.node.first_round + TRIES):
            began = time.perf_counter()
            agent.begin(t)
            while any(agent.left):
                ticket, _ = agent.ask()
                agent.tell(ticket, 1.0)
            agent.finish()
            agent.speak(t)
            took.append(time.perf_counter() - began)
        return took

    async def at_desk(number: int) -> list[float]:
        home, took = folder / f"desk {number}", []
        home.mkdir()
        stores = Stores(*(Store(home / name, kind.SCHEMA, inline=True) for name, kind in (("r.db", rewards), ("l.db", ledger))))
        node = await Node.open(found, "north", stores, steady_clock(), seal=lambda *word: b"", unseal=lambda *word: None)
        for place in range(TRIES):
            began = time.perf_counter()
            node.begin(node.t + 1)
            while not node.desk.ready:
                node.desk.add(Queued(place, node.desk.decide(), UNIT))
            await node.played()
            await node.end(node.t)
            took.append(time.perf_counter() - began)
        return took

    rows = {"in memory": [], "at the desk": []}
    for number in range(3):
        rows["in memory"] += in_memory()
        rows["at the desk"] += asyncio.run(at_desk(number))
    rows = {name: statistics.median(took) for name, took in rows.items()}  # most turns release nothing and commit nothing
    return Section("A turn", "microseconds, p50", {name: 1e6 * value for name, value in rows.items()})


def in_step(folder: Path) -> Section:
    """A round of three processes on the common clock beside one delivery."""
    found = federation(folder, ("north", "south", "west"), "fed-ucb", clock="common")

    async def delivery() -> float:
        """A word from one connection to another, by way of the broker's disk."""
        seed = read_private(folder / "broker" / OWNER)
        one, other = [await nats.connect(found.broker.address, nkeys_seed_str=seed) for _ in range(2)]
        await one.jetstream().add_stream(name="raw", subjects=["raw"])
        listening = await other.jetstream().subscribe("raw")

        async def deliver():
            await one.jetstream().publish("raw", bytes(200))
            await (await listening.next_msg(10)).ack()

        took = await waits(deliver)
        await one.close()
        await other.close()
        return statistics.median(took)

    with broker(found, folder):
        once = asyncio.run(delivery())
        call = [sys.executable, "-c", f"import sys; from benchmarks.deploy import member; member(sys.argv[1], {ROUNDS})"]
        members = [
            subprocess.Popen([*call, str(folder / name)], stdout=subprocess.PIPE, text=True)
            for name in ("north", "south", "west")
        ]
        rounds = [float(process.communicate(timeout=300)[0]) for process in members]
    rows = {"a delivery": 1e6 * once, "a round": 1e6 * max(rounds)}
    return Section("Three processes in step", "microseconds", rows)


def member(folder: str, rounds: int) -> None:
    """One of them, with an application that answers at once; prints the seconds of a round."""

    async def live() -> float:
        async with opened(Path(folder)) as (node, _):

            async def play():
                """Whatever the plan needs, and nothing else."""
                while True:
                    if node.playing and not node.desk.ready:
                        await node.tell((await node.ask()).id, 1.0)
                    else:
                        await node.changed.wait()

            playing = asyncio.create_task(play())
            await until(lambda: node.t >= 10)
            first, began = node.t, time.perf_counter()
            await until(lambda: node.t >= 10 + rounds)
            took = (time.perf_counter() - began) / (node.t - first)
            await asyncio.sleep(2)  # others may still need its words
            playing.cancel()
            return took

    print(asyncio.run(live()))


def while_others_are_away(folder: Path) -> Section:
    """Ask, while a turn is committed, beside a patient who never pauses, and while the broker is down."""
    found = federation(folder, ("north", "south"), "fed-ucb")

    def late(found_times: list[float]) -> float:
        return 1e6 * statistics.quantiles(found_times, n=20)[-1]

    async def measure() -> dict[str, float]:
        running = EmbeddedBroker(found, folder / "broker")
        running.start()
        await lay_out(found, folder / "broker")
        async with opened(folder / "north") as (node, _):

            async def play():
                await node.tell((await node.ask()).id, 1.0)

            while node.t < 10:
                await play()
            rest, turns = await around_turns(node)

            async def never_pause():
                while True:
                    await play()

            playing = asyncio.create_task(never_pause())
            beside = await waits(node.ask, 400)
            playing.cancel()
            running.process.kill()
            await until(lambda: node.seen.connected is False)
            down = await waits(node.ask, 400)
        return {
            "at rest": late(rest), "while a turn is committed": late(turns), "beside a patient who never pauses": late(beside),
            "while the broker is down": late(down),
        }  # fmt: skip

    return Section("Ask while others are away", "microseconds, p95", asyncio.run(measure()))


def after_a_crash(folder: Path) -> Section:
    """From kill -9 to the first answer, beside an import of the package; and how much memory it took."""
    federation(folder)
    port = free_port()

    def imported() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import coterie.deploy.opening"], check=True)
        return time.perf_counter() - began

    def start() -> subprocess.Popen:
        return subprocess.Popen(
            [*START, "agent", str(folder / "north"), "--listen", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL
        )

    process = start()
    ready(port)
    imports, answers, most = [], [], 0.0
    try:
        token = (folder / "north" / "token").read_text().strip()
        for _ in range(3):
            imports.append(imported())
            process.send_signal(signal.SIGKILL)
            process.wait()
            began = time.perf_counter()
            process = start()
            ready(port, token)
            answers.append(time.perf_counter() - began)
            told = Path(f"/proc/{process.pid}/status")
            if told.exists():
                most = max(most, int(told.read_text().partition("VmHWM:")[2].split()[0]) / 1024)
    finally:
        process.kill()
        process.wait()
    note = f"An agent took {most:.0f} MB at most." if most else ""
    return Section("After a crash", "seconds", {"import": min(imports), "kill -9 to the first answer": min(answers)}, note=note)


async def around_turns(node: Node) -> tuple[list[float], list[float]]:
    """Of asks at rest, and of those that begin while a turn is on its way to the disk, by turns."""
    dice, rest, turns = random.Random(1), [], []
    while len(turns) < 300:
        await asyncio.sleep(0.01)  # all of the last turn is over
        (took,) = await waits(ask := Asked(node), 1)
        rest.append(took)
        await node.tell(ask.id, 1.0)
        with contextlib.suppress(TimeoutError):
            await until(lambda: node.writing, 0.01, pause=0)  # an arm that is not waited for ends no turn
        await asyncio.sleep(dice.uniform(0, 0.001))
        if node.writing:
            turns += await waits(node.ask, 1)
    return rest, turns


class Asked:
    """A question whose decision is remembered."""

    def __init__(self, node: Node):
        self.node, self.id = node, ""

    async def __call__(self):
        self.id = (await self.node.ask()).id


# --- tools --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def broker(found, folder: Path):
    running = EmbeddedBroker(found, folder / "broker")
    running.start()
    asyncio.run(lay_out(found, folder / "broker"))
    try:
        yield
    finally:
        running.stop()


async def until(true, seconds: float = 120.0, pause: float = 0.001) -> None:
    end = time.perf_counter() + seconds
    while not true():
        if time.perf_counter() > end:
            raise TimeoutError
        await asyncio.sleep(pause)


def ready(port: int, token: str | None = None, seconds: float = 60.0) -> None:
    """It answers; with a token, a question."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            if token is None:
                line.request("GET", "/health/live")
                line.getresponse().read()
                return
            line.request("POST", "/v1/decisions", "{}", {"Authorization": f"Bearer {token}"})
            json.loads(line.getresponse().read())["id"]
            return
        time.sleep(0.005)
    raise TimeoutError(f"nobody answers at port {port}")
