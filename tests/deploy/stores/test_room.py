"""A log that has its size from the start: zeros behind its frames change nothing that is in it."""

import asyncio
import errno
import os
import shutil

import pytest

from coterie.deploy.opening import LOG_ROOM
from coterie.deploy.stores import Schema, Store, rewards
from coterie.deploy.stores import store as storing
from coterie.deploy.stores.room import NO_SPACE, make_room
from coterie.errors import StorageError

SCHEMA = Schema(7, 1, ("CREATE TABLE word(word TEXT UNIQUE) STRICT",))
ROOM = 1 << 17


def put(word):
    return lambda c: c.execute("INSERT INTO word VALUES(?)", (word,)).fetchall()


def words(c):
    return [word for (word,) in c.execute("SELECT word FROM word ORDER BY rowid").fetchall()]


def opened(folder, room=ROOM):
    return Store(folder / "words.db", SCHEMA, inline=True, room=room)


def size_of_log(folder):
    return (folder / "words.db-wal").stat().st_size


def as_after_a_crash(folder, to):
    """Both files as they are, without what a process knows that has them open."""
    to.mkdir()
    for name in ("words.db", "words.db-wal"):
        shutil.copy(folder / name, to / name)
    return to


def test_a_disk_that_has_little_more_is_left_to_others(tmp_path, monkeypatch):
    disk = os.statvfs(tmp_path)
    free = os.statvfs_result((*disk[:2], *disk[2:4], (2 * ROOM - 1) // disk.f_frsize, *disk[5:]))
    monkeypatch.setattr(os, "fstatvfs", lambda file: free)
    opened(tmp_path).close()
    store = opened(tmp_path)
    assert size_of_log(tmp_path) < ROOM
    store.close()


def test_a_start_finds_all_that_was_committed_however_much_room_is_behind_it(tmp_path):
    home, kept = tmp_path / "home", []
    home.mkdir()
    for start, room in enumerate((0, ROOM, 2 * ROOM, 0, ROOM)):
        store = opened(home, room)
        assert asyncio.run(store.do(words)) == kept
        assert size_of_log(home) >= room
        before = as_after_a_crash(home, tmp_path / f"{start} before")
        for _ in range(3):
            kept.append(f"word {len(kept)}")
            asyncio.run(store.do(put(kept[-1])))
        after = as_after_a_crash(home, tmp_path / f"{start} after")
        for folder, known in ((before, kept[:-3]), (after, kept)):
            again = opened(folder)
            assert asyncio.run(again.do(words)) == known
            again.close()
        if start % 2:
            store.close()
        else:
            home = as_after_a_crash(home, tmp_path / f"{start} killed")


def test_a_log_does_not_grow_between_two_checkpoints(tmp_path):
    """Of the dearest questions: long keys in no order."""

    async def life():
        store = Store(tmp_path / "words.db", rewards.SCHEMA, near=True, room=LOG_ROOM)
        for n in range(2 * storing.CHANGES_TO_CHECKPOINT):
            id, key = f"0123456789abcdef{n:x}", f"{n * 7919 % 1000:0200}"
            await store.do(lambda c: rewards.decide(c, id, key, 0, float(n), True))  # noqa: B023
        size = size_of_log(tmp_path)
        store.close()
        return size

    assert asyncio.run(life()) == LOG_ROOM


@pytest.mark.parametrize("code", NO_SPACE)
def test_a_disk_without_space_leaves_a_log_as_it_is(tmp_path, monkeypatch, code):
    (tmp_path / "log").write_bytes(b"frames")
    refuse(monkeypatch, code)
    make_room(tmp_path / "log", ROOM)
    assert (tmp_path / "log").read_bytes() == b"frames"


def test_any_other_failure_is_the_disks(tmp_path, monkeypatch):
    refuse(monkeypatch, errno.EIO)
    with pytest.raises(StorageError, match=r"words.db-wal: cannot be written: Input/output error"):
        opened(tmp_path)


def refuse(monkeypatch, code):
    def fsync(file):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fsync)
