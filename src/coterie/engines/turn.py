"""One node's turn, common to all engines: hear, decide, pull, pass the door.

`i` is a node's coordinate of chance. What is called in every turn takes records, and no arrays: counting references to arrays
costs more than a turn.

Lines marked `bound` are replaced when an engine is written down for an algorithm (see bind.py).
"""

from coterie.contract import choose, hear, overhear, peek, publish, release  # bound
from coterie.engines.memory import pulls_since_noted
from coterie.engines.plans import cut, plays_since_noted, under_way
from coterie.kernel import CHOICE, NOISE, REWARD, node, stream
from coterie.privacy.door import PLAN, clear, look_up
from coterie.privacy.door import book_entries as book  # bound
from coterie.privacy.mechanisms.laplace import add_laplace as add_noise  # bound
from coterie.privacy.offers import offers_of
from coterie.privacy.secret import take_in
from coterie.problem.bernoulli import draw, regret  # bound

COMMITS = CROWDS = LIES = OVERHEARS = PAIRED = PEEKS = STREAMED = False  # bound


@node
def listen(secret, inner, open, peer, p, t, message):
    if OVERHEARS:
        overhear(secret, inner, open, peer, p, t, message)
    else:
        hear(open, peer, p, t, message)


@node
def decide(secret, inner, open, p, t, keys, i, plan):
    plan.entries = plan.wrong = 0
    if PEEKS:
        peek(secret, inner, open, p, t, stream(keys.dice, i, CHOICE, t), plan)
    else:
        choose(open, p, t, stream(keys.dice, i, CHOICE, t), plan)
    if plan.wrong > 0 or not within_reach(secret, plan) or (COMMITS and not has_pulls(plan)):
        secret.refused |= PLAN
        plan.entries = 0


@node
def has_pulls(plan):
    pulls = 0
    for e in range(plan.entries):
        pulls |= plan.pulls[e]
    return pulls > 0


@node
def within_reach(secret, plan):
    """Where a reward is what came of a whole order (arms have spans), no arm is ordered twice, or more of it than its span."""
    good, last = True, -1
    for e in range(plan.entries if len(secret.spans) > 0 else 0):
        good &= (plan.arm[e] > last) & (plan.pulls[e] <= secret.spans[plan.arm[e]])
        last = plan.arm[e]
    return good


@node
def carry_out(secret, open, ledger, world, p, t, keys, i, plan, harvest, out):
    """All of a peer's turn that follows its decision. Returns the regret.

    Nearly all plans and releases of peers have one entry. Where that is written down once more, the compiler knows it, and of
    loops over entries nothing is left.
    """
    if plan.entries == 1:
        plan.entries = 1
        lost = regret(world, plan)
        pull(secret, world, t, keys, i, plan, harvest)
    else:
        lost = regret(world, plan)
        pull(secret, world, t, keys, i, plan, harvest)
    ask(secret, open, ledger, p, t, plan, out)
    if out.entries == 1:
        out.entries = 1
        let_out(secret, ledger, t, keys, i, out, True)
    else:
        let_out(secret, ledger, t, keys, i, out, True)
    publish(open, p, t, plan, out)
    return lost


@node
def pull_and_release(secret, open, ledger, world, p, t, keys, i, plan, harvest, out, books):
    """`books` is False only for agents that share one ledger with another one whose entries are the same."""
    pull(secret, world, t, keys, i, plan, harvest)
    ask(secret, open, ledger, p, t, plan, out)
    let_out(secret, ledger, t, keys, i, out, books)


@node
def pull(secret, world, t, keys, i, plan, harvest):
    entries = plan.entries
    for e in range(entries if CROWDS else 0):
        plan.pulls[e] *= secret.voices
    draw(world, secret, plan, harvest, stream(keys.world, i, REWARD, t))
    for e in range(entries):
        take_in(secret, plan.arm[e], plan.pulls[e], harvest.total[e])
    for e in range(entries if CROWDS else 0):
        plan.pulls[e] //= secret.voices


@node
def ask(secret, open, ledger, p, t, plan, out):
    """What is to leave is named and looked up."""
    clear(out)
    release(open, p, t, plan, offers_of(out))
    look_up(out, secret, ledger, p.arms, PAIRED, STREAMED)


@node
def let_out(secret, ledger, t, keys, i, out, books):
    entries = out.entries
    if books:
        book(out, ledger)
    out.entries = entries  # as before: the compiler cannot know that a ledger lies elsewhere
    add_noise(out, secret, stream(keys.noise, i, NOISE, t), stream(keys.noise, i, NOISE, -1))


@node
def so_far(world, total, plans, i, part):
    """The regret of node i, whose finished plans have `total`: with the part of a plan of many rounds that was played."""
    if COMMITS:
        cut(plans.plan[i], under_way(plans, i), part)
        total += regret(world, part)
    return total


@node
def tell_regret(n, worlds, weather, span, t, mark, plans, part, curve):
    """What is told of the regret at the end of round t: that of the exploration, or of a mark. Returns the next mark."""
    marked = mark < span.marks.shape[0] and t == span.marks[mark]
    for i in range(len(n.totals)):
        total = so_far(worlds[i if worlds.shape[0] > 1 else 0], n.totals[i], plans, i, part)
        if t == span.settled:
            n.early[i] = total
        if marked:
            curve[mark] += 0.0 if LIES and weather.liar[i] == 1 else total
    return mark + 1 if marked else mark


@node
def note_plays(late, secrets, plans, part):
    """To be called at two times: it leaves what was played between them."""
    if COMMITS:
        plays_since_noted(late, secrets, plans, part)
    else:
        pulls_since_noted(late, secrets)


@node
def close_plans(n, worlds, plans, part):
    """At the horizon. A plan that it cuts counts as far as it was played."""
    if COMMITS:
        for i in range(len(n.totals)):
            n.totals[i] = so_far(worlds[i if worlds.shape[0] > 1 else 0], n.totals[i], plans, i, part)
    note_plays(n.late, n.secrets, plans, part)
