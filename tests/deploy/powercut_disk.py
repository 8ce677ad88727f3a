"""A disk that can lose power and that can refuse, under a real SQLite (apsw, whose file system is ours).

A file is what was synced, and the writes since. When power goes, all of these are lost, or a random part: of each write some
sectors arrive and some do not. Every write and sync is a point at which that can happen, before it and after it.
"""

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512


class Cut(BaseException):
    """Power is gone. No program can catch it."""


class Disk:
    """`cut_at`: the point at which power goes.

    refuses  (from point, to point, "write" | "sync", error of apsw), of files whose path has `refusing` in it
    """

    def __init__(self, name: str = "cut"):
        self.points, self.cut_at, self.dead, self.refuses = 0, 0, False, (0, 0, "", apsw.FullError)
        self.refusing, self.refused = "", 0
        self.synced: dict[str, bytes] = {}
        self.since: dict[
            str, list[tuple[int, bytes | None]]
        ] = {}  # (offset, data), or (size, None) of a file that was cut short
        self.normal = False  # a mutant: synchronous=NORMAL
        self.vfs = Vfs(name, self)
        self.open: list[Any] = []

    def clear(self) -> None:
        """A new disk, as far as this can tell: the files are the caller's to delete."""
        self.points, self.cut_at, self.refused, self.synced, self.since = 0, 0, 0, {}, {}

    def connect(self, path: Path) -> "Connection":
        connection = Connection(path, self)
        self.open.append(connection)
        return connection

    def point(self, kind: str, path: str) -> None:
        if self.dead:
            raise Cut
        self.points += 1
        if self.points == self.cut_at:
            self.dead = True
            raise Cut
        first, last, kinds, error = self.refuses
        if first <= self.points <= last and kind == kinds and self.refusing in path:
            self.refused += 1
            raise error("no")

    def come_back(self, chance: random.Random | None) -> None:
        """Power is back: of what was not synced nothing is there, or a random part."""
        self.close()
        self.cut_at = 0
        for path, writes in self.since.items():
            content = bytearray(self.synced.get(path, b""))
            for offset, data in writes:
                if chance is None:
                    continue
                if data is None:
                    del content[offset if chance.random() < 0.5 else len(content) :]
                    continue
                for start in range(0, len(data), SECTOR):
                    if chance.random() < 0.5:
                        part = data[start : start + SECTOR]
                        content.extend(bytes(max(0, offset + start + len(part) - len(content))))
                        content[offset + start : offset + start + len(part)] = part
            if Path(path).exists():
                Path(path).write_bytes(content)
            self.synced[path] = bytes(content)
        self.since = {}
        for path in self.synced:
            Path(path + "-shm").unlink(missing_ok=True)

    def close(self) -> None:
        self.dead = True  # SQLite would tidy up
        for connection in self.open:
            with contextlib.suppress(BaseException):
                connection.own.close(True)
        self.open, self.dead = [], False


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]):
        self.disk, self.path = disk, name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        disk.synced.setdefault(self.path, Path(self.path).read_bytes() if Path(self.path).exists() else b"")
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.point("write", self.path)
        super().xWrite(data, offset)
        self.disk.since.setdefault(self.path, []).append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        self.disk.point("write", self.path)
        super().xTruncate(size)
        self.disk.since.setdefault(self.path, []).append((size, None))

    def xSync(self, flags: int) -> None:
        self.disk.point("sync", self.path)  # and no more: the real disk need not be waited for
        self.disk.synced[self.path] = Path(self.path).read_bytes()
        self.disk.since.pop(self.path, None)
        self.disk.point("", self.path)


class Vfs(apsw.VFS):
    def __init__(self, name: str, disk: Disk):
        self.name, self.disk = name, disk
        super().__init__(name, "unix")

    def xOpen(self, name: Any, flags: list[int]) -> File:
        return File(self.disk, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self.disk.point("write", name)
        super().xDelete(name, sync)
        self.disk.synced.pop(name, None)
        self.disk.since.pop(name, None)


class Connection:
    """apsw as sqlite3 speaks: what a store uses of it."""

    def __init__(self, path: Path, disk: Disk):
        self.disk = disk
        with as_sqlite3():
            self.own = apsw.Connection(str(path), vfs=disk.vfs.name)

    def execute(self, statement: str, values: Any = ()) -> "Rows":
        if self.disk.normal:
            statement = statement.replace("synchronous=FULL", "synchronous=NORMAL")
        with as_sqlite3():
            return Rows(self.own.execute(statement, values).fetchall(), self.own.changes())

    def executemany(self, statement: str, rows: Any) -> None:
        with as_sqlite3():
            self.own.executemany(statement, rows)

    @property
    def in_transaction(self) -> bool:
        return self.own.in_transaction

    @property
    def total_changes(self) -> int:
        return self.own.total_changes()

    def close(self) -> None:
        with as_sqlite3():
            self.own.close()


class Rows(list):
    def __init__(self, rows: list[tuple], rowcount: int):
        super().__init__(rows)
        self.rowcount = rowcount

    def fetchall(self) -> list[tuple]:
        return list(self)

    def fetchone(self) -> tuple | None:
        return self[0] if self else None


@contextlib.contextmanager
def as_sqlite3() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        own = sqlite3.IntegrityError if isinstance(error, apsw.ConstraintError) else sqlite3.OperationalError
        told = own(str(error))
        told.sqlite_errorcode = next(code for code in range(1, 30) if type(apsw.exception_for(code)) is type(error))
        raise told from error
