"""Noise for a pair (units, good units): the two are not free, so less is enough.

Entries 2e and 2e + 1 of the outbox are one pair, with the same cover, sensitivity k and price mu. What one round adds to the
pair lies in the triangle 0 <= good <= units <= k, so another round moves it by a difference of two of its points. Normal noise
with the covariance

    (k / mu)^2 [[4/3, 2/3], [2/3, 4/3]]

has the inverse (mu / k)^2 [[1, -1/2], [-1/2, 1]]: a move (a, b) loses the square (mu / k)^2 (a^2 - a b + b^2). This is a convex
function, so it is largest at corners of the set of differences, +-(k, 0), +-(k, k) and +-(0, k), and there it is mu^2. The six
are an affine image of a regular hexagon, so no ellipse around them is smaller. Independent noise of the same loss has the
variance 2 (k / mu)^2 in both numbers; that of good - q units falls from 2 (1 + q^2) to 4/3 (1 - q + q^2).

The pair is one release, so its price is booked once.
"""

from math import floor, inf, sqrt

from coterie.kernel import UNIT, node, normal, side
from coterie.privacy.ledger import book

SPREAD = sqrt(4 / 3)  # standard deviation of either number, in units of k / mu
CORRELATION = 0.5


@node
def book_pairs(out, ledger):
    for e in range(0, out.entries, 2):
        book(ledger, out.arm[e], out.chain[e], out.first[e], out.last[e], out.price[e])


@node
def add_triangle(out, p, die, lasting):
    for e in range(0, out.entries, 2):
        if out.price[e] < inf:
            scale = UNIT * out.sensitivity[e] / out.price[e]
            common, own = normal(side(die, e), 0), normal(side(die, e), 1)
            out.value[e] += int(floor(scale * SPREAD * common + 0.5))
            out.value[e + 1] += int(floor(scale * (CORRELATION * SPREAD * common + own) + 0.5))
