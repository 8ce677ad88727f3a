"""ledger.db: what was released and paid for, the state that goes with it, what was said and heard. No raw reward is in it.

Releases are chained by their hashes from the run's beginning; `head` is the last one, and others remember it. The hash of a
state covers the head, so a ledger whose last releases are gone does not fit its own state. Nothing here is ever given back.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from msgspec import DecodeError, msgpack

from coterie.deploy.stores.chain import digest, links
from coterie.deploy.stores.schema import Schema
from coterie.errors import StateError
from coterie.privacy.events import Event, events_of
from coterie.privacy.mechanisms import MECHANISMS, Mechanism

SCHEMA = Schema(
    application=0xC07E71F,
    version=1,
    statements=(
        """CREATE TABLE run(
            one INTEGER PRIMARY KEY CHECK(one = 1), facts BLOB NOT NULL, incarnation INTEGER NOT NULL, hash BLOB NOT NULL)
            STRICT""",
        """CREATE TABLE release(
            number INTEGER PRIMARY KEY, s INTEGER NOT NULL, turn INTEGER NOT NULL, entry INTEGER NOT NULL,
            arm INTEGER NOT NULL, chain INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
            mechanism TEXT NOT NULL, sensitivity REAL NOT NULL, price REAL NOT NULL, value INTEGER NOT NULL, at REAL NOT NULL,
            hash BLOB NOT NULL, UNIQUE(s, entry)) STRICT""",
        """CREATE TABLE state(
            s INTEGER PRIMARY KEY, turn INTEGER NOT NULL, refused INTEGER NOT NULL, parts BLOB NOT NULL, hash BLOB NOT NULL)
            STRICT""",
        "CREATE TABLE journal(s INTEGER PRIMARY KEY, notes BLOB NOT NULL, hash BLOB NOT NULL) STRICT",
        """CREATE TABLE outbox(
            number INTEGER PRIMARY KEY, lane TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, hash BLOB NOT NULL,
            UNIQUE(lane, seq)) STRICT""",
        """CREATE TABLE inbox(
            number INTEGER PRIMARY KEY, lane TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL,
            signature BLOB NOT NULL, hash BLOB NOT NULL, heard INTEGER, UNIQUE(lane, seq)) STRICT""",
        "CREATE INDEX unheard ON inbox(number) WHERE heard IS NULL",
        "CREATE TABLE withheld(arm INTEGER PRIMARY KEY, now INTEGER NOT NULL, hash BLOB NOT NULL) STRICT",
    ),
)
STAYS = "; it stays as it is, and nothing is released"
AFTER_THE_RUN = ("release", "state", "journal", "outbox", "inbox", "withheld")  # tables
COLUMNS = "s, turn, entry, arm, chain, first, last, mechanism, sensitivity, price, value, at"


class Facts(NamedTuple):
    """Whose ledger this is; the same for the whole run. `epsilon` is None where no privacy is promised."""

    run: bytes
    name: str
    arms: tuple[str, ...]
    algorithm: str
    epsilon: float | None
    delta: float = 0.0


class Release(NamedTuple):
    """One number that left: the entry of a turn, what it covers, what was paid, and the noised sum on the grid.

    `at` is for readers: seconds since 1970.
    """

    entry: int
    arm: int
    chain: int
    first: int
    last: int
    mechanism: str
    sensitivity: float
    price: float
    value: int
    at: float


class Said(NamedTuple):
    """A message that is to leave, without signature. It is number `seq` of its lane, from 1 on."""

    lane: str
    seq: int
    body: bytes


class Turn(NamedTuple):
    """All that becomes visible together, or not at all."""

    s: int
    turn: int
    state: Mapping[str, bytes]
    releases: tuple[Release, ...] = ()
    outbox: tuple[Said, ...] = ()
    heard: tuple[tuple[str, int], ...] = ()  # (lane, seq) of messages that this state has taken in
    journal: bytes = b""  # how it came to this state, for who wants to tell the run again
    refused: bool = False  # whether a release was, for its cost: nothing is released any more


class State(NamedTuple):
    s: int
    turn: int
    parts: dict[str, bytes]
    refused: bool = False


# --- whose it is --------------------------------------------------------------------------------------


def introduce(c: Any, facts: Facts) -> None:
    """Say whose ledger this is, before anything else. One of another run or another agent is refused and stays as it is."""
    known = whose(c)
    if known is None and any(c.execute(f"SELECT 1 FROM {table}").fetchone() for table in AFTER_THE_RUN):
        raise StateError(f"ledger: the row that says whose it is, is gone{STAYS}")
    if known is None:
        row = (msgpack.encode(facts), 0)
        c.execute("INSERT INTO run VALUES(1, ?, ?, ?)", (*row, digest(*row)))
    elif known != facts:
        what = next(name for name, mine, its in zip(Facts._fields, facts, known, strict=True) if mine != its)
        raise StateError(f"ledger: must be of this run, got one with another {what}: a changed federation needs a new folder")


def whose(c: Any) -> Facts | None:
    row = c.execute("SELECT facts FROM run").fetchone()
    try:
        return row and Facts(*msgpack.decode(row[0], type=tuple[bytes, str, tuple[str, ...], str, float | None, float]))
    except DecodeError:
        raise StateError(f"ledger: the row that says whose it is, is not what was committed{STAYS}") from None


def incarnation(c: Any) -> int:
    """The number of this start: one more than that of the last."""
    facts, before = c.execute("SELECT facts, incarnation FROM run").fetchone()
    c.execute("UPDATE run SET incarnation = ?, hash = ?", (before + 1, digest(facts, before + 1)))
    return before + 1


# --- a turn -------------------------------------------------------------------------------------------


def releases_of(out: Any, mechanism: Mechanism, at: float) -> tuple[Release, ...]:
    """The entries of an agent's outbox after the door."""
    name, found = mechanism.name, []
    for e in range(out.entries):
        arm, chain, first, last, value = (int(column[e]) for column in (out.arm, out.chain, out.first, out.last, out.value))
        found.append(Release(e, arm, chain, first, last, name, float(out.sensitivity[e]), float(out.price[e]), value, at))
    return tuple(found)


def head_after(head: bytes, s: int, turn: int, releases: Iterable[Release]) -> bytes:
    """The head of the chain once these are committed: what a message of this turn says."""
    return [head, *links(head, ((s, turn, *release) for release in releases))][-1]


def commit_turn(c: Any, done: Turn) -> bytes:
    """From here on it may be seen. Returns the new head."""
    now = head(c)
    rows = [(done.s, done.turn, *release) for release in done.releases]
    hashes = list(links(now, rows))
    c.executemany(
        f"INSERT INTO release({COLUMNS}, hash) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*row, link) for row, link in zip(rows, hashes, strict=True)],
    )
    now = hashes[-1] if hashes else now
    row = (done.s, done.turn, int(done.refused), msgpack.encode(dict(done.state)))
    c.execute("INSERT INTO state VALUES(?, ?, ?, ?, ?)", (*row, digest(now, *row)))
    c.execute("DELETE FROM state WHERE s < ?", (done.s,))
    if done.journal:
        c.execute("INSERT INTO journal VALUES(?, ?, ?)", (done.s, done.journal, digest(done.s, done.journal)))
    put_outbox(c, done.outbox)
    for place in done.heard:
        (link,) = c.execute("SELECT hash FROM inbox WHERE lane = ? AND seq = ?", place).fetchone()
        c.execute("UPDATE inbox SET heard = ?, hash = ? WHERE lane = ? AND seq = ?", (done.s, digest(link, done.s), *place))
    return now


def last_state(c: Any) -> State | None:
    row = c.execute("SELECT s, turn, parts, refused FROM state ORDER BY s DESC LIMIT 1").fetchone()
    return row and State(row[0], row[1], msgpack.decode(row[2], type=dict[str, bytes]), bool(row[3]))


def journal(c: Any) -> list[bytes]:
    """The notes of all turns, in order."""
    return [notes for (notes,) in c.execute("SELECT notes FROM journal ORDER BY s")]


# --- what was released --------------------------------------------------------------------------------


def head(c: Any) -> bytes:
    row = c.execute("SELECT hash FROM release ORDER BY number DESC LIMIT 1").fetchone()
    return row[0] if row else beginning(c)


def beginning(c: Any) -> bytes:
    facts = whose(c)
    if facts is None:
        raise StateError("the ledger must say whose it is, and this one does not")
    return digest(facts.run, facts.name)


def knows(c: Any, head: bytes) -> bool:
    """Whether this is, or was, the head of the chain."""
    return head == beginning(c) or c.execute("SELECT 1 FROM release WHERE hash = ?", (head,)).fetchone() is not None


def releases(c: Any, last: int | None = None) -> list[tuple[int, int, Release]]:
    """(s, turn, release) of all, or of the last so many, in order."""
    rows = c.execute(f"SELECT {COLUMNS} FROM release ORDER BY number DESC LIMIT ?", (-1 if last is None else last,)).fetchall()
    return [(row[0], row[1], Release(*row[2:])) for row in reversed(rows)]


def spent(c: Any) -> list[Event]:
    """Every event that was paid for, in order: what a budget is rebuilt from."""
    found: list[Event] = []
    for _, rows in groupby(releases(c), key=itemgetter(0)):
        turn = [release for _, _, release in rows]
        columns = SimpleNamespace(entries=len(turn), **{name: [getattr(r, name) for r in turn] for name in Release._fields[1:]})
        found += events_of(columns, MECHANISMS[turn[0].mechanism])
    return found


def verify_chain(c: Any) -> bytes:
    """The head, if every row is what it was when it was committed; else the error names the first that is not."""
    if (found := c.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
        raise StateError(f"ledger: is damaged ({found}){STAYS}")
    for row in c.execute("SELECT facts, incarnation, hash FROM run"):
        check_row("the row that says whose it is", row)
    now, expected = beginning(c), 1
    for number, *row in c.execute(f"SELECT number, {COLUMNS}, hash FROM release ORDER BY number"):
        check_row(f"release {expected}", (now, *row), number == expected)
        now, expected = row[-1], expected + 1
    for row in c.execute("SELECT s, turn, refused, parts, hash FROM state"):
        check_row(f"state {row[0]}", (now, *row))
    for row in c.execute("SELECT lane, seq, body, hash FROM outbox"):
        check_row(f"message {row[1]} of {row[0]} in the outbox", row)
    for *row, heard, link in c.execute("SELECT lane, seq, body, signature, heard, hash FROM inbox"):
        told = row if heard is None else (digest(*row), heard)
        check_row(f"message {row[1]} of {row[0]} in the inbox", (*told, link))
    for table in ("journal", "withheld"):
        for row in c.execute(f"SELECT * FROM {table}"):
            check_row(f"{table} {row[0]}", row)
    return now


def check_row(name: str, row: Sequence[Any], numbered: bool = True) -> None:
    """The last column is the hash of all others."""
    if not numbered or row[-1] != digest(*row[:-1]):
        raise StateError(f"ledger: {name} is not what was committed{STAYS}")


# --- what was said and heard --------------------------------------------------------------------------


def put_outbox(c: Any, said: Iterable[Said]) -> None:
    """Words of a commit without a turn: a hello."""
    c.executemany("INSERT INTO outbox(lane, seq, body, hash) VALUES(?, ?, ?, ?)", [(*each, digest(*each)) for each in said])


def outbox(c: Any, lane: str, after: int = 0) -> list[Said]:
    return [
        Said(*row)
        for row in c.execute("SELECT lane, seq, body FROM outbox WHERE lane = ? AND seq > ? ORDER BY seq", (lane, after))
    ]


def lanes(c: Any) -> dict[str, int]:
    """The last number of each lane of the outbox."""
    return dict(c.execute("SELECT lane, max(seq) FROM outbox GROUP BY lane").fetchall())


def last_seq(c: Any, lane: str) -> int:
    """Of the outbox."""
    return c.execute("SELECT coalesce(max(seq), 0) FROM outbox WHERE lane = ?", (lane,)).fetchone()[0]


def put_inbox(c: Any, lane: str, seq: int, body: bytes, signature: bytes = b"") -> Literal["new", "same", "other"]:
    """What another said, once. `other`: this number of its lane was something else before, which stays.

    The signature is kept to prove it to whoever said it.
    """
    known = c.execute("SELECT body FROM inbox WHERE lane = ? AND seq = ?", (lane, seq)).fetchone()
    if known is not None:
        return "same" if known[0] == body else "other"
    row = (lane, seq, body, signature)
    c.execute("INSERT INTO inbox(lane, seq, body, signature, hash) VALUES(?, ?, ?, ?, ?)", (*row, digest(*row)))
    return "new"


def inbox(c: Any) -> list[Said]:
    """What no committed state has taken in, in the order in which it came."""
    return [Said(*row) for row in c.execute("SELECT lane, seq, body FROM inbox WHERE heard IS NULL ORDER BY number")]


def taken(c: Any) -> dict[str, int]:
    """The last number of each lane that a committed state has taken in."""
    return dict(c.execute("SELECT lane, max(seq) FROM inbox WHERE heard IS NOT NULL GROUP BY lane").fetchall())


def last_words(c: Any) -> list[Said]:
    """The last of each lane that a committed state has taken in, in the order in which they came."""
    rows = c.execute("SELECT lane, max(seq), body FROM inbox WHERE heard IS NOT NULL GROUP BY lane ORDER BY number")
    return [Said(*row) for row in rows]


# --- stops --------------------------------------------------------------------------------------------


def withhold(c: Any, arm: int, yes: bool) -> None:
    row = (arm, int(yes))
    c.execute("INSERT OR REPLACE INTO withheld VALUES(?, ?, ?)", (*row, digest(*row)))


def withheld(c: Any) -> set[int]:
    """The arms that are not answered now."""
    return {arm for (arm,) in c.execute("SELECT arm FROM withheld WHERE now")}


def stopped(c: Any) -> bool:
    """Whether an arm was ever withheld in this run."""
    return c.execute("SELECT 1 FROM withheld").fetchone() is not None
