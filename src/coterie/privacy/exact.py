"""Noise for deployment: exact integer sampling from the operating system's entropy. Proofs: laplace.md, gauss.md.

Laplace noise is drawn by algorithms 1 and 2 of Canonne, Kamath and Steinke (2020), a share of it by cutting geometric numbers
along the cycles of a permutation (Shepp and Lloyd 1966); normal noise by algorithm N of Karney (2016), a true normal number of
which as many digits are drawn as it takes to round it. The scale is a fraction of whole
numbers, and no floating-point number takes part in a draw. The running time depends on the noise, so a deployed agent must
release on a fixed tick.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil, floor, inf
from secrets import randbelow
from typing import Any

from coterie.errors import UsageError
from coterie.kernel import UNIT

_FINENESS = 1024  # scales are rounded up to multiples of 1/1024 of a grid step


def on_grid(reward: float, low: float = 0.0, high: float = 1.0) -> int:
    """A reward as a whole number of steps, within the range and rounded inwards at its ends.

    So two rewards lie no further apart than the whole steps that fit into the range: the sensitivity is a fact about integers.

    >>> on_grid(0.5), on_grid(7.0)
    (32768, 65536)
    """
    if reward != reward:
        raise UsageError("a reward must be a number, got nan")
    least, most = _steps_within(low, high)
    steps = UNIT * float(reward)  # exact, as UNIT is a power of two, unless it is no number of steps any more
    return min(max(round(steps), least), most) if abs(steps) < inf else most if reward > 0 else least


@cache
def _steps_within(low: float, high: float) -> tuple[int, int]:
    """Once for each range: an agent asks for every reward."""
    return ceil(UNIT * Fraction(low)), floor(UNIT * Fraction(high))


def discrete_laplace(scale: Fraction) -> int:
    """Integer z with P(z) ~ exp(-|z| / scale)."""
    while True:
        size = geometric(scale)
        if randbelow(2) == 0:
            return size
        if size > 0:
            return -size


def geometric(scale: Fraction) -> int:
    """Integer k >= 0 with P(k) ~ exp(-k / scale)."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = randbelow(t)
        if _bernoulli_exp(Fraction(u, t)):
            v = 0
            while _bernoulli_exp(Fraction(1)):
                v += 1
            return (u + t * v) // s


def laplace_share(scale: Fraction, holders: int) -> int:
    """One of `holders` independent parts that add up to a discrete Laplace number."""
    return _part_of(geometric(scale), holders) - _part_of(geometric(scale), holders)


def _part_of(number: int, holders: int) -> int:
    """The cycles of a random permutation of so many things that a coin of chance 1/holders gives to one of the holders.

    The cycle of the first thing that is left has 1, 2, ... all of these with the same chance.
    """
    mine = 0
    while number > 0:
        cycle = 1 + randbelow(number)
        mine += cycle if randbelow(holders) == 0 else 0
        number -= cycle
    return mine


def no_noise(scale: Fraction) -> int:
    """It is in the number already."""
    return 0


def _bernoulli_exp(x: Fraction) -> bool:
    """True with probability exp(-x), for 0 <= x <= 1."""
    k = 1
    while randbelow(x.denominator * k) < x.numerator:
        k += 1
    return k % 2 == 1


class _Deviate:
    """A uniform number in (0, 1) of which 32 more binary digits are drawn whenever they are asked for."""

    def __init__(self) -> None:
        self.digits: list[int] = []

    def digit(self, place: int) -> int:
        while len(self.digits) <= place:
            self.digits.append(randbelow(1 << 32))
        return self.digits[place]

    def __lt__(self, other: "_Deviate") -> bool:
        place = 0
        while self.digit(place) == other.digit(place):
            place += 1
        return self.digit(place) < other.digit(place)

    def prefix(self, places: int) -> int:
        """The whole number that its first digits make."""
        return sum(self.digit(place) << 32 * (places - 1 - place) for place in range(places))


def rounded_normal(sigma: Fraction) -> int:
    """A normal number of standard deviation sigma, rounded to the nearest whole number."""
    while True:
        k = 0
        while _bernoulli_exp(Fraction(1, 2)):
            k += 1
        x = _Deviate()
        if all(_bernoulli_exp(Fraction(1)) for _ in range(k * (k - 1) // 2)) and _accepts(k, x):
            size = _rounded(sigma, k, x)
            return size if randbelow(2) else -size


def _accepts(k: int, x: _Deviate) -> bool:
    """True with probability exp(-k x - x^2 / 2)."""
    return all(_descends(x, False) for _ in range(k)) and _descends(x, True)


def _descends(x: _Deviate, squared: bool) -> bool:
    """True with probability exp(-x), or exp(-x^2 / 2): whether an even number of deviates go down from x, one below the other.

    That j of them do has probability x^j / j!; with `squared` each must also pass a coin of probability x / 2.
    """
    steps, last = 0, x
    while (following := _Deviate()) < last and (not squared or (randbelow(2) == 0 and _Deviate() < x)):
        steps, last = steps + 1, following
    return steps % 2 == 0


def _rounded(sigma: Fraction, k: int, x: _Deviate) -> int:
    """floor(sigma (k + x) + 1/2), from as many digits of x as decide it."""
    places = 1
    while True:
        unit = 1 << 32 * places
        low = sigma * (k * unit + x.prefix(places)) / unit + Fraction(1, 2)
        high = low + sigma / unit
        if low // 1 == -((-high) // 1) - 1:  # `high` itself is never reached
            return int(low // 1)
        places += 1


def add_exact(out: Any, mechanism: str, draw: Callable[[Fraction], int]) -> None:
    """Noise for every entry, its scale rounded up, never down."""
    for e in range(out.entries):
        price, sensitivity = float(out.price[e]), float(out.sensitivity[e])
        if not price > 0:
            raise UsageError(f"price of a release by {mechanism} must be a number > 0, got {price}")
        if price < inf:
            scale = UNIT * Fraction(sensitivity) / Fraction(price)
            out.value[e] += draw(Fraction(int(scale * _FINENESS) + 1, _FINENESS))
