"""Orders of many producers at once, whose units must be good on average.

A unit of a producer is good with the producer's quality, independently of all others. A plan is one round's order. Regret is
not linear in it: an order whose true average quality is below alpha costs `loss`, as much as the worst order could, and any
other one what its revenue lacks of the best allowed order's. `oracles` says what an order earns and when it is allowed.

Revenue and surplus are added up as integers, in units so fine that rounding stays below the tolerance of the constraint.
"""

from math import comb

import numpy as np
from numpy import float64, int64

from coterie.kernel import UNIT, binomial, capacity, node, record, side, uniform
from coterie.problem import oracles

__all__ = ["draw", "lay_out", "reach", "regret", "regret_until", "violates", "world"]

TABLE = 64  # a full order of fewer units is drawn from a table
FINEST = 2.0**44  # steps to one unit of money or quality, where sums of orders leave room for them


def world(quality: np.ndarray, cost: np.ndarray, limit: np.ndarray, alpha: float, rho: float) -> np.ndarray:
    """`quality` is [producers]; `cost` and `limit` (units per round) are [agents, producers].

    Where all agents are alike one record serves them all.
    """
    if (cost == cost[0]).all() and (limit == limit[0]).all():
        cost, limit = cost[:1], limit[:1]
    n, producers = capacity(len(quality)), len(quality)
    worlds = np.zeros(len(cost), record(
        step=float64, tolerance=int64, optimum=float64, loss=float64, quality=(float64, n), surplus=(int64, n),
        revenue=(int64, n), full=(int64, n), limit=(float64, n), slot=(float64, (n, TABLE)),
    ))
    tables: dict[tuple[int, float], np.ndarray] = {}
    for own, costs, limits in zip(worlds, cost, limit, strict=True):
        best = oracles.best_order(quality, costs, limits, alpha, rho)
        revenue = rho * quality - costs
        most = float(limits @ np.maximum(1.0, np.abs(revenue))) + 1.0
        steps = min(FINEST, 2.0 ** (61 - np.ceil(np.log2(most))))
        own["step"], own["tolerance"] = 1.0 / steps, max(oracles.TOLERANCE * steps, 0.5 * limits.sum())
        own["optimum"] = oracles.revenue(best, quality, costs, rho)
        own["loss"] = own["optimum"] - oracles.worst_revenue(quality, costs, limits, rho)
        own["quality"][:producers], own["limit"][:producers] = quality, limits
        own["surplus"][:producers], own["revenue"][:producers] = np.rint((quality - alpha) * steps), np.rint(revenue * steps)
        for k in range(producers):
            units = int(limits[k])
            if 0 < units < TABLE:
                own["full"][k] = units
                own["slot"][k, : units + 1] = tables.setdefault((units, quality[k]), good_units(units, quality[k]))
    return worlds


def good_units(units: int, quality: float) -> np.ndarray:
    """The alias table of a binomial law."""
    return alias_table(np.array([comb(units, x) * quality**x * (1 - quality) ** (units - x) for x in range(units + 1)]))


def alias_table(chances: np.ndarray) -> np.ndarray:
    """Walker's: slot s, drawn uniformly, gives s with probability keep[s], else alias[s]. Held as one number, alias + keep.

    >>> alias_table(np.array([0.25, 0.75])).round(6).tolist()
    [1.5, 1.0]
    """
    keep, alias = chances * len(chances), np.arange(len(chances))
    small, large = [s for s in alias if keep[s] < 1], [s for s in alias if keep[s] >= 1]
    while small and large:
        s, rich = small.pop(), large[-1]
        alias[s] = rich
        keep[rich] -= 1 - keep[s]
        if keep[rich] < 1:
            small.append(large.pop())
    keep[small + large] = 0.0  # alias[s] is s
    return alias + np.clip(keep, 0.0, 1.0 - 2.0**-40)  # so that the whole part is the alias


def reach(worlds: np.ndarray, arms: int) -> np.ndarray:
    """[agent, producer]: what one round's order can bring, all good or all bad."""
    return worlds["limit"][:, :arms]


@node
def draw(world, secret, plan, harvest, die):
    """Good units of each producer. Keyed by producer: algorithms can be compared pairwise."""
    for e in range(plan.entries):
        k, units = plan.arm[e], plan.pulls[e]
        own = side(die, k)
        if units == world.full[k]:
            u = uniform(own, 0) * (units + 1)
            s = int(u)
            other = world.slot[k, s]
            alias = int(other)
            harvest.total[e] = UNIT * (s if u - s < other - alias else alias)
        else:
            harvest.total[e] = UNIT * binomial(own, units, world.quality[k])


@node
def violates(world, plan):
    """1 if the true average quality of the order is below alpha."""
    surplus = 0
    for e in range(plan.entries):
        surplus += plan.pulls[e] * world.surplus[plan.arm[e]]
    return 1 if surplus < -world.tolerance else 0


@node
def regret(world, plan):
    if violates(world, plan):
        return world.loss
    revenue = 0
    for e in range(plan.entries):
        revenue += plan.pulls[e] * world.revenue[plan.arm[e]]
    return world.optimum - revenue * world.step


@node
def lay_out(world, plan, harvest):
    """An order takes one round: there is nothing inside it to read off."""


@node
def regret_until(world, plan, harvest, slots):
    return regret(world, plan)
