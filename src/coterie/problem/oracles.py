"""The best order of one agent whose purchases must be good on average.

An order is a number of units of each producer, at most its capacity. With unit revenue rho * quality - cost it earns

    revenue(order) = sum_i order_i (rho quality_i - cost_i)

and it is allowed if the average quality of its units is at least alpha, which is linear once it is multiplied out:

    surplus(order) = sum_i order_i (quality_i - alpha) >= 0

The empty order is allowed. The best one is an integer program with a single row. It is solved once per agent and
instance, to count regret against; what an algorithm orders every round it finds by the greedy rule of its own file.
A producer of capacity 0 is not on offer.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from coterie.errors import CoterieError

TOLERANCE = 1e-9  # of a surplus: what rounding alone may take away from an order that is just good enough
ROW_SCALE = 1e3  # the solver allows a row to fail by 1e-7, which makes 1e-10 of a surplus
MARGIN = 2e-6  # more than rounding the solver's almost whole numbers can take away from a surplus


def revenue(order: np.ndarray, quality: np.ndarray, cost: np.ndarray, rho: float) -> float:
    return float(order @ (rho * quality - cost))


def surplus(order: np.ndarray, quality: np.ndarray, alpha: float) -> float:
    return float(order @ (quality - alpha))


def allowed(order: np.ndarray, quality: np.ndarray, alpha: float) -> bool:
    return surplus(order, quality, alpha) >= -TOLERANCE


def best_order(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float) -> np.ndarray:
    """The integer optimum: max revenue(order) subject to surplus(order) >= 0 and 0 <= order <= capacity."""
    profitable = all_profitable(quality, cost, capacity, rho)
    if surplus(profitable, quality, alpha) >= 0:
        return profitable
    for margin in (0.0, MARGIN):
        found = solve(quality, cost, capacity, alpha, rho, whole=True, margin=margin)
        order = np.rint(found).astype(np.int64)
        if allowed(order, quality, alpha):
            return order
    raise CoterieError("the integer program of an agent's best order has an answer that is not allowed")


def relaxed_order(quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float) -> np.ndarray:
    """As `best_order`, with real numbers of units: a vertex, so at most one of them is not whole."""
    return solve(quality, cost, capacity, alpha, rho, whole=False)


def solve(
    quality: np.ndarray, cost: np.ndarray, capacity: np.ndarray, alpha: float, rho: float, *, whole: bool, margin: float = 0.0
) -> np.ndarray:
    row = LinearConstraint(ROW_SCALE * (quality - alpha)[None], lb=ROW_SCALE * margin)
    found = milp(
        cost - rho * quality,
        constraints=row,
        bounds=Bounds(0, capacity),
        integrality=np.full(len(quality), int(whole)),
        options={"mip_rel_gap": 0.0, "presolve": False},  # with it the solver may print
    )
    if found.x is None:
        raise CoterieError(f"the program of an agent's best order was not solved: {found.message}")
    return found.x


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
