"""Engine: peers on a graph whose messages add up. All that is due is summed, and every node hears sums.

A message is (arm, amounts...) in whole numbers. "Words" are the latest of their sender on that arm: only their change against
the former ones counts. "News" count by themselves. Either way a node hears, once a round and arm, the sum of what is due.
Integer sums do not depend on their order, so they are formed in the fastest one: where all changes of an amount are 0 or one
number (counts, single rewards), receivers count bits; else sender by sender over all receivers, with masks.

Where messages can be lost, agents go away or the graph changes, a node's sums are its own, and it looks at every link
(SINGLY). The two ways end in the same bytes where both apply.

Round t: all hear what is due (sent in round t - delay), then all decide, then all pull and release, then all speak.
"""

from typing import Any, NamedTuple

from coterie.contract import speak  # bound
from coterie.engines.faults import corrupt, out_of  # bound
from coterie.engines.memory import beat, keys_of, nodes_of, pulls_since_noted
from coterie.engines.turn import carry_out, decide, listen  # bound
from coterie.kernel import FAULT, node, ones, side, stream, uniform, wrap
from coterie.privacy.door import MESSAGE

CHURNS = DROPS = LIES = LOSES = NEWS = SINGLY = False  # bound
AMOUNTS = 1  # bound


class Post(NamedTuple):
    """What was said, and what is due. A slot is a round of the ring."""

    wire: Any
    words: Any  # the same memory as whole numbers
    said: Any
    former: Any  # [sender or link, arm, amount]
    changes: Any  # [slot, sender, amount]
    steps: Any  # [slot, arm, amount]: the one change of all senders, if it is not mixed
    mixed: Any
    who: Any  # ... and a bit for every sender
    sums: Any  # [arm, amount, receiver]
    fresh: Any  # [arm]: 1 if anyone has something to hear about it
    due: Any
    plans: Any
    news: Any  # [replication]: what a node hears
    heard: Any  # the same memory as whole numbers


class Reach(NamedTuple):
    """Who hears whom at which delay."""

    bits: Any  # [delay, block, receiver]: a bit for every sender
    mask: Any  # [delay * agents + sender, receiver]: all bits or none


def run(p, seeds, first, span, worlds, links, reach, weather, nodes, posts, common):
    """Replications `first`, `first` + 1, ... as many as there is room for."""
    for r in range(nodes.totals.shape[0]):
        o = Post(posts.wire[r], posts.words[r], posts.said[r], posts.former[r], posts.changes[r], posts.steps[r],
                 posts.mixed[r], posts.who[r], posts.sums[r], posts.fresh[r], posts.due[r], posts.plans[r],
                 posts.news, posts.heard[r])
        live(p, keys_of(seeds, first + r), span, worlds, links, reach, weather, nodes_of(nodes, r), o, common, r)


@node
def live(p, keys, span, worlds, links, reach, weather, n, o, common, r):
    tally, harvest, out, tale = common.tally[r], common.harvest[r], common.out[r], common.tale[r]
    secrets, inners, opens, ledgers, totals = n.secrets, n.inners, n.opens, n.ledgers, n.totals
    start, away, curve = span.start, weather.away, common.curve[r]
    words, said, sums, news, heard = o.words, o.said, o.sums, o.news[r], o.heard
    own_world = 1 if worlds.shape[0] > 1 else 0
    ring, nodes, mark = o.changes.shape[0], len(totals), 0
    for t in range(start, span.horizon + 1):
        if t == span.late:
            pulls_since_noted(n.late, secrets)
        now = t % ring
        due = collect(o, p, links, t, keys, now, weather) if SINGLY else add_up(o, p, reach, now)
        for i in range(nodes if due > 0 else 0):
            if CHURNS and away[i, 0] <= t < away[i, 1]:
                continue
            for k in range(p.arms):
                if o.fresh[k] > 0:
                    heard[0] = k
                    for a in range(1, AMOUNTS):
                        heard[a] = sums[k, a, i]
                        sums[k, a, i] = 0
                    listen(secrets[i], inners[i], opens[i], n.peers[0], p, t, news)
        for i in range(nodes):
            if (CHURNS and away[i, 0] <= t < away[i, 1]) or (DROPS and out_of(t, start, i, keys, weather)):
                continue
            decide(secrets[i], inners[i], opens[i], p, t, keys, i, o.plans[i])
        for i in range(nodes):
            if (CHURNS and away[i, 0] <= t < away[i, 1]) or (DROPS and out_of(t, start, i, keys, weather)):
                continue
            plan = o.plans[i]
            lost = carry_out(secrets[i], opens[i], ledgers[i], worlds[i * own_world], p, t, keys, i, plan, harvest, out)
            if t > 0:
                totals[i] += lost
        forget(o, now)
        for i in range(nodes):
            place = now * nodes + i
            said[place], o.changes[now, i, 0] = 0, -1
            if CHURNS and away[i, 0] <= t < away[i, 1]:
                continue
            if not (DROPS and out_of(t, start, i, keys, weather)):
                said[place] = speak(opens[i], p, t, o.wire[place])
            if LIES:
                said[place] = corrupt(opens[i], p, t, t, span.horizon, weather, i, tale, keys, o.wire[place], said[place])
            if said[place] > 0 and not 0 <= words[place, 0] < p.arms:
                secrets[i].refused |= MESSAGE
                said[place] = 0
            if said[place] > 0:
                tally.up_messages += 1
                tally.up_words += said[place]
                if not SINGLY:
                    post(words, o.former[i], o.changes, o.steps, o.mixed, o.who, now, place, i)
        if mark < span.marks.shape[0] and t == span.marks[mark]:
            for i in range(nodes):
                curve[mark] += 0.0 if LIES and weather.liar[i] == 1 else totals[i]
            mark += 1
        if not beat(common.pulse, nodes):
            return
    pulls_since_noted(n.late, secrets)


@node
def collect(o, p, links, t, keys, now, weather):
    """What came over each link. Returns how many messages."""
    said, words, nodes, phase = o.said, o.words, o.changes.shape[1], t // links.period % links.first.shape[0]
    messages = 0
    for k in range(p.arms):
        o.fresh[k] = 0
    for i in range(nodes):
        if CHURNS and weather.away[i, 0] <= t < weather.away[i, 1]:
            continue
        for one in range(links.first[phase, i], links.first[phase, i + 1]):
            place = wrap(now * nodes + links.origin[one], len(said))
            lost = LOSES and uniform(side(stream(keys.world, i, FAULT, t), one), 0) < weather.loss
            if said[place] > 0 and not lost:
                o.fresh[words[place, 0]] = 1
                take(o.sums, o.former[links.memory[one]], words, place, i)
                messages += 1
    return messages


@node
def take(sums, former, words, place, i):
    """One message that came over one link: what it changes for agent i."""
    k = words[place, 0]
    for a in range(1, AMOUNTS):
        sums[k, a, i] += words[place, a] - (0 if NEWS else former[k, a])
        former[k, a] = words[place, a]


@node
def forget(o, now):
    steps, mixed, who = o.steps, o.mixed, o.who
    for k in range(steps.shape[1]):
        for a in range(1, AMOUNTS):
            steps[now, k, a] = 0
            mixed[now, k, a] = 0
            for block in range(who.shape[3]):
                who[now, k, a, block] = 0


@node
def post(words, former, changes, steps, mixed, who, now, place, j):
    """Note what the message changes, and whether all changes of this amount are alike so far."""
    k = words[place, 0]
    changes[now, j, 0] = k
    for a in range(1, AMOUNTS):
        change = words[place, a] - (0 if NEWS else former[k, a])
        former[k, a] = words[place, a]
        changes[now, j, a] = change
        step = steps[now, k, a] if steps[now, k, a] != 0 else change
        steps[now, k, a] = step
        mixed[now, k, a] |= (change ^ step) if change != 0 else 0
        who[now, k, a, j // 63] |= (1 << (j % 63)) if change != 0 else 0


@node
def add_up(o, p, reach, now):
    """Everything due, for every receiver. Returns on how many arms there is anything."""
    sums, who, due, changes, bits, mask = o.sums, o.who, o.due, o.changes, reach.bits, reach.mask
    ring, arms = changes.shape[0], 0
    for k in range(p.arms):
        o.fresh[k] = 0
        for a in range(1, AMOUNTS):
            mailed = 0
            for delay in range(1, ring):
                slot = wrap(now + ring - delay, ring)
                step = o.steps[slot, k, a]
                if step != 0:
                    o.fresh[k] = 1
                    if o.mixed[slot, k, a] == 0:
                        count_bits(sums, bits, who, k, a, slot, delay, step)
                    else:
                        mailed = enlist(due, changes, k, a, slot, delay, mailed)
            add_rows(sums, mask, due, k, a, mailed)
        arms += o.fresh[k]
    return arms


@node
def count_bits(sums, reach, who, k, a, slot, delay, step):
    """All senders changed by the same `step`: receivers count them."""
    for block in range(reach.shape[1]):
        senders = who[slot, k, a, block]
        if senders != 0:
            for i in range(reach.shape[2]):
                sums[k, a, i] += step * ones(reach[delay, block, i] & senders)


@node
def enlist(due, changes, k, a, slot, delay, mailed):
    """Append (row of the mask, change) of every sender with a word on arm k; pad with nothing to a multiple of 4."""
    nodes = changes.shape[1]
    for j in range(nodes):
        due[mailed, 0], due[mailed, 1] = delay * nodes + j, changes[slot, j, a]
        mailed += 1 if changes[slot, j, 0] == k else 0
    for pad in range(3):
        due[mailed + pad, 0], due[mailed + pad, 1] = 0, 0
    return mailed


@node
def add_rows(sums, mask, due, k, a, mailed):
    """Sender by sender over all receivers, four senders at once."""
    for m in range(0, mailed, 4):
        b0, b1, b2, b3 = due[m, 0], due[m + 1, 0], due[m + 2, 0], due[m + 3, 0]
        c0, c1, c2, c3 = due[m, 1], due[m + 1, 1], due[m + 2, 1], due[m + 3, 1]
        for i in range(mask.shape[1]):
            sums[k, a, i] += (mask[b0, i] & c0) + (mask[b1, i] & c1) + (mask[b2, i] & c2) + (mask[b3, i] & c3)
