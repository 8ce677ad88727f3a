"""A stretch of an arm's past, as one word: where it begins, where it ends, and the mark that the present point is kept as.

One word and not three: most stretches are the same few in a whole run, and then the door compares one number.
"""

from coterie.kernel import node

NOW = NOWHERE = -1  # an end of a stretch: the present; where to keep a point: not at all
START = -2  # the other end: the start of the run
MARKS_MOST = (1 << 20) - 1
_BITS = 20
_MASK = (1 << _BITS) - 1
_NONSENSE = -1  # begins before the start, so it is refused


@node
def stretch_of(since, until, keep):
    known = (START <= since < MARKS_MOST) & (NOW <= until < MARKS_MOST) & (NOWHERE <= keep < MARKS_MOST)
    return ((since - START) << 2 * _BITS) + ((until - NOW) << _BITS) + keep - NOWHERE if known else _NONSENSE


@node
def since_of(stretch):
    return (stretch >> 2 * _BITS) + START


@node
def until_of(stretch):
    return ((stretch >> _BITS) & _MASK) + NOW


@node
def keep_of(stretch):
    return (stretch & _MASK) + NOWHERE
