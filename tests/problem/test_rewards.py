"""Rewards and regret of the problems: laws against scipy, sums against closed forms, laps against brute force.

Chi-squared tests ask for 1e-7 and moments for five and a half standard errors: false alarms stay below 1e-6 each.
"""

from math import inf
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.stats import binom, binomtest, norm

from coterie.contract import order, plan_record
from coterie.kernel import UNIT, fold, one, rows, side
from coterie.privacy.secret import make_secrets
from coterie.problem import bernoulli, gaussian
from coterie.problem.harvest import harvest_record

DRAWS = 20_000
MEANS = np.array([[0.7, 0.2, 0.5]])


class Params(NamedTuple):
    arms: int = 3


def planned(*orders):
    """A plan of (arm, pulls), ..."""
    plan = one(plan_record(Params()))
    plan.arms = Params().arms
    for arm, pulls in orders:
        order(plan, arm, pulls)
    return plan


def totals(problem, world, *orders, draws=DRAWS):
    """[draw, entry]: sums of rewards on the grid."""
    plans = rows(1, plan_record(Params()), compiled=True)
    plans[0] = planned(*orders)
    harvests, secrets = rows(1, harvest_record(Params()), compiled=True), make_secrets(1, Params().arms, 1, 1.0)
    return many(COMPILED[problem], world, secrets, plans, harvests, fold(41, 0), draws)


COMPILED = {problem: njit(error_model="numpy")(problem.draw) for problem in (bernoulli, gaussian)}


@njit(error_model="numpy")
def many(draw, worlds, secrets, plans, harvests, key, draws):
    seen = np.empty((draws, plans[0].entries), np.int64)
    for n in range(draws):
        draw(worlds[0], secrets[0], plans[0], harvests[0], side(key, n))
        for e in range(plans[0].entries):
            seen[n, e] = harvests[0].total[e]
    return seen


def within(values, mean, variance):
    """Mean and variance: the latter by the fourth moment of the values themselves."""
    n, fourth = len(values), ((values - values.mean()) ** 4).mean()
    near = abs(values.mean() - mean) <= 5.5 * np.sqrt(variance / n)
    return near and abs(values.var() - variance) <= 5.5 * np.sqrt(fourth / n)


# --- 0 or 1 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pulls", [1, 40, 700])
def test_sums_of_bernoulli_rewards_are_binomial(pulls, chance_of_fit):
    seen = totals(bernoulli, bernoulli.world(MEANS), *[(arm, pulls) for arm in range(3)])
    assert (seen % UNIT == 0).all()
    for arm in range(3):
        assert chance_of_fit(seen[:, arm] // UNIT, binom(pulls, MEANS[0, arm])) > 1e-7
    assert np.abs(np.corrcoef(seen.T) - np.eye(3)).max() < 5.5 / np.sqrt(DRAWS)


@pytest.mark.parametrize(
    ("problem", "world"),
    [(bernoulli, bernoulli.world(MEANS)), (gaussian, gaussian.world(MEANS, sigma=0.3, low=0.0, high=1.0))],
)
def test_what_an_arm_gives_does_not_depend_on_the_rest_of_the_plan(problem, world):
    """So that algorithms can be compared on the same rewards. Single pulls take another way, to the same number."""
    one_by_one = totals(problem, world, (0, 1), (1, 1), (2, 1), draws=200)
    assert (totals(problem, world, (2, 1), (0, 1), draws=200) == one_by_one[:, [2, 0]]).all()
    assert (totals(problem, world, (1, 9), (0, 1), draws=200)[:, 1] == one_by_one[:, 0]).all()


# --- normal -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pulls", [1, 9])
def test_sums_of_normal_rewards_are_normal(pulls, chance_of_fit):
    """On the grid, where a half step of rounding does not show."""
    seen = totals(gaussian, gaussian.world(MEANS, sigma=0.3), *[(arm, pulls) for arm in range(3)])
    for arm in range(3):
        law = norm(UNIT * pulls * MEANS[0, arm], UNIT * 0.3 * np.sqrt(pulls))
        assert chance_of_fit(seen[:, arm], law) > 1e-7


def clipped_moments(mean, sigma, low, high):
    """Mean and variance of a normal number clipped to low .. high, by its density between and its weights at the ends."""
    law = norm(mean, sigma)
    ends = np.array([law.cdf(low), law.sf(high)])
    first = ends @ [low, high] + law.expect(lambda x: x, lb=low, ub=high)
    second = ends @ [low**2, high**2] + law.expect(lambda x: x * x, lb=low, ub=high)
    return first, second - first**2


@pytest.mark.parametrize("pulls", [1, 12])
def test_sums_of_clipped_rewards_have_their_mean_and_variance(pulls):
    low, high, sigma = 0.25, 0.75, 0.4
    seen = totals(gaussian, gaussian.world(MEANS, sigma=sigma, low=low, high=high), (0, pulls), (1, pulls))
    for e in range(2):
        mean, variance = clipped_moments(MEANS[0, e], sigma, low, high)
        assert within(seen[:, e] / UNIT, pulls * mean, pulls * variance)
    assert seen.min() >= pulls * UNIT * low
    assert seen.max() <= pulls * UNIT * high


def test_clipped_rewards_pile_up_at_both_ends():
    low, high, law = 0.25, 0.75, norm(MEANS[0, 0], 0.4)
    seen = totals(gaussian, gaussian.world(MEANS, sigma=0.4, low=low, high=high), (0, 1))[:, 0]
    assert binomtest(int((seen == UNIT * low).sum()), DRAWS, law.cdf(low)).pvalue > 1e-6
    assert binomtest(int((seen == UNIT * high).sum()), DRAWS, law.sf(high)).pvalue > 1e-6


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 2.0), (0.2, 0.6), (0.1, 0.7), (-0.3, 0.3)])
def test_clipped_rewards_lie_no_further_apart_on_the_grid_than_the_noise_is_made_for(low, high):
    """The door takes high - low for the sensitivity; an end rounded outward would be one step of the grid too much."""
    seen = totals(gaussian, gaussian.world(MEANS, sigma=50.0, low=low, high=high), (0, 1), draws=200)
    assert seen.max() - seen.min() <= UNIT * (high - low)
    assert seen.max() - seen.min() >= UNIT * (high - low) - 2


def test_a_world_without_bounds_says_so():
    world = gaussian.world(MEANS, sigma=2.0)
    assert (world["low"][0], world["high"][0], world["sigma"][0]) == (-inf, inf, 2.0)


# --- regret -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [bernoulli, gaussian])
def test_gaps_are_those_of_the_mean_over_all_agents(problem):
    means = np.array([[0.9, 0.1, 0.5], [0.1, 0.7, 0.6]])
    world = problem.world(means)
    assert np.allclose(world["gaps"][:, :3], [[0.05, 0.15, 0.0]] * 2, rtol=0, atol=1e-15)
    assert (world["means"][:, :3] == means).all()


ORDERS = st.lists(st.integers(0, 2), min_size=1, max_size=4).flatmap(
    lambda arms: st.integers(1, 5).map(lambda pulls: [(arm, pulls) for arm in arms])
)


@given(ORDERS, st.data())
def test_regret_inside_a_plan_is_that_of_going_round_its_arms(orders, data):
    plan, harvest, world = planned(*orders), one(harvest_record(Params())), bernoulli.world(MEANS).view(np.recarray)[0]
    gaps = MEANS[0].max() - MEANS[0]
    played = [arm for _ in range(orders[0][1]) for arm, _ in orders]
    slots = data.draw(st.integers(0, len(played)))
    bernoulli.lay_out(world, plan, harvest)
    assert bernoulli.regret_until(world, plan, harvest, slots) == pytest.approx(gaps[played[:slots]].sum(), abs=1e-12)
    assert bernoulli.regret(world, plan) == pytest.approx(gaps[played].sum(), abs=1e-12)
