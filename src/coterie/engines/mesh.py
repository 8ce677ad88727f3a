"""Engine: peers on a graph, one plan per round and node, messages with their hop delays.

Round t: the ends of the drawn edges greet; every node hears what is due (sent in round t - delay), decides, pulls, releases;
the drawn edges meet on their cards; then everyone speaks. The wire is a ring of rounds: link l finds its message `origin[l]`
places after the present round's.

Cards are made before the turn and used after it, so a meeting rests on the state at the end of the last round, as the
decisions do, and commutes with what the round itself adds.
"""

from coterie.contract import greet, meet, speak  # bound
from coterie.engines.turn import carry_out, decide, listen  # bound
from coterie.kernel import NETWORK, fold, node, pick, stream, wrap
from coterie.problem.bernoulli import regret  # bound


def run(p, seed, first, start, horizon, meetings, marks, worlds, link, origin, edges, m):
    """Replications `first`, `first` + 1, ... as many as `m` has room for. Node i hears links link[i] .. link[i + 1]."""
    own_world = 1 if worlds.shape[0] > 1 else 0
    for r in range(m.totals.shape[0]):
        live(p, fold(seed, first + r), start, horizon, meetings, marks, worlds, own_world, link, origin, edges,
             m.secrets[r], m.opens[r], m.peers[r], m.ledgers[r], m.wires[r], m.said[r], m.cards[r], m.totals[r], m.finals[r],
             m.curves[r], m.tallies[r], m.plans[r], m.outs[r])


@node
def live(p, key, start, horizon, meetings, marks, worlds, own_world, link, origin, edges,
         secrets, opens, peers, ledgers, wire, said, cards, totals, finals, curve, tally, plan, out):
    nodes, size, mark, last_word = len(totals), len(said), 0, -len(said)
    for t in range(start, horizon + 1):
        now = t * nodes % size
        drawn = meetings if t > start else 0
        for meeting in range(drawn):
            e = pick(stream(key, 0, NETWORK, t), meeting, len(edges))
            greet(opens[edges[e, 0]], p, t, cards[meeting, 0])
            greet(opens[edges[e, 1]], p, t, cards[meeting, 1])
        for i in range(nodes):
            for one in range(link[i], link[i + 1] if t * nodes - last_word < size else 0):
                place = wrap(now + origin[one], size)
                if said[place] > 0:
                    listen(secrets[i], opens[i], peers[one], p, t, wire[place])
            decide(secrets[i], opens[i], peers[link[i] : link[i + 1]], p, t, key, i, plan)
            carry_out(secrets[i], opens[i], ledgers[i], worlds[i * own_world], p, t, key, i, plan, out, True)
            finals[i] = plan.arm[plan.entries - 1]
            if t > 0:
                totals[i] += regret(worlds[i * own_world], plan)
        for meeting in range(drawn):
            e = pick(stream(key, 0, NETWORK, t), meeting, len(edges))
            meet(opens[edges[e, 0]], p, t, cards[meeting, 0], cards[meeting, 1])
            meet(opens[edges[e, 1]], p, t, cards[meeting, 1], cards[meeting, 0])
        tally.meetings += drawn
        for i in range(nodes):
            said[now + i] = speak(opens[i], p, t, wire[now + i])
            if said[now + i] > 0:
                last_word = t * nodes
                tally.up_messages += 1
                tally.up_words += said[now + i]
        if mark < marks.shape[0] and t == marks[mark]:
            for i in range(nodes):
                curve[mark] += totals[i]
            mark += 1
