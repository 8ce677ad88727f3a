"""From a member's folder to a running node: keys, stores, wire and clock put together.

    DIR/federation.toml    the public file            DIR/sign.key, connect.key    this member's two keys
    DIR/rewards.db         raw rewards, 0600          DIR/ledger.db                what was released, and the state
    DIR/token              what writers must show     DIR/run.json                 to which run the folder belongs
    DIR/settings.toml      the member's own, if any   DIR/../persons.db            what persons have lost, over all runs

`opened` is what the commands run; `open_agent` is the same for an application in Python, on a loop in a thread of its own.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Literal, NamedTuple, TypeVar

from msgspec import structs

from coterie.deploy.clocks import live
from coterie.deploy.federation import Federation, load_federation
from coterie.deploy.keys import Keys, load_keys
from coterie.deploy.log import Started, Stopped, changes, log
from coterie.deploy.node import Decision, Node, Seal, Stores
from coterie.deploy.place import place
from coterie.deploy.secure.sealing import Box
from coterie.deploy.settings import open_persons
from coterie.deploy.stores import Store, ledger, rewards
from coterie.deploy.view import View
from coterie.deploy.web.guard import token_of
from coterie.deploy.web.serve import Listen, serving, taken
from coterie.deploy.wire.envelope import sealer, unseal
from coterie.deploy.wire.nats import NatsWire
from coterie.deploy.wire.post import Post
from coterie.deploy.wire.wire import Wire
from coterie.errors import AuthError, CoterieError, UsageError
from coterie.kernel.waiting import TICK

FILE, TOKEN = "federation.toml", "token"
LOG_ROOM = 6 << 20  # bytes of rewards.db's log: more than comes between two checkpoints
LOG_PAUSE = 0.5  # seconds between two looks at what may be seen
Role = Literal["agent", "coordinator"]
A = {"agent": "an agent", "coordinator": "the coordinator"}

R = TypeVar("R")


def who_is(federation: Federation, keys: Keys, folder: Path) -> tuple[str, Role]:
    """The name and role under which the file has these keys."""
    for member in federation.members:
        if member.signs == keys.signs:
            if member.connects != keys.connects:
                raise AuthError(f"{folder / FILE}: connects of {member.name} must be {keys.connects}, got {member.connects}")
            if member.seals not in (None, keys.seals):
                raise AuthError(f"{folder / FILE}: seals of {member.name} must be {keys.seals}, got {member.seals}")
            return member.name, "coordinator" if member is federation.coordinator else "agent"
    raise AuthError(
        f"{folder / FILE}: must have a member with signs = {keys.signs}, got none: hand over the line of `agent init`"
    )


class Running(NamedTuple):
    """A node and the task that is its life; it ends only by an error."""

    node: Node
    life: "asyncio.Task[None]"


@contextlib.asynccontextmanager
async def opened(folder: Path, role: Role = "agent") -> AsyncIterator[Running]:
    """The node of this folder, at work. Its errors come out of `life`."""
    federation, keys = load_federation(folder / FILE), load_keys(folder)
    name, found = who_is(federation, keys, folder)
    if found != role:
        raise UsageError(
            f"{folder}: must be the folder of {A[role]}, got that of {name}, {A[found]}: run `coterie {found} {folder}`"
        )
    with place(folder, federation, name) as held, contextlib.ExitStack() as after:
        kept = Store(held.rewards, rewards.SCHEMA, near=True, room=LOG_ROOM)
        after.callback(kept.close)
        stores = Stores(kept, Store(held.ledger, ledger.SCHEMA))
        after.callback(stores.ledger.close)
        persons = open_persons(folder, federation, name)
        if persons is not None:
            after.callback(persons.store.close)
        wire = NatsWire(federation, name, keys) if federation.broker and federation.hears(name) else None
        running = await begin(federation, name, keys, stores, steady_clock(), wire, persons=persons)
        try:
            yield running
        finally:
            running.life.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await running.life


def box_of(federation: Federation, name: str, keys: Keys) -> Box:
    """To seal pieces of secure sums to others, and to open those that are for this member."""
    return Box(name, keys.seal, {member.name: bytes.fromhex(member.seals) for member in federation.agents if member.seals})


async def begin(
    federation: Federation, name: str, keys: Keys, stores: Stores, now: Callable[[], float], wire: Wire | None, **tools: Any
) -> Running:
    """A node at work on these stores, this clock and this wire; `tools` are those of `Node.open`."""
    seal: Seal = lambda *word: sealed(*word)  # noqa: E731  # by the number of this start, which the ledger has
    node = await Node.open(federation, name, stores, now, seal=seal, unseal=unseal, **tools)
    node.box = box_of(federation, name, keys)
    incarnation = await stores.ledger.do(ledger.incarnation)
    sealed = sealer(federation, name, incarnation)
    return Running(node, asyncio.create_task(_live(node, federation, keys, incarnation, wire)))


async def _live(node: Node, federation: Federation, keys: Keys, incarnation: int, wire: Wire | None) -> None:
    """The clock, the windows of rewards and the post, side by side; the first that cannot go on ends all.

    No turn is taken, and so nothing released, before the broker knows that this is the only one who speaks with these keys.
    """
    async with contextlib.AsyncExitStack() as after:
        works = [node.keep_windows()]
        if wire is not None:
            after.push_async_callback(wire.close)
            post = Post(federation, node.name, keys, wire, node.stores.ledger, node, incarnation, entropy=node.entropy)
            works += [post.run(), _once(post.claimed, lambda: live(node, federation))]
        else:
            works.append(live(node, federation))
        try:
            async with asyncio.TaskGroup() as tasks:
                for work in works:
                    tasks.create_task(work)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None


async def _once(event: asyncio.Event, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await event.wait()
    await work()


async def serve(folder: Path, role: Role, listen: Listen, say: Callable[[str], None]) -> None:
    """What `coterie agent` and `coterie coordinator` do, until they are stopped or cannot go on."""
    if (folder / TOKEN).exists():
        token_of(folder / TOKEN)  # one that is refused is refused before anything is opened
    with taken(listen) as (where, sock):
        async with opened(folder, role) as (node, life), serving(node, token_of(folder / TOKEN), where, sock):
            say(f"{node.name}: {where.address} (writing needs the token in {folder / TOKEN})")
            view = node.view()
            log(node.name, Started(view.role, view.run, view.algorithm, where.address))
            chronicle = Chronicle(node, structs.replace(view, connected=None, alarms=(), rejected={}))
            telling = asyncio.create_task(chronicle.follow())
            try:
                await life
            except Exception as error:
                code, why = (error.exit_code, str(error)) if isinstance(error, CoterieError) else (70, type(error).__name__)
                chronicle.end(Stopped(code, why))
                raise
            except asyncio.CancelledError:
                chronicle.end(Stopped(0, "from outside"))
                raise
            finally:
                telling.cancel()


class Chronicle:
    """Logs what has happened to a node since `told`."""

    def __init__(self, node: Node, told: View):
        self._node, self._told = node, told

    async def follow(self) -> None:
        """Whenever there is something new to see; at most so often that nobody is kept from work."""
        while True:
            change = self._node.changed.wait()
            self._tell()
            await change
            await asyncio.sleep(LOG_PAUSE)

    def end(self, stopped: Stopped) -> None:
        """What happened in the last pause is told too: it may be why the member has stopped."""
        self._tell()
        log(self._told.name, stopped)

    def _tell(self) -> None:
        now = self._node.view()
        for event in changes(self._told, now):
            log(now.name, event)
        self._told = now


def steady_clock() -> Callable[[], float]:
    """Seconds since 1970: the wall clock is read once, and then the one that never falls."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()


class OpenAgent:
    """An agent for an application in Python: it asks and tells, and the node works on a loop in a thread.

    >>> agent = coterie.open_agent("north/")  # doctest: +SKIP
    >>> decision = agent.ask(key="patient 17")  # doctest: +SKIP
    >>> agent.tell(decision.id, 1.0)  # doctest: +SKIP
    """

    def __init__(self, folder: Path):
        self._error: BaseException | None = None
        self._ended = False  # as the thread says; a thread's own word on that can be spoilt by Ctrl-C
        self._works = set["asyncio.Task[None]"]()
        self._loop, self._over, ready = asyncio.new_event_loop(), asyncio.Event(), Future[Node]()
        self._thread = Thread(target=self._run, args=(folder, ready), daemon=True)
        self._thread.start()
        self._node = ready.result()

    def ask(self, key: str | None = None, person: str | None = None) -> Decision:
        """Which arm to play. The same key gives the same decision, also after a crash.

        `person`: whose reward it will be, where settings.toml has a budget for persons.
        """
        return self._do(self._node.ask(key, person))

    def tell(self, decision: str, reward: float) -> None:
        """What came of a decision: late, in any order, and twice is once."""
        self._do(self._node.tell(decision, reward))

    def cancel(self, decision: str) -> None:
        """It was not carried out."""
        self._do(self._node.cancel(decision))

    def withhold(self, arm: str, yes: bool = True) -> None:
        """The safety stop: such an arm is not answered from now on."""
        self._do(self._node.withhold(arm, yes))

    def view(self) -> View:
        """All that may be seen of it."""

        async def look() -> View:
            return self._node.view()

        return self._do(look())

    def close(self) -> None:
        if not self._ended:
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()

    def __enter__(self) -> "OpenAgent":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _do(self, work: Coroutine[Any, Any, R]) -> R:
        """Waits at a queue: Ctrl-C at any moment leaves no lock behind that the node would wait for."""
        answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

        async def answer() -> None:
            try:
                answers.put((await work, None))
            except BaseException as error:
                answers.put((None, error))

        def begin() -> None:
            task = self._loop.create_task(answer())
            self._works.add(task)
            task.add_done_callback(self._works.discard)

        if self._ended:
            work.close()
        else:
            self._loop.call_soon_threadsafe(begin)
        while not self._ended or not answers.empty():
            with contextlib.suppress(Empty):
                value, error = answers.get(timeout=TICK)
                if error is not None:
                    raise error
                return value
        raise self._error or UsageError("an agent must be open, got one that was closed")

    def _run(self, folder: Path, ready: "Future[Node]") -> None:
        try:
            self._loop.run_until_complete(self._live(folder, ready))
        finally:
            self._ended = True

    async def _live(self, folder: Path, ready: "Future[Node]") -> None:
        try:
            async with opened(folder) as (node, life):
                ready.set_result(node)
                await asyncio.wait({life, asyncio.ensure_future(self._over.wait())}, return_when=asyncio.FIRST_COMPLETED)
                if life.done():
                    await life
        except BaseException as error:
            self._error = error
            if not ready.done():
                ready.set_exception(error)


def open_agent(folder: str | Path) -> OpenAgent:
    """The agent whose folder this is; see `OpenAgent`. One process at a time has it open."""
    return OpenAgent(Path(folder))
