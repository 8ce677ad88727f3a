"""The one way out of the secret: the cost is booked, then noise is added. Here and nowhere else.

Values and noise are integers on the grid (UNIT per reward of 1.0). The noise follows from sensitivity and price alone; its
kind is the algorithm's `mechanism`:

    laplace  local noise of scale sensitivity / epsilon                     proof: laplace.md
    shares   one of p.holders shares of such noise: only the sum of all reports is protected, the report is not
    kept     one draw for all releases of an arm, scaled to each: for study, no privacy beyond the first release
    gauss    normal noise of standard deviation sensitivity / mu            proof: gauss.md
    digits, root    correlated noise for all running sums of an arm         proof: streams.md

`die` is for this turn, `lasting` for the whole run of the node.

The noise of this module is keyed, for simulation. `exact.py` is what a deployed agent uses.
"""

from math import inf

from coterie.kernel import UNIT, discrete_laplace, laplace_share, node, rounded_normal, side
from coterie.kernel.samplers import WIDE, wide_laplace
from coterie.privacy.ledger import book
from coterie.privacy.streams import add_digits, add_root, book_streams


@node
def book_all(out, ledger):
    for e in range(out.entries):
        book(ledger, out.arm[e], out.chain[e], out.first[e], out.last[e], out.price[e])


@node
def add_laplace(out, p, die, lasting):
    wide = True
    for e in range(out.entries):
        wide &= UNIT * out.sensitivity[e] > WIDE * out.price[e]
    if wide:  # the common case, and a loop without branches
        for e in range(out.entries):
            out.value[e] += wide_laplace(side(die, e), UNIT * out.sensitivity[e] / out.price[e])
    else:
        for e in range(out.entries):
            if out.price[e] < inf:
                out.value[e] += discrete_laplace(side(die, e), UNIT * out.sensitivity[e] / out.price[e])


@node
def add_shares(out, p, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += laplace_share(side(die, e), UNIT * out.sensitivity[e] / out.price[e], p.holders)


@node
def add_kept(out, p, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += wide_laplace(side(lasting, out.arm[e]), UNIT * out.sensitivity[e] / out.price[e])


@node
def add_gauss(out, p, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf:
            out.value[e] += rounded_normal(side(die, e), UNIT * out.sensitivity[e] / out.price[e])


NOISES = {
    "laplace": add_laplace,
    "shares": add_shares,
    "kept": add_kept,
    "gauss": add_gauss,
    "digits": add_digits,
    "root": add_root,
}
BOOKS = {name: book_streams if name in ("digits", "root") else book_all for name in NOISES}
