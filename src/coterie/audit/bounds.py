"""From counts to an epsilon that is proven: Clopper and Pearson's limits of two probabilities.

If an event has probability p where a reward is 1 and q where it is 0, privacy at (epsilon, delta) demands
p <= exp(epsilon) q + delta. So with confidence, epsilon >= log((p_low - delta) / q_high).
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv


def at_least(hits: ArrayLike, trials: int, error: float) -> np.ndarray:
    """A probability below which the true one lies with probability at most `error`."""
    hits = np.asarray(hits, float)
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), trials - hits + 1, error), 0.0)


def at_most(hits: ArrayLike, trials: int, error: float) -> np.ndarray:
    """
    >>> round(float(at_most(0, 100, 0.05)), 4)  # 1 - 0.05^(1/100)
    0.0295
    """
    hits = np.asarray(hits, float)
    return np.where(hits < trials, betaincinv(hits + 1, np.maximum(trials - hits, 1), 1 - error), 1.0)


def epsilon_at_least(hits: ArrayLike, misses: ArrayLike, trials: int, delta: float, error: float) -> np.ndarray:
    """Of `trials` on each side the event took place `hits` times on its own side and `misses` times on the other.

    The two limits share the error. Never below 0.

    >>> round(float(epsilon_at_least(1000, 0, 1000, 0.0, 0.01)), 2)
    5.24
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = at_least(hits, trials, error / 2) - delta, at_most(misses, trials, error / 2)
        return np.where(low > high, np.log(np.maximum(low, 1e-300) / high), 0.0)
