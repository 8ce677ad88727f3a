"""The best order against brute force and against a solver of integer programs, and its relaxation."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from coterie.problem.oracles import (
    TOLERANCE,
    all_profitable,
    allowed,
    best_order,
    best_quality,
    relaxed_order,
    revenue,
    slack,
    surplus,
    worst_revenue,
)

SETTINGS = [(alpha, rho) for alpha in (0.4, 0.6, 0.8) for rho in (1.0, 3.0)]


def instances(number, most_producers, most_capacity, seed):
    """Random ones; every third lies on a coarse grid, where ties and surpluses of exactly 0 are common."""
    rng = np.random.default_rng(seed)
    for index in range(number):
        producers = int(rng.integers(1, most_producers + 1))
        quality, cost = rng.random(producers), rng.random(producers)
        if index % 3 == 0:
            quality, cost = quality.round(1), cost.round(1)
        yield quality, cost, rng.integers(0, most_capacity + 1, producers)


def every_order(capacity):
    return np.array(list(product(*(range(most + 1) for most in capacity.tolist()))))


@pytest.mark.parametrize(("alpha", "rho"), SETTINGS)
def test_the_best_order_is_that_of_brute_force(alpha, rho):
    for quality, cost, capacity in instances(40, 4, 4, seed=1):
        orders = every_order(capacity)
        earned = orders @ (rho * quality - cost)
        good = orders @ (quality - alpha) >= -TOLERANCE
        best = best_order(quality, cost, capacity, alpha, rho)
        assert revenue(best, quality, cost, rho) == pytest.approx(earned[good].max(), abs=1e-9)
        assert worst_revenue(quality, cost, capacity, rho) == pytest.approx(earned.min(), abs=1e-12)
        averages = (orders[1:] @ quality) / orders[1:].sum(axis=1)
        assert best_quality(quality, capacity) == pytest.approx(averages.max(initial=0), abs=1e-12)


def solved(quality, cost, capacity, alpha, rho, whole):
    """What another library finds; its row may fail by 1e-6."""
    row = LinearConstraint((quality - alpha)[None], lb=0)
    bounds, integrality = Bounds(0, capacity), np.full(len(quality), int(whole))
    return milp(cost - rho * quality, constraints=row, bounds=bounds, integrality=integrality, options={"mip_rel_gap": 0}).x


@pytest.mark.parametrize("most_capacity", [50, 10_000])
@pytest.mark.parametrize(("alpha", "rho"), SETTINGS)
def test_the_best_order_and_its_relaxation_are_those_of_a_solver(alpha, rho, most_capacity):
    binding = 0
    for quality, cost, capacity in instances(20, 30, most_capacity, seed=2):
        best, relaxed = (order(quality, cost, capacity, alpha, rho) for order in (best_order, relaxed_order))
        assert best.dtype == np.int64
        assert ((best >= 0) & (best <= capacity)).all()
        assert allowed(best, quality, alpha)
        assert ((relaxed >= 0) & (relaxed <= capacity)).all()
        assert surplus(relaxed, quality, alpha) >= -1e-9
        assert (np.abs(relaxed - relaxed.round()) > 1e-9).sum() <= 1  # a vertex
        for ours, whole in ((best, True), (relaxed, False)):
            theirs = solved(quality, cost, capacity, alpha, rho, whole)
            assert revenue(ours, quality, cost, rho) == pytest.approx(revenue(theirs, quality, cost, rho), abs=1e-4)
        lost = revenue(relaxed, quality, cost, rho) - revenue(best, quality, cost, rho)
        assert -1e-9 <= lost <= rho  # a unit of the fractional producer is all that whole numbers can cost
        binding += slack(quality, cost, capacity, alpha, rho) < 0
    assert binding > 0 or alpha == 0.4  # or the row of the program would not be tested


@pytest.mark.parametrize("rho", [2.0, 3.0])
def test_the_best_order_is_that_of_a_solver_where_nearly_all_are_alike(rho):
    """Qualities and costs near alpha, where the constraint binds and many orders are nearly best."""
    rng, binding = np.random.default_rng(9), 0
    for _ in range(40):
        quality, cost = (rng.normal(0.5, 0.1, 30).clip(0, 1) for _ in range(2))
        capacity = rng.integers(1, 51, 30)
        best = best_order(quality, cost, capacity, 0.5, rho)
        theirs = np.rint(solved(quality, cost, capacity, 0.5, rho, whole=True))
        assert allowed(best, quality, 0.5) and allowed(theirs, quality, 0.5)
        assert revenue(best, quality, cost, rho) == pytest.approx(revenue(theirs, quality, cost, rho), abs=1e-6)
        binding += slack(quality, cost, capacity, 0.5, rho) < 0
    assert binding > 10


def test_where_the_constraint_does_not_bind_every_profitable_unit_is_bought():
    quality, cost, capacity = np.array([0.9, 0.5, 0.2]), np.array([0.1, 0.6, 0.1]), np.array([7, 3, 2])
    assert best_order(quality, cost, capacity, 0.4, 1.0).tolist() == [7, 0, 2]
    assert all_profitable(quality, cost, capacity, 1.0).tolist() == [7, 0, 2]
    assert slack(quality, cost, capacity, 0.4, 1.0) == pytest.approx((7 * 0.9 + 2 * 0.2) / 9 - 0.4)


def test_units_that_lose_money_are_bought_where_their_quality_pays():
    """Each unit of the second producer costs 0.05, and lets 2 units of the first be bought, which earn 0.3 each."""
    quality, cost, capacity = np.array([0.5, 0.8]), np.array([0.2, 0.85]), np.array([10, 5])
    assert best_order(quality, cost, capacity, 0.6, 1.0).tolist() == [10, 5]


def test_a_surplus_of_exactly_nothing_is_allowed():
    """0.3 and 0.5 average 0.4, though their binary fractions do not."""
    quality, cost, capacity = np.array([0.3, 0.5]), np.array([0.0, 0.4]), np.array([9, 9])
    assert best_order(quality, cost, capacity, 0.4, 1.0).tolist() == [9, 9]
    assert not allowed(np.array([9, 8]), quality, 0.4)


def test_nothing_is_bought_where_nothing_is_good_enough_or_on_offer():
    quality, cost = np.array([0.5, 0.7]), np.array([0.1, 0.1])
    assert best_order(quality, cost, np.array([5, 5]), 0.8, 1.0).tolist() == [0, 0]
    assert best_order(quality, cost, np.array([0, 0]), 0.4, 1.0).tolist() == [0, 0]
    assert best_quality(quality, np.array([5, 0])) == 0.5
    assert slack(quality, cost + 0.9, np.array([5, 5]), 0.4, 1.0) == float("inf")


def test_units_that_cost_nothing_make_up_for_what_is_missing():
    """The second producer earns nothing and brings quality: it is taken before anything is given up."""
    quality, cost, capacity = np.array([0.3, 0.9]), np.array([0.1, 0.9]), np.array([10, 10])
    best = best_order(quality, cost, capacity, 0.5, 1.0)
    assert best[0] == 10 and allowed(best, quality, 0.5)
    assert relaxed_order(quality, cost, capacity, 0.5, 1.0)[0] == 10
