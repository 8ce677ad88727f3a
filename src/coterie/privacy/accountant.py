"""What events cost. Sums are exact (fractions); only the last step, to an epsilon in floating point, rounds, and it rounds up.

A reward loses what is paid by the events that cover it: they compose one after the other. Events that cover other rewards cost
it nothing: they compose in parallel. So the loss of the dearest reward is the largest sum of prices over any one place of an
arm's clock, and it does not depend on the order in which events happened.

Prices of Laplace noise add up to a pure epsilon. Prices mu of normal noise add up by their squares, to the exact curve of the
Gaussian mechanism (`gauss.py`). Where both kinds meet, or where many small pure losses are stated at some delta, the smaller of
two bounds counts: the pure sum beside the Gaussian curve, or the sum of squares as concentrated privacy (zCDP; rho is half).

The simulator keeps no events but a ledger record of constant size (`ledger.py`). Its booking rule is never below the sums of
this module, and equal to them wherever the covers of a chain follow one another (see `tests/privacy/test_accountant.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import exp, inf, log, log1p, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np

from coterie.errors import UsageError
from coterie.privacy.events import PRICE_MOST, Event
from coterie.privacy.gauss import epsilon_of
from coterie.privacy.ledger import loss_per_reward
from coterie.privacy.mechanisms import Mechanism

ZERO = Fraction(0)
Exact = Fraction | float  # a fraction, or inf


def accounted(ledgers: np.ndarray, mechanism: Mechanism, delta: float) -> np.ndarray:
    """Of the dearest reward in each ledger record: pure epsilon, or for normal noise the epsilon at `delta`, rounded up."""
    if mechanism.adds_up == "prices":
        return loss_per_reward(ledgers)
    if mechanism.adds_up == "never":
        return np.where((ledgers["entries"] > 0).any(axis=(-1, -2)), inf, 0.0)
    mu = np.sqrt(ledgers["squares"].sum(axis=-1).max(axis=-1))
    if delta == 0.0:
        return np.where(mu > 0, inf, 0.0)
    return np.vectorize(epsilon_of, otypes=[float])(mu, delta)


def booked_loss(ledger: Any, mechanism: Mechanism) -> "Loss":
    """Of the dearest arm of one ledger record; chains add up exactly."""
    if (ledger["loss"] > PRICE_MOST).any() or (mechanism.adds_up == "never" and ledger["entries"].any()):
        return WITHOUT_NOISE
    loss, squares = (max(sum(map(Fraction, arm)) for arm in ledger[field].tolist()) for field in ("loss", "squares"))
    return Loss(normal_squares=squares) if mechanism.adds_up == "squares" else Loss(loss, squares)


class Loss(NamedTuple):
    """What one reward has lost: sums over the events that cover it."""

    pure: Exact = ZERO  # of the prices of Laplace noise
    pure_squares: Exact = ZERO  # of the squares of these
    normal_squares: Exact = ZERO  # of the squared prices of normal noise

    def plus(self, other: "Loss", sign: int = 1) -> "Loss":
        return Loss(*(mine + sign * theirs if theirs else mine for mine, theirs in zip(self, other, strict=True)))

    def times(self, rewards: int) -> "Loss":
        """Of a person with so many rewards: every price may be lost as often, also where one event covers them all."""
        return Loss(self.pure * rewards, self.pure_squares * rewards**2, self.normal_squares * rewards**2)

    @property
    def rho(self) -> Exact:
        """Concentrated privacy (zCDP): half of mu squared for normal noise, half of epsilon squared for Laplace noise."""
        return (self.pure_squares + self.normal_squares) / 2

    def epsilon(self, delta: float = 0.0) -> float:
        """The least epsilon at `delta` that this module can prove, rounded up.

        >>> Loss(pure=Fraction(1, 3)).epsilon() >= 1 / 3
        True
        """
        if inf in self or (delta == 0.0 and self.normal_squares > 0):
            return inf
        if delta == 0.0:
            return rounded_up(self.pure)
        basic = rounded_up(self.pure + Fraction(epsilon_of(root_up(Fraction(self.normal_squares)), delta)))
        return min(basic, concentrated_epsilon(rounded_up(self.rho), delta)) if self.pure > 0 else basic


WITHOUT_NOISE = Loss(inf, inf, inf)


def price_of(event: Event) -> Loss:
    """What one event takes from a reward that it covers."""
    if not event.protects:
        return WITHOUT_NOISE
    price = Fraction(event.price)
    return Loss(normal_squares=price**2) if event.kind.adds_up == "squares" else Loss(price, price**2)


def dearest(events: Iterable[Event]) -> list[Loss]:
    """The losses of the rewards that have lost most: one, or several where two kinds of noise make them hard to compare."""
    front: list[Loss] = []
    for covers in _by_arm(events).values():
        if not all(event.protects for event in covers):
            return [WITHOUT_NOISE]
        changes: dict[int, Loss] = defaultdict(Loss)
        for event in covers:
            price = price_of(event)
            changes[event.first] = changes[event.first].plus(price)
            changes[event.last + 1] = changes[event.last + 1].plus(price, -1)
        loss = Loss()
        for place in sorted(changes):
            loss = loss.plus(changes[place])
            if not any(_covers(other, loss) for other in front):
                front = [other for other in front if not _covers(loss, other)] + [loss]
    return front


def spent(events: Iterable[Event], delta: float = 0.0) -> float:
    """The epsilon of the dearest reward, rounded up."""
    return max((loss.epsilon(delta) for loss in dearest(events)), default=0.0)


def share_of(epsilon: float, parts: int) -> float:
    """The largest price of which `parts` together cost no more than epsilon, to the last digit.

    Ten times the floating-point number 0.1 is a little more than 1:

    >>> share_of(1.0, 10)
    0.09999999999999999
    """
    price = epsilon / parts
    return price if price == inf or parts * Fraction(price) <= Fraction(epsilon) else nextafter(price, 0.0)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """The least epsilon at delta that rho-zCDP gives by the conversion of Canonne, Kamath and Steinke (2020), proposition 12.

    It holds for every order a > 1: a rho + log(1 - 1/a) - log(a delta) / (a - 1). The minimum is near
    a = 1 + sqrt(log(1/delta) / rho).
    """
    if rho == 0.0 or rho == inf:
        return rho

    def bound(x: float) -> float:
        """At the order a = 1 + exp(x)."""
        above = exp(x)
        return (1 + above) * rho - log1p(1 / above) - (log1p(above) + log(delta)) / above

    centre = log(sqrt(max(log(1 / delta), 1e-12) / rho))
    low, high = centre - 12.0, centre + 12.0
    while high - low > 1e-9:
        third = (high - low) / 3
        low, high = (low, high - third) if bound(low + third) < bound(high - third) else (low + third, high)
    return max(0.0, bound(high) * (1 + 1e-13))


def rounded_up(value: Exact) -> float:
    """The least floating-point number that is not below."""
    if value == inf:
        return inf
    number = float(value)
    return number if Fraction(number) >= value else nextafter(number, inf)


def root_up(value: Fraction) -> float:
    """The least floating-point number whose square is not below."""
    number = nextafter(sqrt(rounded_up(value)), 0.0)
    while Fraction(number) ** 2 < value:
        number = nextafter(number, inf)
    return number


def _covers(one: Loss, other: Loss) -> bool:
    return all(mine >= theirs for mine, theirs in zip(one, other, strict=True))


def once(events: Iterable[Event]) -> Iterator[Event]:
    """All events, but of a stream only the first: it has paid for all its sums."""
    streams: dict[tuple[int, int, int, str], Event] = {}
    for event in events:
        key = event.agent, event.arm, event.chain, event.mechanism
        if event.kind.covers != "stream" or key not in streams:
            streams[key] = event
            yield event
        elif event != streams[key]:
            raise UsageError(f"events of a stream must have one cover and price, got {streams[key].price} and {event.price}")


def _by_arm(events: Iterable[Event]) -> dict[tuple[int, int], list[Event]]:
    found: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in once(events):
        found[event.agent, event.arm].append(event)
    return found
