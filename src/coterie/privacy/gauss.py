"""Normal noise: the exact loss of the Gaussian mechanism (Balle and Wang 2018), and the noise an (epsilon, delta) needs.

A statistic of sensitivity s with noise of standard deviation s / mu loses mu; losses of several statistics about one reward
compose by their squares. At epsilon the failure probability is

    delta(epsilon) = Phi(mu / 2 - epsilon / mu) - exp(epsilon) Phi(-mu / 2 - epsilon / mu).

Proof: gauss.md.
"""

from collections.abc import Callable, Sequence
from math import exp, inf, nextafter, sqrt


def delta_of(mu: float, epsilon: float) -> float:
    """The least delta at which a loss of mu is (epsilon, delta)-private.

    >>> round(delta_of(1.0, 1.0), 6)
    0.126937
    """
    if mu == 0.0:
        return 0.0
    from scipy.special import log_ndtr, ndtr  # it takes a quarter of a second to load

    return float(ndtr(mu / 2 - epsilon / mu) - exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))


def epsilon_of(mu: float, delta: float) -> float:
    """The least epsilon at that delta, rounded up.

    >>> round(epsilon_of(mu_of(1.0, 1e-6), 1e-6), 9)
    1.0
    """
    if mu == inf:
        return inf
    if mu == 0.0 or delta_of(mu, 0.0) <= delta:
        return 0.0
    return _bisect(lambda epsilon: delta_of(mu, epsilon) <= delta, 1.0)[1]


def mu_of(epsilon: float, delta: float) -> float:
    """The largest loss that is (epsilon, delta)-private, rounded down: `epsilon_of` finds no more than epsilon for it."""
    if epsilon == inf:
        return inf
    mu = _bisect(lambda mu: delta_of(mu, epsilon) > delta, 1.0)[0]
    while delta_of(mu, epsilon) > delta or epsilon_of(mu, delta) > epsilon:  # last digits of delta are not quite monotone
        mu = nextafter(mu, 0.0)
    return mu


def block_losses(mus: Sequence[float], arms: int, rounds: int) -> dict[str, float]:
    """What releases of disjoint blocks of rounds lose, one of loss mu for each block.

    event       one arm's numbers of one round change: they are in one block
    round       those of all `arms` in one round
    group       one arm's numbers of `rounds` rounds of one block
    sequential  as if every block held the event: an upper bound that needs no disjoint blocks

    >>> {name: round(mu, 6) for name, mu in block_losses([0.3, 0.4], 4, 10).items()}
    {'event': 0.4, 'round': 0.8, 'group': 4.0, 'sequential': 0.5}
    """
    event = max(mus, default=0.0)
    together = sqrt(sum(mu * mu for mu in mus))
    return {"event": event, "round": event * sqrt(arms), "group": event * rounds, "sequential": together}


def _bisect(beyond: Callable[[float], bool], guess: float) -> tuple[float, float]:
    """The two neighbouring numbers between which a monotone condition becomes true."""
    low, high = 0.0, guess
    while not beyond(high):
        low, high = high, 2.0 * high
    while (middle := (low + high) / 2.0) not in (low, high):
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return low, high
