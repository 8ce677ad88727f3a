"""What a sum of several agents' reports gives away, each with Laplace noise of its own.

The sum of m Laplace variables of scale b has the density, with z = |x| / b,

    f(x) = exp(-z) / (b (m-1)! 2^(2m-1)) * sum over j < m of (2m-2-j)! / (j! (m-1-j)!) (2 z)^j,

which is log-concave. One reward moves the sum by 1, so at epsilon it fails with probability

    delta(epsilon) = integral of max(0, f(x) - exp(epsilon) f(x - 1)) dx.
"""

import functools
from math import exp, expm1

import numpy as np
from scipy.special import gammaln

GRID = 40_001  # points of the integral


def reading_probability(scale: float) -> float:
    """That rounding one noised sum of 0/1 rewards gives the exact one: 1 - exp(-1 / (2 scale))."""
    return -expm1(-0.5 / scale)


def sum_density(x: np.ndarray, count: int, scale: float) -> np.ndarray:
    """Of the sum of `count` Laplace variables.

    >>> float(sum_density(np.array([0.0]), 1, 2.0)[0])
    0.25
    """
    z, j = np.abs(x)[..., None] / scale, np.arange(count)
    weights = gammaln(2 * count - 1 - j) - gammaln(j + 1) - gammaln(count - j)
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.where(j == 0, 0.0, j * np.log(2 * z))
    rest = np.log(scale) + gammaln(count) + (2 * count - 1) * np.log(2)
    terms = weights + powers
    most = terms.max(axis=-1)
    return np.exp(terms - most[..., None]).sum(axis=-1) * np.exp(most - z[..., 0] - rest)


@functools.cache
def aggregate_delta(epsilon: float, count: int, scale: float) -> float:
    """The least delta at which the sum of `count` reports is (epsilon, delta)-private, to about 1e-4.

    Beyond 200 agents the sum of 200 stands in, which has less noise: delta is then overstated.
    """
    count = min(count, 200)
    width = 12 * scale * np.sqrt(2 * count) + 40 * scale + 1
    x = np.linspace(-width, width, GRID)
    excess = sum_density(x, count, scale) - exp(min(epsilon, 700.0)) * sum_density(x - 1, count, scale)
    return float(min(1.0, np.maximum(0.0, excess).sum() * (x[1] - x[0])))
