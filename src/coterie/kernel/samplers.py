"""Random numbers of the laws that problems and doors need, drawn from a die.

Simulation quality: the laws are exact in real arithmetic, the arithmetic is float64. Deployed noise never comes from here.
"""

from math import cos, exp, expm1, floor, inf, log, log1p, pi, sqrt

import numpy as np

from coterie.kernel.compiling import inline, rare
from coterie.kernel.dice import fold, uniform, word
from coterie.kernel.tools import nearest, of_bits, ones, quick_log

_U = np.uint64


WIDE = 64.0  # for scales above it two terms of a series are as good as the logarithm they stand for


@inline
def wide_laplace(die, scale):
    """Integer z with P(z) ~ exp(-|z| / scale), for scale > WIDE. No branch and no call: a loop over it can use vectors.

    A Laplace number, rounded; 1 / (8 scale) makes up for the two halves that meet at 0. The error is below 1e-9.
    """
    bits = word(die, 0)
    y = scale * quick_log(_fraction(bits)) + 0.125 / scale
    return nearest(y if bits & _U(1) else -y)


@inline
def _fraction(bits):
    """In (0, 1), an odd multiple of 2^-53, from the upper 52 bits."""
    return of_bits((bits >> _U(12)) | _U(0x3FF0000000000000)) - (1.0 - 2.0**-53)


@inline
def discrete_laplace(die, scale):
    """Integer z with P(z) ~ exp(-|z| / scale), by inversion of one word: its low bit is the sign."""
    return wide_laplace(die, scale) if scale > WIDE else _narrow_laplace(die, scale)


@rare
def _narrow_laplace(die, scale):
    bits = word(die, 0)
    top = scale * log(2.0 / (1.0 + exp(-1.0 / scale)))
    size = int(top - scale * log(_fraction(bits)))
    return size if bits & _U(1) else -size


@rare
def normal(die, draw):
    """Standard normal (Box and Muller), from the draws 2 draw and 2 draw + 1.

    Inlined into a loop over a branch, it would be worked out on both sides of it: the compiler thinks a cosine is cheap.
    """
    return sqrt(-2.0 * log(1.0 - uniform(die, 2 * draw))) * cos(2.0 * pi * uniform(die, 2 * draw + 1))


@inline
def rounded_normal(die, sigma):
    """Normal of standard deviation `sigma`, rounded to a whole number."""
    return int(floor(sigma * normal(die, 0) + 0.5))


BROAD = 16384.0  # for scales above it a sum of draws is a rounded number of the continuous law


@rare
def laplace_sum(die, scale, draws):
    """As many discrete Laplace draws of `scale`, added up; below 1: a share, so that n shares of 1/n add up to one draw.

    A geometric variable is a sum of n independent negative binomials of shape 1/n, each a Poisson variable whose
    mean is Gamma distributed; a discrete Laplace variable is the difference of two geometric ones. So a sum of draws is the
    difference of two Poisson variables with Gamma means of that shape. Where the scale is broad, the two Gamma variables
    themselves, made a little less wide for what a grid takes away from a variance: the error is below 1e-9.
    """
    plus, minus = _gamma_any(fold(die, 0), draws), _gamma_any(fold(die, 1), draws)
    if draws >= 1.0 and scale > BROAD:
        return int(floor(sqrt(scale * scale - 1.0 / 12.0 - 1.0 / (24.0 * draws)) * (plus - minus) + 0.5))
    mean = 1.0 / expm1(1.0 / scale)  # folded, not added: a side of a side is another side of the same die
    return _poisson(fold(die, 2), mean * plus) - _poisson(fold(die, 3), mean * minus)


@rare
def _gamma_any(die, shape):
    """Below 1, a Gamma of shape + 1 times U^(1 / shape)."""
    if shape > 1.0:
        return _gamma(die, shape)
    return _gamma(die, shape + 1.0) * exp(log(1.0 - uniform(die, 0)) / shape)


@rare
def beta(die, a, b):
    """Beta of a, b >= 1: the share of one of two Gamma numbers in their sum."""
    x = _gamma(fold(die, 0), a)
    return x / (x + _gamma(fold(die, 1), b))


@rare
def _gamma(die, shape):
    """Gamma of shape >= 1 (Marsaglia and Tsang 2000), from draw 1 on."""
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    draw = 1
    while True:
        x = sqrt(-2.0 * log(1.0 - uniform(die, draw))) * cos(2.0 * pi * uniform(die, draw + 1))
        v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x)
        if v > 0.0 and log(1.0 - uniform(die, draw + 2)) < 0.5 * x * x + d - d * v + d * log(v):
            return d * v
        draw += 3


@rare
def _poisson(die, mean):
    """Products of uniforms for small means, PTRS (Hormann 1993) for large."""
    if mean < 10.0:
        hits, left, draw = -1, mean, 0
        while left >= 0.0:
            left += log(1.0 - uniform(die, draw))
            draw += 1
            hits += 1
        return hits
    root = sqrt(mean)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    draw = 0
    while True:
        u, v = uniform(die, draw) - 0.5, 1.0 - uniform(die, draw + 1)
        draw += 2
        us = 0.5 - abs(u)
        k = floor((2.0 * a / us + b) * u + mean + 0.43) if us > 0.0 else -1.0
        if us >= 0.07 and v <= v_r:
            return int(k)
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        if log(v * inverse_alpha / (a / (us * us) + b)) <= _log_poisson(k, mean):
            return int(k)


@rare
def _log_poisson(k, mean):
    """log of mean^k exp(-mean) / k!, by Stirling's formula: in terms of the excess of k, which float64 tells of any mean."""
    excess = k + 1.0 - mean
    return excess - (k + 0.5) * log1p(excess / mean) - 0.5 * log(mean) - 0.9189385332046727 - _stirling_tail(k)


@rare
def _stirling_tail(k):
    """log k! - (log sqrt(2 pi) + (k + 1/2) log(k + 1) - (k + 1))."""
    if k < 10.0:
        total = 0.0
        for j in range(2, int(k) + 1):
            total += log(float(j))
        return total - (0.9189385332046727 + (k + 0.5) * log(k + 1.0) - (k + 1.0))
    q = 1.0 / ((k + 1.0) * (k + 1.0))
    return (1.0 / 12 - (1.0 / 360 - q / 1260) * q) / (k + 1.0)


@rare
def binomial(die, n, p):
    """Number of successes in `n` trials of probability `p`."""
    if n == 1:
        return 1 if uniform(die, 0) < p else 0
    if p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if n <= _COINS_MOST:
        return _coins(die, n, p)
    return n - _binomial_low(die, n, 1.0 - p) if p > 0.5 else _binomial_low(die, n, p)


_COINS_MOST = 128


@inline
def _coins(die, n, p):
    """64 coins at a time: compare 64 random binary fractions with p, bit by bit, until all are decided.

    A fraction is below p if, at the first bit where they differ, p has the 1. Half of the undecided fractions are settled
    by each word, so 64 coins take about 8 words. Bits of p below 2^-63 are dropped.
    """
    threshold, hits, draw = _U(p * 9223372036854775808.0), 0, 0
    while n > 0:
        undecided = (_U(1) << _U(n)) - _U(1) if n < 64 else ~_U(0)
        for place in range(62, -1, -1):
            bits = word(die, draw)
            draw += 1
            one = _U(0) - ((threshold >> _U(place)) & _U(1))  # all bits set where p has a 1 here
            hits += ones(undecided & ~bits & one)
            undecided &= ~(bits ^ one)
            if undecided == _U(0):
                break
        n -= 64
    return hits


@rare
def _binomial_low(die, n, p):
    """For p <= 1/2: geometric jumps for small means, BTRS (Hormann 1993) for large."""
    if n * p < 10.0:
        hits, position, draw, scale = -1, 0.0, 0, log(1.0 - p)
        while position <= n:
            position += floor(log(1.0 - uniform(die, draw)) / scale) + 1.0
            draw += 1
            hits += 1
        return hits
    spq = sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spq
    a, c, v_r = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5, 0.92 - 4.2 / b
    alpha, odds = (2.83 + 5.1 / b) * spq, p / (1.0 - p)
    m = floor((n + 1) * p)
    draw = 0
    while True:
        u, v = uniform(die, draw) - 0.5, uniform(die, draw + 1)
        draw += 2
        us = 0.5 - abs(u)
        k = floor((2.0 * a / us + b) * u + c) if us > 0.0 else -1.0
        if us >= 0.07 and v <= v_r:
            return int(k)
        if k < 0.0 or k > n:
            continue
        v = log(v * alpha / (a / (us * us) + b)) if v > 0.0 else -inf
        bound = (
            (m + 0.5) * log((m + 1.0) / (odds * (n - m + 1.0)))
            + (n + 1.0) * log((n - m + 1.0) / (n - k + 1.0))
            + (k + 0.5) * log(odds * (n - k + 1.0) / (k + 1.0))
            + _stirling_tail(m)
            + _stirling_tail(n - m)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if v <= bound:
            return int(k)
