"""Keyed randomness: every random number is a function of its coordinates, never of the order of calls.

    fold(seed, replication) -> key;  stream(key, node, purpose, round) -> die;  side(die, i) -> die;  uniform(die, draw)

Replication, purpose and round are folded in by two hashes each; the compiler takes those out of the loop over nodes. Node,
side and draw are added, each times an odd number of its own, and hashed once. (With one common multiplier node 0, side 1 and
node 1, side 0 would draw the same word, and no test of equal bytes would notice.)

For simulation only: anyone who knows the seed knows the noise. A deployed agent takes its noise from `privacy.exact`.
"""

import numpy as np

from coterie.kernel.compiling import inline
from coterie.kernel.tools import of_bits

REWARD, NOISE, CHOICE, NETWORK, FAULT, IDLE, LIE = 0, 1, 2, 3, 4, 5, 6  # what a stream is for

_U = np.uint64
_STEP = _U(0x9E3779B97F4A7C15)
_NODE, _SIDE = _U(0xD6E8FEB86659FD93), _U(0xA0761D6478BD642F)


@inline
def _mix(x):
    x = (x ^ (x >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U(27))) * _U(0x94D049BB133111EB)
    return x ^ (x >> _U(31))


@inline
def fold(key, coordinate):
    """Append one coordinate to a key. Signed, because Python cannot hand integers above 2^63 to compiled code."""
    return np.int64(_mix(_U(key) * _U(0xD1342543DE82EF95) + _mix(_U(coordinate) + _STEP)))


@inline
def stream(key, who, purpose, t):
    """The die of one node, purpose and round."""
    return np.int64(_U(fold(fold(key, purpose), t)) + _U(who + 1) * _NODE)


@inline
def side(die, i):
    """One of many independent dice (per arm, per entry); costs an addition. Not twice in a row: sides add up; use fold."""
    return np.int64(_U(die) + _U(i + 1) * _SIDE)


@inline
def word(die, draw):
    """64 random bits."""
    return _mix(_U(die) + _U(draw) * _STEP)


@inline
def uniform(die, draw):
    """In [0, 1), a multiple of 2^-52: the upper bits of a word as those of a float between 1 and 2."""
    return of_bits((word(die, draw) >> _U(12)) | _U(0x3FF0000000000000)) - 1.0


@inline
def pick(die, draw, count):
    """A whole number in 0 .. count - 1 (count far below 2^52)."""
    return int(uniform(die, draw) * count)
