"""The compilable subset of Python: flat records, keyed randomness, samplers.

Everything an algorithm file needs from here can be imported from this package.
"""

from coterie.kernel.compiling import OPTIONS, apart, node
from coterie.kernel.dice import CHOICE, FAULT, IDLE, LIE, NETWORK, NOISE, REWARD, fold, pick, side, stream, uniform
from coterie.kernel.records import UNIT, capacity, extend, one, record, rows
from coterie.kernel.samplers import beta, binomial, discrete_laplace, laplace_sum, normal, rounded_normal
from coterie.kernel.tools import argmax, highest, larger, level, nearest, ones, real, wrap

__all__ = [
    "CHOICE",
    "FAULT",
    "IDLE",
    "LIE",
    "NETWORK",
    "NOISE",
    "OPTIONS",
    "REWARD",
    "UNIT",
    "apart",
    "argmax",
    "beta",
    "binomial",
    "capacity",
    "discrete_laplace",
    "extend",
    "fold",
    "highest",
    "laplace_sum",
    "larger",
    "level",
    "nearest",
    "node",
    "normal",
    "one",
    "ones",
    "pick",
    "real",
    "record",
    "rounded_normal",
    "rows",
    "side",
    "stream",
    "uniform",
    "wrap",
]
