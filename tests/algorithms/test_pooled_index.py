"""The pooled index: Chernoff's bound for rewards and noise. By brute force, by KL-UCB, and by exact chances of a miss."""

from functools import cache
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import binom

from coterie.algorithms import entries
from coterie.algorithms.pooled import PORTIONS, estimate_record, first_batch, leader_of, share_out, upper
from coterie.contract import Setting
from coterie.kernel import UNIT, one
from coterie.privacy.aggregate import sum_density

NOISY = st.floats(-0.5, 1.5), st.integers(1, 10**7), st.integers(1, 1000), st.floats(0.05, 10.0), st.floats(0.0, 30.0)


def brute_force(x, n, draws, epsilon, level):
    """The least bound over a fine grid of l, written as in the docstring of the module."""
    top = min(40.0, epsilon * (1 - 1e-9))
    l = np.geomspace(1e-4 * min(top, 1.0), top, 20_001)  # noqa: E741
    with np.errstate(divide="ignore"):
        bound = (1 - np.exp(-l * x - (level - draws * np.log(1 - l * l / epsilon**2)) / n)) / (1 - np.exp(-l))
    return min(1.0, max(0.0, bound.min()))


@given(*NOISY)
@example(0.5, 1, 1000, 0.05, 30.0)
@example(0.0, 10**7, 1, 10.0, 0.0)
def test_the_search_finds_the_least_of_all_bounds(x, n, draws, epsilon, level):
    found, least = upper(x, float(n), float(draws), 1 / epsilon, level), brute_force(x, n, draws, epsilon, level)
    assert least - 1e-6 <= found <= least + 1e-5 * (1 + abs(least - x))


@given(st.floats(0.0, 0.999), st.integers(1, 10**7), st.floats(1e-3, 30.0))
def test_without_noise_it_is_kl_ucb(x, n, level):
    """The q above x with n kl(x, q) = B."""
    kl = lambda q: float(rel_entr(x, q) + rel_entr(1 - x, 1 - q))  # noqa: E731
    expected = brentq(lambda q: n * kl(q) - level, x, 1 - 1e-17) if n * kl(1 - 1e-16) > level else 1.0
    assert_allclose(upper(x, float(n), 0.0, 0.0, level), expected, atol=2e-5, rtol=0)


@given(*NOISY)
def test_more_noise_more_caution_and_fewer_pulls_make_it_larger(x, n, draws, epsilon, level):
    index = upper(x, float(n), float(draws), 1 / epsilon, level)
    near = 1e-5 * (1 + abs(index - x))
    assert index <= upper(x, float(n), draws + 1.0, 1 / epsilon, level) + near
    assert index <= upper(x, float(n), float(draws), 1.2 / epsilon, level) + near
    assert index <= upper(x, float(n), float(draws), 1 / epsilon, level + 1) + near
    assert index <= upper(x + 0.1, float(n), float(draws), 1 / epsilon, level) + near


# --- coverage: the exact chance that the mean of all agents lies above the index ---------------------------------


def test_agents_of_whom_more_is_known_make_no_miss_likelier():
    """Of six that differ one was heard 10 times and the others 30. As n = 60 pulls count, each agent with its own mean."""
    for level in (1.0, 4.0):
        threshold = brentq(lambda x, level=level: upper(x, 60.0, 0.0, 0.0, level) - UNLIKE.mean(), 0.0, UNLIKE.mean())
        law = binom.pmf(np.arange(11), 10, UNLIKE[0])
        law = np.kron(law, np.eye(1, 3)[0])[:31]  # in thirds of a pull
        for each in UNLIKE[1:]:
            law = np.convolve(law, binom.pmf(np.arange(31), 30, each))
        missed = law[np.arange(len(law)) < 180 * threshold].sum()
        assert 0 < missed <= exp(-level) and abs(law.sum() - 1) < 1e-12


def chance_of_a_miss(means, pulls, draws, epsilon, level):
    """Of agents that pull `pulls` times each. The index grows with x, so a miss is an x below a threshold."""
    n, mean, law = pulls * len(means), float(np.mean(means)), np.ones(1)
    threshold = n * brentq(lambda x: upper(x, float(n), float(draws), 1 / epsilon, level) - mean, -50.0, mean)
    for each in means:
        law = np.convolve(law, binom.pmf(np.arange(pulls + 1), pulls, each))
    grid, below = noise_law(draws)
    return float(law @ np.interp(epsilon * (threshold - np.arange(n + 1)), grid, below, left=0.0, right=1.0))


@cache
def noise_law(draws):
    """The distribution function of a sum of Laplace numbers of scale 1."""
    grid = np.linspace(-20 - 8 * np.sqrt(2 * draws), 20 + 8 * np.sqrt(2 * draws), 20_001)
    density = sum_density(grid, draws, 1.0)
    return grid, (np.cumsum(density) - density / 2) * (grid[1] - grid[0])


ALIKE, UNLIKE, RARE = np.full(6, 0.6), np.array([0.05, 0.3, 0.55, 0.7, 0.95, 0.99]), np.full(6, 0.05)


@pytest.mark.parametrize("means", [ALIKE, UNLIKE, RARE], ids=["alike", "unlike", "rare"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("level", "part"), [(1.0, 4), (2.0, 4.9), (4.0, 6), (9.0, 9)])
def test_a_mean_lies_above_its_index_in_a_part_of_the_cases_that_are_stated(means, epsilon, level, part):
    """A sixth of them or less from B = 4 on; below it is more."""
    for pulls, draws in ((1, 6), (20, 6), (20, 60), (200, 12)):
        missed = chance_of_a_miss(means, pulls, draws, epsilon, level)
        assert missed <= exp(-level) / part
        assert missed >= exp(-level) / 50 or means is not ALIKE or level == 1.0  # nor is it far too wide


# --- sharing out ----------------------------------------------------------------------------------------------


def learner(agents=20, arms=4, horizon=100_000, **options):
    entry = entries()["pooled-ucb"]
    return entry.build(entry.options(**options), Setting(agents=agents, arms=arms, horizon=horizon)).p


def known(p, counts, means, draws):
    open = one(estimate_record(p))
    for k, (count, mean) in enumerate(zip(counts, means, strict=True)):
        open.count[k], open.total[k], open.draws[k] = count, round(mean * count) * UNIT, draws
    return open


def test_arms_that_were_never_played_come_first_and_in_equal_parts():
    p = learner(agents=20, arms=4)
    open = known(p, (0, 0, 0, 0), (0, 0, 0, 0), 0)
    share_out(open, p, 1.0)
    assert open.seats.tolist() == [5, 5, 5, 5]
    open = known(p, (1000, 0, 1000, 1000), (0.9, 0, 0.5, 0.1), 5)
    share_out(open, p, 3000.0)
    assert open.seats[1] >= 1


def test_few_explore_an_arm_that_is_likely_bad_and_the_others_play_the_best():
    p = learner(agents=20, arms=4)
    open = known(p, (10**6, 2000, 2000, 2000), (0.7, 0.5, 0.2, 0.1), 10)
    share_out(open, p, 2e6)
    assert open.seats[0] >= 18 and open.seats.sum() == 20
    assert leader_of(open, p, 2e6) == 0


def test_each_placement_is_the_largest_index_given_those_before():
    """By hand: place after place, with indices worked out afresh by the formula."""
    p = learner(agents=12, arms=4, epsilon=0.7)
    open = known(p, (800, 700, 900, 0), (0.5, 0.52, 0.45, 0.0), 4)
    share_out(open, p, 5000.0)
    counts, means, seats = [800, 700, 900, 0], [0.5, 0.52, 0.45, 0.0], [0, 0, 0, 0]
    means = [round(mean * count) / count if count else 0.0 for mean, count in zip(means, counts, strict=True)]
    ahead = [float(count) for count in counts]
    for _ in range(12):
        scores = []
        for k in range(4):
            if counts[k] == 0:
                scores.append(2.0 if ahead[k] == 0 else -1.0)
            else:
                scores.append(upper(means[k], ahead[k], 4.0 + seats[k], 1 / 0.7, max(0.0, log(5000) - 0.5 * log(ahead[k]))))
        best = int(np.argmax(scores))
        seats[best] += 1
        ahead[best] += max(p.first, ceil(0.5 * counts[best]))
    assert open.seats.tolist()[:4] == seats


@pytest.mark.parametrize(("agents", "together", "portion", "groups"),
                         [(1, False, 1, 1), (64, False, 1, 64), (65, False, 2, 33), (1_000_000, False, 15_625, 64),
                          (1_000_000, True, 1_000_000, 1)])  # fmt: skip
def test_agents_are_shared_out_in_at_most_64_portions(agents, together, portion, groups):
    p = learner(agents=agents, play="together" if together else "apart")
    assert (p.portion, p.groups) == (portion, groups)
    assert p.groups <= PORTIONS and (p.groups - 1) * p.portion < agents <= p.groups * p.portion


@pytest.mark.parametrize(
    ("epsilon", "agents", "arms", "noise", "together", "rounds"),
    [(1.0, 20, 10, "local", False, 8), (0.3, 20, 10, "local", False, 27), (1.0, 1000, 5, "local", False, 3),
     (1.0, 1000, 5, "secagg", False, 1), (1.0, 10, 5, "central", False, 4), (1.0, 40, 5, "local", True, 4),
     (0.1, 40, 5, "central", True, 2), (float("inf"), 5, 5, "local", False, 1), (1.0, 1, 5, "local", True, 8)],
)  # fmt: skip
def test_first_batches(epsilon, agents, arms, noise, together, rounds):
    """ceil(8 / epsilon x share)."""
    assert first_batch(epsilon, Setting(agents=agents, arms=arms, horizon=1000), noise, together) == rounds
