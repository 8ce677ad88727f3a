"""Shares of Laplace noise, for secure aggregation: those of all holders add up to one draw. Proof: laplace.md.

Only the sum of the reports of all holders is protected, and of fewer holders it is protected less: a report by itself is not.
"""

from math import inf

from coterie.kernel import UNIT, laplace_share, node, side
from coterie.privacy.mechanisms.mechanism import Mechanism


@node
def add_shares(out, secret, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += laplace_share(side(die, e), UNIT * out.sensitivity[e] / out.price[e], secret.holders)


SHARES = Mechanism("shares", add_shares, "laplace.md", single=False)
