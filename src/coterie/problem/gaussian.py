"""Normal rewards. Clipped to [low, high] they have a bounded sensitivity; without clipping no noise makes them private.

Regret is counted by the means as given, before clipping.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor, inf, sqrt
from typing import Any

import numpy as np
from numpy import float64
from pydantic import Field

from coterie.choices import Factor, Finite, Interval
from coterie.kernel import UNIT, capacity, node, normal, record, rounded_normal, side
from coterie.problem.linear import Law, lay_out, quality, regret, regret_until, violates

__all__ = ["Gaussian", "draw", "lay_out", "reach", "regret", "regret_until", "violates", "world"]


class Gaussian(Law):
    sigma: Factor = Field(1.0, title="standard deviation of a reward")
    clip: Interval | None = Field(None, title="rewards are cut to it; without it no noise makes them private")

    mean = Finite

    @property
    def range(self) -> tuple[float, float]:
        return self.clip or (-inf, inf)

    @property
    def largest_reward(self) -> float:
        farthest = np.abs(getattr(self, "means", None) or 1.0).max()
        return max(map(abs, self.clip)) if self.clip else float(farthest) + 10 * self.sigma

    @property
    def proxy(self) -> float:
        return min(super().proxy, self.sigma)

    def world_of(self, means: np.ndarray, weights: Sequence[float] | None) -> np.ndarray:
        low, high = self.range
        return world(means, weights, sigma=self.sigma, low=low, high=high)

    @staticmethod
    def sentence(problem: Mapping[str, Any]) -> str:
        cut = ", cut to {:g}..{:g}".format(*problem["clip"]) if problem["clip"] else ""
        return f"Every choice brings a reward with normal noise{cut}"


def world(
    means: np.ndarray, weights: Sequence[float] | None = None, *, sigma: float = 1.0, low: float = -inf, high: float = inf
) -> np.ndarray:
    """As for Bernoulli rewards, with a common standard deviation `sigma`."""
    slots, overall = capacity(means.shape[1]), quality(means, weights)
    fields = {"sigma": float64, "low": float64, "high": float64, "means": (float64, slots), "gaps": (float64, slots)}
    worlds = np.zeros(len(means), record(**fields))
    worlds["means"][:, : means.shape[1]] = means
    worlds["gaps"][:, : means.shape[1]] = overall.max() - overall
    worlds["sigma"], worlds["low"], worlds["high"] = sigma, low, high
    return worlds


def reach(worlds: np.ndarray, arms: int) -> float:
    """1 where nothing bounds rewards; no noise is a guarantee then."""
    span = float((worlds["high"] - worlds["low"]).max())
    return span if span < inf else 1.0


@node
def draw(world, secret, plan, harvest, die):
    for e in range(plan.entries):
        k = plan.arm[e]
        if world.low == -inf and world.high == inf:
            harvest.total[e] = _sum(side(die, k), world.means[k], world.sigma, plan.pulls[e])
        else:
            harvest.total[e] = _clipped_sum(side(die, k), world.means[k], world.sigma, world.low, world.high, plan.pulls[e])


@node
def _sum(die, mean, sigma, pulls):
    """A sum of normal rewards is normal."""
    return int(floor(UNIT * mean * pulls + 0.5)) + rounded_normal(die, UNIT * sigma * sqrt(float(pulls)))


@node
def _clipped_sum(die, mean, sigma, low, high, pulls):
    """Clipped on the grid, inwards: two rewards lie no further apart than high - low."""
    total, least, most = 0, int(ceil(UNIT * low)), int(floor(UNIT * high))
    for n in range(pulls):
        reward = int(floor(UNIT * (mean + sigma * normal(die, n)) + 0.5))
        total += min(max(reward, least), most)
    return total
