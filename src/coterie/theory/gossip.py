"""The regret bounds of Zhu et al., "Federated Bandit: A Gossiping Approach", Theorems 1 and 2, and their constants.

Both bound the expected regret of each agent by a sum over the arms k with a positive gap,

    R_i(T) < sum_k gap_k * (max{pulls_k, L, (3M + 1) N} + rest)

for N agents, M arms and T rounds, with natural logarithms. `pulls_k` is what it takes to tell arm k from the best one,
L the round from which gossip mixes faster than the agents learn, and (3M + 1) N the lag the catch-up rule permits. All
depend on the graph through lambda_2 only, the second largest eigenvalue of its gossip matrix.

The theorems say nothing about a gap in (0, 2 alpha_1]; then a bound is infinite, which is true of any regret. A finite
bound may also say nothing: show it together with `trivial_bound`, which no algorithm can exceed.
"""

from bisect import bisect_left
from collections.abc import Callable
from math import exp, expm1, inf, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from coterie.errors import UsageError

TIE = 1e-12  # gaps of equally good arms differ from 0 by rounding; below this they count as 0


def gossip_ucb_bound(gaps: ArrayLike, agents: int, horizon: int, lambda_2: float) -> float:
    """Theorem 1, per agent: pulls_k = 2 N log T / (gap_k / 2 - alpha_1)^2 and rest = alpha_2."""
    _require_horizon(horizon)
    return _bound(gaps, agents, lambda_2, lambda margin: _pulls(margin, agents, horizon, inf), 0.0)


def fed_ucb_bound(gaps: ArrayLike, agents: int, horizon: int, lambda_2: float, epsilon: float) -> float:
    """Theorem 2, per agent: with x = gap_k / 2 - alpha_1,

    pulls_k = N log T (1 + sqrt(1 + (16 x / epsilon)^2 (log T)^3)) / x^2 and rest = alpha_3 + 4 N log T.

    With epsilon = inf, pulls_k is that of Theorem 1; the two bounds still differ by their rests.
    """
    _require_horizon(horizon)
    if not epsilon > 0:
        raise UsageError(f"epsilon must be a number > 0, got {epsilon}")
    extra = 4 * agents + 4 * agents * log(horizon)
    return _bound(gaps, agents, lambda_2, lambda margin: _pulls(margin, agents, horizon, epsilon), extra)


def trivial_bound(gaps: ArrayLike, horizon: int) -> float:
    """The regret of an agent that always plays the worst arm, T * max gap."""
    _require_horizon(horizon)
    return horizon * float(_checked(gaps).max())


def alpha_1(agents: int) -> float:
    """64 / N^17: the part of the confidence radius that is the same for all arms."""
    _require_agents(agents)
    return 64.0 / agents**17


def alpha_2(agents: int, arms: int, lambda_2: float) -> float:
    """(3M - 1) N + 2 pi^2 / 3 + 2 q / ((1 - q^4)(1 - q)) with q = lambda_2^(1/12)."""
    _require_agents(agents)
    _require_lambda(lambda_2)
    unmixed = 0.0
    if lambda_2 > 0:
        exponent = log(lambda_2) / 12
        unmixed = 2 * exp(exponent) / (expm1(4 * exponent) * expm1(exponent))
    return (3 * arms - 1) * agents + 2 * pi**2 / 3 + unmixed


def alpha_3(agents: int, arms: int, lambda_2: float) -> float:
    """alpha_2 + 4 N."""
    return alpha_2(agents, arms, lambda_2) + 4 * agents


def mixing_round(agents: int, lambda_2: float) -> int:
    """L: the smallest integer such that lambda_2^(t/6) / (1 - lambda_2^(1/3)) < 1 / (N t) for all rounds t >= L >= 1.

    The rounds that violate this are 1..L-1, so that bisection finds L: t lambda_2^(t/6) rises to a single peak and then
    falls, hence violations are consecutive; and if round 1 complies, then lambda_2^(1/6) < sqrt(2) - 1 < 1/2 because
    N >= 2, and t lambda_2^(t/6) falls from the start.
    """
    _require_agents(agents)
    _require_lambda(lambda_2)
    rate = -log(lambda_2) / 6 if lambda_2 > 0 else inf

    def complies(t: int) -> bool:
        return log(agents * t) - log(-expm1(-2 * rate)) < rate * t  # logarithms, lest large t underflow

    after = 1
    while not complies(after):
        after *= 2
    return bisect_left(range(after), True, lo=1, key=complies)


def _pulls(margin: float, agents: int, horizon: int, epsilon: float) -> float:
    noise = (16 * margin / epsilon) ** 2 * log(horizon) ** 3
    return agents * log(horizon) * (1 + sqrt(1 + noise)) / margin**2


def _bound(gaps: ArrayLike, agents: int, lambda_2: float, pulls: Callable[[float], float], extra: float) -> float:
    checked = _checked(gaps)
    arms = len(checked)
    least = max(mixing_round(agents, lambda_2), (3 * arms + 1) * agents)
    rest = alpha_2(agents, arms, lambda_2) + extra
    positive = [float(gap) for gap in checked if gap > TIE]
    if any(gap <= 2 * alpha_1(agents) for gap in positive):
        return inf
    return sum((gap * (max(pulls(gap / 2 - alpha_1(agents)), least) + rest) for gap in positive), 0.0)


def _checked(gaps: ArrayLike) -> np.ndarray:
    """One gap for each arm, that of the best arm included: the number of arms counts."""
    values = np.asarray(gaps, dtype=float)
    if values.ndim != 1 or len(values) < 2:
        raise UsageError(f"gaps must be one number for each of at least 2 arms, got values of shape {values.shape}")
    if not (np.isfinite(values).all() and -TIE <= values.min() <= TIE):
        raise UsageError(f"gaps must be finite with smallest value 0, that of the best arm, got {values.min()}")
    return values


def _require_agents(agents: int) -> None:
    if agents < 2:
        raise UsageError(f"agents must number at least 2, got {agents}")


def _require_horizon(horizon: int) -> None:
    if horizon < 1:
        raise UsageError(f"horizon must be at least 1, got {horizon}")


def _require_lambda(lambda_2: float) -> None:
    if not 0 <= lambda_2 < 1:
        raise UsageError(f"lambda_2 must lie in [0, 1), got {lambda_2}")
