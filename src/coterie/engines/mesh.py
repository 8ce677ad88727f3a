"""Engine: peers on a graph, one plan per round and node, messages with their hop delays.

Round t: edges are drawn and their ends greet; every node hears what is due (sent in round t - delay), decides, pulls,
releases; the drawn edges meet on their cards; then everyone speaks. The wire is a ring of rounds: link l finds its message
`origin[l]` places after the present round's.

Cards are made before the turn and used after it, so a meeting rests on the state at the end of the last round, as the
decisions do, and commutes with what the round itself adds. A meeting is atomic: both ends move or none does, unless a study
asks to see what one-way losses do.

Messages of those who speak seldom are brought to their hearers (SELDOM); else every node looks at all it can hear.

The graph may change with time: every `period` rounds the next of its phases holds. Agents may go away and come back.
"""

from coterie.contract import greet, inherit, leave, meet, speak, weigh  # bound
from coterie.engines.faults import corrupt, disguise, out_of  # bound
from coterie.engines.turn import carry_out, decide, listen  # bound
from coterie.kernel import FAULT, NETWORK, fold, node, pick, side, stream, uniform, wrap
from coterie.problem.bernoulli import regret, violates  # bound

CHURNS = DROPS = LIES = LOSES = SELDOM = WEIGHS = False  # bound


def run(p, seed, first, start, horizon, settled, marks, worlds, links, weather, m):
    """Replications `first`, `first` + 1, ... as many as `m` has room for."""
    own_world = 1 if worlds.shape[0] > 1 else 0
    for r in range(m.totals.shape[0]):
        live(p, fold(seed, first + r), start, horizon, settled, marks, worlds, own_world, links.first, links.origin,
             links.memory, links.known, links.edges, links.last_edge, links.period, links.meetings, links.hearers,
             links.last_hearer, weather, weather.active, weather.loss, weather.one_way, weather.away, m.tales[r],
             m.secrets[r], m.opens[r], m.peers[r], m.ledgers[r], m.wires[r], m.said[r], m.cards[r], m.met[r], m.busy[r],
             m.totals[r], m.early[r], m.violations[r], m.finals[r], m.curves[r], m.tallies[r], m.plans[r], m.outs[r])


@node
def live(p, key, start, horizon, settled, marks, worlds, own_world, link, origin, memory, known, edges, last_edge, period,
         meetings, hearers, last_hearer, weather, active, loss, one_way, away, tale, secrets, opens, peers, ledgers, wire,
         said, cards, met, busy, totals, early, violations, finals, curve, tally, plan, out):
    nodes, size, mark, last_word = len(totals), len(said), 0, -len(said)
    for t in range(start, horizon + 1):
        now = t * nodes % size
        phase = t // period % link.shape[0]
        if CHURNS:
            hand_over(opens, p, t, away, edges, last_edge, phase, cards)
        drawn = meetings if t > start else 0
        draw_edges(met, busy, edges, last_edge, phase, drawn, active, away, stream(key, 0, NETWORK, t), t)
        for meeting in range(drawn):
            if met[meeting] >= 0:
                for end in range(2):
                    i = edges[met[meeting], end]
                    shown = greet(opens[i], p, t, cards[meeting, end])
                    if LIES:
                        shown = disguise(opens[i], p, t, t, horizon, weather, i, tale, key, cards[meeting, end], shown)
                    tally.meeting_words += shown
        if SELDOM and t * nodes - last_word < size:
            bring(secrets, opens, peers, p, t, key, wire, said, now, hearers, last_hearer, loss, away)
        for i in range(nodes):
            if CHURNS and away[i, 0] <= t < away[i, 1]:
                continue
            for one in range(link[phase, i], link[phase, i + 1] if not SELDOM and t * nodes - last_word < size else 0):
                place = wrap(now + origin[one], size)
                if said[place] > 0 and not (LOSES and uniform(side(stream(key, i, FAULT, t), one), 0) < loss):
                    listen(secrets[i], opens[i], peers[memory[one]], p, t, wire[place])
            if DROPS and out_of(t, start, i, key, weather):
                continue
            if WEIGHS:
                weigh(opens[i], peers[known[i] : known[i + 1]], p, t)
            decide(secrets[i], opens[i], p, t, key, i, plan)
            carry_out(secrets[i], opens[i], ledgers[i], worlds[i * own_world], p, t, key, i, plan, out, True)
            finals[i] = plan.arm[plan.entries - 1]
            if t > 0:
                totals[i] += regret(worlds[i * own_world], plan)
                violations[i] += violates(worlds[i * own_world], plan)
        for meeting in range(drawn):
            if met[meeting] >= 0:
                exchange(opens, p, t, edges, met[meeting], cards[meeting, 0], cards[meeting, 1], loss, one_way,
                         side(stream(key, -1, FAULT, t), meeting))
                tally.meetings += 1
        messages = words = 0
        for i in range(nodes):
            said[now + i] = 0
            if CHURNS and away[i, 0] <= t < away[i, 1]:
                continue
            if not (DROPS and out_of(t, start, i, key, weather)):
                said[now + i] = speak(opens[i], p, t, wire[now + i])
            if LIES:
                said[now + i] = corrupt(opens[i], p, t, t, horizon, weather, i, tale, key, wire[now + i], said[now + i])
            messages += 1 if said[now + i] > 0 else 0
            words += said[now + i]
        if messages > 0:
            last_word = t * nodes
            tally.up_messages += messages
            tally.up_words += words
            tally.rounds += 1
        if t == settled:
            for i in range(nodes):
                early[i] = totals[i]
        if mark < marks.shape[0] and t == marks[mark]:
            for i in range(nodes):
                curve[mark] += 0.0 if LIES and weather.liar[i] == 1 else totals[i]
            mark += 1


@node
def bring(secrets, opens, peers, p, t, key, wire, said, now, hearers, last_hearer, loss, away):
    """What is due, message by message. Hearers have the order of links, so every node hears in that order too."""
    nodes, size = len(opens), len(said)
    for delay in range(1, last_hearer.shape[0]):
        for j in range(nodes):
            place = wrap(now + size - delay * nodes + j, size)
            if said[place] > 0:
                for one in range(last_hearer[delay, j], last_hearer[delay, j + 1]):
                    i, link = hearers[one, 0], hearers[one, 1]
                    if CHURNS and away[i, 0] <= t < away[i, 1]:
                        continue
                    if not (LOSES and uniform(side(stream(key, i, FAULT, t), link), 0) < loss):
                        listen(secrets[i], opens[i], peers[link], p, t, wire[place])


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
