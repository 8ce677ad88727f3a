"""Local noise of scale sensitivity / epsilon. Proof: laplace.md."""

from math import inf

from coterie.kernel import UNIT, discrete_laplace, laplace_sum, node, side
from coterie.kernel.samplers import WIDE, wide_laplace
from coterie.privacy import exact
from coterie.privacy.mechanisms.mechanism import Mechanism


@node
def add_laplace(out, secret, die, lasting):
    wide = True
    for e in range(out.entries):
        wide &= UNIT * out.sensitivity[e] > WIDE * out.price[e]
    if wide:  # the common case, and a loop without branches
        for e in range(out.entries):
            die = side(die, 0)  # sides add up: side e of the die, by an addition and not a product
            out.value[e] += wide_laplace(die, UNIT * out.sensitivity[e] / out.price[e])
    else:
        for e in range(out.entries):
            if out.price[e] < inf:
                out.value[e] += discrete_laplace(side(die, e), UNIT * out.sensitivity[e] / out.price[e])


@node
def add_parts(out, secret, die, lasting):
    """Of a draw that several nodes hold together, or of the draws of all nodes that a record stands for."""
    for e in range(out.entries):
        if out.price[e] < inf:
            scale = UNIT * out.sensitivity[e] / out.price[e]
            out.value[e] += laplace_sum(side(die, e), scale, float(secret.voices) / float(secret.holders))


LAPLACE = Mechanism("laplace", add_laplace, "laplace.md", exact.discrete_laplace, many=add_parts)
