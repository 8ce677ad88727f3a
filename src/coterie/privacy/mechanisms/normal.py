"""Normal noise of standard deviation sensitivity / mu. Proof: gauss.md."""

from math import inf

from coterie.kernel import UNIT, node, rounded_normal, side
from coterie.privacy import exact
from coterie.privacy.mechanisms.mechanism import Mechanism


@node
def add_gauss(out, secret, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += rounded_normal(side(die, e), UNIT * out.sensitivity[e] / out.price[e])


GAUSS = Mechanism("gauss", add_gauss, "gauss.md", exact.rounded_normal, adds_up="squares")
