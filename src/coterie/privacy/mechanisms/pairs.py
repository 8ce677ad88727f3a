"""Normal noise for a pair of numbers about one stretch: of how many units it tells, and how many of them were good.

Entries 2e and 2e + 1 are one pair. What one round adds to it lies in the triangle 0 <= good <= units <= k, with k the reach, so
another round moves it by a difference of two of its points, at most sqrt(2) k long. Two independent draws of the standard
deviation sqrt(2) k / mu therefore lose mu (`PAIR`).

The two numbers are not free, so less is enough (`TRIANGLE`). Normal noise with the covariance

    (k / mu)^2 [[4/3, 2/3], [2/3, 4/3]]

has the inverse (mu / k)^2 [[1, -1/2], [-1/2, 1]]: a move (a, b) loses the square (mu / k)^2 (a^2 - a b + b^2). This is a convex
function, so it is largest at corners of the set of differences, +-(k, 0), +-(k, k) and +-(0, k), and there it is mu^2. The six
are an affine image of a regular hexagon, so no ellipse around them is smaller. The variance of good - q units falls from
2 (1 + q^2) to 4/3 (1 - q + q^2).

The pair is one release, so its price is booked once.
"""

from math import floor, inf, sqrt

from coterie.kernel import UNIT, node, normal, rounded_normal, side
from coterie.privacy.mechanisms.mechanism import Mechanism

SPREAD = sqrt(4 / 3)  # standard deviation of either number of a TRIANGLE, in units of k / mu
CORRELATION = 0.5
APART = sqrt(2)  # the same of a PAIR, whose numbers are independent


@node
def add_pair(out, secret, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += rounded_normal(side(die, e), APART * UNIT * out.sensitivity[e] / out.price[e])


@node
def add_triangle(out, secret, die, lasting):
    for e in range(0, out.entries, 2):
        if out.price[e] < inf:
            scale = UNIT * out.sensitivity[e] / out.price[e]
            common, own = normal(side(die, e), 0), normal(side(die, e), 1)
            out.value[e] += int(floor(scale * SPREAD * common + 0.5))
            out.value[e + 1] += int(floor(scale * (CORRELATION * SPREAD * common + own) + 0.5))


PAIR = Mechanism("pair", add_pair, "pairs.py", adds_up="squares", covers="pair")
TRIANGLE = Mechanism("triangle", add_triangle, "pairs.py", adds_up="squares", covers="pair")
