"""What a pooled learner with an optimistic index will lose, in closed form: a bracket for simulations, not a bound.

An arm of mean mu is played until its index falls below the best mean mu*. With the mean that is to be expected, n pulls that
carry J draws of noise suffice when

    sup over 0 < l < epsilon of n (-l mu - ln(1 - mu* + mu* e^-l)) + J ln(1 - l^2 / epsilon^2)  >=  ln(M T) - thrift ln n

n grows by batches, each of which carries a draw.
"""

from math import inf, log
from typing import NamedTuple

import numpy as np

STEEPEST = 40.0  # the largest l that is looked at: without noise there is no other limit


class Climb(NamedTuple):
    """How the pulls of an arm grow: `first` of `crowd` agents each, then by (growth - 1) n, and no less than `first`."""

    pulls: float  # M T: of all agents on all arms
    epsilon: float
    first: float
    crowd: float
    draws: float  # of noise in the first batches
    growth: float
    thrift: float


def pulls_needed(mean: float, best: float, climb: Climb) -> float:
    """n of an arm, and no more than there are pulls.

    >>> round(pulls_needed(0.5, 0.6, Climb(1e6, inf, 1, 2, 0, 1.5, 0.5)))
    584
    """
    tilts = min(STEEPEST, climb.epsilon) * np.append(np.geomspace(1e-4, 0.5, 300), 1 - np.geomspace(0.5, 1e-6, 300))
    told = -tilts * mean - np.log(1 - best + best * np.exp(-tilts))
    drowned = np.log1p(-((tilts / climb.epsilon) ** 2)) if climb.epsilon < inf else np.zeros_like(tilts)
    n, draws = climb.first * climb.crowd, climb.draws
    while n < climb.pulls and (n * told + draws * drowned).max() < log(climb.pulls) - climb.thrift * log(n):
        n, draws = n + max(climb.first, (climb.growth - 1) * n), draws + 1
    return min(n, climb.pulls)
