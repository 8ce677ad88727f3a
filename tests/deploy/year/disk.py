"""The two files of a member, as SQLite in memory: they outlive processes and lose what was not committed.

A store does what the real one's thread does: all that waits is one group, one commit, and is answered after it. Both take time,
so a process can die before the commit, and between the commit and its answers. How syncs and single writes can fail below a
commit is another test's matter (test_powercut).
"""

import asyncio
import copy
import sqlite3

from coterie.deploy.node import Stores
from coterie.deploy.stores import Store, ledger, rewards
from coterie.deploy.stores.store import Waiting, answered, hand_over
from coterie.errors import StorageError
from year.seen import Seen

QUICK = 0.005, 0.05  # seconds until a commit, and from there to its answers, at most
SCHEMAS = {"rewards.db": rewards.SCHEMA, "ledger.db": ledger.SCHEMA}


class File:
    """A connection that a process holds; closing it gives back what was not committed."""

    def __init__(self, own=None):
        self.own = own or sqlite3.connect(":memory:", isolation_level=None)
        self.execute, self.executemany = self.own.execute, self.own.executemany

    @property
    def in_transaction(self):
        return self.own.in_transaction

    @property
    def total_changes(self):
        return self.own.total_changes

    def close(self):
        if self.own.in_transaction:
            self.own.execute("ROLLBACK")

    def copy(self):
        self.close()
        other = sqlite3.connect(":memory:", isolation_level=None)
        self.own.backup(other)
        return File(other)


class Folder:
    """What a member has on disk, and what is wrong with it."""

    def __init__(self, path, files=None):
        self.path, self.files = path, files or {name: File() for name in SCHEMAS}
        self.slow, self.full, self.torn = 1.0, False, False
        self.trouble = False  # since its process has started
        self.seen = Seen()

    def copy(self):
        other = Folder(self.path, {name: file.copy() for name, file in self.files.items()})
        other.seen = copy.deepcopy(self.seen)
        return other

    def open(self, process):
        return Stores(*(SlowStore(self, name, schema, process) for name, schema in SCHEMAS.items()))


class SlowStore(Store):
    """`process` knows when to die, and is told of every commit."""

    def __init__(self, folder, name, schema, process):
        self.folder, self.name, self.process = folder, name, process
        self.queue, self.waiting, self.busy, self.dirty = [], [], False, 0
        super().__init__(folder.path / name, schema, connect=lambda _: folder.files[name], inline=True)
        self._execute = self._told

    async def do(self, work, then=None, large=False):
        if self.closed:
            raise StorageError(f"{self.path}: cannot be written any more: it was closed")
        future = asyncio.get_running_loop().create_future()
        self.queue.append((work, Waiting(future, then)))
        if not self.busy:
            self._later(self._write)
        return answered(await future)

    def close(self):
        """Whoever waits for an answer is of a process that is gone."""
        super().close()
        for waiting in (*self.waiting, *(waiting for _, waiting in self.queue)):
            waiting.future.cancel()

    def _later(self, call, *arguments):
        self.busy = True
        seconds = self.process.chance.uniform(*QUICK) * self.folder.slow
        asyncio.get_running_loop().call_later(seconds, call, *arguments)

    def _write(self):
        if self.closed or self.process.dies("before"):
            return
        group, self.queue = self.queue, []
        self.waiting = [waiting for _, waiting in group]
        before = self._connection.total_changes
        answers = self._commit([work for work, _ in group])
        if self._connection.total_changes > before:
            self.process.committed(self)
            if self.process.dies("after"):
                return
        self._tidy()
        self._later(self._answer, [(waiting, answer) for (_, waiting), answer in zip(group, answers, strict=True)])

    def _answer(self, answers):
        if self.closed:
            return
        hand_over(answers)
        self.busy = False
        if self.queue:
            self._later(self._write)

    def _told(self, statement, *values):
        """What the store says to its file by itself: its transactions."""
        if statement.startswith("BEGIN"):
            self.dirty = self._connection.total_changes
        if statement == "COMMIT" and self._connection.total_changes > self.dirty:
            if self.folder.full:
                raise _refusal(sqlite3.SQLITE_FULL, "database or disk is full")
            if self.folder.torn:  # it may be there or not: nobody knows
                self.folder.torn = False
                self._connection.execute("COMMIT" if self.process.chance.random() < 0.5 else "ROLLBACK")
                raise _refusal(sqlite3.SQLITE_IOERR, "disk I/O error")
        return self._connection.execute(statement, *values)


def _refusal(code, text):
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error
