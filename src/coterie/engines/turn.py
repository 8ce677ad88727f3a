"""One node's turn, common to all engines: hear, decide, pull, pass the door.

Lines marked `bound` are replaced when an engine is written down for an algorithm (see bind.py).
"""

from coterie.contract import choose, hear, observe, overhear, peek, publish, release  # bound
from coterie.kernel import CHOICE, NOISE, REWARD, node, stream
from coterie.privacy.door import add_laplace as add_noise  # bound
from coterie.privacy.door import book_all as book_entries  # bound
from coterie.problem.bernoulli import draw  # bound

PEEKS = OVERHEARS = False  # bound


@node
def listen(secret, open, peer, p, t, message):
    if OVERHEARS:
        overhear(secret, open, peer, p, t, message)
    else:
        hear(open, peer, p, t, message)


@node
def decide(secret, open, p, t, key, i, plan):
    plan.entries, plan.rounds = 0, 1
    if PEEKS:
        peek(secret, open, p, t, stream(key, i, CHOICE, t), plan)
    else:
        choose(open, p, t, stream(key, i, CHOICE, t), plan)


@node
def carry_out(secret, open, ledger, world, p, t, key, i, plan, out, books):
    """`books` is False only for agents that share one ledger with another one whose entries are the same."""
    draw(world, plan, stream(key, i, REWARD, t))
    for e in range(plan.entries):
        observe(secret, p, t, plan.arm[e], plan.pulls[e], plan.total[e])
    out.entries = 0
    release(secret, open, p, t, plan, out)
    if books:
        book_entries(out, ledger)
    add_noise(out, p, stream(key, i, NOISE, t), stream(key, i, NOISE, -1))
    publish(open, p, t, plan, out)
