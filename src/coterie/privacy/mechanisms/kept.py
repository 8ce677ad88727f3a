"""One draw for all releases of an arm, scaled to each: for study. It cancels out between releases, so no finite loss holds."""

from math import inf

from coterie.kernel import UNIT, node, side
from coterie.kernel.samplers import wide_laplace
from coterie.privacy.mechanisms.mechanism import Mechanism


@node
def add_kept(out, secret, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += wide_laplace(side(lasting, out.arm[e]), UNIT * out.sensitivity[e] / out.price[e])


KEPT = Mechanism("kept", add_kept, "", adds_up="never")
