"""What was released and paid, chained; what was said and heard, once."""

import asyncio
import random
import sqlite3
from contextlib import closing
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.contract import out_record
from coterie.deploy.stores import Store, ledger
from coterie.deploy.stores.ledger import Facts, Release, Said, State, Turn
from coterie.errors import CoterieError, StateError
from coterie.privacy.accountant import spent
from coterie.privacy.budget import Budget
from coterie.privacy.events import events_of
from coterie.privacy.mechanisms import MECHANISMS

FACTS = Facts(bytes(range(32)), "north", ("old", "new"), "fed-ucb", 2.0)


def made():
    c = sqlite3.connect(":memory:", isolation_level=None)
    for statement in ledger.SCHEMA.statements:
        c.execute(statement)
    ledger.introduce(c, FACTS)
    return c


@pytest.fixture
def c():
    with closing(made()) as connection:
        yield connection


def release(entry=0, arm=0, first=1, last=4, price=0.5, value=123, mechanism="laplace", chain=0):
    return Release(entry, arm, chain, first, last, mechanism, 1.0, price, value, 1000.0)


def fill(c):
    """A little of everything."""
    ledger.incarnation(c)
    ledger.put_inbox(c, "say.south", 1, b"hello", b"signed")
    ledger.put_inbox(c, "say.south", 2, b"word", b"signed")
    ledger.commit_turn(c, Turn(1, 3, {"open": b"abc"}, (release(), release(1, 1)), (Said("say", 1, b"one"),), journal=b"notes"))
    heard = (("say.south", 1),)
    ledger.commit_turn(c, Turn(2, 5, {"open": b"abd" * 20}, (release(first=5, last=9),), (Said("say", 2, b"two"),), heard))
    ledger.withhold(c, 1, True)


def test_a_turn_is_there_as_it_was_committed(c):
    fill(c)
    assert ledger.last_state(c) == State(2, 5, {"open": b"abd" * 20})
    assert ledger.releases(c) == [(1, 3, release()), (1, 3, release(1, 1)), (2, 5, release(first=5, last=9))]
    assert ledger.releases(c, last=1) == [(2, 5, release(first=5, last=9))]
    assert ledger.outbox(c, "say") == [Said("say", 1, b"one"), Said("say", 2, b"two")]
    assert ledger.outbox(c, "say", after=1) == [Said("say", 2, b"two")]
    assert (ledger.lanes(c), ledger.last_seq(c, "say"), ledger.last_seq(c, "to.south")) == ({"say": 2}, 2, 0)
    assert ledger.taken(c) == {"say.south": 1}
    assert ledger.inbox(c) == [Said("say.south", 2, b"word")]
    assert ledger.journal(c) == [b"notes"]


@pytest.mark.parametrize("left", [*ledger.AFTER_THE_RUN, None])
def test_a_ledger_that_no_longer_says_whose_it_is_is_not_introduced_again(c, left):
    """One without any row is new."""
    fill(c)
    for table in {"run", *ledger.AFTER_THE_RUN} - {left}:
        c.execute(f"DELETE FROM {table}")
    if left is None:
        ledger.introduce(c, FACTS)
    else:
        with pytest.raises(StateError, match="the row that says whose it is, is gone"):
            ledger.introduce(c, FACTS)


def test_the_head_is_known_before_the_commit_that_makes_it(c):
    before, done = ledger.head(c), (release(), release(1, 1))
    expected = ledger.head_after(before, 1, 3, done)
    assert ledger.commit_turn(c, Turn(1, 3, {}, done)) == expected == ledger.head(c) == ledger.verify_chain(c)
    assert expected != before
    assert ledger.commit_turn(c, Turn(2, 4, {})) == ledger.head_after(expected, 2, 4, ()) == expected


def test_the_same_release_cannot_be_committed_twice(c):
    ledger.commit_turn(c, Turn(1, 3, {}, (release(),)))
    with pytest.raises(sqlite3.IntegrityError):
        ledger.commit_turn(c, Turn(1, 4, {}, (release(value=124),)))


def test_a_ledger_of_another_run_agent_or_budget_is_refused(c):
    ledger.introduce(c, FACTS)
    changed = {"run": bytes(32), "name": "south", "arms": ("old", "other"), "epsilon": 3.0, "delta": 0.1, "algorithm": "pr-ucb"}
    for field, value in changed.items():
        with pytest.raises(StateError, match=f"must be of this run, got one with another {field}: a changed federation"):
            ledger.introduce(c, FACTS._replace(**{field: value}))
    assert ledger.whose(c) == FACTS


def test_every_start_has_a_number_of_its_own(c):
    assert [ledger.incarnation(c) for _ in range(3)] == [1, 2, 3]


def test_a_message_is_taken_once_and_another_with_its_number_never(c):
    assert [ledger.put_inbox(c, "say.south", 1, word) for word in (b"a", b"a", b"b", b"a")] == ["new", "same", "other", "same"]
    assert ledger.put_inbox(c, "say.south", 1, b"a", b"another signature") == "same"
    assert ledger.inbox(c) == [Said("say.south", 1, b"a")]


def test_a_stop_that_was_lifted_is_remembered(c):
    assert (ledger.withheld(c), ledger.stopped(c)) == (set(), False)
    ledger.withhold(c, 1, True)
    assert (ledger.withheld(c), ledger.stopped(c)) == ({1}, True)
    ledger.withhold(c, 1, False)
    assert (ledger.withheld(c), ledger.stopped(c)) == (set(), True)


@pytest.mark.parametrize("name", [name for name, kind in MECHANISMS.items() if kind.exact])
def test_a_budget_is_rebuilt_from_the_rows_as_it_was_spent(c, name):
    """The door's entries through `events_of`, and the same entries through the ledger, are the same events."""
    mechanism, chance, events = MECHANISMS[name], random.Random(5), []
    for s in range(1, 6):
        entries = 4
        out = SimpleNamespace(
            entries=entries,
            arm=[chance.randrange(2) for _ in range(entries)],
            chain=[chance.randrange(2) for _ in range(entries)],
            first=[s, s, s + 2, s],
            last=[s + 1, s + 1, s + 1, s + 9],
            sensitivity=[1.0] * entries,
            price=[0.1 * s] * entries,
            value=[7] * entries,
        )
        events += events_of(out, mechanism)
        ledger.commit_turn(c, Turn(s, s, {}, ledger.releases_of(out, mechanism, 1.0)))
    assert ledger.spent(c) == events
    delta = 1e-6 if mechanism.adds_up == "squares" else 0.0
    budget = Budget(1000.0, delta)
    budget.spend(ledger.spent(c))
    assert budget.spent == spent(events, delta)
    assert (budget.spent > 0) == (name != "sums")  # those have paid who shared them


def test_a_price_without_noise_is_kept_as_such(c):
    ledger.commit_turn(c, Turn(1, 1, {}, (release(price=inf),)))
    assert ledger.spent(c)[0].price == inf
    ledger.verify_chain(c)


CHANGES = {
    "release 2 ": "UPDATE release SET value = value + 1 WHERE number = 2",
    "release 1 ": "UPDATE release SET price = 0.25 WHERE number = 1",
    "release 3 ": "UPDATE release SET hash = zeroblob(32) WHERE number = 3",
    "state 2 ": "DELETE FROM release WHERE number = 3",
    "state 2  ": "UPDATE state SET turn = 4",
    "state 2   ": "UPDATE state SET refused = 1",
    "message 2 of say in the outbox ": "UPDATE outbox SET body = x'00' WHERE seq = 2",
    "message 1 of say.south in the inbox ": "UPDATE inbox SET heard = NULL WHERE seq = 1",
    "message 2 of say.south in the inbox ": "UPDATE inbox SET signature = x'00' WHERE seq = 2",
    "journal 1 ": "UPDATE journal SET notes = x'00'",
    "withheld 1 ": "UPDATE withheld SET now = 0",
    "the row that says whose it is ": "UPDATE run SET incarnation = 0",
}


@pytest.mark.parametrize("row", CHANGES)
def test_a_row_that_was_changed_is_named(c, row):
    fill(c)
    ledger.verify_chain(c)
    c.execute(CHANGES[row])
    with pytest.raises(StateError, match=f"ledger: {row.rstrip()} is not what was committed; it stays as it is"):
        ledger.verify_chain(c)


def test_a_release_that_was_taken_out_of_the_middle_is_named(c):
    fill(c)
    c.execute("DELETE FROM release WHERE number = 2")
    with pytest.raises(StateError, match="release 2 is not what was committed"):
        ledger.verify_chain(c)


TABLES = ("run", "release", "state", "journal", "outbox", "inbox", "withheld")


def content(c):
    return {table: c.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}


def test_one_flipped_bit_of_the_file_is_found_or_changes_nothing(tmp_path):
    """Bits of all pages; unused bytes of a page, and text that SQLite never reads again, are the rest."""
    path = tmp_path / "ledger.db"
    store = Store(path, ledger.SCHEMA, inline=True)
    asyncio.run(store.do(lambda c: ledger.introduce(c, FACTS)))
    asyncio.run(store.do(fill))
    before = asyncio.run(store.do(content))
    store.close()
    good, chance = path.read_bytes(), random.Random(3)
    used = [place for place, byte in enumerate(good) if byte]
    found = same = 0
    for place in [*chance.sample(used, 700), *chance.sample(range(len(good)), 100)]:
        bad = bytearray(good)
        bad[place] ^= 1 << chance.randrange(8)
        path.write_bytes(bad)
        try:
            store = Store(path, ledger.SCHEMA, inline=True)
        except CoterieError as error:
            assert isinstance(error, StateError), error
            found += 1
            continue
        try:
            for look in (lambda c: ledger.introduce(c, FACTS), ledger.verify_chain):
                asyncio.run(store.do(look))
        except CoterieError as error:
            assert isinstance(error, StateError), error
            found += 1
        else:
            assert asyncio.run(store.do(content)) == before
            same += 1
        store.close()
    assert found > 400
    assert same > 50


def test_nothing_of_the_agent_but_its_outbox_is_asked_for(c):
    """`releases_of` reads an outbox as the engine has it."""
    from coterie.algorithms import entries
    from coterie.contract import Setting

    entry = entries()["fed-ucb"]
    method = entry.build(entry.options(), Setting(agents=2, arms=2, horizon=100))
    out = np.zeros(1, out_record(method.node, method.p)).view(np.recarray)[0]
    out.entries, out.arm[0], out.first[0], out.last[0], out.value[0] = 1, 1, 3, 4, -5
    out.price[0], out.sensitivity[0] = 0.5, 1.0
    assert ledger.releases_of(out, method.node.mechanism, 9.0) == (
        Release(0, 1, 0, 3, 4, method.node.mechanism.name, 1.0, 0.5, -5, 9.0),
    )
