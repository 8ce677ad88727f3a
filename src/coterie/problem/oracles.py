"""The best order of one agent whose purchases must be good on average.

An order is a number of units of each producer, at most its capacity. With unit revenue rho * quality - cost it earns

    revenue(order) = sum_i order_i (rho quality_i - cost_i)

and it is allowed if the average quality of its units is at least alpha, which is linear once it is multiplied out:

    surplus(order) = sum_i order_i (quality_i - alpha) >= 0

The empty order is allowed. The best one is an integer program with a single row. It is solved once per agent and instance, to
count regret against; what an algorithm orders every round it finds by the greedy rule of its own file. A producer of capacity 0
is not on offer.

With a price on surplus, a unit of producer i is worth w_i = revenue_i + price * surplus_i, and the best order without a
constraint takes all units of positive worth. At the price at which its surplus changes sign one producer has worth 0. For that
price, if `bound` is what those units are worth together,

    revenue(order) = bound - sum_i |w_i| * (units by which the order differs there) - price * surplus(order)

so an order that is better than a known one differs from it in few units of producers of little worth. `best_order` looks
through these, dearest first. They are few: the more there are, the better is the best of those already seen.
"""

from typing import NamedTuple

import numpy as np

TOLERANCE = 1e-9  # of a surplus: what rounding alone may take away from an order that is just good enough
EQUAL = 1e-10  # surpluses nearer to each other than this are the same
ROUNDING = 1e-12  # of a revenue


def revenue(order: np.ndarray, quality: np.ndarray, cost: np.ndarray, rho: float) -> float:
    return float(order @ (rho * quality - cost))


def surplus(order: np.ndarray, quality: np.ndarray, alpha: float) -> float:
    return float(order @ (quality - alpha))


def allowed(order: np.ndarray, quality: np.ndarray, alpha: float) -> bool:
    return surplus(order, quality, alpha) >= -TOLERANCE


def best_order(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float) -> np.ndarray:
    """The integer optimum: max revenue(order) subject to surplus(order) >= 0 and 0 <= order <= capacity."""
    found = corner(quality, cost, capacity, alpha, rho)
    if found.price == 0:
        return found.order
    direction = np.where(found.order > 0, -1, 1)
    steps, worth = direction * (quality - alpha), np.abs(rho * quality - cost + found.price * (quality - alpha))
    worth[found.last] = 0.0
    changes = best_changes(surplus(found.order, quality, alpha), steps, worth, capacity, found)
    return found.order + direction * changes


def relaxed_order(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float) -> np.ndarray:
    """As `best_order`, with real numbers of units; at most one of them is not whole."""
    found = corner(quality, cost, capacity, alpha, rho)
    order = found.order.astype(float)
    if found.price > 0:
        order[found.last] -= surplus(found.order, quality, alpha) / (quality - alpha)[found.last]
    return order


class Corner(NamedTuple):
    """The best order at a price of surplus, before any unit of the `last` producer, whose worth is 0, was taken or given up.

    Where the price is 0 that is the best allowed order. Else its surplus is below 0, and that producer can make up for it.
    """

    order: np.ndarray
    price: float
    last: int


def corner(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float) -> Corner:
    """Raise the price of surplus from 0, and so give up or take one producer after the other, until nothing is missing."""
    earned, gained = rho * quality - cost, quality - alpha
    order = all_profitable(quality, cost, capacity, rho)
    missing = -surplus(order, quality, alpha)
    if missing <= 0:
        return Corner(order, 0.0, -1)
    turning = np.flatnonzero((capacity > 0) & (((earned > 0) & (gained < 0)) | ((earned <= 0) & (gained > 0))))
    prices = np.maximum(0.0, -earned[turning] / gained[turning])
    turning, prices = turning[np.argsort(prices, kind="stable")], np.sort(prices)
    made_up = np.cumsum(capacity[turning] * np.abs(gained[turning]))
    place = int(np.argmax(made_up >= missing - EQUAL))
    before = turning[:place]
    order[before] = capacity[before] - order[before]
    return Corner(order, max(float(prices[place]), ROUNDING), int(turning[place]))


class Found(NamedTuple):
    """Sets of changes: surplus and cost of each, and the units changed [set, producer]."""

    surplus: np.ndarray
    cost: np.ndarray
    units: np.ndarray

    def only(self, which: np.ndarray) -> "Found":
        return Found(self.surplus[which], self.cost[which], self.units[which])


def best_changes(start: float, steps: np.ndarray, worth: np.ndarray, capacity: np.ndarray, at: Corner) -> np.ndarray:
    """The units to change, of each producer by `steps` of surplus each, that cost least in worth and in surplus left over."""
    found = Found(np.array([start]), np.zeros(1), np.zeros((1, len(steps)), np.int64))
    least, best = completed(found, steps, capacity, at)
    for k in np.argsort(-worth, kind="stable"):
        if k == at.last or worth[k] >= least or steps[k] == 0:
            continue
        newest, grown = found, [found]
        for _ in range(capacity[k]):
            newest = newest.only(newest.cost + worth[k] < least - ROUNDING)
            if not len(newest.cost):
                break
            units = newest.units.copy()
            units[:, k] += 1
            newest = Found(newest.surplus + steps[k], newest.cost + worth[k], units)
            grown.append(newest)
            cost, changes = completed(newest, steps, capacity, at)
            if cost < least:
                least, best = cost, changes
        found = without_repeats(Found(*map(np.concatenate, zip(*grown, strict=True))), least)
    return best


def completed(found: Found, steps: np.ndarray, capacity: np.ndarray, at: Corner) -> tuple[float, np.ndarray]:
    """The cheapest of the sets once the last producer has made up for what is missing, and what it costs."""
    units = np.maximum(0.0, np.ceil((-found.surplus - EQUAL) / steps[at.last]))
    left = np.maximum(0.0, found.surplus + units * steps[at.last])
    total = np.where(units <= capacity[at.last], found.cost + at.price * left, np.inf)
    place = int(np.argmin(total))
    changes = found.units[place].copy()
    changes[at.last] = units[place] if np.isfinite(total[place]) else 0
    return float(total[place]), changes


def without_repeats(found: Found, least: float) -> Found:
    """Those that may still be better than `least`, and of equal surpluses the cheapest."""
    found = found.only(found.cost < least - ROUNDING)
    found = found.only(np.lexsort((found.cost, np.rint(found.surplus / EQUAL))))
    return found.only(np.diff(np.rint(found.surplus / EQUAL), prepend=-np.inf) > 0)


def all_profitable(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, rho: float) -> np.ndarray:
    """Every unit with a positive revenue: the best order if quality did not matter."""
    return np.where(rho * quality - cost > 0, capacity, 0).astype(np.int64)


def worst_revenue(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, rho: float) -> float:
    """The smallest revenue of any order within capacity: every unit that loses money, and no other."""
    return float(capacity @ np.minimum(0.0, rho * quality - cost))


def best_quality(quality: np.ndarray, capacity: np.ndarray) -> float:
    """The best average an order can have, that of units of the best producer on offer. Below alpha nothing can be bought."""
    on_offer = capacity > 0
    return float(quality[on_offer].max()) if on_offer.any() else 0.0


def slack(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float) -> float:
    """How far the average quality of all profitable units lies above alpha; infinite where no unit is profitable.

    Where it is negative the constraint binds. Where it is small, the smallest error of an estimate decides whether an
    order is allowed.
    """
    profitable = all_profitable(quality, cost, capacity, rho)
    return float(profitable @ quality / profitable.sum() - alpha) if profitable.any() else float("inf")
