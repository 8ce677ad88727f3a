"""Noise for deployment: exact integer sampling from the operating system's entropy. Proof: laplace.md.

The sampler is that of Canonne, Kamath and Steinke (2020), algorithms 1 and 2: the scale is a fraction of whole numbers, and
no floating-point number takes part in the draw. Its running time depends on the noise it draws, so a deployed agent must
release on a fixed tick.
"""

from fractions import Fraction
from math import inf
from secrets import randbelow
from typing import Any

from coterie.kernel import UNIT
from coterie.privacy.door import book_all

_FINENESS = 1024  # scales are rounded up to multiples of 1/1024 of a grid step


def discrete_laplace(scale: Fraction) -> int:
    """Integer z with P(z) ~ exp(-|z| / scale)."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = randbelow(t)
        if not _bernoulli_exp(Fraction(u, t)):
            continue
        v = 0
        while _bernoulli_exp(Fraction(1)):
            v += 1
        size = (u + t * v) // s
        if randbelow(2) == 0:
            return size
        if size > 0:
            return -size


def _bernoulli_exp(x: Fraction) -> bool:
    """True with probability exp(-x), for 0 <= x <= 1."""
    k = 1
    while randbelow(x.denominator * k) < x.numerator:
        k += 1
    return k % 2 == 1


def pass_laplace(out: Any, ledger: Any) -> None:
    """The deployed door: book, then add noise whose scale is rounded up, never down."""
    book_all(out, ledger)
    for e in range(out.entries):
        if out.price[e] < inf:
            scale = UNIT * Fraction(float(out.sensitivity[e])) / Fraction(float(out.price[e]))
            out.value[e] += discrete_laplace(Fraction(int(scale * _FINENESS) + 1, _FINENESS))


DOORS = {"laplace": pass_laplace}
