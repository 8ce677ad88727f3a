"""rewards.db: decisions and their rewards. All that is raw is here and nowhere else, and only its owner can read it.

A decision is open until its reward counts: at the end of its window, or, where the application vouches for timing, at once.
Then it has a place in the queue, from which plans are served; `used` is the state that holds it in its sums. Rewards are
whole numbers of steps on the grid.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, NamedTuple

from coterie.deploy.refusals import Closed, Conflict, UnknownDecision
from coterie.deploy.stores import older
from coterie.deploy.stores.schema import Schema

OPEN, VOID, CLOSED = 0, 1, 2
SCHEMA = Schema(
    application=0xC07E71E,
    version=2,
    statements=(
        """CREATE TABLE decision(
            n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT, arm INTEGER NOT NULL, at REAL NOT NULL,
            learns INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
            value INTEGER, place INTEGER, used INTEGER) STRICT""",
        # of what is there: an empty key or place would be a page more in every commit
        "CREATE UNIQUE INDEX keys ON decision(key) WHERE key IS NOT NULL",
        "CREATE UNIQUE INDEX places ON decision(place) WHERE place IS NOT NULL",
        "CREATE INDEX open ON decision(at) WHERE state = 0",
        "CREATE INDEX queue ON decision(place) WHERE place IS NOT NULL AND used IS NULL",
        "CREATE INDEX used ON decision(used) WHERE used IS NOT NULL",
        "CREATE TABLE secret(s INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
        "CREATE TABLE closing(number INTEGER PRIMARY KEY, until REAL NOT NULL) STRICT",
        "CREATE TABLE forgotten(before REAL NOT NULL, decisions INTEGER NOT NULL, place INTEGER NOT NULL) STRICT",
    ),
    older=older.REWARDS,
)

TOLD = "UPDATE decision SET value = ?, told = 1 WHERE id = ? AND state = 0 AND NOT told"


class Decision(NamedTuple):
    id: str
    arm: int
    learns: bool
    void: bool = False
    new: bool = True


@dataclass(frozen=True, slots=True)
class Queued:
    """A reward that counts and that no committed state has used."""

    place: int
    arm: int
    value: int = field(repr=False)


def decide(c: Any, id: str, key: str | None, arm: int, at: float, learns: bool) -> Decision:
    """A decision, or, where the key is known, the one that it got before."""
    made = c.execute(
        "INSERT INTO decision(id, key, arm, at, learns) VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(key) WHERE key IS NOT NULL DO NOTHING",
        (id, key, arm, at, int(learns)),
    ).rowcount
    known = None if made else find(c, key)
    return known or Decision(id, arm, learns)


def find(c: Any, key: str | None) -> Decision | None:
    row = c.execute("SELECT id, arm, learns, state FROM decision WHERE key = ?", (key,)).fetchone()
    return row and Decision(row[0], row[1], bool(row[2]), row[3] == VOID, new=False)


def tell(c: Any, id: str, value: int, at_once: bool) -> tuple[Literal["new", "same"], Queued | None]:
    """A reward has come; with `at_once` it counts, if its decision learns, and is in the queue from here on."""
    if not at_once and c.execute(TOLD, (value, id)).rowcount:  # nearly all of them: what follows says why one is not
        return "new", None
    arm, learns, state, told, known = _row(c, id)
    if told and known == value:
        return "same", None
    if told or state == VOID:
        raise Conflict("a decision must be told one reward, and none if it was cancelled; got another word on this one")
    if state == CLOSED:
        raise Closed("a reward must come before its window closes; the window of this decision is closed")
    place = _next_place(c) if learns else None
    c.execute("UPDATE decision SET value = ?, told = 1, state = ?, place = ? WHERE id = ?", (value, CLOSED, place, id))
    return "new", None if place is None else Queued(place, arm, value)


def cancel(c: Any, id: str) -> Literal["new", "same"]:
    """A decision was not carried out: it has no reward."""
    _, _, state, told, _ = _row(c, id)
    if state == VOID:
        return "same"
    if told:
        raise Conflict("a decision that is cancelled must have no reward, and this one has")
    if state == CLOSED:
        raise Closed("a decision must be cancelled before its window closes; the window of this one is closed")
    c.execute("UPDATE decision SET state = ? WHERE id = ?", (VOID, id))
    return "new"


def close_until(c: Any, until: float, missing: int | None) -> list[Queued]:
    """The windows of all decisions that were made until then are over: their rewards count, in the order of the decisions.

    One that has not come counts as `missing`, or, if that is None, not at all. The closing is a row; one that closes nothing
    is none.
    """
    rows = c.execute(
        "SELECT n, arm, learns, told, value FROM decision INDEXED BY open WHERE state = 0 AND at <= ? ORDER BY n", (until,)
    ).fetchall()
    if not rows:
        return []
    c.execute("INSERT INTO closing(until) VALUES(?)", (until,))
    found: list[Queued] = []
    place = _next_place(c)
    for n, arm, learns, told, value in rows:
        counted = value if told else missing
        new = Queued(place + len(found), arm, counted) if learns and counted is not None else None
        c.execute("UPDATE decision SET state = ?, value = ?, place = ? WHERE n = ?", (CLOSED, counted, new and new.place, n))
        found += [new] if new else []
    return found


def oldest_open(c: Any) -> float:
    """When the first decision was made whose window is open; infinity: there is none."""
    (at,) = c.execute("SELECT min(at) FROM decision WHERE state = 0").fetchone()
    return inf if at is None else at


def latest(c: Any) -> float | None:
    """The last time of anything here. A clock that is behind it is wrong."""
    rows = c.execute("SELECT at FROM decision WHERE n = (SELECT max(n) FROM decision) UNION ALL SELECT max(until) FROM closing")
    return max((time for (time,) in rows if time is not None), default=None)


def queue(c: Any) -> list[Queued]:
    """Rewards that count and were not used, in order."""
    rows = c.execute(
        "SELECT place, arm, value FROM decision WHERE place IS NOT NULL AND used IS NULL ORDER BY place"
    ).fetchall()
    return [Queued(*row) for row in rows]


def under_way(c: Any) -> list[tuple[str, int]]:
    """(id, arm) of every decision that learns and whose reward does not count yet."""
    return c.execute("SELECT id, arm FROM decision WHERE state = 0 AND learns ORDER BY n").fetchall()


def counts(c: Any) -> dict[int, tuple[int, int]]:
    """Of each arm: how often it was the answer, and how many of these answers learn."""
    rows = c.execute("SELECT arm, count(*), sum(learns) FROM decision GROUP BY arm").fetchall()
    return {arm: (answers, learn) for arm, answers, learn in rows}


def learning(c: Any) -> int:
    """Of how many decisions the reward has counted, or will; cancelled ones are among them. Each has a place of its own for
    ever, so that erasing them takes no reward that counted out of this number."""
    return _next_place(c) - 1 + c.execute("SELECT count(*) FROM decision WHERE learns AND place IS NULL").fetchone()[0]


def erasures(c: Any) -> int:
    """How often decisions were erased."""
    return c.execute("SELECT count(*) FROM forgotten").fetchone()[0]


def keep_secret(c: Any, s: int, record: bytes, used: Iterable[int]) -> None:
    """The secret that goes with state s, and the places of the rewards it has used. The one before is kept, too: until the
    ledger has state s, that is where a start goes on."""
    c.execute("INSERT INTO secret(s, record) VALUES(?, ?)", (s, record))
    c.executemany("UPDATE decision SET used = ? WHERE place = ? AND used IS NULL", [(s, place) for place in used])
    c.execute("DELETE FROM secret WHERE s < ?", (s - 1,))


def secret(c: Any, s: int) -> bytes | None:
    row = c.execute("SELECT record FROM secret WHERE s = ?", (s,)).fetchone()
    return row and row[0]


def newest_secret(c: Any) -> int | None:
    return c.execute("SELECT max(s) FROM secret").fetchone()[0]


def drop_after(c: Any, s: int) -> None:
    """Secrets that never got their state are dropped, and what they used is free again."""
    c.execute("DELETE FROM secret WHERE s > ?", (s,))
    c.execute("UPDATE decision SET used = NULL WHERE used > ?", (s,))


def forget(c: Any, before: float) -> int:
    """Erase decisions made before then, with keys and rewards; also those that wait in the queue, or for their reward.

    What was released of them stays released and paid for, and the sums that they are in stay as they are. Places are not used
    again.
    """
    place = _next_place(c) - 1
    count = len(c.execute("DELETE FROM decision WHERE at < ? RETURNING n", (before,)).fetchall())
    if count:
        c.execute("INSERT INTO forgotten VALUES(?, ?, ?)", (before, count, place))
    return count


def _row(c: Any, id: str) -> tuple:
    row = c.execute("SELECT arm, learns, state, told, value FROM decision WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise UnknownDecision("a reward must be of a decision that was made here, got another")
    return row


def _next_place(c: Any) -> int:
    rows = c.execute(
        "SELECT max(place) FROM decision WHERE place IS NOT NULL UNION ALL SELECT max(place) FROM forgotten"
    ).fetchall()
    return 1 + max(place or 0 for (place,) in rows)
