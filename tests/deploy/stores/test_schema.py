"""Files of older versions are made into this one, whole or not at all; newer ones and unknown ones stay as they are."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from powercut_disk import Cut, Disk

from coterie.deploy.stores import Schema, Store
from coterie.deploy.stores.schema import Older
from coterie.deploy.stores.store import reading
from coterie.errors import StateError, StorageError

FIRST = Schema(7, 1, ("CREATE TABLE word(word TEXT) STRICT",))
SECOND = Schema(
    7, 2, ("CREATE TABLE word(word TEXT, length INTEGER) STRICT",),
    {1: Older(FIRST.statements, (
        "ALTER TABLE word RENAME TO older",
        "CREATE TABLE word(word TEXT, length INTEGER) STRICT",
        "INSERT INTO word SELECT word, length(word) FROM older",
        "DROP TABLE older",
    ))},
)  # fmt: skip
THIRD = Schema(
    7, 3, (*SECOND.statements, "CREATE UNIQUE INDEX words ON word(word)"),
    {**SECOND.older, 2: Older(SECOND.statements, ("CREATE UNIQUE INDEX words ON word(word)",))},
)  # fmt: skip


def put(*words):
    return lambda c: c.executemany("INSERT INTO word(word) VALUES(?)", [(word,) for word in words])


def rows(c):
    return c.execute("SELECT * FROM word ORDER BY word").fetchall()


def made(path, *words, schema=FIRST):
    store = Store(path, schema, inline=True)
    asyncio.run(store.do(put(*words)))
    store.close()


@pytest.mark.parametrize("schema", [SECOND, THIRD])
def test_an_older_file_is_made_into_this_version_step_by_step(tmp_path, schema):
    path = tmp_path / "words.db"
    made(path, "a", "bcd")
    for _ in range(2):  # the second start finds nothing to do
        store = Store(path, schema, inline=True)
        assert asyncio.run(store.do(rows)) == [("a", 1), ("bcd", 3)]
        store.close()
    with pytest.raises(StateError, match="must be of schema 1 or older, got"):
        Store(path, FIRST, inline=True)


def test_who_only_reads_an_older_file_changes_nothing(tmp_path):
    path = tmp_path / "words.db"
    made(path, "a")
    before = path.read_bytes()
    with reading(path, SECOND) as c:
        assert rows(c) == [("a",)]
    assert path.read_bytes() == before


def test_an_older_file_that_is_damaged_or_of_a_version_that_is_not_known_stays(tmp_path):
    path = tmp_path / "words.db"
    made(path, "a")
    with pytest.raises(StateError, match="must be of schema 2 or newer, got 1; it stays as it is"):
        Store(path, SECOND._replace(older={}), inline=True)
    with closing(sqlite3.connect(path)) as c:
        c.execute("ALTER TABLE word ADD COLUMN other TEXT")
        c.commit()
    with pytest.raises(StateError, match="its tables are not as they were made"):
        Store(path, SECOND, inline=True)
    with closing(sqlite3.connect(path)) as c:
        assert rows(c) == [("a", None)]


def test_a_step_that_cannot_be_taken_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "words.db"
    made(path, "a", "a", schema=SECOND)
    with pytest.raises(StorageError, match="UNIQUE"):
        Store(path, THIRD, inline=True)
    with reading(path, SECOND) as c:
        assert rows(c) == [("a", None), ("a", None)]


def test_a_power_cut_in_the_middle_leaves_one_version_or_the_other(tmp_path):
    disk, path, cuts = Disk("renewed"), tmp_path / "words.db", 0
    while True:
        for each in tmp_path.iterdir():
            each.unlink()
        disk.clear()
        store = Store(path, FIRST, connect=disk.connect, inline=True)
        asyncio.run(store.do(put("a", "bcd")))
        disk.close()
        disk.cut_at = disk.points + cuts + 1
        try:
            Store(path, THIRD, connect=disk.connect, inline=True)
            break
        except Cut:
            disk.come_back(None)
            cuts += 1
        again = Store(path, THIRD, connect=disk.connect, inline=True)
        assert asyncio.run(again.do(rows)) == [("a", 1), ("bcd", 3)]
        disk.close()
    disk.close()
    assert cuts > 10
