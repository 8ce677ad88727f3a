"""The bounds on the noise of an average: which is smallest, which is valid, and whether noise keeps to them."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import binom

from coterie.algorithms import find
from coterie.algorithms.elimination import chernoff, joint_term, noise_term
from coterie.contract import Setting

ARMS = 7


def build(agents=50, arms=ARMS, horizon=100_000, **options):
    entry = find("cdp-mab")
    return entry.build(entry.options(**options), Setting(agents, arms, horizon))


def test_without_privacy_nothing_of_noise_is_left():
    """epsilon = inf is the only setting without noise: epsilon = 1 is not."""
    free = build(epsilon=inf)
    assert free.p == build(noise="none").p._replace(epsilon=inf)
    assert noise_term(free.p, 3, 50.0, 150.0) == 0.0
    assert noise_term(build(mode="paper", epsilon=1.0).p, 3, 50.0, 150.0) > 0.0


@pytest.mark.parametrize("rewards", [0.0, 0.3, 50.0, 1e6])
@pytest.mark.parametrize("draws", [1, 2, 10, 150, 5000, 10**6])
@pytest.mark.parametrize("L", [1.5, 8.0, 20.0, 60.0])
def test_chernoffs_form_is_the_minimum_over_all_u(L, draws, rewards):
    """By brute force on a grid that is refined twice."""
    value = lambda u: (L + rewards * u * u - draws * np.log1p(-u * u)) / u  # noqa: E731
    low, high = 1e-6, 1 - 1e-6
    for _ in range(3):
        grid = np.linspace(low, high, 20_001)
        best = int(np.argmin(value(grid)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20_000)]
    assert chernoff(L, float(draws), rewards) == pytest.approx(value(grid).min(), rel=1e-6)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    agents=some.integers(1, 2000),
    epoch=some.integers(1, 40),
    horizon=some.integers(1, 10**9),
    epsilon=some.floats(1e-3, 1e3),
)
def test_chernoffs_form_is_the_smallest_valid_one(agents, epoch, horizon, epsilon):
    draws = float(agents * epoch)
    by_chernoff, by_subexp, as_printed = (
        noise_term(build(agents, horizon=horizon, epsilon=epsilon, radius=form).p, epoch, float(agents), draws)
        for form in ("chernoff", "subexp", "printed")
    )
    assert 0 < by_chernoff <= by_subexp
    if log(8 * ARMS * epoch**2 * horizon) < agents:
        assert by_subexp <= as_printed * (1 + 1e-12)


def test_for_a_single_agent_the_printed_form_is_no_bound():
    """One draw exceeds H with probability exp(-H / b) / 2 exactly; the bound promises exp(-L) / 2 at most."""
    L = log(8 * ARMS * 100_000)
    bounds = {form: noise_term(build(1, radius=form).p, 1, 1.0, 1.0) for form in ("chernoff", "subexp", "printed")}
    assert bounds["printed"] < L < bounds["chernoff"] < bounds["subexp"]


@pytest.mark.parametrize("agents, epoch, noise", [(1, 1, "local"), (3, 2, "local"), (20, 1, "local"), (20, 3, "secagg")])
def test_the_noise_of_an_average_stays_below_its_bound(agents, epoch, noise):
    """P(noise > H_r) <= exp(-L_K) = 1 / (8 K r^2 T). With K = 2 and T = 1 that can be counted; false alarm 1e-6."""
    trials, draws = 200_000, epoch if noise == "secagg" else epoch * agents
    promised = 1 / (8 * 2 * epoch**2)
    rng = np.random.default_rng(9)
    total = sum(rng.laplace(size=trials) for _ in range(draws)) / agents  # epsilon = 1, times S(r)
    for form in ("chernoff", "subexp"):
        bound = noise_term(build(agents, 2, 1, noise=noise, radius=form).p, epoch, float(agents), float(draws))
        above = int((total > bound).sum())
        assert 0 < above <= binom.isf(1e-6, trials, promised)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    pulls=some.integers(1, 10**9),
    draws=some.floats(0.01, 1000),
    L=some.floats(1, 100),
    epsilon=some.floats(1e-3, 1e3),
)
def test_noise_and_rewards_together_deviate_by_more_than_either_and_by_less_than_both_bounds(pulls, draws, L, epsilon):
    p = build(epsilon=epsilon, radius="joint").p
    alone = p.noise * chernoff(L, draws, 0.0) / pulls
    hoeffding = sqrt(L / (2 * pulls))
    together = joint_term(p, L, float(pulls), draws)
    assert max(alone, hoeffding) * (1 - 1e-9) <= together <= (alone + hoeffding) * (1 + 1e-9)


def test_where_noise_is_next_to_nothing_the_joint_bound_is_hoeffdings():
    p = build(epsilon=1e6, radius="joint").p
    assert joint_term(p, 12.0, 1000.0, 1.0) == pytest.approx(sqrt(12.0 / 2000), rel=1e-6)


@pytest.mark.parametrize(("pulls", "draws"), [(4, 1), (30, 1), (30, 3), (400, 2)])
def test_a_noised_mean_stays_below_the_joint_bound(pulls, draws):
    """P(deviation > bound) <= exp(-L), here 1/50, for coins, which deviate most. False alarm 1e-6."""
    trials, rng = 200_000, np.random.default_rng(4)
    noised = rng.binomial(pulls, 0.5, trials) + sum(rng.laplace(size=trials) for _ in range(draws))
    bound = joint_term(build(radius="joint").p, log(50), float(pulls), float(draws))
    above = int((noised / pulls - 0.5 > bound).sum())
    assert 0 < above <= binom.isf(1e-6, trials, 1 / 50)
