"""The trimmed mean from counts of values, against its definition on sorted samples.

Samples go to X and Y in turn. With N = |Y|, delta = 1 / t^2, alpha = max(eps, ln(1/delta) / N) and
c = ceil(N (1 - 2 alpha - sqrt(2 alpha ln(4/delta) / N) - ln(4/delta) / N)), the estimate is the mean of those X that lie in the
shortest closed interval with at least c of Y; of equally short ones that with more of Y, then the lowest. Where 2 c < N, or no
X lies in it, the estimate is the mean of all samples.
"""

from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.algorithms import find
from coterie.algorithms.byzantine import ByzantineOptions, estimate, keep, nearest, shortest, take
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.errors import UsageError

OFTEN = settings(max_examples=100)


def build(told=(0.0, 1.0), low=0.0, high=1.0, **options):
    return find("byzantine-ucb").build(ByzantineOptions(**options), Setting(2, 3, 1000, reward_values=told, low=low, high=high))


def start(method):
    """An agent before its first round."""
    agent = Agent(method.node, method.p, Keyed(keys_of(seeds_of(0), 0), 0), rehearsal=True)
    for field, values in method.known.items():
        agent.open[field] = values[0]
    return agent


def receive(method, samples, k=1):
    """One after another. They have the values a message may have."""
    open, values = start(method).open, method.known["value"][0, : method.p.places].tolist()
    for value in samples:
        take(open, k, values.index(value), 1)
    return open


def estimated(method, samples, t):
    open = receive(method, samples)
    return estimate(open, method.p, 1, keep(len(samples) // 2, method.p.contamination, log(t)))


# --- the definition ---------------------------------------------------------------------------------------


def split(samples):
    """X and Y, as exact numbers."""
    exact = [Fraction(value) for value in samples]
    return exact[0::2], exact[1::2]


def kept(n, eps, t):
    delta = 1 / t**2
    alpha = max(eps, log(1 / delta) / n)
    return ceil(n * (1 - 2 * alpha - sqrt(2 * alpha * log(4 / delta) / n) - log(4 / delta) / n))


def mean(values):
    return sum(values) / len(values)


def trimmed_mean(samples, eps, t):
    xs, ys = split(samples)
    everything, n, ys = mean(xs + ys), len(ys), sorted(ys)
    c = kept(n, eps, t) if n else 0
    if n == 0 or 2 * c < n:
        return everything
    intervals = [(ys[i], ys[i + c - 1]) for i in range(n - c + 1)]
    low, high = min(intervals, key=lambda z: (z[1] - z[0], -sum(z[0] <= y <= z[1] for y in ys), z[0]))
    inside = [x for x in xs if low <= x <= high]
    return mean(inside) if inside else everything


VALUES = (-3.0, 0.0, 0.25, 0.5, 1.0, 10.0)
SAMPLES = st.lists(st.sampled_from(VALUES), min_size=1, max_size=150)
RUNS = st.lists(st.tuples(st.sampled_from(VALUES), st.integers(1, 60)), min_size=1, max_size=8)
MANY = RUNS.map(lambda runs: [value for value, count in runs for _ in range(count)])
LIARS = st.sampled_from([0.0, 0.001, 0.05, 0.1, 0.2])
ROUNDS = st.integers(2, 20)


@OFTEN
@given(st.one_of(SAMPLES, MANY), LIARS, ROUNDS)
@example([0.0, 0.0], 0.0, 2)
@example([0.5], 0.0, 2)
@example([0.0, 0.0, 1.0, 1.0] * 30, 0.0, 2)
def test_counts_of_values_give_the_estimate_of_sorted_samples(samples, eps, t):
    method = build(told=VALUES, liars_assumed=eps)
    found = estimated(method, samples, t)
    assert found == pytest.approx(float(trimmed_mean(samples, eps, t)), abs=1e-12)


def test_the_examples_reach_the_interval_and_both_ways_round_it():
    """c is at least half of Y from a few dozen samples on; with fewer all samples count. A lone outlier is then cut off."""
    assert kept(20, 0.0, 3) * 2 < 20 <= 2 * kept(40, 0.0, 3) - 20
    method = build(told=VALUES, liars_assumed=0.0)
    few, many = [0.5] * 9 + [10.0], [0.5] * 160 + [10.0]
    assert estimated(method, few, 3) == pytest.approx(1.45)
    assert estimated(method, many, 3) == 0.5
    apart = [0.0, 1.0] * 60  # all X are 0 and all Y are 1: no X lies in the interval
    assert estimated(method, apart, 3) == 0.5


@OFTEN
@given(st.lists(st.tuples(st.sampled_from(range(6)), st.integers(0, 7)), min_size=1, max_size=20))
def test_samples_that_arrive_together_are_split_as_if_they_came_one_by_one(parcels):
    method = build(told=VALUES)
    together, single = start(method).open, start(method).open
    for place, count in parcels:
        take(together, 0, place, count)
        for _ in range(count):
            take(single, 0, place, 1)
    assert together.tobytes() == single.tobytes()
    assert 0 <= together.x[0].sum() - together.y[0].sum() <= 1


@OFTEN
@given(st.integers(0, 150), st.integers(0, 150), st.integers(0, 150), LIARS, ROUNDS)
def test_coins_have_a_closed_form(zeros, ones, ones_in_x, eps, t):
    """One side of the coin alone if it makes up enough of Y, else the mean of X."""
    n = zeros + ones
    if n == 0:
        return
    ones_in_x, method = min(ones_in_x, n), build(liars_assumed=eps)
    open, c = start(method).open, kept(n, eps, t)
    open.samples[2], open.x[2, :2], open.y[2, :2] = 2 * n, (n - ones_in_x, ones_in_x), (zeros, ones)
    if 2 * c < n:
        expected = (ones_in_x + ones) / (2 * n)
    elif max(zeros, ones) >= c:
        side, in_x = (1.0, ones_in_x) if ones > zeros else (0.0, n - ones_in_x)
        expected = side if in_x > 0 else (ones_in_x + ones) / (2 * n)
    else:
        expected = ones_in_x / n
    assert estimate(open, method.p, 2, keep(n, eps, log(t))) == pytest.approx(expected, abs=1e-12)


# --- rewards with many values -----------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.floats(-1.0, 2.0), st.integers(2, 256))
def test_a_reward_is_rounded_by_at_most_half_a_cell(reward, cells):
    method = build(told=(), low=-1.0, high=2.0, cells=cells)
    place = nearest(start(method).open, method.p, reward)
    assert abs(method.known["value"][0, place] - reward) <= 0.5 * 3 / cells + 1e-12


CLOUDS = st.lists(st.integers(0, 10_000).map(lambda i: i / 10_000), min_size=20, max_size=120)


def to_the_grid(samples, cells):
    """The middles of cells; these are binary fractions, so that equally long intervals are equally long."""
    return [(min(int(cells * value), cells - 1) + 0.5) / cells for value in samples]


@settings(max_examples=50)
@given(CLOUDS, LIARS, ROUNDS)
def test_on_a_grid_the_estimate_is_that_of_rounded_samples(samples, eps, t):
    method, rounded = build(told=(), cells=16, liars_assumed=eps), to_the_grid(samples, 16)
    found = estimated(method, rounded, t)
    assert found == pytest.approx(float(trimmed_mean(rounded, eps, t)), abs=1e-12)


@settings(max_examples=50)
@given(CLOUDS, st.floats(0.5, 1.0))
def test_on_a_grid_the_interval_is_at_most_a_cell_longer_than_the_shortest(samples, share):
    """Of intervals that are nearly as short the grid may prefer another one, so the estimate itself may move by more than a
    cell: in 600 bell-shaped samples, a tenth of them lies, it moved by 0.0044 with 512 cells."""
    method, (_, ys) = build(told=(), cells=64), split(samples)
    open, c, ys = receive(method, to_the_grid(samples, 64)), ceil(share * len(ys)), sorted(ys)
    lower, upper = shortest(open, method.p, 1, c, float(len(ys)))
    exact = min(ys[i + c - 1] - ys[i] for i in range(len(ys) - c + 1))
    assert abs(open.value[upper] - open.value[lower] - float(exact)) <= 1 / 64 + 1e-12
    assert open.y[1, lower : upper + 1].sum() >= c


# --- the comparator ---------------------------------------------------------------------------------------


@OFTEN
@given(st.lists(st.tuples(st.sampled_from((0.0, 0.25, 0.5, 1.0)), st.sampled_from((None, *VALUES))), min_size=1, max_size=80))
def test_lies_move_the_clipped_mean_by_at_most_their_share(pairs):
    honest, told = [value for value, _ in pairs], [value if lie is None else lie for value, lie in pairs]
    method = build(told=VALUES, estimator="clipped")
    share = mean([lie is not None for _, lie in pairs])
    found = estimated(method, told, 9)
    assert found == pytest.approx(np.clip(told, 0, 1).mean(), abs=1e-12)
    assert abs(found - mean(honest)) <= share + 1e-12


def test_one_lie_in_a_thousand_moves_a_plain_mean_further_than_its_share():
    """What clipping is for: of the value 10 only 1 is left."""
    told = [0.5] * 999 + [10.0]
    method = build(told=VALUES, estimator="clipped")
    assert estimated(method, told, 9) == pytest.approx(0.5005)
    assert mean(told) - 0.5 > 0.001


# --- the index --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius, spread", [("paper", 0.5), ("variance", 0.25)])
def test_the_index_adds_a_radius_that_counts_all_samples(radius, spread):
    """sqrt(2 sigma ln t / samples) with sigma = 1/2, or its square. The first K rounds go round the arms."""
    method = build(radius=radius, liars_assumed=0.1)
    agent = start(method)
    for t in (1, 2, 3):
        agent.begin(t)
        assert agent.ask()[1] == t - 1
        agent.tell(1 * t, t % 2)
        agent.finish()
    for place, count in ((0, 4), (1, 7)):
        take(agent.open, 1, place, count)
    agent.begin(4)
    root = [sqrt(2 * spread * log(4) / n) for n in (1, 12, 1)]
    assert agent.open.index[:3] == pytest.approx([1 + root[0], 7 / 12 + root[1], 1 + root[2]], rel=1e-12)
    assert agent.ask()[1] == 0


def test_what_cannot_be_estimated_is_refused():
    with pytest.raises(UsageError, match=r"liars must be below 0\.5, where the trimmed mean breaks down, got 0\.6"):
        find("byzantine-ucb").build(ByzantineOptions(), Setting(2, 3, 1000, reward_values=(0.0, 1.0), liars=0.6))
    with pytest.raises(UsageError, match=r"problem\.clip must be given for byzantine-ucb"):
        find("byzantine-ucb").build(ByzantineOptions(), Setting(2, 3, 1000, low=-np.inf, high=np.inf))
