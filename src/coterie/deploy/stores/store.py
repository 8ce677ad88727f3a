"""One SQLite file, written by a thread in groups: everything that waits goes into one commit, and is answered after it.

In a store that is `near` a work that comes alone, to a disk that was quick the last time, is done where it comes: to wake a
thread and to be woken by it takes as long as the commit.

Every commit is synced (WAL, synchronous=FULL): whoever has an answer has it from the disk. A full disk may clear, so a group
that met one is refused and the next is tried. Any other failure ends the store: after a failed sync nobody knows what the disk
holds, and syncing again would report success. Checkpoints are ours, not SQLite's own, which would ignore their errors.
"""

import asyncio
import contextlib
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from coterie.deploy.stores.room import make_room
from coterie.deploy.stores.schema import Schema, check_schema, create, renew
from coterie.errors import AuthError, StateError, StorageError
from coterie.files import refused

R = TypeVar("R")
Work = Callable[[Any], Any]
GATHERED_MOST = 32  # works that are handed in together: where there are more, the thread has begun when the last one comes
GROUPS_MOST = 64  # in one commit
QUICK = 0.003  # seconds: a commit that takes longer is one for the thread, so that others are answered meanwhile
CHANGES_TO_CHECKPOINT = 200  # rows; a commit of one takes three pages of 4 KiB and more: the log stays at a few MB
OWN_FAULTS = {  # of a statement, and not of the disk
    sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE,
    sqlite3.SQLITE_TOOBIG,
}  # fmt: skip
MAY_CLEAR = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY}
SAID_BY_SQLITE = (sqlite3.Error, UnicodeDecodeError)
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def connect(path: Path) -> Any:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


class Store:
    """`connect` gives a connection without transactions of its own. `inline`: no thread, every work is a commit by itself.

    `room`: bytes that its log has from the start.
    """

    def __init__(
        self, path: Path, schema: Schema, *, connect: Callable[[Path], Any] = connect, inline: bool = False, near: bool = False,
        room: int = 0,
    ):  # fmt: skip
        self.path, self.schema, self.near, self.broken, self.closed, self._changes = path, schema, near, False, False, 0
        self._connection: Any = None
        with refused(path, "opened"):
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            mode = os.fstat(file).st_mode
            os.close(file)
        if mode & 0o077:
            raise AuthError(f"{path}: must be a file that nobody else can read: chmod 600 {path}")
        try:
            self._connection = connect(path)
            self._execute = self._connection.execute
            self._prepare()
            if room:
                make_room(path.with_name(f"{path.name}-wal"), room)
        except SAID_BY_SQLITE as error:
            failure = self._failure(error)
            if isinstance(failure, StateError) and self._connection is not None:
                self._connection.close()
            raise failure from error
        self._using, self._counting, self._handed, self._took = Lock(), Lock(), 0, 0.0
        self._done: list[Answer] | None = None  # by a commit; also by one that was interrupted, if it is on disk
        self._gathered: deque[Given] = deque()
        self._will_hand_in: asyncio.AbstractEventLoop | None = None  # in its next pass
        self._waiting: SimpleQueue = SimpleQueue()
        self._thread = None if inline else Thread(target=self._work, name=f"coterie {path.name}", daemon=True)
        if self._thread:
            self._thread.start()

    async def do(self, work: Callable[[Any], R], then: Callable[[R], None] | None = None, large: bool = False) -> R:
        """What the work answers, once it is on disk. If it raises, its own changes are undone, and nobody else's.

        `then` is told of the answer first, and also where nobody waits for it any more. `large`: it may take long, and is
        one for the thread in any case.
        Where the disk refuses, this is a StorageError, and nothing of the work has happened unless the store is broken.
        """
        if self.closed:
            raise StorageError(f"{self.path}: cannot be written any more: it was closed")
        if self._thread is None:
            (answer,) = self._commit([work])
            self._tidy()
            if then and not answer.error:
                then(answer.value)
                await asyncio.sleep(0)  # as with a thread, who was woken by it comes before who goes on
            return answered(answer)
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._gathered.append(Given(work, Waiting(future, then), loop, large))
        if len(self._gathered) >= GATHERED_MOST:
            self._hand_in()
        elif self._will_hand_in is not loop:
            self._will_hand_in = loop
            loop.call_soon(self._hand_in)
        return answered(await future)

    def _hand_in(self) -> None:
        """What one pass of a loop brings is handed in together, or in a few parts: to wake the thread costs more than a row."""
        self._will_hand_in = None
        group = self._gather()
        if self._is_for_here(group) and self._using.acquire(blocking=False):
            self._commit_here(group.pop())
        if group or self._changes >= CHANGES_TO_CHECKPOINT:
            self._count(1)
            self._waiting.put(group)

    def _commit_here(self, given: "Given") -> None:
        """Ctrl-C may come at any moment of it: who waits is told what became of the work, and the store goes on."""
        answer = Answer(error=StorageError(f"{self.path}: cannot be written: it was interrupted"))
        try:
            (answer,) = self._commit([given.work])
        except BaseException:
            (answer,) = self._done or (answer,)
            raise
        finally:
            self._using.release()
            given.loop.call_soon(hand_over, [(given.waiting, answer)])  # after those that the thread has handed over before

    def _is_for_here(self, group: list["Given"]) -> bool:
        if not self.near or len(group) != 1 or self._handed > 0 or self._took > QUICK:
            return False
        return not group[0].large and group[0].loop is asyncio.get_running_loop()

    def _count(self, groups: int) -> None:
        """Those that the thread has: nobody overtakes them."""
        with self._counting:
            self._handed += groups

    def _gather(self) -> list["Given"]:
        group: list[Given] = []
        with contextlib.suppress(IndexError):
            while True:
                group.append(self._gathered.popleft())
        return group

    async def probe(self) -> None:
        """Write a little, to see whether the disk takes it again."""
        await self.do(lambda c: c.execute(f"PRAGMA user_version={self.schema.version}").fetchall())

    def erase(self) -> None:
        """No byte of what was deleted is left: the file is made anew, in memory, and its log emptied."""
        try:
            for statement in ("PRAGMA temp_store=MEMORY", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                self._execute(statement).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """All that waits is done first. What SQLite cannot tidy up any more is in its log, and safe there."""
        self.closed = True
        if self._thread:
            self._waiting.put(self._gather())  # not done here: their loop may be another thread's
            self._waiting.put(None)
            self._thread.join()
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def _prepare(self) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0"):
            self._execute(f"PRAGMA {pragma}").fetchall()
        if self._execute("SELECT 1 FROM sqlite_master").fetchone():
            renew(self._connection, self.path, self.schema)
        else:
            create(self._connection, self.schema)

    def _work(self) -> None:
        """The thread: all that waits is one group."""
        ended = False
        while not ended:
            groups = [self._waiting.get()]
            while len(groups) < GROUPS_MOST and not self._waiting.empty():
                groups.append(self._waiting.get())
            ended = None in groups
            group = [each for one in groups if one is not None for each in one]
            with self._using:
                answers = self._commit([given.work for given in group]) if group else []
            for loop in {given.loop for given in group}:
                mine = [(given.waiting, answer) for given, answer in zip(group, answers, strict=True) if given.loop is loop]
                if not loop.is_closed():
                    loop.call_soon_threadsafe(hand_over, mine)
            with self._using:
                self._tidy()
            self._count(-sum(one is not None for one in groups))

    def _commit(self, group: list[Work]) -> list["Answer"]:
        """One transaction for all of them."""
        if self.broken:
            return [Answer(error=StorageError(f"{self.path}: cannot be written any more: the disk has refused before"))] * len(
                group
            )
        began, self._done = monotonic(), None
        try:
            self._execute("BEGIN IMMEDIATE")
            answers = self._together(group) or self._each_apart(group)
            self._changes += len(group)
            self._done = answers
            self._execute("COMMIT")
        except Exception as error:  # whatever it is: nobody may wait for ever
            return [Answer(error=self._failure(error))] * len(group)
        except BaseException:
            if self._connection.in_transaction:
                self._done = None
                self._execute("ROLLBACK")
            raise
        finally:
            self._took = monotonic() - began
        return answers

    def _together(self, group: list[Work]) -> list["Answer"] | None:
        """A savepoint for each would cost nearly as much as its row. None: one has raised after it had changed something."""
        answers = []
        for work in group:
            before = self._connection.total_changes
            answers.append(self._try(work))
            if answers[-1].error and self._connection.total_changes != before:
                self._execute("ROLLBACK")
                self._execute("BEGIN IMMEDIATE")
                return None
        return answers

    def _each_apart(self, group: list[Work]) -> list["Answer"]:
        """Those that raise undo their own changes; all are done again, and so must be functions of what is in the file."""
        answers = []
        for work in group:
            self._execute("SAVEPOINT work")
            answers.append(self._try(work))
            if answers[-1].error:
                self._execute("ROLLBACK TO work")
            self._execute("RELEASE work")
        return answers

    def _try(self, work: Work) -> "Answer":
        try:
            return Answer(work(self._connection))
        except Exception as error:
            if isinstance(error, SAID_BY_SQLITE) and code_of(error) not in OWN_FAULTS:
                raise
            return Answer(error=error)

    def _tidy(self) -> None:
        """Move what was committed from the log into the file, from time to time. A failure here is one of the disk, too."""
        if self._changes < CHANGES_TO_CHECKPOINT or self.broken:
            return
        self._changes = 0
        try:
            self._execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except SAID_BY_SQLITE as error:
            self._failure(error)

    def _failure(self, error: Exception) -> StateError | StorageError:
        """What became of a group."""
        code = code_of(error)
        self.broken = self.broken or code not in MAY_CLEAR
        if not self.broken and self._connection and self._connection.in_transaction:
            try:
                self._execute("ROLLBACK")
            except sqlite3.Error:
                self.broken = True
        return explained(self.path, error, "written")


class Answer(NamedTuple):
    value: Any = None
    error: Exception | None = None


def answered(answer: Answer) -> Any:
    if answer.error is not None:
        raise answer.error
    return answer.value


class Waiting(NamedTuple):
    future: asyncio.Future
    then: Callable[[Any], None] | None


class Given(NamedTuple):
    """A work, who waits for its answer, and in which loop."""

    work: Work
    waiting: Waiting
    loop: asyncio.AbstractEventLoop
    large: bool


def hand_over(answers: list[tuple[Waiting, Answer]]) -> None:
    """Who waits goes on after this: whatever `then` does has happened before, and whom it wakes goes on earlier.

    If one of them fails, others of its group do not suffer from it.
    """
    for (_, then), answer in answers:
        if then and not answer.error:
            try:
                then(answer.value)
            except Exception as error:
                context = {"message": "what follows a commit has failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)
    for (future, _), answer in answers:
        if not future.done():
            future.set_result(answer)


def code_of(error: Exception) -> int:
    """The primary code: the extended ones say where. Text that cannot be read is damage; Python finds that, and has no code."""
    if isinstance(error, UnicodeDecodeError | sqlite3.OperationalError) and not hasattr(error, "sqlite_errorcode"):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def explained(path: Path, error: Exception, done: str) -> StateError | StorageError:
    """In one line. Nothing in it comes from a row: SQLite's words do not show any, but what Python says would."""
    if code_of(error) in DAMAGED:
        said = f" ({error})" if hasattr(error, "sqlite_errorcode") else ""
        return StateError(f"{path}: is damaged, or no file of ours{said}; it stays as it is")
    return StorageError(f"{path}: cannot be {done}: {error}")


@contextlib.contextmanager
def reading(path: Path, schema: Schema) -> Iterator[Any]:
    """A connection that sees one moment of a file and changes nothing, also while its owner runs."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)) as c:
            c.execute("BEGIN")
            check_schema(c, path, schema)
            yield c
    except SAID_BY_SQLITE as error:
        raise explained(path, error, "read") from error
