"""What the hooks order, given bounds on the qualities: against linear and integer programs and against brute force."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.algorithms.procurement_orders import greedy, take_all_that_pays
from coterie.algorithms.procurement_printed import inner_record, open_record
from coterie.kernel import capacity, one
from coterie.problem.oracles import TOLERANCE, best_order, relaxed_order, revenue, surplus

SETTINGS = [(alpha, rho) for alpha in (0.4, 0.6, 0.8) for rho in (1.0, 3.0)]


def instances(number, most_producers, most_capacity, seed):
    """Upper and lower bounds, costs and limits. A third lies on a grid, where ties are common; a third is of low quality."""
    rng = np.random.default_rng(seed)
    for index in range(number):
        producers = int(rng.integers(1, most_producers + 1))
        upper, cost = rng.random(producers), rng.random(producers)
        if index % 3 == 0:
            upper, cost = upper.round(1), cost.round(1)
        elif index % 3 == 1:
            upper, cost = 0.6 * upper, 0.6 * cost
        lower = upper * rng.random(producers)
        yield upper, lower, cost, rng.integers(0, most_capacity + 1, producers)


def ordered(upper, cost, limit, alpha, rho, *, lower=None, shortcut=True):
    """The order of one round (whole units), and the real numbers the greedy rule finds before it rounds."""
    producers = len(upper)
    slots = capacity(producers)
    p = SimpleNamespace(arms=producers, slots=slots, alpha=alpha, rho=rho, safe=int(lower is not None))
    desk, open = one(inner_record(p)), one(open_record(p))
    desk.upper[:producers], open.cost[:producers], open.limit[:producers] = upper, cost, limit
    desk.lower[:producers] = upper if lower is None else lower
    desk.ranking[:producers] = np.arange(producers)
    if take_all_that_pays(desk, open, p) and shortcut:
        return desk.amount[:producers].copy(), desk.amount[:producers].astype(float)
    greedy(desk, open, p)
    return desk.amount[:producers].copy(), desk.quantity[:producers].copy()


@pytest.mark.parametrize(("alpha", "rho"), SETTINGS)
def test_the_greedy_order_lies_between_its_program_and_its_relaxation(alpha, rho):
    traded = 0
    for upper, _, cost, limit in instances(40, 30, 50, seed=3):
        order, real = ordered(upper, cost, limit, alpha, rho)
        relaxed, best = (program(upper, cost, limit, alpha, rho) for program in (relaxed_order, best_order))
        assert ((order >= 0) & (order <= limit)).all()
        assert surplus(order, upper, alpha) >= -1e-7  # rounding tolerance of 1e-9 per unit, 30 producers
        top, middle, low = (revenue(units, upper, cost, rho) for units in (relaxed, best, order))
        assert revenue(real, upper, cost, rho) == pytest.approx(top, abs=1e-6)
        assert top + 1e-6 >= middle >= low - 1e-6
        fractional = np.abs(real - np.rint(real)) > 1e-6
        assert fractional.sum() <= 1
        unit = np.abs(rho * upper - cost)[fractional].sum()
        assert middle - low <= unit + 1e-6
        traded += fractional.any()
    assert traded > 0


@pytest.mark.parametrize(("alpha", "rho"), SETTINGS)
def test_whole_greedy_orders_of_tiny_instances_are_close_to_brute_force(alpha, rho):
    for upper, _, cost, limit in instances(40, 4, 4, seed=4):
        orders = np.array(list(product(*(range(most + 1) for most in limit.tolist()))))
        earned = orders @ (rho * upper - cost)
        best = earned[orders @ (upper - alpha) >= -TOLERANCE].max()
        order, real = ordered(upper, cost, limit, alpha, rho)
        fractional = np.abs(real - np.rint(real)) > 1e-6
        assert best >= revenue(order, upper, cost, rho) - 1e-9
        assert best - revenue(order, upper, cost, rho) <= np.abs(rho * upper - cost)[fractional].sum() + 1e-6


@pytest.mark.parametrize(("alpha", "rho"), SETTINGS)
def test_a_safe_order_is_allowed_even_if_every_quality_is_at_its_lower_bound(alpha, rho):
    """And it earns, by the upper bounds, what the linear program with lower bounds in its row does."""
    bought = 0
    for upper, lower, cost, limit in instances(40, 30, 50, seed=5):
        order, real = ordered(upper, cost, limit, alpha, rho, lower=lower)
        assert ((order >= 0) & (order <= limit)).all()
        assert surplus(order, lower, alpha) >= -1e-7
        costs = cost - rho * (upper - lower)  # so that rho lower - costs is what a unit earns by its upper bound
        relaxed = relaxed_order(lower, costs, limit, alpha, rho)
        assert revenue(real, upper, cost, rho) == pytest.approx(revenue(relaxed, lower, costs, rho), abs=1e-6)
        bought += order.any()
    assert bought > 0


@pytest.mark.parametrize(("alpha", "rho"), SETTINGS)
def test_the_shortcut_gives_what_the_greedy_rule_gives(alpha, rho):
    taken = 0
    for upper, _, cost, limit in instances(40, 30, 50, seed=6):
        order, _ = ordered(upper, cost, limit, alpha, rho)
        plain, _ = ordered(upper, cost, limit, alpha, rho, shortcut=False)
        assert np.array_equal(order, plain)
        taken += bool(order.any())
    assert taken > 0


def test_permuting_producers_permutes_the_order():
    rng = np.random.default_rng(7)
    for upper, lower, cost, limit in instances(60, 30, 50, seed=8):
        upper = upper + 1e-6 * rng.random(len(upper))  # no ties
        where = rng.permutation(len(upper))
        one_way, _ = ordered(upper, cost, limit, 0.6, 2.0, lower=lower)
        other_way, _ = ordered(upper[where], cost[where], limit[where], 0.6, 2.0, lower=lower[where])
        assert np.array_equal(one_way[where], other_way)


def test_of_equal_producers_the_first_is_preferred():
    """A good one lets three units of bad ones be bought; two bad ones are equal, and so are two that sell quality."""
    bad, _ = ordered(np.array([0.9, 0.3, 0.3]), np.array([0.1, 0.1, 0.1]), np.array([2, 4, 4]), 0.6, 1.0)
    assert bad.tolist() == [2, 2, 0]
    dear, _ = ordered(np.array([0.5, 0.8, 0.8]), np.array([0.1, 0.85, 0.85]), np.array([4, 3, 3]), 0.6, 1.0)
    assert dear.tolist() == [4, 2, 0]


def test_producers_that_do_not_sell_are_not_ordered_from():
    order, _ = ordered(np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([0, 5]), 0.4, 1.0)
    assert order.tolist() == [0, 5]


def test_equal_buyers_keep_their_order_beside_a_seller_that_is_equal_to_both():
    """Rates are 1 for producers 0, 2 and 3, of which 0 and 3 bring quality, and 2 for producer 1, which is worth it."""
    upper, cost = np.array([0.75, 0.375, 0.375, 0.75]), np.array([1.0, 0.125, 0.25, 1.0])
    order, _ = ordered(upper, cost, np.array([8, 8, 8, 8]), 0.5, 1.0)
    assert order.tolist() == [4, 8, 0, 0]
