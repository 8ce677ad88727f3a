"""Decisions of an older rewards.db are those of a new one: keys, places, rewards and what was used."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from coterie.deploy.stores import Store, older, rewards
from coterie.deploy.stores.rewards import Queued

DECISIONS = [  # id, key, at, state, told, value, place, used
    ("a", "patient 1", 1.0, rewards.CLOSED, 1, 10, 1, 5),
    ("b", None, 2.0, rewards.CLOSED, 1, 20, 2, None),
    ("c", None, 3.0, rewards.OPEN, 0, None, None, None),
    ("d", "patient 2", 4.0, rewards.VOID, 0, None, None, None),
]


@pytest.fixture
def path(tmp_path):
    """As the first version left it."""
    path = tmp_path / "rewards.db"
    Store(path, rewards.SCHEMA._replace(version=1, statements=older.REWARDS[1].statements, older={}), inline=True).close()
    with closing(sqlite3.connect(path)) as c:
        for row in DECISIONS:
            c.execute(
                "INSERT INTO decision(id, key, at, state, told, value, place, used, arm, learns)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?, 1, 1)",
                row,
            )
        c.execute("INSERT INTO secret VALUES(5, x'00')")
        c.execute("INSERT INTO forgotten VALUES(0.5, 1, 2)")
        c.commit()
    return path


def rows(c):
    return [c.execute(f"SELECT * FROM {table}").fetchall() for table in ("decision", "secret", "closing", "forgotten")]


def test_all_rows_are_there(path):
    with closing(sqlite3.connect(path)) as c:
        before = rows(c)
    store = Store(path, rewards.SCHEMA, inline=True)
    assert asyncio.run(store.do(rows)) == before
    store.close()


def test_it_goes_on_where_it_stood(path):
    async def life():
        store = Store(path, rewards.SCHEMA, inline=True)
        assert await store.do(rewards.queue) == [Queued(2, 1, 20)]
        assert (await store.do(lambda c: rewards.decide(c, "e", "patient 1", 0, 5.0, True))).id == "a"
        assert (await store.do(lambda c: rewards.decide(c, "e", None, 0, 5.0, True))).new
        assert await store.do(lambda c: rewards.tell(c, "c", 30, True)) == ("new", Queued(3, 1, 30))
        store.close()

    asyncio.run(life())
