"""Engine: peers on a graph that commit to plans of many rounds. Rounds in which nothing happens are leapt over.

What `mesh` does one round at a time, with the same bytes: in a round every node hears what is due (sent in round t - delay),
those without a plan decide, and plans that end are drawn, released and spoken of. A plan is one draw, whatever its length, and
the regret is exact at every mark inside it; so the cost follows plans and messages.

A heap holds the rounds in which plans end. A wire is a ring of rounds, and of each it is known who spoke, in ascending order.
While a message is under way every round is looked at; else the next one is that in which a plan ends. Liars speak in every
round. An agent that sits rounds out (DROPS) plays its plan to the end, only later: coins of rounds to come are tossed ahead.

The graph does not change, nobody goes away, and there are no meetings: with these `mesh` steps through the plans.
"""

from typing import Any, NamedTuple

from coterie.contract import speak, weigh  # bound
from coterie.engines.faults import corrupt, out_of  # bound
from coterie.engines.memory import beat, keys_of, nodes_of
from coterie.engines.plans import length_of, plans_of
from coterie.engines.turn import carry_out, close_plans, decide, listen, note_plays, tell_regret  # bound
from coterie.kernel import FAULT, node, side, stream, uniform

DROPS = LIES = LOSES = WEIGHS = False  # bound


class Course(NamedTuple):
    """What is under way."""

    wire: Any  # [round of the ring, sender]
    spoken: Any  # [round of the ring]: who spoke,
    speakers: Any  # and how many did
    plans: Any
    counted: Any  # [node]: the round up to which it is known how much of its plan was played
    ends: Any  # a heap of (last round of a plan, node), each pair one number
    free: Any  # nodes without a plan


def run(p, seeds, first, span, worlds, links, liars, weather, nodes, courses, common):
    """Replications `first`, `first` + 1, ... as many as there is room for."""
    for r in range(nodes.totals.shape[0]):
        course = Course(courses.wire[r], courses.spoken[r], courses.speakers[r], plans_of(courses.plans, r),
                        courses.counted[r], courses.ends[r], courses.free[r])  # fmt: skip
        live(p, keys_of(seeds, first + r), span, worlds, links, liars, weather, nodes_of(nodes, r), course, common, r)


@node
def live(p, keys, span, worlds, links, liars, weather, n, c, common, r):
    secrets, inners, opens, ledgers, totals = n.secrets, n.inners, n.opens, n.ledgers, n.totals
    wire, spoken, speakers, plans, ends, free = c.wire, c.spoken, c.speakers, c.plans, c.ends, c.free
    tally, part, harvest, out, tale = common.tally[r], common.plan[r], common.harvest[r], common.out[r], common.tale[r]
    start, horizon, own_world = span.start, span.horizon, 1 if worlds.shape[0] > 1 else 0
    nodes, ring, lying = len(totals), len(speakers), len(liars) if LIES else 0
    t, mark, last_word, queued, waiting = start, 0, start - ring, 0, nodes
    for i in range(nodes):
        free[i] = i
    while t <= horizon:
        now = t % ring
        if t - last_word < ring:
            bring(n, p, t, keys, c, links, weather)
        speakers[now] = kept = 0
        for place in range(waiting):
            i = free[place]
            if DROPS and out_of(t, start, i, keys, weather):
                free[kept] = i
                kept += 1
                continue
            if WEIGHS:
                weigh(opens[i], n.peers[links.known[i] : links.known[i + 1]], p, t)
            decide(secrets[i], inners[i], opens[i], p, t, keys, i, plans.plan[i])
            if secrets[i].refused != 0:  # it is raised at the end, and that may be far
                return
            plans.rounds[i], plans.played[i], c.counted[i] = length_of(plans.plan[i], horizon), 0, t - 1
            end = last_round(t, start, plans.rounds[i], i, keys, weather, horizon)
            if end <= horizon:
                push(ends, queued, end * nodes + i)
                queued += 1
        waiting, words, liar = kept, 0, 0
        while True:
            done = queued > 0 and ends[0] < (t + 1) * nodes
            i = ends[0] - t * nodes if done else nodes
            if LIES and liar < lying and liars[liar] <= i:
                done, i = done and liars[liar] == i, liars[liar]
                liar += 1
            if i == nodes:
                break
            said = 0
            if done:
                pop(ends, queued)
                queued -= 1
                world = worlds[i * own_world]
                totals[i] += carry_out(secrets[i], opens[i], ledgers[i], world, p, t, keys, i, plans.plan[i], harvest, out)
                plans.played[i] = plans.rounds[i]
                free[waiting] = i
                waiting += 1
                said = speak(opens[i], p, t, wire[now, i])
            if LIES:
                said = corrupt(opens[i], p, t, t, horizon, weather, i, tale, keys, wire[now, i], said)
            if said > 0:
                spoken[now, speakers[now]] = i
                speakers[now] += 1
                words += said
        if words > 0:
            last_word = t
            tally.up_messages += speakers[now]
            tally.up_words += words
            tally.rounds += 1
        then = t + 1
        if waiting == 0 and lying == 0 and then - last_word >= ring:
            then = ends[0] // nodes if queued > 0 else horizon + 1
            for past in range(ring):
                speakers[past] = 0
        mark = look_back(n, worlds, keys, span, weather, c, t, then, mark, common.curve[r], part)
        if not beat(common.pulse, nodes * (then - t)):
            return
        t = then
    close_plans(n, worlds, plans, part)


@node
def bring(n, p, t, keys, c, links, weather):
    """What is due, message by message, the nearest senders first: in this order every node hears."""
    secrets, inners, opens, wire, ring = n.secrets, n.inners, n.opens, c.wire, len(c.speakers)
    for delay in range(1, ring):
        sent = (t + ring - delay) % ring
        for speaker in range(c.speakers[sent]):
            j = c.spoken[sent, speaker]
            for one in range(links.last_hearer[delay, j], links.last_hearer[delay, j + 1]):
                i, link = links.hearers[one, 0], links.hearers[one, 1]
                if not (LOSES and uniform(side(stream(keys.world, i, FAULT, t), link), 0) < weather.loss):
                    listen(secrets[i], inners[i], opens[i], n.peers[link], p, t, wire[sent, j])


@node
def last_round(t, start, rounds, i, keys, weather, horizon):
    """Of a plan that begins in round t."""
    if not DROPS:
        return t + rounds - 1
    while rounds > 1 and t <= horizon:
        t += 1
        rounds -= 0 if out_of(t, start, i, keys, weather) else 1
    return t


@node
def look_back(n, worlds, keys, span, weather, c, since, then, mark, curve, part):
    """Note what is to be told of rounds since .. then - 1, after the first of which no plan has ended; the next mark."""
    t = next_look(span, mark, since)
    while t < then:
        play_until(c, t, span.start, keys, weather)
        mark = tell_regret(n, worlds, weather, span, t, mark, c.plans, part, curve)
        if t == span.late - 1:
            note_plays(n.late, n.secrets, c.plans, part)
        t = next_look(span, mark, t + 1)
    return mark


@node
def next_look(span, mark, since):
    """The first round from `since` on at whose end something is noted."""
    first = max(since, span.horizon)
    for t in (span.settled, span.late - 1, span.marks[mark] if mark < span.marks.shape[0] else first):
        first = t if since <= t < first else first
    return first


@node
def play_until(c, t, start, keys, weather):
    """Count how much of each plan was played by the end of round t."""
    plans, counted = c.plans, c.counted
    for i in range(len(counted)):
        if plans.played[i] < plans.rounds[i]:
            if DROPS:
                for passed in range(counted[i] + 1, t + 1):
                    plans.played[i] += 0 if out_of(passed, start, i, keys, weather) else 1
            else:
                plans.played[i] += t - counted[i]
            counted[i] = t


# --- a heap: the least comes first -----------------------------------------------------------------------


@node
def push(heap, length, key):
    place = length
    while place > 0 and heap[(place - 1) // 2] > key:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = key


@node
def pop(heap, length):
    """Take the first one out."""
    key, place, child, last = heap[length - 1], 0, 1, length - 1
    while child < last:
        child += 1 if child + 1 < last and heap[child + 1] < heap[child] else 0
        if heap[child] >= key:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = key
