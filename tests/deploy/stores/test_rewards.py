"""Decisions, their rewards and the queue: told once, counted once, at the end of a window or at once."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.deploy.refusals import Closed, Conflict, UnknownDecision
from coterie.deploy.stores import Store, rewards
from coterie.deploy.stores.rewards import Decision, Queued


def made():
    c = sqlite3.connect(":memory:", isolation_level=None)
    for statement in rewards.SCHEMA.statements:
        c.execute(statement)
    return c


@pytest.fixture
def c():
    with closing(made()) as connection:
        yield connection


def test_a_question_without_a_key_is_three_pages_of_the_log_and_its_reward_one(tmp_path):
    """Each is a part of what an answer waits for."""
    store, log = Store(tmp_path / "rewards.db", rewards.SCHEMA, inline=True), tmp_path / "rewards.db-wal"

    def pages(work):
        before = log.stat().st_size
        asyncio.run(store.do(work))
        return (log.stat().st_size - before) // 4096

    ids = "abc"
    assert [pages(lambda c, id=id: ask(c, id)) for id in ids] == [3] * 3
    assert [pages(lambda c, id=id: rewards.tell(c, id, 5, at_once=False)) for id in ids] == [1] * 3
    store.close()


def ask(c, id, at=0.0, arm=0, learns=True, key=None):
    return rewards.decide(c, id, key, arm, at, learns)


def values(queued):
    return [(each.arm, each.value) for each in queued]


def test_the_same_key_gets_the_same_decision_and_no_key_gets_a_new_one(c):
    first = ask(c, "a", key="patient 17", arm=1)
    assert first == Decision("a", 1, True, void=False, new=True)
    assert ask(c, "b", key="patient 17", arm=0, learns=False) == first._replace(new=False)
    assert rewards.find(c, "patient 17") == first._replace(new=False)
    assert rewards.find(c, "patient 18") is None
    assert [ask(c, id).new for id in "cd"] == [True, True]
    assert rewards.counts(c) == {0: (2, 2), 1: (1, 1)}


def test_a_reward_counts_at_once_in_the_order_of_arrival(c):
    for id in "abc":
        ask(c, id, arm=ord(id) - ord("a"))
    assert rewards.tell(c, "c", 30, at_once=True) == ("new", Queued(1, 2, 30))
    assert rewards.tell(c, "a", 10, at_once=True) == ("new", Queued(2, 0, 10))
    assert values(rewards.queue(c)) == [(2, 30), (0, 10)]
    assert rewards.under_way(c) == [("b", 1)]


@pytest.mark.parametrize("at_once", [True, False])
def test_twice_is_once_and_another_value_is_refused(c, at_once):
    ask(c, "a")
    assert rewards.tell(c, "a", 5, at_once)[0] == "new"
    assert rewards.tell(c, "a", 5, at_once) == ("same", None)
    with pytest.raises(Conflict):
        rewards.tell(c, "a", 6, at_once)
    rewards.close_until(c, 0.0, 0)
    assert rewards.tell(c, "a", 5, at_once) == ("same", None)
    assert values(rewards.queue(c)) == [(0, 5)]


def test_a_window_counts_rewards_in_the_order_of_decisions_whenever_they_came(c):
    for n, id in enumerate("abcd"):
        ask(c, id, at=float(n))
    rewards.tell(c, "c", 3, at_once=False)
    rewards.tell(c, "a", 1, at_once=False)
    assert rewards.queue(c) == []
    assert values(rewards.close_until(c, 1.0, missing=7)) == [(0, 1), (0, 7)]
    assert values(rewards.close_until(c, 9.0, missing=7)) == [(0, 3), (0, 7)]
    assert rewards.close_until(c, 99.0, missing=7) == []
    assert values(rewards.queue(c)) == [(0, 1), (0, 7), (0, 3), (0, 7)]
    assert c.execute("SELECT until FROM closing ORDER BY number").fetchall() == [(1.0,), (9.0,)]
    assert rewards.latest(c) == 9.0


def test_after_its_window_a_reward_is_too_late_even_if_it_is_what_was_assumed(c):
    ask(c, "a")
    rewards.close_until(c, 0.0, missing=7)
    for value in (7, 8):
        with pytest.raises(Closed):
            rewards.tell(c, "a", value, at_once=False)
    with pytest.raises(Closed):
        rewards.cancel(c, "a")


def test_without_an_assumption_a_reward_that_never_came_does_not_count(c):
    ask(c, "a"), ask(c, "b")
    rewards.tell(c, "b", 4, at_once=False)
    assert values(rewards.close_until(c, 0.0, missing=None)) == [(0, 4)]
    assert rewards.under_way(c) == []


def test_a_cancelled_decision_has_no_reward_and_one_with_a_reward_is_not_cancelled(c):
    ask(c, "a", key="k"), ask(c, "b")
    assert [rewards.cancel(c, "a"), rewards.cancel(c, "a")] == ["new", "same"]
    assert rewards.find(c, "k").void
    with pytest.raises(Conflict):
        rewards.tell(c, "a", 1, at_once=True)
    rewards.tell(c, "b", 1, at_once=False)
    with pytest.raises(Conflict):
        rewards.cancel(c, "b")
    assert values(rewards.close_until(c, 0.0, missing=7)) == [(0, 1)]


def test_a_decision_that_does_not_learn_is_told_and_never_counts(c):
    ask(c, "a", learns=False), ask(c, "b", learns=False)
    assert rewards.tell(c, "a", 1, at_once=True) == ("new", None)
    assert rewards.tell(c, "b", 1, at_once=False) == ("new", None)
    assert rewards.close_until(c, 0.0, missing=7) == rewards.queue(c) == rewards.under_way(c) == []


def test_a_word_about_a_decision_that_was_never_made_is_refused(c):
    for word in (lambda: rewards.tell(c, "x", 1, True), lambda: rewards.cancel(c, "x")):
        with pytest.raises(UnknownDecision):
            word()


def test_no_error_and_no_text_of_a_row_shows_a_reward(c):
    ask(c, "a", key="patient 17")
    secret = 424242
    assert "424242" not in repr(rewards.tell(c, "a", secret, at_once=True))
    assert "424242" not in repr(rewards.queue(c))
    for word in (lambda: rewards.tell(c, "a", 777777, True), lambda: rewards.cancel(c, "a")):
        with pytest.raises(Conflict) as said:
            word()
        assert not {"424242", "777777", "patient"} & set(str(said.value).split())


def test_a_secret_and_what_it_used_go_together_and_both_are_dropped_without_a_state(c):
    for n in range(6):
        ask(c, f"d{n}")
        rewards.tell(c, f"d{n}", n, at_once=True)
    rewards.keep_secret(c, 1, b"one", [1, 2])
    rewards.keep_secret(c, 2, b"two", [3])
    assert [rewards.secret(c, s) for s in (0, 1, 2)] == [None, b"one", b"two"]
    assert [each.place for each in rewards.queue(c)] == [4, 5, 6]
    rewards.drop_after(c, 1)
    assert [rewards.secret(c, s) for s in (1, 2)] == [b"one", None]
    assert rewards.newest_secret(c) == 1
    assert [each.place for each in rewards.queue(c)] == [3, 4, 5, 6]
    rewards.keep_secret(c, 2, b"again", [3])
    rewards.keep_secret(c, 3, b"three", [4])
    assert rewards.secret(c, 1) is None, "only the last two are kept"


def test_what_is_forgotten_is_gone_and_what_was_kept_of_it_stays(c):
    for n in range(6):
        ask(c, f"d{n}", at=float(n), key=f"k{n}")
        rewards.tell(c, f"d{n}", n, at_once=True)
    rewards.keep_secret(c, 1, b"sums", [1, 2])
    assert rewards.forget(c, 3.0) == 3
    assert rewards.find(c, "k2") is None
    assert [each.place for each in rewards.queue(c)] == [4, 5, 6]
    assert rewards.secret(c, 1) == b"sums"
    assert rewards.forget(c, 99.0) == 3
    ask(c, "e")
    assert rewards.tell(c, "e", 1, at_once=True)[1].place == 7, "a place is of one reward for ever"
    with pytest.raises(UnknownDecision):
        rewards.tell(c, "d1", 1, True)


@given(
    st.lists(
        st.tuples(st.sampled_from(["ask", "tell", "cancel", "close", "use", "crash"]), st.integers(0, 9), st.integers(0, 3)),
        max_size=60,
    ),
    st.booleans(),
    st.sampled_from([None, 100]),
)
def test_every_acknowledged_reward_is_counted_once_whatever_happens(events, at_once, missing):
    """Against a model of dictionaries."""
    with closing(made()) as c:
        alive, queue, used, kept, s = {}, [], [], [], 0
        for now, (event, n, value) in enumerate(events):
            id = f"d{n}"
            if event == "ask" and id not in alive:
                ask(c, id, at=float(now), arm=n % 2)
                alive[id] = None
            elif event == "tell" and id in alive and alive[id] in (None, value):
                rewards.tell(c, id, value, at_once)
                if at_once and alive[id] is None:
                    queue.append((n % 2, value))
                alive[id] = value
            elif event == "cancel" and id in alive and alive[id] is None:
                rewards.cancel(c, id)
                alive[id] = "void"
            elif event == "close" and not at_once:
                found = rewards.close_until(c, float(now), missing)
                told = {i: missing if v is None else v for i, v in alive.items() if v not in ("void", "closed")}
                expected = sorted((r for r in c.execute("SELECT n, id FROM decision")), key=lambda row: row[0])
                new = [(int(i[1:]) % 2, told[i]) for _, i in expected if told.get(i) is not None]
                assert values(found) == new
                queue += new
                alive |= dict.fromkeys(told, "closed")
            elif event == "use" and queue:
                s += 1
                first = rewards.queue(c)[0]
                rewards.keep_secret(c, s, b"", [first.place])
                used.append(queue.pop(0))
                kept.append(s)
            elif event == "crash" and used:  # the last state was never committed
                s -= 1
                rewards.drop_after(c, s)
                queue.insert(0, used.pop())
            assert values(rewards.queue(c)) == queue
        everything = c.execute("SELECT arm, value FROM decision WHERE place IS NOT NULL").fetchall()
        assert sorted(everything) == sorted(queue + used)
