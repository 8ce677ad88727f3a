"""Small functions that hooks and engines share."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from coterie.kernel.compiling import inline, node

_U = np.uint64
_ONE, _ROOT = _U(0x3FF0000000000000), _U(0x3FE6A09E667F3BCD)  # the bits of 1.0 and of sqrt(1/2)


@inline
def argmax(values, count):
    """First index of the largest of the first `count`."""
    best, top = 0, values[0]
    for k in range(1, count):
        if values[k] > top:
            best, top = k, values[k]
    return best


@node
def larger(a, b):
    """Of two integers less than 2^63 apart. Without a comparison: loops over it run at half the cost of `max`."""
    return a + ((b - a) & ~((b - a) >> 63))


@node
def wrap(position, size):
    """Into 0 .. size - 1, for a position below 2 * size (a division would be the dearest line of the loop)."""
    return position if position < size else position - size


@intrinsic
def _ones(context, x):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@inline
def ones(word):
    """Number of set bits of a word of 64: of dyadic intervals that make up 1..word."""
    return _ones(word)  # type: ignore[call-arg]  # the compiler hands in the context


@intrinsic
def _trailing_zeros(context, x):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@inline
def level(m):
    """Of the one dyadic interval that ends at m: its length 2^level is the lowest set bit of m."""
    return _trailing_zeros(m)  # type: ignore[call-arg]


@intrinsic
def _leading_zeros(context, x):
    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@inline
def highest(m):
    """Number of the highest set bit of m >= 1."""
    return 63 - _leading_zeros(m)  # type: ignore[call-arg]


@intrinsic
def _bits(context, x):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def _real(context, word):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@inline
def bits_of(x):
    """Of a float64, as a whole number: a field of whole numbers can keep them for a while."""
    return np.int64(_bits(x))  # type: ignore[call-arg]


@inline
def of_bits(bits):
    """The number with these bits."""
    return _real(_U(bits))  # type: ignore[call-arg]


@inline
def nearest(x):
    """The nearest whole number to |x| < 2^51, by its bits: a conversion would keep loops from using vectors."""
    return bits_of(x + 6755399441055744.0) - 0x4338000000000000


@inline
def real(n):
    """A whole number as the nearest float64, by the bits of its halves, for the same reason: 2^52 + n mod 2^32, and 2^84 + 2^63
    + n less that, of which nothing is lost."""
    low: Any = _real((_U(n) & _U(0xFFFFFFFF)) | _U(0x4330000000000000))  # type: ignore[call-arg]
    high: Any = _real(((_U(n) ^ _U(0x8000000000000000)) >> _U(32)) | _U(0x4530000000000000))  # type: ignore[call-arg]
    return high - (2.0**84 + 2.0**63 + 2.0**52) + low


@inline
def quick_log(x):
    """Natural logarithm of a positive normal number to within 1e-10, without a call: loops over it can use vectors.

    x = 2^k m with m between sqrt(1/2) and sqrt(2); log m = 2 artanh(f), f = (m - 1) / (m + 1), by its series.
    """
    bits: Any = _bits(x)  # type: ignore[call-arg]
    k = (bits - _ROOT + _ONE) >> _U(52)  # plus 1023
    m = _real(bits - (k << _U(52)) + _ONE)  # type: ignore[call-arg]
    exponent = _real(k | _U(0x4330000000000000)) - 4503599627371519.0  # type: ignore[call-arg]  # k, without conversion
    f = (m - 1.0) / (m + 1.0)
    s = f * f
    series = 1.0 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11)))))
    return exponent * 0.6931471805599453 + 2.0 * f * series
