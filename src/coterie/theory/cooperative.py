"""What the releases of Private Multi-Agent UCB and of DP-UCB-INT cost: the schedule of releases and its accountant.

A release after n pulls of an arm costs n^(-v/2). The paper spaces releases so that they spend at most a share epsilon of what
all pulls would: W_0 = 0, and W_{i+1} is the least x > W_i with sum_{l = W_i + 1}^{x} l^(-v/2) >= x^(-v/2) / epsilon. The
dearest reward is the first one of an arm that is pulled in every round: it lies in every release.
"""

from functools import cache
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import zeta

from coterie.errors import UsageError

PULLS_MOST = 10_000_000


class Releases(NamedTuple):
    """After how many pulls of an arm it is released, and what each of these releases costs."""

    pulls: np.ndarray
    prices: np.ndarray

    @property
    def cost(self) -> float:
        """Of a reward that lies in all of them, in the order in which a ledger adds them up."""
        return float(np.add.accumulate(self.prices)[-1]) if len(self.prices) else 0.0


class Losses(NamedTuple):
    """Of one reward: pure epsilon; epsilon at delta by advanced composition; the paper's closed bound at delta."""

    basic: float
    advanced: float
    closed_bound: float


@cache
def release_counts(epsilon: float, rate: float, pulls: int) -> Releases:
    """The schedule of Private Multi-Agent UCB up to `pulls` pulls of an arm.

    >>> release_counts(0.1, 1.1, 40).pulls.tolist()
    [7, 16, 26, 36]
    """
    prices, found, purse = _prices(rate, pulls), list[int](), 0.0
    for n, price in enumerate(prices.tolist(), start=1):  # as an agent does it, to the last digit
        purse += epsilon * price
        if purse >= price * (1.0 - 1e-12):
            found.append(n)
            purse = 0.0
    chosen = np.array(found, np.int64)
    return Releases(chosen, prices[chosen - 1])


def multiples(every: int, rate: float, pulls: int) -> Releases:
    """The looks of DP-UCB-INT: at every multiple."""
    chosen = np.arange(every, pulls + 1, every)
    return Releases(chosen, _prices(rate, pulls)[chosen - 1])


def losses(epsilon: float, rate: float, pulls: int, delta: float) -> Losses:
    """Of the first reward of an arm that is pulled `pulls` times, as printed."""
    releases = release_counts(epsilon, rate, pulls)
    prices = releases.prices
    advanced = float((prices * np.tanh(prices / 2)).sum() + sqrt(2 * log(1 / delta) * (prices**2).sum()))
    squares = epsilon * float(zeta(rate))
    closed = min(epsilon * pulls ** (1 - rate / 2) / (1 - rate / 2), 2 * squares + sqrt(2 * squares * log(1 / delta)))
    return Losses(releases.cost, advanced, closed)


def _prices(rate: float, pulls: int) -> np.ndarray:
    if pulls > PULLS_MOST:
        raise UsageError(f"horizon must be <= {PULLS_MOST} where releases add up, got {pulls}")
    return np.exp(-0.5 * rate * np.log(np.arange(1.0, pulls + 1)))
