"""How far a vote can be off, and how far the median of votes can be, some of which are lies. Proofs: docs/pr-ucb.md.

A vote is the mean of a batch of rewards with mean mu, and Laplace noise of scale noise / size. All tails are at most what they
say, for every mu: none leans on a limit theorem.
"""

from functools import cache
from math import ceil, inf, sqrt

import numpy as np
from scipy.special import betaincinv, gammaln, ndtr, xlog1py, xlogy

from coterie.kernel import UNIT

EXACT_MOST = 1024  # rewards in a batch whose law is summed up; its cost grows with the power 3/2
LEVELS = 128


def deviation(size: int, noise: float, proxy: float) -> float:
    """The standard deviation of a vote at most: sqrt(proxy^2 / size + 2 (noise / size)^2)."""
    return sqrt(proxy**2 / size + 2 * (noise / size) ** 2)


@cache
def tail_table(sizes: tuple[int, ...], noise: float, proxy: float, coins: bool) -> tuple[np.ndarray, np.ndarray]:
    """(radii [level], tails [level, size]): inf, then radii from far beyond the widest vote to well within the sharpest.

    Sizes ascend, and the last one is never filled. A tail is no less than those of larger batches, so that the smallest claimed
    sizes have the largest tails.
    """
    widest, sharpest = 30 * deviation(sizes[0], noise, proxy), deviation(sizes[-1], noise, proxy) / 20
    radii = np.geomspace(widest, sharpest, LEVELS - 1)
    tails = np.stack([vote_tail(radii, size, noise, proxy, coins) for size in sizes], axis=1)
    tails[:, :-1] = np.maximum.accumulate(tails[:, -2::-1], axis=1)[:, ::-1]
    return np.append(inf, radii), np.append(np.zeros((1, len(sizes))), tails, axis=0)


def vote_tail(radii: np.ndarray, size: int, noise: float, proxy: float, coins: bool) -> np.ndarray:
    """P(vote < mu - r) at most, for each r; by symmetry of what is allowed, of P(vote > mu + r) too."""
    if not coins:
        return any_tail(radii, size, noise, proxy)
    return coin_tail(radii, size, noise) if size <= EXACT_MOST else many_coins_tail(radii, size, noise)


def any_tail(radii: np.ndarray, size: int, noise: float, proxy: float) -> np.ndarray:
    """Any sub-Gaussian rewards: the less of two bounds, with v = proxy^2 / size and l = noise / size.

    Chernoff, exp(x^2 v / 2 - x r) / (1 - (x l)^2) for the best x of many; and exp(-r / l) / 2 + sqrt(v) / (4 l), as the noise's
    law has a slope of at most 1 / (2 l) and a mean of rewards is below mu by sqrt(v) / 2 at most on average.
    """
    v, scale = proxy**2 / size, noise / size
    if scale == 0:
        return np.exp(-(radii**2) / (2 * v))
    x = np.append(np.geomspace(1e-6, 0.5, 400), 1 - np.geomspace(0.5, 1e-6, 400)) / scale
    chernoff = np.exp(np.minimum(0.0, (x**2 * v / 2 - np.outer(radii, x) - np.log1p(-((x * scale) ** 2))).min(axis=1)))
    return np.minimum(chernoff, np.exp(-radii / scale) / 2 + sqrt(v) / (4 * scale))


def coin_tail(radii: np.ndarray, size: int, noise: float) -> np.ndarray:
    """Rewards of 0 or 1: the law itself, at its worst over mu.

    For mu in [m, m + h] a vote is at least as large as one of mean m, so P_mu(vote < mu - r) <= P_m(vote < m + h - r): a grid
    of m will do. A sum of j is below y with its noise with probability 1 - exp(-(y - j) / noise) / 2 if j <= y, and
    exp(-(j - y) / noise) / 2 otherwise. Noise on the integer grid is off by one step.
    """
    steps = ceil(32 * sqrt(size))
    m, j, rate = np.arange(steps) / steps, np.arange(size + 1), 1 / noise if noise > 0 else inf
    choices = gammaln(size + 1) - gammaln(j + 1) - gammaln(size - j + 1)
    law = np.exp(choices + xlogy(j, m[:, None]) + xlog1py(size - j, -m[:, None]))
    y = size * (m[:, None] + 1 / steps - radii) + 1 / UNIT
    at = np.clip(np.floor(y), -1, size).astype(int) + 1  # the sums below y are the first `at` ones
    row = np.arange(steps)[:, None]
    below = np.pad(np.cumsum(law, axis=1), ((0, 0), (1, 0)))[row, at]
    if rate == inf:
        return below.max(axis=0)
    lower = np.pad(faded(law, rate), ((0, 0), (1, 0)))[row, at]  # sum of law_j exp(-rate (at - 1 - j)), j < at
    upper = np.pad(faded(law[:, ::-1], rate)[:, ::-1], ((0, 0), (0, 1)))[row, at]
    over = np.exp(-rate * np.where(at > 0, y - (at - 1), 0)) * lower
    return (below - over / 2 + np.exp(-rate * np.where(at <= size, at - y, 0)) * upper / 2).max(axis=0)


def faded(law: np.ndarray, rate: float) -> np.ndarray:
    """Sums over the second axis, in which a step back counts exp(-rate) times."""
    found, kept = law.T.copy(), np.exp(-rate)
    for j in range(1, len(found)):
        found[j] += kept * found[j - 1]
    return found.T


def many_coins_tail(radii: np.ndarray, size: int, noise: float) -> np.ndarray:
    """The same for large batches: Phi(-2 sqrt(size) (r - x - 1 / size)) + exp(-x size / noise) / 2, the noise taking x of r.

    The first term is the inequality of Zubkov and Serov (2013), P(S <= k) <= Phi(-sqrt(2 n KL((k + 1) / n, mu))), with
    KL(a, mu) >= 2 (a - mu)^2.
    """
    left = np.maximum(radii - (1 + 1 / UNIT) / size, 0.0)
    if noise == 0:
        return np.where(left > 0, ndtr(-2 * sqrt(size) * left), 1.0)
    x = np.linspace(0, 1, 400)[:, None] * left
    return np.minimum(1.0, (ndtr(-2 * sqrt(size) * (left - x)) + np.exp(-x * size / noise) / 2).min(axis=0))


def lies_among(votes: np.ndarray, share: float) -> np.ndarray:
    """The largest whole number of lies that is at most `share` of the votes."""
    return np.floor(share * votes + 1e-9).astype(int)


def tail_allowed(voters: int, share: float, miss: float) -> np.ndarray:
    """[number of votes]: how large the mean tail of the honest votes may be, lest their median be off with more than `miss`.

    Among n votes of which l may be lies, n - l honest ones must have h = ceil(n / 2) - l on the wrong side. The number that
    is there is a sum of independent indicators. If their mean probability p is at most (h - 1) / (n - l), it exceeds h - 1
    no more often than a binomial number (Hoeffding 1956); at any p it does so with probability at most p (n - l) / h.
    """
    n = np.arange(1, voters + 1)
    lies = lies_among(n, share)
    honest, h = n - lies, (n + 1) // 2 - lies
    binomial = np.minimum(betaincinv(h, honest - h + 1, miss), (h - 1) / honest)
    return np.append(0.0, np.maximum(binomial, miss * h / honest))
