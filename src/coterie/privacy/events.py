"""What happened: one number left a secret through the door. An event says whose, what it covers, and what was paid for it.

    laplace, shares  discrete Laplace noise; the price is an epsilon
    gauss            normal noise; the price is mu, the sensitivity in standard deviations of the noise
    pair, triangle   normal noise for a pair of numbers, which is one event; the price is mu
    digits, root     one of the running sums of a stream, with Laplace or normal noise that is correlated over time; the price
                     is that of the whole stream, which covers all rewards it can ever have
    kept             one draw for all releases of an arm, for study: it cancels out between them, so no finite loss is accounted

What an event means never changes: a new kind of noise is a new mechanism. One that is not in this list cannot be written down,
so no accountant ever has to guess.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

from coterie.errors import UsageError
from coterie.privacy.mechanisms import MECHANISMS, Mechanism

PRICE_MOST = 1e100


@dataclass(frozen=True, slots=True)
class Event:
    """One release about rewards `first` .. `last` of an arm, on a clock of the arm's own."""

    agent: int
    arm: int
    chain: int
    first: int
    last: int
    mechanism: str
    sensitivity: float  # how far one covered reward can move the released number, in rewards
    price: float  # inf: without noise

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise UsageError(f"mechanism of an event must be one of {', '.join(MECHANISMS)}, got {self.mechanism!r}")
        if not self.price > 0:
            raise UsageError(f"price of an event must be a number > 0, got {self.price}")
        if not 0 <= self.sensitivity < inf:
            raise UsageError(f"sensitivity of an event must be a number >= 0, got {self.sensitivity}")
        if not 0 <= self.first <= self.last:
            raise UsageError(f"cover of an event must be first, last with 0 <= first <= last, got {self.first}, {self.last}")

    @property
    def kind(self) -> Mechanism:
        return MECHANISMS[self.mechanism]

    @property
    def protects(self) -> bool:
        """Not at a price whose square is beyond all numbers: nobody is hidden by such noise."""
        return self.price <= PRICE_MOST and self.kind.adds_up != "never"


def events_of(out: Any, mechanism: Mechanism, agent: int = 0) -> list[Event]:
    """The entries of an outbox as events. One that tells of no reward is none; one of a stream covers all of it."""
    return [
        Event(
            agent,
            int(out.arm[e]),
            int(out.chain[e]),
            1 if mechanism.covers == "stream" else int(out.first[e]),
            int(out.last[e]),
            mechanism.name,
            float(out.sensitivity[e]),
            float(out.price[e]),
        )
        for e in range(0, out.entries, 2 if mechanism.covers == "pair" else 1)
        if out.first[e] <= out.last[e] and mechanism.covers != "nothing"
    ]
