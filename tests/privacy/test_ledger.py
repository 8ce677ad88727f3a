"""Booking against brute force: what a reward really costs is the sum of the prices of all releases that cover it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.kernel import one
from coterie.privacy.ledger import book, ledger_record, loss_per_reward

ARMS, CHAINS = 3, 2
PRICES = st.integers(1, 64).map(lambda n: n / 8)  # sums of them are exact
BLOCK = st.tuples(st.integers(1, 5), st.integers(0, 3), PRICES)  # length, rewards left out before it, price
COVER = st.tuples(st.integers(1, 20), st.integers(0, 8), PRICES).map(lambda c: (c[0], c[0] + c[1], c[2]))


def booked(entries):
    """A ledger with entries (arm, chain, first, last, price)."""
    ledger = one(ledger_record(ARMS, CHAINS))
    for entry in entries:
        book(ledger, *entry)
    return ledger


def dearest(covers, power=1):
    """Over rewards 1, 2, ...: the largest sum of prices of the covers (first, last, price) it lies in."""
    last = max((cover[1] for cover in covers), default=0)
    return max((sum(c[2] ** power for c in covers if c[0] <= n <= c[1]) for n in range(1, last + 1)), default=0.0)


def side_by_side(blocks):
    covers, end = [], 0
    for length, gap, price in blocks:
        covers.append((end + gap + 1, end + gap + length, price))
        end += gap + length
    return covers


def loss(ledger):
    return loss_per_reward(np.array([ledger]).view(ledger.dtype))[0]


@given(st.lists(BLOCK, max_size=8).map(side_by_side))
def test_disjoint_stretches_cost_the_dearest_of_them(covers):
    ledger = booked((1, 0, *cover) for cover in covers)
    assert ledger.loss[1, 0] == dearest(covers) == max((price for *_, price in covers), default=0.0)
    assert ledger.squares[1, 0] == dearest(covers, power=2)
    assert ledger.entries[1, 0] == len(covers)


@given(st.lists(PRICES, min_size=1, max_size=8))
def test_growing_prefixes_and_repeated_stretches_cost_their_sum(prices):
    for covers in ([(1, n + 1, price) for n, price in enumerate(prices)], [(3, 7, price) for price in prices]):
        ledger = booked((0, 1, *cover) for cover in covers)
        assert ledger.loss[0, 1] == dearest(covers) == sum(prices)
        assert ledger.squares[0, 1] == dearest(covers, power=2)


@given(st.lists(COVER, max_size=8))
def test_no_order_of_covers_is_booked_below_its_cost(covers):
    ledger = booked((2, 1, *cover) for cover in covers)
    assert ledger.loss[2, 1] >= dearest(covers)
    assert ledger.squares[2, 1] >= dearest(covers, power=2)
    assert ledger.last[2, 1] == max((last for _, last, _ in covers), default=0)


@given(st.lists(st.tuples(st.integers(0, ARMS - 1), st.integers(0, CHAINS - 1), COVER), max_size=12), st.data())
def test_what_is_booked_on_one_arm_and_chain_does_not_depend_on_the_others(entries, data):
    entries = [(arm, chain, *cover) for arm, chain, cover in entries]
    mixed = data.draw(st.permutations(range(len(entries))))
    keys = [entries[n][:2] for n in mixed]  # the same keys in another order, each with its own covers in theirs
    left = {key: iter([entry for entry in entries if entry[:2] == key]) for key in set(keys)}
    assert booked(entries).tobytes() == booked(next(left[key]) for key in keys).tobytes()


@given(st.lists(st.tuples(st.integers(0, ARMS - 1), st.integers(0, CHAINS - 1), COVER), max_size=12))
def test_chains_of_an_arm_add_up_and_the_dearest_arm_counts(entries):
    covers = {(arm, chain): [] for arm in range(ARMS) for chain in range(CHAINS)}
    for arm, chain, cover in entries:
        covers[arm, chain].append(cover)
    true = max(dearest([cover for chain in range(CHAINS) for cover in covers[arm, chain]]) for arm in range(ARMS))
    ledger = booked((arm, chain, *cover) for arm, chain, cover in entries)
    assert loss(ledger) == ledger.loss.sum(axis=1).max() >= true


def test_every_chain_is_paid_for_by_a_reward_that_lies_in_all():
    ledger = booked([(0, 0, 1, 4, 0.5), (0, 1, 1, 8, 0.25), (1, 0, 1, 4, 0.625)])
    assert loss(ledger) == 0.75


def test_an_array_of_ledgers_has_one_loss_each():
    ledgers = np.zeros((2, 3), ledger_record(ARMS, CHAINS))
    ledgers["loss"][1, 2, 0] = 0.5, 0.125
    ledgers["loss"][1, 2, 1] = 0.75, 0.0
    assert loss_per_reward(ledgers).tolist() == [[0, 0, 0], [0, 0, 0.75]]
