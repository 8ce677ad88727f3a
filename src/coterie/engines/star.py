"""Engine: clients around a server. A plan may take many rounds and is drawn in one go.

Epoch t: the server speaks; every client hears it and makes a plan of the same length; the plans are carried out and pass the
door; while messages are under way for `delay` rounds clients play their `idle` arm; those invited report, and the server
hears them. A plan that the horizon cuts is not observed, and nothing leaves.

The regret is exact at every round inside a plan (`note`). Turns are numbered by epochs, so that runs which differ only in
their delays meet the same randomness.

Folded: all clients share one record. Their turns add up in it, it speaks once for all (its desk at the server knows for how
many), and a million clients take the memory of one. The server ends in the same bytes. It asks of an algorithm that plans
are the same for all, that `hear` sets and `publish` only adds to what `speak` says; `Method.folds` declares it.

A report may be lost on its way, or its client may sit out; the server goes by the reports that came. Either way the client has
played, and its next report tells of it.

Teams: a run may consist of several stars side by side that know nothing of each other (`size` clients each).
"""

from coterie.contract import collect as server_collect  # bound
from coterie.contract import hear as server_hear  # bound
from coterie.contract import idle, speak  # bound
from coterie.contract import publish as server_publish  # bound
from coterie.contract import release as server_release  # bound
from coterie.contract import speak as server_speak  # bound
from coterie.contract import weigh as server_weigh  # bound
from coterie.engines.faults import corrupt, out_of  # bound
from coterie.engines.turn import carry_out, decide, listen  # bound
from coterie.kernel import FAULT, IDLE, NETWORK, NOISE, fold, node, pick, side, stream, uniform
from coterie.privacy.door import add_laplace as server_add_noise  # bound
from coterie.privacy.door import book_all as server_book_entries  # bound
from coterie.problem.bernoulli import lay_out, regret, regret_until  # bound

DROPS = FOLDED = LIES = LOSES = SERVER_COLLECTS = SERVER_WEIGHS = False  # bound


def run(p, seed, first, horizon, size, reporters, rotate, delay, marks, worlds, weather, m):
    """Replications `first`, `first` + 1, ... as many as `m` has room for."""
    own_world = 1 if worlds.shape[0] > 1 else 0
    for r in range(m.totals.shape[0]):
        key = fold(seed, first + r)
        for team in range(m.servers.shape[1]):
            live(p, key, horizon, team * size, size, reporters, rotate, delay, marks, worlds, own_world,
                 weather, m.tales[r], m.secrets[r], m.opens[r], m.peers[r], m.ledgers[r], m.desks[r], m.totals[r],
                 m.finals[r], m.invited[r], m.curves[r], m.tallies[r], m.plans[r], m.outs[r], m.reports[r], m.decisions[r],
                 m.server_secrets[r, team], m.servers[r, team], m.server_ledgers[r, team], m.server_outs[r])


@node
def live(p, key, horizon, start, size, reporters, rotate, delay, marks, worlds, own_world, weather, tale,
         secrets, opens, peers, ledgers, desks, totals, finals, invited, curve, tally, plan, out, report, decision,
         server_secret, server, server_ledger, server_out):
    """One team in one replication. A client's place is its row in the records; its number is its coordinate of chance."""
    t, now, mark, weight = 0, 1, 0, size if FOLDED else 1
    while now <= horizon:
        t += 1
        if SERVER_WEIGHS:
            server_weigh(server, desks, p, t)
        tally.down_words += size * server_speak(server, p, t, decision)
        tally.down_messages += size
        after, later, rounds = mark, mark, 0
        for i in range(start, start + size):
            place = start if FOLDED else i
            if i == start or not FOLDED:
                listen(secrets[place], opens[place], peers[place], p, t, decision)
                decide(secrets[place], opens[place], p, t, key, i, plan)
                if not even(plan) or (i > start and plan.rounds != rounds):
                    tally.uneven += 1
                    return
                rounds = plan.rounds
                lay_out(worlds[i * own_world], plan)
                after = note(worlds[i * own_world], plan, now, marks, mark, heft(weather, i, weight), totals[place], curve)
            if now + plan.rounds - 1 > horizon:
                finals[place] = plan.arm[(horizon - now) % plan.entries]
                if i == start or not FOLDED:
                    totals[place] += regret_until(worlds[i * own_world], plan, horizon - now + 1)
            else:
                carry_out(secrets[place], opens[place], ledgers[place], worlds[i * own_world], p, t, key, i, plan, out,
                          i == start or not FOLDED)
                if i == start or not FOLDED:
                    totals[place] += regret(worlds[i * own_world], plan)
                    finals[place] = plan.arm[plan.entries - 1]
        if now + rounds - 1 > horizon:
            return
        now, mark = now + rounds, after
        if delay > 0 and now <= horizon:
            for i in range(start, start + size):
                wait(worlds[i * own_world], opens[i], p, t, key, i, plan, min(delay, horizon - now + 1))
                later = note(worlds[i * own_world], plan, now, marks, mark, heft(weather, i, 1), totals[i], curve)
                totals[i] += regret(worlds[i * own_world], plan)
                finals[i] = plan.arm[0]
            mark = later
        now += delay
        tally.rounds += 1
        if reporters < size and (t == 1 or not rotate):
            shuffle(invited, start, size, size if rotate else reporters, stream(key, start, NETWORK, t))
        for j in range(1 if FOLDED else reporters):
            i = invited[start + ((t - 1) * reporters + j) % size] if rotate else invited[start + j]
            words = speak(opens[i], p, t, report)
            if LIES:
                words = corrupt(opens[i], p, t, now - 1, horizon, weather, i, tale, key, report, words)
            if words > 0 and not (DROPS and out_of(t, 0, i, key, weather)) and not (LOSES and lost(t, i, key, weather)):
                tally.up_words += weight * words
                tally.up_messages += weight
                if SERVER_COLLECTS:
                    server_collect(server_secret, desks[i], p, t, report)
                else:
                    server_hear(server, desks[i], p, t, report)
        server_out.entries = 0
        server_release(server_secret, server, p, t, plan, server_out)
        server_book_entries(server_out, server_ledger)
        server_add_noise(server_out, p, stream(key, -1, NOISE, t), stream(key, -1, NOISE, -1))
        server_publish(server, p, t, plan, server_out)


@node
def heft(weather, i, weight):
    """How many honest agents a record stands for."""
    return 0 if LIES and weather.liar[i] == 1 else weight


@node
def lost(t, i, key, weather):
    return uniform(side(stream(key, i, FAULT, t), 0), 0) < weather.loss


@node
def note(world, plan, now, marks, mark, weight, before, curve):
    """Add the regret at every mark that lies inside the plan; return the first mark behind it."""
    while mark < marks.shape[0] and marks[mark] < now + plan.rounds:
        curve[mark] += weight * (before + regret_until(world, plan, marks[mark] - now + 1))
        mark += 1
    return mark


@node
def even(plan):
    """A plan of many rounds pulls all its arms equally often."""
    same = plan.entries > 0
    for e in range(plan.entries):
        same &= plan.pulls[e] * plan.entries == plan.rounds
    return same


@node
def wait(world, open, p, t, key, i, plan, rounds):
    """A plan of one arm for the time in which messages are under way."""
    arm = idle(open, p, t, stream(key, i, IDLE, t))
    plan.arm[0] = arm if arm >= 0 else plan.arm[0]
    plan.pulls[0], plan.rounds, plan.entries = rounds, rounds, 1
    lay_out(world, plan)


@node
def shuffle(invited, start, size, count, die):
    """Draw `count` of the team without replacement into the first places."""
    for j in range(count):
        other = j + pick(die, j, size - j)
        invited[start + j], invited[start + other] = invited[start + other], invited[start + j]
