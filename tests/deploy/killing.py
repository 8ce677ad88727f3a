"""kill -9 of an agent's process, again and again: `python killing.py FOLDER KILLS [early]`. Prints what was found as JSON.

All that `coterie agent` runs but its web side: locks, stores with their threads, clock and post, with a real broker. It is
forked after all imports, so that a start is cheap. What it was told, and what may be seen, comes over a pipe, line by line and
after the fact: so a line that arrived is an acknowledgement that somebody has seen. At the end another member hears all that
the broker has. `early`: a mutant.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import msgpack
from parties import Party, broker_of, make_parties, until
from powercut import World, check, run
from powercut_node import Early

from coterie.deploy import opening
from coterie.deploy.keys import load_keys
from coterie.deploy.node import Node
from coterie.deploy.opening import opened
from coterie.deploy.roles import make_roles
from coterie.deploy.stores import Store, ledger, rewards
from coterie.deploy.wire import nats as nats_wire
from coterie.deploy.wire.broker import lay_out
from coterie.deploy.wire.envelope import unseal
from coterie.kernel import UNIT

AT_ONCE = 3  # patients


class Tells:
    """To whom a mutant shows what it has not committed."""

    def __init__(self, say: Any):
        self.see = lambda id, value: say("seen", id, value)


async def serve(folder: Path, first: int, say: Any) -> None:
    """The agent, several patients at a time; what may be seen is told again and again."""
    async with opened(folder) as (node, life):
        say("started")
        while not node.playing and not life.done():
            await asyncio.sleep(0.005)

        async def patient(number: int) -> None:
            made = await node.ask(f"patient {number}")
            say("asked", f"patient {number}", made.id, made.arm)
            await node.tell(made.id, (number % 50 + 1) / UNIT)
            say("told", made.id, number % 50 + 1)

        async def show() -> None:
            while True:
                for id, value in await node.stores.ledger.do(lambda c: visible(c, 3)):
                    say("seen", id, value)
                await asyncio.sleep(0.005)

        showing = asyncio.create_task(show())
        while not life.done() and not showing.done():
            await asyncio.gather(*(patient(first + number) for number in range(AT_ONCE)))
            first += AT_ONCE
        await asyncio.gather(life, showing)


def visible(c: Any, last: int) -> list[tuple[tuple, Any]]:
    """The last of what anybody may see, each with its name."""
    said = [(("say", each.seq), each.body.hex()) for each in ledger.outbox(c, "say", max(0, ledger.last_seq(c, "say") - last))]
    return said + [(("release", s, each.entry), each.value) for s, _, each in ledger.releases(c, last)]


def fork(folder: Path, first: int, kind: type[Node]) -> tuple[int, int]:
    """(process, where its lines come from)."""
    read, write = os.pipe()
    process = os.fork()
    if process:
        os.close(write)
        return process, read

    def say(*words: Any) -> None:
        os.write(write, (json.dumps(words) + "\n").encode())

    try:
        opening.Node, Early.world = kind, Tells(say)
        nats_wire.PATIENCE = 0.4  # so that a start is quick
        asyncio.run(serve(folder, first, say))
    except BaseException as error:
        say("failed", repr(error))
    finally:
        os._exit(1)


def life(folder: Path, first: int, kind: type[Node], last: int, wait: float) -> list[list[Any]]:
    """All lines of a process that is killed so many seconds after so many lines."""
    process, lines = fork(folder, first, kind)
    data = b""
    while data.count(b"\n") < last and (more := os.read(lines, 1 << 16)):
        data += more
    time.sleep(wait)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    while more := os.read(lines, 1 << 16):
        data += more
    os.close(lines)
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


class Rest:
    """What is on disk after a kill, as `check` looks at it."""

    def __init__(self, folder: Path, dtype: np.dtype, arms: int):
        self.rewards = Store(folder / "rewards.db", rewards.SCHEMA, inline=True)
        self.ledger = Store(folder / "ledger.db", ledger.SCHEMA, inline=True)
        state = run(self.ledger.do(ledger.last_state))
        self.s = state.s if state else 0
        kept = run(self.rewards.do(lambda c: rewards.secret(c, self.s)))
        record = np.frombuffer(msgpack.decode(kept)["agent"], dtype)[0] if kept else np.zeros(1, dtype)[0]
        self.sums = [(int(record["count"][k]), int(record["total"][k])) for k in range(arms)]
        run(self.rewards.do(lambda c: rewards.drop_after(c, self.s)))

    def facts(self) -> dict[str, Any]:
        return {"sums": self.sums, "s": self.s}

    def close(self) -> None:
        self.rewards.close()
        self.ledger.close()


def main(folder: Path, kills: int, mutant: str = "") -> dict[str, Any]:
    algorithm = {"name": "fed-ucb", "mechanism": "tree"}
    federation = make_parties(folder, algorithm, ("north", "south"), arms=["a", "b"], tick=0.01, horizon=100_000)
    chance, world, home, kind = random.Random(1), World(), folder / "north", Early if mutant else Node
    shutil.copy(folder / "federation.toml", home)
    home.chmod(0o700)
    dtype = make_roles(federation, "north", None, [])["agent"].secret.dtype
    with broker_of(federation, folder):
        assert asyncio.run(lay_out(federation, folder / "broker"))
        for _ in range(kills):
            first = len(world.decided) // AT_ONCE * AT_ONCE
            starting = chance.random() < 0.2  # before the broker knows of it
            moment = (1, chance.uniform(0.0, 0.2)) if starting else (chance.randint(2, 120), chance.uniform(0.0, 0.01))
            for what, *words in life(home, first, kind, *moment):
                note(world, what, words)
            rest = Rest(home, dtype, len(federation.arms))
            check(rest, world)
            for id, value in run(rest.ledger.do(lambda c: visible(c, 1 << 40))):
                world.see(id, value)
            said = [unseal("say", each.body) for each in run(rest.ledger.do(lambda c: ledger.outbox(c, "say")))]
            rest.close()
        heard = asyncio.run(hear(folder, federation, [word.body for word in said if word.kind == "say"]))
    counts = {"decisions": world.decided, "told": world.told, "releases": world.heads[1:], "heard": heard}
    return {"kills": kills} | {name: len(found) for name, found in counts.items()}


def note(world: World, what: str, words: list[Any]) -> None:
    """One line of a process."""
    assert what != "failed", words
    if what == "asked":
        key, *answer = words
        assert world.decided.setdefault(key, tuple(answer)) == tuple(answer), "another decision for the same key"
    elif what == "told":
        world.told[words[0]] = words[1]
    elif what == "seen":
        world.see(tuple(words[0]), words[1])


async def hear(folder: Path, federation: Any, said: list[bytes]) -> list[bytes]:
    """What another member gets from the broker is a beginning of what was said, each word once and in order."""
    south = await Party(folder / "south", federation, "south").start(
        nats_wire.NatsWire(federation, "south", load_keys(folder / "south"))
    )
    await until(south.post.claimed.is_set)
    heard: list[bytes] = []
    for _ in range(20):
        await asyncio.sleep(0.1)
        lanes = await south.heard()
        heard = lanes.get("say.north", [])
    assert south.seen.rejected == {}
    assert heard == said[: len(heard)]
    wire = south.wire
    await south.stop()
    await wire.close()
    return heard


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])))
