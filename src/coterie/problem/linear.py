"""Regret of problems whose loss is a sum over pulls: each pull of an arm costs its gap to the best arm."""

from collections.abc import Sequence

import numpy as np

from coterie.kernel import node


def quality(means: np.ndarray, weights: Sequence[float] | None = None) -> np.ndarray:
    """Of each arm: its mean over all agents, or the weighted one. Regret is counted against it, for every agent alike."""
    if weights is None:
        return means.mean(axis=0)
    return np.average(np.broadcast_to(means, (len(weights), means.shape[1])), axis=0, weights=weights)


@node
def lay_out(world, plan, harvest):
    """lap[e] = regret of one pull of each of the first e entries: a plan of several rounds goes round them in order."""
    lap = 0.0
    for e in range(plan.entries):
        harvest.lap[e] = lap
        lap += world.gaps[plan.arm[e]]
    harvest.lap[plan.entries] = lap


@node
def regret(world, plan):
    total = 0.0
    for e in range(plan.entries):
        total += world.gaps[plan.arm[e]] * plan.pulls[e]
    return total


@node
def violates(world, plan):
    return 0  # there is no constraint


@node
def regret_until(world, plan, harvest, slots):
    return (slots // plan.entries) * harvest.lap[plan.entries] + harvest.lap[slots % plan.entries]
