"""Versions that files of ours had before, to the letter, and the steps from each to the next. Nothing in here changes any more.

rewards.db 1: keys and places were unique by columns, so that every question wrote a page for the key and one for the place
that it did not have. Unique columns cannot be dropped: the table is made anew.
"""

from coterie.deploy.stores.schema import Older

REWARDS = {
    1: Older(
        (
            """CREATE TABLE decision(
            n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, arm INTEGER NOT NULL, at REAL NOT NULL,
            learns INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
            value INTEGER, place INTEGER UNIQUE, used INTEGER) STRICT""",
            "CREATE INDEX open ON decision(at) WHERE state = 0",
            "CREATE INDEX queue ON decision(place) WHERE place IS NOT NULL AND used IS NULL",
            "CREATE INDEX used ON decision(used) WHERE used IS NOT NULL",
            "CREATE TABLE secret(s INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
            "CREATE TABLE closing(number INTEGER PRIMARY KEY, until REAL NOT NULL) STRICT",
            "CREATE TABLE forgotten(before REAL NOT NULL, decisions INTEGER NOT NULL, place INTEGER NOT NULL) STRICT",
        ),
        (
            *(f"DROP INDEX {name}" for name in ("open", "queue", "used")),
            "ALTER TABLE decision RENAME TO older",
            """CREATE TABLE decision(
            n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT, arm INTEGER NOT NULL, at REAL NOT NULL,
            learns INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
            value INTEGER, place INTEGER, used INTEGER) STRICT""",
            "INSERT INTO decision SELECT n, id, key, arm, at, learns, state, told, value, place, used FROM older",
            "DROP TABLE older",
            "CREATE UNIQUE INDEX keys ON decision(key) WHERE key IS NOT NULL",
            "CREATE UNIQUE INDEX places ON decision(place) WHERE place IS NOT NULL",
            "CREATE INDEX open ON decision(at) WHERE state = 0",
            "CREATE INDEX queue ON decision(place) WHERE place IS NOT NULL AND used IS NULL",
            "CREATE INDEX used ON decision(used) WHERE used IS NOT NULL",
        ),
    ),
}
