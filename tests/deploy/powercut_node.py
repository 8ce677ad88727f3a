"""The real node on a disk that loses power: what `powercut.live` needs of it, and the mutants of its order of commits."""

import asyncio
import contextlib
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import msgpack
from nodes import Clock, make_federation, plain_seal, plain_unseal
from powercut import World
from powercut_disk import Disk

from coterie.deploy.clocks import live as live_by_clock
from coterie.deploy.node import Node, Stores
from coterie.deploy.stores import Store, ledger, persons, rewards
from coterie.errors import StorageError
from coterie.kernel import UNIT

LOG_ROOM = 1 << 17


class Swapped(Node):
    """A mutant: the ledger is committed first."""

    held: Any = None

    async def _patiently(self, store: Any, work: Any) -> Any:
        if store is self.stores.rewards:
            self.held = work
            return None
        answer = await super()._patiently(store, work)
        held, self.held = self.held, None
        if held is not None:
            await super()._patiently(self.stores.rewards, held)
        return answer


class Early(Node):
    """A mutant: what was released is shown before it is committed."""

    async def _commit(self, released: Any) -> None:
        for each in released:
            self.world.see(("release", self.s + 1, each.entry), each.value)
        await super()._commit(released)


class Unpaid(Node):
    """A mutant: a reward is charged to its person after the decision is on disk."""

    owed: Any = None

    async def _charge(self, id: str, key: str | None, person: str | None) -> bool:
        self.owed = person, key
        return True

    async def ask(self, key: str | None = None, person: str | None = None) -> Any:
        found = await super().ask(key, person)
        await self.persons.charge(*self.owed)
        return found


class Real:
    """An agent of a federation on its own clock, with the words of another that come until they are acknowledged."""

    def __init__(self, stage: "Stage", folder: Path, disk: Disk, world: World):
        self.stage, self.world = stage, world
        self.rewards = Store(folder / "rewards.db", rewards.SCHEMA, connect=disk.connect, inline=True, room=LOG_ROOM)
        self.ledger = Store(folder / "ledger.db", ledger.SCHEMA, connect=disk.connect, inline=True)
        time, stores = stage.time, Stores(self.rewards, self.ledger)
        tools = {"seal": plain_seal, "unseal": plain_unseal, "sleep": time.sleep}
        if stage.persons:
            store = Store(folder / "persons.db", persons.SCHEMA, connect=disk.connect, inline=True)
            epsilon = stage.federation.allowance[0]
            tools["persons"] = persons.Persons(store, epsilon, stage.federation.run, epsilon)
        self.node = self.do(stage.node.open(stage.federation, "north", stores, time, **tools))
        self.node.world = world
        number = self.do(self.ledger.do(ledger.incarnation))
        assert number > world.seen.get("incarnation", 0), "two starts have one number"
        world.seen["incarnation"] = number
        self.turns = stage.loop.create_task(live_by_clock(self.node, stage.federation))
        self.settle()

    def do(self, work: Any) -> Any:
        return self.stage.loop.run_until_complete(work)

    def settle(self) -> None:
        """Until the clock waits for the application; then all that may leave leaves. Windows close as time passes."""
        self.stage.time.seconds += 1.0
        self.do(self.node.close_windows())
        self.do(rounds(20))
        if self.turns.done():
            self.turns.result()
        for said in self.do(self.ledger.do(lambda c: ledger.outbox(c, "say"))):
            self.world.see(("say", said.seq), said.body if not self.stage.redrawn else (said.body, secrets.token_bytes(8)))
        for s, _, each in self.do(self.ledger.do(ledger.releases)):
            self.world.see(("release", s, each.entry), each.value)

    def ask(self, key: str) -> tuple[str, int]:
        found = self.do(self.node.ask(key, key if self.stage.persons else None))
        if not found.learned:
            assert not self.stage.persons, "a person was charged twice for one reward"
            raise StorageError("an answer without a disk is no decision that anybody counts on")
        self.listen(len(self.world.decided))
        return found.id, found.arm

    def listen(self, count: int) -> None:
        """A word of the other comes with each patient, and the one before comes again."""
        for raw in self.stage.words[max(0, count - 1) : count + 1]:
            message = plain_unseal("say.south", raw)
            word = self.do(self.node.receive(message, raw))
            known = self.world.seen.setdefault(("heard", message.seq), word)
            assert word in ("new", "same") and (word == "same" or known == "new"), "a word was lost"
        self.settle()

    def tell(self, id: str, value: int) -> None:
        self.do(self.node.tell(id, value / UNIT))
        self.settle()

    def facts(self) -> dict[str, Any]:
        record = np.frombuffer(msgpack.decode(self.node.secret)["agent"], self.node.agent.secret.dtype)[0]
        arms = range(len(self.stage.federation.arms))
        return {"sums": [(int(record["count"][k]), int(record["total"][k])) for k in arms], "s": self.node.s}


class Stage:
    """All that lives have in common. `node` and `redrawn`: a mutant's; `persons`: everybody has a budget for one reward."""

    def __init__(self, folder: Path, algorithm: Any = "fed-ucb", persons: bool = False, **tables: Any):
        self.persons = persons
        self.federation = make_federation(folder, algorithm, agents=("north", "south"), arms=2, **tables)
        self.loop, self.time, self.node, self.redrawn, self.words = asyncio.new_event_loop(), Clock(), Node, False, ()
        self.loop.set_exception_handler(lambda *_: None)  # a task without power need not say so

    def __call__(self, folder: Path, disk: Disk, world: World) -> Real:
        """A start; what ran before is simply gone."""
        self.forget()
        return Real(self, folder, disk, world)

    def forget(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
            with contextlib.suppress(BaseException):
                self.loop.run_until_complete(task)


async def rounds(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
