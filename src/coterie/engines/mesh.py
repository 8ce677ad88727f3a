"""Engine: peers on a graph, one plan per round and node, messages with their hop delays.

Round t: edges are drawn and their ends greet; all nodes hear what is due (sent in round t - delay) and decide; all pull and
release; the drawn edges meet on their cards; then everyone speaks. The wire is a ring of rounds: link l finds its message
`origin[l]` places after the present round's.

Cards are made before the turn and used after it, so a meeting rests on the state at the end of the last round, as the
decisions do, and commutes with what the round itself adds. A meeting is atomic: both ends move or none does, unless a study
asks to see what one-way losses do.

Peers that commit (COMMITS) play a plan of many rounds one round at a time; in its last one it is drawn, and they speak.

Messages of those who speak seldom are brought to their hearers (SELDOM); else every node looks at all it can hear.

The graph may change with time: every `period` rounds the next of its phases holds. Agents may go away and come back.
"""

from typing import Any, NamedTuple

from coterie.contract import greet, inherit, leave, meet, speak, weigh  # bound
from coterie.engines.faults import corrupt, disguise, out_of  # bound
from coterie.engines.memory import beat, keys_of, nodes_of
from coterie.engines.plans import goes_on, plans_of, under_way
from coterie.engines.turn import carry_out, close_plans, decide, listen, note_plays, tell_regret  # bound
from coterie.kernel import FAULT, NETWORK, node, pick, side, stream, uniform, wrap
from coterie.problem.bernoulli import violates  # bound

CHURNS = COMMITS = DROPS = LIES = LOSES = SELDOM = WEIGHS = False  # bound


class Wire(NamedTuple):
    """What is under way between nodes."""

    wire: Any  # a ring of rounds, a place for each node
    said: Any  # words in it
    cards: Any  # [meeting, end]
    met: Any  # the edge of each meeting
    busy: Any  # [node]: its last meeting
    plans: Any


def run(p, seeds, first, span, worlds, links, weather, nodes, wires, common):
    """Replications `first`, `first` + 1, ... as many as there is room for."""
    for r in range(nodes.totals.shape[0]):
        wire = Wire(wires.wire[r], wires.said[r], wires.cards[r], wires.met[r], wires.busy[r], plans_of(wires.plans, r))
        live(p, keys_of(seeds, first + r), span, worlds, links, weather, nodes_of(nodes, r), wire, common, r)


@node
def live(p, keys, span, worlds, links, weather, n, w, common, r):
    secrets, inners, opens, ledgers, totals = n.secrets, n.inners, n.opens, n.ledgers, n.totals
    wire, said, cards, plans = w.wire, w.said, w.cards, w.plans
    tally, part, harvest, out, tale = common.tally[r], common.plan[r], common.harvest[r], common.out[r], common.tale[r]
    away, edges, start, horizon = weather.away, links.edges, span.start, span.horizon
    nodes, size, mark, last_word, own_world = len(totals), len(said), 0, -len(said), 1 if worlds.shape[0] > 1 else 0
    for t in range(start, horizon + 1):
        if t == span.late:
            note_plays(n.late, secrets, plans, part)
        now, phase = t * nodes % size, t // links.period % links.first.shape[0]
        if CHURNS:
            hand_over(opens, p, t, away, edges, links.last_edge, phase, cards)
        drawn = links.meetings if t > start else 0
        draw_edges(w.met, w.busy, edges, links.last_edge, phase, drawn, weather.active, away,
                   stream(keys.world, 0, NETWORK, t), t)
        for meeting in range(drawn):
            if w.met[meeting] >= 0:
                tally.meeting_words += show_cards(opens, p, t, edges, w.met[meeting], cards, meeting, horizon, weather, tale,
                                                  keys)
        heard = t * nodes - last_word < size
        if SELDOM and heard:
            bring(n, p, t, keys, w, now, links, weather)
        for i in range(nodes):
            if CHURNS and away[i, 0] <= t < away[i, 1]:
                continue
            for one in range(links.first[phase, i], links.first[phase, i + 1] if not SELDOM and heard else 0):
                place = wrap(now + links.origin[one], size)
                if said[place] > 0 and not (LOSES and uniform(side(stream(keys.world, i, FAULT, t), one), 0) < weather.loss):
                    listen(secrets[i], inners[i], opens[i], n.peers[links.memory[one]], p, t, wire[place])
            if (DROPS and out_of(t, start, i, keys, weather)) or (COMMITS and under_way(plans, i) > 0):
                continue
            if WEIGHS:
                weigh(opens[i], n.peers[links.known[i] : links.known[i + 1]], p, t)
            decide(secrets[i], inners[i], opens[i], p, t, keys, i, plans.plan[i])
        for i in range(nodes):
            if (CHURNS and away[i, 0] <= t < away[i, 1]) or (DROPS and out_of(t, start, i, keys, weather)):
                continue
            if COMMITS and goes_on(plans, i, horizon):
                continue
            plan = plans.plan[i]
            lost = carry_out(secrets[i], opens[i], ledgers[i], worlds[i * own_world], p, t, keys, i, plan, harvest, out)
            if t > 0:
                totals[i] += lost
                n.violations[i] += violates(worlds[i * own_world], plan)
        for meeting in range(drawn):
            if w.met[meeting] >= 0:
                exchange(opens, p, t, edges, w.met[meeting], cards[meeting, 0], cards[meeting, 1], weather.loss,
                         weather.one_way, side(stream(keys.world, -1, FAULT, t), meeting))
                tally.meetings += 1
        messages = words = 0
        for i in range(nodes):
            said[now + i] = 0
            if CHURNS and away[i, 0] <= t < away[i, 1]:
                continue
            if not (DROPS and out_of(t, start, i, keys, weather)) and not (COMMITS and under_way(plans, i) > 0):
                said[now + i] = speak(opens[i], p, t, wire[now + i])
            if LIES:
                said[now + i] = corrupt(opens[i], p, t, t, horizon, weather, i, tale, keys, wire[now + i], said[now + i])
            messages += 1 if said[now + i] > 0 else 0
            words += said[now + i]
        if messages > 0:
            last_word = t * nodes
            tally.up_messages += messages
            tally.up_words += words
            tally.rounds += 1
        if t == span.settled or (mark < span.marks.shape[0] and t == span.marks[mark]):
            mark = tell_regret(n, worlds, weather, span, t, mark, plans, part, common.curve[r])
        if not beat(common.pulse, nodes):
            return
    close_plans(n, worlds, plans, part)


@node
def show_cards(opens, p, t, edges, edge, cards, meeting, horizon, weather, tale, keys):
    """Both ends of a drawn edge show theirs. Returns how many words that takes."""
    words = 0
    for end in range(2):
        i = edges[edge, end]
        shown = greet(opens[i], p, t, cards[meeting, end])
        if LIES:
            shown = disguise(opens[i], p, t, t, horizon, weather, i, tale, keys, cards[meeting, end], shown)
        words += shown
    return words


@node
def bring(n, p, t, keys, w, now, links, weather):
    """What is due, message by message. Hearers have the order of links, so every node hears in that order too."""
    secrets, inners, opens, wire = n.secrets, n.inners, n.opens, w.wire
    nodes, size = len(opens), len(w.said)
    for delay in range(1, links.last_hearer.shape[0]):
        for j in range(nodes):
            place = wrap(now + size - delay * nodes + j, size)
            if w.said[place] > 0:
                for one in range(links.last_hearer[delay, j], links.last_hearer[delay, j + 1]):
                    i, link = links.hearers[one, 0], links.hearers[one, 1]
                    if CHURNS and weather.away[i, 0] <= t < weather.away[i, 1]:
                        continue
                    if not (LOSES and uniform(side(stream(keys.world, i, FAULT, t), link), 0) < weather.loss):
                        listen(secrets[i], inners[i], opens[i], n.peers[link], p, t, wire[place])


@node
def draw_edges(met, busy, edges, last_edge, phase, drawn, active, away, die, t):
    """Edges drawn for this round; -1: not active, or one of its ends is away or meets already."""
    first = last_edge[phase - 1] if phase > 0 else 0
    for meeting in range(drawn):
        e = first + pick(die, 2 * meeting, last_edge[phase] - first)
        i, j = edges[e, 0], edges[e, 1]
        free = busy[i] < t and busy[j] < t and (active >= 1.0 or uniform(die, 2 * meeting + 1) < active)
        if CHURNS and (away[i, 0] <= t < away[i, 1] or away[j, 0] <= t < away[j, 1]):
            free = False
        met[meeting] = e if free else -1
        if free:
            busy[i] = busy[j] = t


@node
def exchange(opens, p, t, edges, e, mine, theirs, loss, one_way, die):
    """Both ends act on the two cards, or, where the exchange is lost, none; `one_way` loses each direction by itself."""
    if LOSES:
        lost = uniform(die, 0) < loss
        if not lost:
            meet(opens[edges[e, 0]], p, t, mine, theirs)
        if one_way:
            lost = uniform(die, 1) < loss
        if not lost:
            meet(opens[edges[e, 1]], p, t, theirs, mine)
    else:
        meet(opens[edges[e, 0]], p, t, mine, theirs)
        meet(opens[edges[e, 1]], p, t, theirs, mine)


@node
def hand_over(opens, p, t, away, edges, last_edge, phase, cards):
    """Who goes away hands over to a neighbour that stays, where there is one."""
    first = last_edge[phase - 1] if phase > 0 else 0
    for i in range(len(opens)):
        if t == away[i, 0]:
            for e in range(first, last_edge[phase]):
                other = edges[e, 0] + edges[e, 1] - i
                if (edges[e, 0] == i or edges[e, 1] == i) and not away[other, 0] <= t < away[other, 1]:
                    leave(opens[i], p, t, cards[0, 0])
                    inherit(opens[other], p, t, cards[0, 0])
                    break
