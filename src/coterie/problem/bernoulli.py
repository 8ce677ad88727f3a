"""Rewards of 0 or 1."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import float64

from coterie.kernel import UNIT, binomial, capacity, node, record, side, uniform
from coterie.kernel.tools import bits_of, of_bits
from coterie.problem.linear import Law, lay_out, quality, regret, regret_until, violates

__all__ = ["Bernoulli", "draw", "lay_out", "reach", "regret", "regret_until", "violates", "world"]


class Bernoulli(Law):
    @property
    def values(self) -> tuple[float, ...]:
        return 0.0, 1.0

    def world_of(self, means: np.ndarray, weights: Sequence[float] | None) -> np.ndarray:
        return world(means, weights)

    @staticmethod
    def sentence(problem: Mapping[str, Any]) -> str:
        return "Every choice brings a reward of 0 or 1"


def world(means: np.ndarray, weights: Sequence[float] | None = None) -> np.ndarray:
    """`means` is [agents, arms], or [1, arms] where all agents are alike: then one record serves them all."""
    slots, overall = capacity(means.shape[1]), quality(means, weights)
    worlds = np.zeros(len(means), record(means=(float64, slots), gaps=(float64, slots)))
    worlds["means"][:, : means.shape[1]] = means
    worlds["gaps"][:, : means.shape[1]] = overall.max() - overall
    return worlds


def reach(worlds: np.ndarray, arms: int) -> float:
    return 1.0


@node
def draw(world, secret, plan, harvest, die):
    """One binomial number for any number of pulls. Keyed by arm: algorithms can be compared pairwise."""
    single, entries = True, plan.entries
    for e in range(entries):
        single &= plan.pulls[e] == 1
    if single and entries == 1:  # the common case among peers
        harvest.total[0] = UNIT if uniform(side(die, plan.arm[0]), 0) < world.means[plan.arm[0]] else 0
    elif single:  # loops without calls; the first, which does not look means up, uses vectors
        for e in range(entries):
            harvest.total[e] = bits_of(uniform(side(die, plan.arm[e]), 0))
        for e in range(entries):
            harvest.total[e] = UNIT if of_bits(harvest.total[e]) < world.means[plan.arm[e]] else 0
    else:
        for e in range(entries):
            k = plan.arm[e]
            harvest.total[e] = UNIT * binomial(side(die, k), plan.pulls[e], world.means[k])
