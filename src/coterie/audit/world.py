"""The problem of an audit: every reward is fixed by its number, and one of them, the canary, is what a side or a life says.

A world is one record for each agent, so the canary may be any agent's. All other rewards follow a pattern (`rest`):

    0   the least there is
    1   the most and the least by turns
    2   the most, the least and the middle by turns, and each arm begins at another one

`whole`: what may change is all that came of one order, and not one unit of it.
"""

from math import ceil, floor
from typing import Any

import numpy as np
from numpy import float64, int64

from coterie.kernel import UNIT, capacity, node, record
from coterie.problem.linear import lay_out, regret, regret_until, violates

__all__ = ["draw", "lay_out", "reach", "regret", "regret_until", "reward", "violates", "world"]

NOBODY = -1  # the arm of an agent without a canary


def world(shape: Any, arms: int, low: float = 0.0, high: float = 1.0, spans: Any = 1.0, whole: bool = False, tape: int = 0
          ) -> np.ndarray:  # fmt: skip
    """Without a canary. `spans`: how far one reward moves a sum, of all arms or [..., arm]; `tape`: see tape.py."""
    least, most = ceil(low * UNIT), floor(high * UNIT)
    slots = capacity(arms)
    worlds = np.zeros(shape, record(
        arm=int64, number=int64, value=int64, rest=int64, whole=int64, low=int64, middle=int64, high=int64, life=int64,
        changed=int64, alike=int64, span=(float64, slots), gaps=(float64, slots), tape=(int64, tape),
    ))
    worlds["low"], worlds["middle"], worlds["high"] = least, (least + most) // 2, most
    worlds["arm"], worlds["changed"], worlds["whole"], worlds["alike"] = NOBODY, NOBODY, whole, np.ndim(spans) == 0
    worlds["span"][..., :arms] = spans
    return worlds


def reach(worlds: np.ndarray, arms: int) -> Any:
    return float(worlds["span"].max()) if worlds["alike"].all() else worlds["span"][..., :arms]


@node
def draw(world, secret, plan, harvest, die):
    for e in range(plan.entries):
        k, before = plan.arm[e], secret.count[plan.arm[e]]
        for earlier in range(e):
            before += plan.pulls[earlier] if plan.arm[earlier] == k else 0
        after = before + plan.pulls[e]
        total = until(world, k, after) - until(world, k, before)
        if world.arm == k and before < world.number <= after:
            total = world.value * plan.pulls[e] if world.whole == 1 else total + world.value - reward(world, k, world.number)
        harvest.total[e] = total


@node
def until(world, arm, n):
    """The sum of the first n rewards of an arm, but for the canary."""
    if world.rest == 0:
        return n * world.low
    if world.rest == 1:
        return (n + 1) // 2 * world.high + n // 2 * world.low
    return by_three(world, n + arm) - by_three(world, arm)


@node
def by_three(world, n):
    return (n + 2) // 3 * world.high + (n + 1) // 3 * world.low + n // 3 * world.middle


@node
def reward(world, arm, n):
    return until(world, arm, n) - until(world, arm, n - 1)
