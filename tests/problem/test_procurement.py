"""The world of a procurement: what orders bring, what they cost when they are not good enough, and the law of good units."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from coterie.contract import order, plan_record
from coterie.kernel import REWARD, UNIT, one, stream
from coterie.problem import oracles
from coterie.problem.harvest import harvest_record
from coterie.problem.procurement import TABLE, draw, good_units, lay_out, regret, regret_until, violates, world
from coterie.problem.suppliers import draw as draw_suppliers


def a_world(seed=0, agents=3, producers=6, alpha=0.5, rho=1.5, **shape):
    found = draw_suppliers("normal", agents, producers, np.random.default_rng(seed), centre=0.5, sd=0.2, **shape)
    made = world(found.quality, found.cost, found.capacity, alpha, rho).view(np.recarray)
    return found, made


def plan_of(units):
    plan = one(plan_record(SimpleNamespace(arms=len(units))))
    plan.arms = len(units)
    for k, ordered in enumerate(units):
        if ordered > 0:
            order(plan, k, int(ordered))
    return plan


def harvest_of(producers):
    return one(harvest_record(SimpleNamespace(arms=producers)))


@pytest.mark.parametrize("seed", range(4))
def test_regret_is_the_revenue_given_up_or_the_loss_of_a_violated_round(seed):
    found, worlds = a_world(seed)
    rng, broken = np.random.default_rng(seed), 0
    for agent in range(3):
        about = found.quality, found.cost[agent], found.capacity[agent]
        best = oracles.revenue(oracles.best_order(*about, 0.5, 1.5), found.quality, found.cost[agent], 1.5)
        for _ in range(50):
            units = rng.integers(0, found.capacity[agent] + 1) * rng.integers(0, 2, 6)
            plan, fine = plan_of(units), oracles.allowed(units, found.quality, 0.5)
            earned = oracles.revenue(units, found.quality, found.cost[agent], 1.5)
            wanted = best - (earned if fine else oracles.worst_revenue(*about, 1.5))
            assert regret(worlds[agent], plan) == pytest.approx(wanted, abs=1e-8)
            assert violates(worlds[agent], plan) == (not fine)
            assert regret(worlds[agent], plan) >= -1e-8
            broken += not fine
    assert 0 < broken < 150


def test_the_best_order_has_no_regret_and_the_empty_order_that_of_its_revenue():
    found, worlds = a_world(5)
    for agent in range(3):
        best = oracles.best_order(found.quality, found.cost[agent], found.capacity[agent], 0.5, 1.5)
        assert regret(worlds[agent], plan_of(best)) == pytest.approx(0.0, abs=1e-9)
        empty = plan_of(np.zeros(6))
        assert regret(worlds[agent], empty) == regret_until(worlds[agent], empty, harvest_of(6), 1) == worlds[agent].optimum
        assert not violates(worlds[agent], empty)


@pytest.mark.parametrize("capacity", [1, 60, 1_000_000])
def test_an_order_that_is_just_good_enough_is_allowed(capacity):
    """0.3 and 0.55 around 0.4: three units of the first need two of the second, whatever the grid rounds."""
    qualities, limit = np.array([0.3, 0.55]), np.array([[3 * capacity, 2 * capacity]])
    limit = np.minimum(limit, 1_000_000 // 3 * np.array([[3, 2]]))
    own = world(qualities, np.zeros((1, 2)), limit, 0.4, 1.0).view(np.recarray)[0]
    assert not violates(own, plan_of(limit[0]))
    assert violates(own, plan_of(limit[0] - [0, 1]))


def test_agents_that_are_alike_share_one_record():
    assert len(a_world(homogeneous=True)[1]) == 1
    assert len(a_world()[1]) == 3


def test_the_table_of_a_full_order_gives_every_number_its_chance():
    for units, quality in ((7, 0.3), (63, 0.97), (5, 0.0), (5, 1.0)):
        table, chances = good_units(units, quality), binom.pmf(np.arange(units + 1), units, quality)
        alias, keep = table.astype(int), table - table.astype(int)
        got = keep / len(table) + np.bincount(alias, 1 - keep, len(table)) / len(table)
        assert np.allclose(got, chances, atol=1e-9)


@pytest.mark.parametrize(("capacity", "ordered"), [(50, 50), (50, 49), (50, 1), (TABLE, TABLE), (63, 63), (400, 400)])
def test_good_units_are_binomial(chance_of_fit, capacity, ordered):
    """False alarm below 1e-6 in each case."""
    quality = np.array([0.37, 0.8])
    own = world(quality, np.zeros((1, 2)), np.full((1, 2), capacity), 0.1, 1.0).view(np.recarray)[0]
    plan, harvest, totals = plan_of([ordered, 0]), harvest_of(2), []
    for t in range(4000):
        draw(own, None, plan, harvest, stream(3, 0, REWARD, t))
        totals.append(harvest.total[0] // UNIT)
    if ordered == 1:
        assert abs(np.mean(totals) - 0.37) < 5 * np.sqrt(0.37 * 0.63 / 4000)
    else:
        assert chance_of_fit(np.array(totals), binom(ordered, 0.37)) > 1e-6


def test_producers_and_rounds_are_drawn_independently():
    own = world(np.array([0.5, 0.5]), np.zeros((1, 2)), np.full((1, 2), 50), 0.1, 1.0).view(np.recarray)[0]
    plan, harvest, totals = plan_of([50, 50]), harvest_of(2), []
    for t in range(4000):
        draw(own, None, plan, harvest, stream(3, 0, REWARD, t))
        totals.append(harvest.total[:2] / UNIT)
    first, second = np.array(totals).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(4000)
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 5 / np.sqrt(4000)


def test_an_order_takes_one_round():
    found, worlds = a_world()
    plan, harvest = plan_of(found.capacity[0]), harvest_of(6)
    before = plan.tobytes(), harvest.tobytes()
    lay_out(worlds[0], plan, harvest)
    assert (plan.tobytes(), harvest.tobytes()) == before
