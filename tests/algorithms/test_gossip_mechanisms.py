"""How running means are released: what passes the door, what noise it carries, and what becomes of it.

One agent is driven by hand: it is told which arms it has pulled and what came of it, and a witness at its door writes down
every number on its way out. What is released is rebuilt from those numbers by brute force.

The statistical test compares variances with their closed forms. It tolerates six standard errors of a sample variance
(of sums of r Laplace numbers, whose kurtosis is 3 + 3/r): its false-alarm rate is below 1e-6.
"""

from functools import cache
from math import ceil, floor, log2, sqrt
from typing import NamedTuple

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.contract import Setting
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.rehearsal import keyed_agent
from coterie.kernel import UNIT
from coterie.privacy.gauss import mu_of
from coterie.privacy.mechanisms.streams import digits_used
from coterie.privacy.secret import take_in

ARMS, HORIZON, EPSILON, FINE = 3, 100, 0.5, 2**32
LEVELS = 7  # of a binary tree: 2^7 > 101, the most pulls an arm can have
HEIGHT = 5  # of a ternary tree with signed digits: 3^5 >= 2 * 101 + 1 > 3^4


class Passed(NamedTuple):
    """A number that passed the door."""

    t: int
    arm: int
    chain: int
    first: int
    last: int
    price: float
    exact: int
    noise: int


class Witness(Keyed):
    """Keyed chance that writes down what passes."""

    def __init__(self, keys):
        super().__init__(keys, 0)
        self.passed = []

    def noise(self, mechanism, secret, t, out):
        exact = out.value[: out.entries].tolist()
        super().noise(mechanism, secret, t, out)
        for e in range(out.entries):
            about = (int(out.arm[e]), int(out.chain[e]), int(out.first[e]), int(out.last[e]), float(out.price[e]))
            self.passed.append(Passed(t, *about, exact[e], int(out.value[e]) - exact[e]))


@cache
def built(reach, **options):
    entry, setting = find("fed-ucb"), Setting(4, ARMS, HORIZON, low=0.0, high=reach)
    return entry.build(entry.options(epsilon=EPSILON, **options), setting)


class Driven:
    """An agent whose pulls and rewards are given."""

    def __init__(self, replication=0, reach=1.0, **options):
        method = built(reach, **options)
        self.witness, self.t = Witness(keys_of(seeds_of(17), replication)), 0
        self.agent = keyed_agent(method.node, method.p, self.witness, reach)
        self.agent.open.weight = 1.0
        self.rewards = {arm: [] for arm in range(ARMS)}

    def pull(self, *arms, reward=UNIT):
        """One round."""
        agent, plan = self.agent, self.agent.plan
        agent.t, plan.entries = self.t, len(arms)
        for e, arm in enumerate(arms):
            plan.arm[e], plan.pulls[e] = arm, 1
            agent.open.pulls[arm] += 1
            self.rewards[arm].append((self.t, reward))
            take_in(agent.secret, arm, 1, reward)
        agent.pass_door()
        self.t += 1

    def released(self, arm=0):
        """The noised sum that the mean in use stands for, in rewards."""
        return self.agent.open.average[arm] / FINE * self.agent.open.covered[arm]

    def sum_of(self, arm, first, last):
        """Exact, of the arm's rewards by number, in units of the grid."""
        return sum(reward for _, reward in self.rewards[arm][first - 1 : last])


def pieces(m):
    """1..m as dyadic intervals, by clearing the lowest set bit again and again."""
    while m > 0:
        before = m & (m - 1)
        yield before + 1, m
        m = before


def drive(seed=1, **options):
    """After round 0 with every arm: rewards and arms by chance, up to the horizon."""
    rng, driven = np.random.default_rng(seed), Driven(**options)
    driven.pull(*range(ARMS), reward=int(rng.integers(UNIT)))
    yield driven
    while driven.t <= HORIZON:
        driven.pull(int(rng.choice(ARMS, p=[0.7, 0.25, 0.05])), reward=int(rng.integers(UNIT)))
        yield driven


# --- the tree over own pulls ------------------------------------------------------------------------------


def test_a_tree_releases_the_one_dyadic_interval_that_ends_at_the_pull():
    *_, driven = drive(mechanism="tree")
    for arm in range(ARMS):
        passed = [number for number in driven.witness.passed if number.arm == arm]
        for m, number in enumerate(passed, 1):
            assert (number.first, number.last) == next(pieces(m))
            assert 2**number.chain == number.last - number.first + 1
            assert number.exact == driven.sum_of(arm, number.first, number.last)
            assert number.price == EPSILON / LEVELS
        assert len(passed) == driven.agent.open.pulls[arm] > 3


def test_the_released_sum_of_a_tree_is_that_of_its_pieces_each_with_its_one_noise():
    """So two prefixes that share pieces differ by the others only."""
    for driven in drive(mechanism="tree"):
        for arm in range(ARMS):
            passed = {(n.first, n.last): n.exact + n.noise for n in driven.witness.passed if n.arm == arm}
            m = int(driven.agent.open.pulls[arm])
            assert driven.released(arm) == pytest.approx(sum(passed[piece] for piece in pieces(m)) / UNIT, abs=1e-6)
            assert driven.agent.open.covered[arm] == m
    assert driven.agent.open.pulls.max() > 64


# --- blocks -----------------------------------------------------------------------------------------------


def test_blocks_are_released_when_the_count_has_doubled_and_every_reward_is_in_one():
    *_, driven = drive(mechanism="blocks")
    for arm in range(ARMS):
        passed = [number for number in driven.witness.passed if number.arm == arm]
        assert [number.last for number in passed] == [2**r for r in range(len(passed))]
        assert [number.first for number in passed] == [1, *(number.last + 1 for number in passed[:-1])]
        assert [number.exact for number in passed] == [driven.sum_of(arm, n.first, n.last) for n in passed]
        assert {number.price for number in passed} == {EPSILON}
        assert len(passed) == floor(log2(driven.agent.open.pulls[arm])) + 1


def test_between_two_releases_a_mean_of_blocks_does_not_move():
    for driven in drive(mechanism="blocks"):
        for arm in range(ARMS):
            passed = [number for number in driven.witness.passed if number.arm == arm]
            assert driven.released(arm) == pytest.approx(sum(n.exact + n.noise for n in passed) / UNIT, abs=1e-6)
            assert driven.agent.open.covered[arm] == passed[-1].last


# --- streams ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["digits", "root"])
def test_a_stream_releases_the_whole_sum_at_every_pull(mechanism):
    for driven in drive(mechanism=mechanism):
        for arm in range(ARMS):
            passed = [number for number in driven.witness.passed if number.arm == arm]
            assert [number.first for number in passed] == list(range(1, len(passed) + 1))
            assert {number.last for number in passed} == {HORIZON + 1}
            assert passed[-1].exact == driven.sum_of(arm, 1, len(passed))
            assert driven.released(arm) == pytest.approx((passed[-1].exact + passed[-1].noise) / UNIT, abs=1e-6)


# --- as printed -------------------------------------------------------------------------------------------


def holding(driven, arm):
    """Pieces of the rounds up to the arm's last pull that hold a pull of it.

    Each as (level, first pull, last pull), with its exact sum.
    """
    pulls = list(enumerate(driven.rewards[arm], 1))[1:]
    for first, last in pieces(pulls[-1][1][0] if pulls else 0):
        inside = [(n, reward) for n, (t, reward) in pulls if first <= t <= last]
        if inside:
            yield ((last - first + 1).bit_length() - 1, inside[0][0], inside[-1][0]), sum(reward for _, reward in inside)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_printed_tree_is_over_rounds_and_adds_noise_to_pieces_that_hold_a_pull_and_to_no_first_reward(seed):
    used = {arm: {} for arm in range(ARMS)}
    for driven in drive(seed, mode="paper"):
        for arm in range(ARMS):
            noise = {(n.chain, n.first, n.last): n.noise for n in driven.witness.passed if n.arm == arm}
            total = driven.rewards[arm][0][1]
            for piece, exact in holding(driven, arm):
                used[arm][piece] = exact
                total += exact + noise[piece]
            assert driven.released(arm) == pytest.approx(total / UNIT, abs=1e-6)
            assert driven.agent.open.covered[arm] == len(driven.rewards[arm])
    for arm in range(ARMS):
        first, *passed = [number for number in driven.witness.passed if number.arm == arm]
        assert (first.t, first.exact, first.noise) == (0, driven.rewards[arm][0][1], 0)
        assert first.price == np.inf
        assert {(n.chain, n.first, n.last): n.exact for n in passed} == used[arm]
        assert len(passed) == len(used[arm]) >= 2  # none twice
        assert all(n.last - n.first + 1 <= 2**n.chain and n.noise != 0 for n in passed)


def test_the_printed_tree_counts_with_the_noise_of_the_pieces_in_use():
    for driven in drive(mode="paper"):
        b = ceil(log2(HORIZON)) / EPSILON
        for arm in range(ARMS):
            in_use = len(list(holding(driven, arm)))
            assert driven.agent.open.variance[arm] == pytest.approx(2 * b * b * in_use, rel=1e-12)


@pytest.mark.parametrize("horizon, own, printed", [(2, 2, 1), (63, 7, 6), (64, 7, 6), (65, 7, 7), (127, 8, 7), (1, 2, 1)])
def test_a_tree_has_levels_for_all_pulls_and_as_printed_one_less_at_powers_of_two(horizon, own, printed):
    entry, setting = find("fed-ucb"), Setting(2, 2, horizon)
    for mode, levels in (("private", own), ("paper", printed)):
        method = entry.build(entry.options(mechanism="tree", mode=mode, epsilon=3.0), setting)
        assert method.p.price == pytest.approx(3.0 / levels, rel=1e-15)


# --- how much noise ---------------------------------------------------------------------------------------


def root_coefficients(m):
    """r_j = (2j choose j) / 4^j."""
    return np.cumprod([1.0, *((2 * j - 1) / (2 * j) for j in range(1, m))])


def balanced_ternary(m):
    digits = []
    while m != 0:
        digits.append((m + 1) % 3 - 1)
        m = (m - digits[-1]) // 3
    return digits


CLOSED_FORMS = {
    "tree": lambda m: 2 * (LEVELS / EPSILON) ** 2 * m.bit_count(),
    "blocks": lambda m: 2 * (floor(log2(m)) + 1) / EPSILON**2,
    "digits": lambda m: 2 * (HEIGHT / EPSILON) ** 2 * np.count_nonzero(balanced_ternary(m)),
    "root": lambda m: (np.linalg.norm(root_coefficients(HORIZON + 1)) / mu_of(EPSILON, 1e-6)) ** 2
    * sum(root_coefficients(m) ** 2),
}  # fmt: skip
RUNS, COUNTS = 800, (1, 2, 3, 4)


@pytest.mark.parametrize("mechanism", CLOSED_FORMS)
def test_the_noise_of_a_released_sum_has_the_variance_of_the_closed_form(mechanism):
    measured = {m: [] for m in COUNTS}
    for replication in range(RUNS):
        driven = Driven(replication, mechanism=mechanism)
        for m in range(1, max(COUNTS) + 1):
            driven.pull(0)
            if m in COUNTS:
                measured[m].append(driven.released() - driven.agent.open.covered[0])
    for m in COUNTS:
        ratio = np.mean(np.square(measured[m])) / CLOSED_FORMS[mechanism](m)
        draws = CLOSED_FORMS[mechanism](m) / CLOSED_FORMS[mechanism](1) if mechanism != "root" else np.inf
        assert abs(ratio - 1) < 6 * sqrt((2 + 3 / draws) / RUNS)


@pytest.mark.parametrize("reach", [1.0, 5.0])
@pytest.mark.parametrize("mechanism", CLOSED_FORMS)
def test_an_agent_counts_with_the_variance_of_the_closed_form(mechanism, reach):
    """It grows with the square of the range of a reward."""
    driven = Driven(mechanism=mechanism, reach=reach)
    for m in range(1, HORIZON + 2):
        driven.pull(0)
        expected = reach**2 * CLOSED_FORMS[mechanism](m)
        assert driven.agent.open.variance[0] == pytest.approx(expected, rel=1e-9)


def test_signed_digits_leave_two_of_three_nodes_in_use_on_average():
    """2 b^2 h (k^2 - 1) / (4 k) with k = 3: over all prefixes that h digits reach, up to the missing prefix 0."""
    reached = (3**HEIGHT - 1) // 2
    average = np.mean([digits_used(m) for m in range(1, reached + 1)])
    assert average == pytest.approx(HEIGHT * (9 - 1) / (4 * 3) * 3**HEIGHT / (3**HEIGHT - 1), rel=1e-12)


def test_at_large_counts_blocks_have_the_least_noise_and_digits_less_than_the_tree():
    at_horizon = {mechanism: np.mean([form(m) for m in range(51, 102)]) for mechanism, form in CLOSED_FORMS.items()}
    assert at_horizon["blocks"] < at_horizon["digits"] < at_horizon["tree"]
