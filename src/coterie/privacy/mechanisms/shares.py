"""Shares of Laplace noise, for secure aggregation: those of `holders` nodes add up to one draw. Proof: laplace.md.

Only the sum of the reports of at least so many honest holders is protected: more shares are more noise, fewer are too little,
and a report by itself is not protected. So what passes such a door is sealed: no hook of its node sees it, and the server is
handed the sum of all (`SUMS`), which needs no more noise and was paid for by its holders.
"""

from coterie.kernel import node
from coterie.privacy import exact
from coterie.privacy.mechanisms.laplace import add_parts
from coterie.privacy.mechanisms.mechanism import Mechanism


@node
def add_nothing(out, secret, die, lasting):
    """The noise is in the sums already."""


SHARES = Mechanism("shares", add_parts, "laplace.md", exact.laplace_share, single=False, many=add_parts)
SUMS = Mechanism("sums", add_nothing, "laplace.md", exact.no_noise, covers="nothing")
