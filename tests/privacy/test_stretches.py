"""Stretches of an arm's past against lists of rewards: what is offered, what it covers, and what one reward moves.

A random history of pulls and of what `release` may say goes through the door. A plain list of rewards for each arm, and places
in it for marks, say what should have come out.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.contract import (
    NOW,
    NOWHERE,
    START,
    Algorithm,
    offer,
    offer_all,
    offer_between,
    offer_each,
    order,
    out_record,
    plan_record,
    remember,
)
from coterie.kernel import UNIT, one
from coterie.privacy.door import ORDER, clear, look_up
from coterie.privacy.ledger import ledger_record
from coterie.privacy.secret import make_secrets, take_in

ARMS, MARKS, REACH = 2, 3, np.array([1.0, 2.5])


class Params(NamedTuple):
    arms: int = ARMS


ROLE = Algorithm("any", marks=lambda p: MARKS, moves=lambda p: 2, width=2)


class Offer(NamedTuple):
    arm: int
    since: int
    until: int
    keep: int
    way: str = "between"


class Turn(NamedTuple):
    pulls: tuple  # of each arm
    offers: list
    moves: tuple | list = ()  # (arm, mark, keep)
    each: bool = False  # the offers are those of offer_each


class Entry(NamedTuple):
    arm: int
    value: int
    first: int
    last: int
    sensitivity: float


SINCE, MARK, ARM = st.sampled_from([NOW, START, *range(MARKS)]), st.integers(0, MARKS - 1), st.integers(0, ARMS - 1)
OFFERS = st.one_of(
    st.tuples(ARM, SINCE, st.sampled_from([NOW, *range(MARKS)]), st.sampled_from([NOWHERE, *range(MARKS)])).map(
        lambda said: Offer(*said)
    ),
    ARM.map(lambda arm: Offer(arm, 0, NOW, 0, "fresh")),
    ARM.map(lambda arm: Offer(arm, START, NOW, NOWHERE, "all")),
)
PULLS = st.tuples(*[st.integers(0, 3)] * ARMS)
TURNS = st.one_of(
    st.tuples(PULLS, st.lists(OFFERS, max_size=4), st.lists(st.tuples(ARM, MARK, MARK), max_size=2)).map(lambda t: Turn(*t)),
    st.tuples(PULLS, st.lists(ARM, max_size=3)).map(lambda t: Turn(t[0], [Offer(k, 0, NOW, 0) for k in t[1]], each=True)),
)
HISTORIES = st.lists(TURNS, min_size=1, max_size=6)


def rewards_of(history, random):
    """[arm]: a list of rewards, some at the ends of their range."""
    counts = [sum(turn.pulls[k] for turn in history) for k in range(ARMS)]
    return [[random.choice([0, int(REACH[k] * UNIT), random.randrange(UNIT)]) for _ in range(counts[k])] for k in range(ARMS)]


def by_lists(history, rewards):
    """What should come out of every turn: entries; None where a stretch ends before it begins, and then no more."""
    seen, marks = [0] * ARMS, {(k, mark): 0 for k in range(ARMS) for mark in range(MARKS)}
    for turn in history:
        seen = [count + pulls for count, pulls in zip(seen, turn.pulls, strict=True)]
        places = [{NOW: seen[k], START: 0} | {mark: marks[k, mark] for mark in range(MARKS)} for k in range(ARMS)]
        ends = [(o.arm, places[o.arm][o.since], places[o.arm][o.until]) for o in turn.offers]
        if turn.each:  # an arm that comes again has nothing left to tell
            before = [[o.arm for o in turn.offers[:e]] for e in range(len(turn.offers))]
            ends = [(k, end if k in told else begin, end) for (k, begin, end), told in zip(ends, before, strict=True)]
        if any(begin > end for _, begin, end in ends):
            yield None
            return
        yield [Entry(k, sum(rewards[k][begin:end]), begin + 1, end, float(REACH[k])) for k, begin, end in ends]
        for k, mark, keep in turn.moves:
            marks[k, keep] = marks[k, mark]
        for o in turn.offers:
            if o.keep != NOWHERE:
                marks[o.arm, o.keep] = seen[o.arm]


def say(out, turn):
    if turn.each:
        plan = one(plan_record(Params()))
        plan.arms = ARMS
        for o in turn.offers:
            order(plan, o.arm, 1)
        offer_each(out, plan, 0.5)
        return
    for o in turn.offers:
        if o.way == "fresh":
            offer(out, o.arm, 0.5)
        elif o.way == "all":
            offer_all(out, o.arm, 0.5)
        else:
            offer_between(out, o.arm, o.since, o.until, o.keep, 0.5, 0)
    for move in turn.moves:
        remember(out, *move)


def by_the_door(history, rewards):
    secret = make_secrets(1, ARMS, MARKS, REACH).view(np.recarray)[0]
    out, ledger, left = one(out_record(ROLE, Params())), one(ledger_record(ARMS, 1)), [iter(row) for row in rewards]
    for turn in history:
        for k, pulls in enumerate(turn.pulls):
            take_in(secret, k, pulls, sum(next(left[k]) for _ in range(pulls)))
        clear(out)
        say(out, turn)
        look_up(out, secret, ledger, ARMS, False)
        if secret.refused:
            assert (secret.refused, out.entries, out.value.any()) == (ORDER, 0, False)
            yield None
            return
        n = out.entries
        columns = (getattr(out, field)[:n].tolist() for field in Entry._fields)
        yield [Entry(*row) for row in zip(*columns, strict=True)]


@settings(max_examples=100)
@given(HISTORIES, st.randoms(use_true_random=False))
def test_values_and_covers_are_those_of_lists_of_rewards(history, random):
    rewards = rewards_of(history, random)
    assert list(by_the_door(history, rewards)) == list(by_lists(history, rewards))


@settings(max_examples=40)
@given(HISTORIES, st.randoms(use_true_random=False))
def test_a_reward_moves_what_covers_it_and_nothing_else_and_no_further_than_the_sensitivity(history, random):
    """Every reward in turn goes from one end of its range to the other."""
    rewards = rewards_of(history, random)
    for arm in range(ARMS):
        for n in range(len(rewards[arm])):
            lives = []
            for changed in (0, int(REACH[arm] * UNIT)):
                rewards[arm][n] = changed
                lives.append([entry for entries in by_the_door(history, rewards) if entries for entry in entries])
            for before, after in zip(*lives, strict=True):
                covered = before.arm == arm and before.first <= n + 1 <= before.last
                assert before[2:] == after[2:]
                assert after.value - before.value == (before.sensitivity * UNIT if covered else 0)
