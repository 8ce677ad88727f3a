"""The least regret that the rounds to come must cost: c ln(M t) of M agents together, in the long run.

Of rewards that are 0 or 1, and of algorithms that get every instance right in the end. One learner who owns all agents and sees
all they see is no weaker than they are, so what is true of one learner over M t pulls is true of them. c is what is known:

    nothing is private (Lai & Robbins 1985)              c = sum over gaps > 0 of gap_k / kl(mu_k, mu*)
    epsilon, all choices visible (Azize et al. 2025)     c = sum of gap_k / d(mu_k, mu*)
    agents differ and the average counts                 c = sum of 2 (mean over i of sqrt(mu_ik (1 - mu_ik)))^2 / gap_k

The last one is an approximation by normal rewards, without privacy; with it nothing is known. All of it is asymptotic: at usual
horizons regret may lie well below c ln(M t), and it is the increase over a decade that must not fall short of c ln 10.
"""

from math import exp, expm1, inf, log, log1p

import numpy as np

from coterie.errors import UsageError

TIE = 1e-12  # gaps of equally good arms differ from 0 by rounding; below this they count as 0


def kl(p: float, q: float) -> float:
    """kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)); by Pinsker no less than 2 (p - q)^2, however it is rounded.

    >>> round(kl(0.5, 0.75), 6), kl(0.3, 0.3), kl(0.5, 1.0)
    (0.143841, 0.0, inf)
    """
    return max(_part(p, q) + _part(1 - p, 1 - q), 2 * (p - q) ** 2)


def private_divergence(x: float, y: float, epsilon: float) -> float:
    """d(x, y) for x <= y: how much one pull tells the two apart if it may shift odds by e^epsilon at most.

    kl(x, y) if z <= x, else -ln(1 - y + y e^-epsilon) - epsilon x, where z = y / (y + (1 - y) e^epsilon). This is the largest
    of -ln(1 - y + y e^-l) - l x over 0 <= l <= epsilon.

    >>> [round(private_divergence(0.5, 0.75, epsilon), 6) for epsilon in (0.05, 1, 5)]
    [0.012264, 0.142626, 0.143841]
    """
    if not 0 <= x <= y <= 1:
        raise UsageError(f"x and y must be 0 <= x <= y <= 1, got {x} and {y}")
    if not epsilon > 0:
        raise UsageError(f"epsilon must be a number > 0, got {epsilon}")
    if epsilon == inf or y * exp(-epsilon) <= x * (1 - y + y * exp(-epsilon)):
        return kl(x, y)
    odds = log1p(y * expm1(-epsilon)) if epsilon < 1 else log(1 - y + y * exp(-epsilon))  # y may be 1
    return -odds - epsilon * x


def alike_constant(means: np.ndarray, epsilon: float = inf) -> float:
    """c of agents that see the same means [arms]: what tells arm k from the best one is d, which is kl without privacy.

    >>> [round(alike_constant([0.75, 0.625, 0.5, 0.375, 0.25], epsilon), 3) for epsilon in (inf, 0.5, 1)]
    [7.128, 10.405, 7.708]
    """
    best = float(np.max(means))
    worse = [float(mean) for mean in means if best - mean > TIE]
    return sum(((best - mean) / private_divergence(mean, best, epsilon) for mean in worse), 0.0)


def unlike_constant(means: np.ndarray) -> float:
    """c of agents that see means [agents, arms] of their own, where the average counts and nothing is private.

    >>> round(unlike_constant([[0.5, 0.7], [0.5, 0.5]]), 6)
    5.0
    """
    table = np.asarray(means, float)
    overall = table.mean(axis=0)
    gaps = overall.max() - overall
    spread = np.sqrt(table * (1 - table)).mean(axis=0)
    return float((2 * spread[gaps > TIE] ** 2 / gaps[gaps > TIE]).sum())


def so_far(constant: float, agents: int, rounds: float) -> float:
    """The floor under the regret of one decision, of all that `agents` have made in so many rounds.

    >>> round(so_far(7.128, 50, 1000), 6)
    0.001542
    """
    return constant * log(agents * rounds) / (agents * rounds)


def _part(p: float, q: float) -> float:
    if p == 0:
        return 0.0
    return p * log(p / q) if q > 0 else inf
