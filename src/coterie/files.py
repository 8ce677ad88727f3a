"""Files that are whole or not there. Everything of ours that is written goes through `write`.

A file is written beside its place and renamed into it, so that a full disk, a crash or a reader at the wrong moment never
meets half of one.
"""

import contextlib
import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from coterie.errors import FencedError, StorageError

try:
    import fcntl
except ImportError:  # a system without it has no locks
    fcntl = None  # type: ignore[assignment]

SCRATCH = re.compile(r"\.coterie-[0-9a-f]{8}\.tmp")  # what a process that was killed in the middle of `write` leaves


def write(path: Path, content: str | bytes, durable: bool = True) -> None:
    """The file with this content, its folders too. `durable`: a power cut does not take it; that costs some 10 ms."""
    data = content.encode() if isinstance(content, str) else content
    with refused(path, "written"):
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe must not be replaced
            return
        if path.exists():
            path.open("ab").close()  # a file that may not be written may not be replaced either
        _replace(path.resolve(), data, durable)


def grown(path: Path) -> IO[bytes]:
    """A log, to which is added: it is never whole."""
    with refused(path, "written"):
        return path.open("ab")


def changed(path: Path) -> IO[bytes]:
    """A file that is there, to be read and written in its place: whoever does so knows what a crash may leave."""
    return path.open("r+b", buffering=0)


def read(path: Path) -> bytes:
    with refused(path, "read"):
        return path.read_bytes()


def make_folder(path: Path) -> None:
    with refused(path, "made"):
        path.mkdir(parents=True, exist_ok=True)


def remove_folder(path: Path) -> None:
    """With all that is in it."""
    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def refused(path: Path, done: str) -> Iterator[None]:
    """What the disk refuses, in one line."""
    try:
        yield
    except OSError as error:
        files = [place for place in (path, *path.parents) if os.path.exists(place) and not os.path.isdir(place)]
        if isinstance(error, IsADirectoryError):
            why = "it is a folder"
        elif isinstance(error, NotADirectoryError | FileExistsError) and files:
            why = f"{'it' if files[-1] == path else files[-1]} is a file, and no folder"
        else:
            why = error.strerror or str(error)
        raise StorageError(f"{path}: cannot be {done}: {why}") from error


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """No other process is inside with the same folder."""
    with locked(folder, wait=False) as is_mine:
        if not is_mine:
            raise FencedError(f"{folder}: is in use by another run: wait until it has ended, or name another folder")
        yield


@contextlib.contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold a file or folder against others who ask, too; false: one of them does, and nobody waits.

    The system keeps the lock, so that one of a dead process is none. Where it cannot (some network disks), all is as if it
    were held: files stay whole even so.
    """
    if fcntl is None:
        yield True
        return
    is_mine = True
    with refused(path, "read"):
        handle = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            is_mine = False
        except OSError:
            pass
        yield is_mine
    finally:
        os.close(handle)


def in_use(folder: Path) -> bool:
    """Whether another process holds it. It is asked for a moment only, and whoever takes it at that very moment is told so."""
    with locked(folder, wait=False) as is_mine:
        return not is_mine


def time_of_sync(folder: Path) -> float:
    """Seconds until a page is on its disk; nothing stays there."""
    with refused(folder, "written"), tempfile.TemporaryFile(dir=folder) as file:
        start = time.monotonic()
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())
        return time.monotonic() - start


def _replace(path: Path, data: bytes, durable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".coterie-{os.urandom(4).hex()}.tmp")
    try:
        with scratch.open("xb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise
    if durable:
        _sync(path.parent)


def _sync(folder: Path) -> None:
    """Only then the new name is on the disk, too."""
    if fcntl is None:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network disks cannot
            raise
    finally:
        os.close(handle)


def check_writable(path: Path, *files: str) -> None:
    """Refuse a file, or a folder with these files to be, that cannot be written. It is tried, and nothing stays."""
    folder = path if files else path.parent
    try:
        made = [place for place in (folder, *folder.parents) if not place.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            for place in [path / name for name in files] or [path]:
                if place.exists():
                    place.open("ab").close()
        finally:
            for place in made:
                with contextlib.suppress(OSError):
                    place.rmdir()
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from None
