"""Rewards are what their number says, however pulls are cut and whoever has the canary."""

from types import SimpleNamespace

import numpy as np
import pytest

from coterie.audit.world import draw, reach, reward, world
from coterie.kernel import UNIT

PATTERNS = {0: [0] * 12, 1: [UNIT, 0] * 6, 2: [UNIT, 0, UNIT // 2] * 4}


def totals(own, arm, cuts):
    """Of the pulls of an arm, plan by plan."""
    secret, found = SimpleNamespace(count=np.zeros(4, int)), []
    for pulls in cuts:
        plan = SimpleNamespace(entries=1, arm=[arm], pulls=[pulls])
        harvest = SimpleNamespace(total=[0])
        draw(own, secret, plan, harvest, 0)
        secret.count[arm] += pulls
        found.append(int(harvest.total[0]))
    return found


@pytest.mark.parametrize("rest", PATTERNS)
@pytest.mark.parametrize("cuts", [(10,), (1,) * 10, (3, 1, 4, 2)])
def test_rewards_are_dealt_alike_however_the_pulls_are_cut(rest, cuts):
    for arm in (0, 1):
        pattern = PATTERNS[rest][arm if rest == 2 else 0 :]
        for number in range(1, 11):
            for value in (0, UNIT // 2, UNIT):
                own = world(1, 2).view(np.recarray)[0]
                own.arm, own.number, own.value, own.rest = arm, number, value, rest
                expected = [pattern[n - 1] if n != number else value for n in range(1, 11)]
                assert totals(own, arm, cuts) == [sum(part) for part in np.split(expected, np.cumsum(cuts)[:-1])]
                assert reward(own, arm, number) == pattern[number - 1]


def test_an_arm_that_is_ordered_twice_in_one_plan_goes_on_with_its_numbers():
    own = world(1, 2).view(np.recarray)[0]
    own.arm, own.number, own.value, own.rest = 0, 3, UNIT, 0
    plan, harvest = SimpleNamespace(entries=2, arm=[0, 0], pulls=[2, 2]), SimpleNamespace(total=[0, 0])
    draw(own, SimpleNamespace(count=[0, 0]), plan, harvest, 0)
    assert harvest.total == [0, UNIT]


def test_all_that_came_of_an_order_may_change_at_once():
    own = world(1, 2, spans=[[3.0, 3.0]], whole=True).view(np.recarray)[0]
    own.arm, own.number, own.value, own.rest = 1, 5, UNIT, 0
    assert totals(own, 1, (3, 3, 3)) == [0, 3 * UNIT, 0]


def test_the_reach_is_one_number_where_all_arms_are_alike():
    assert reach(world((2, 3), 2, spans=4.0), 2) == 4.0
    assert reach(world((2, 3), 2, spans=[[1.0, 2.0]]), 2).shape == (2, 3, 2)


def test_rewards_stay_inside_their_bounds_on_the_grid():
    own = world(1, 2, low=-0.1, high=0.3)[0]
    assert -0.1 * UNIT <= own["low"] < own["middle"] < own["high"] <= 0.3 * UNIT
