"""Engine: clients around a server. A plan may take many rounds and is drawn in one go.

Epoch t: the server speaks; every client hears it and makes a plan of the same length; the plans are carried out and pass the
door; while messages are under way for `delay` rounds clients play their `idle` arm; those invited report, and the server
hears them. A plan that the horizon cuts is not observed, and nothing leaves.

The regret is exact at every round inside a plan (`note`). Turns are numbered by epochs, so that runs which differ only in
their delays meet the same randomness.

Folded: all clients share one record. Their turns add up in it, it speaks once for all (its desk at the server knows for how
many), and a million clients take the memory of one. The server ends in the same bytes. It asks of an algorithm that plans
are the same for all, that `hear` sets and `publish` only adds to what `speak` says; `Method.folds` declares it.

Crowds: clients that always act alike, and see the same means, share one record (`Method.crowds` has their numbers). Their pulls
are drawn in one go and their noise as one sum, so the cost does not grow with the clients. It is the same run in law, not in
bytes. It asks of an algorithm that clients of a crowd know and hear the same, that what it reports are sums over the stretches
that passed the door, and that its server goes by `voices`.

A report may be lost on its way, or its client may sit out; the server goes by the reports that came. Either way the client has
played, and its next report tells of it; but what is lost of a sum of shares is lost, and of fewer than `quorum` none is opened.

Teams: a run may consist of several stars side by side that know nothing of each other (`size` clients each).
"""

from typing import Any, NamedTuple

from coterie.contract import hear as server_hear  # bound
from coterie.contract import idle, publish, speak  # bound
from coterie.contract import publish as server_publish  # bound
from coterie.contract import release as server_release  # bound
from coterie.contract import speak as server_speak  # bound
from coterie.contract import weigh as server_weigh  # bound
from coterie.engines.faults import corrupt, deceives, out_of  # bound
from coterie.engines.memory import beat, keys_of, nodes_of
from coterie.engines.turn import decide, listen, pull_and_release  # bound
from coterie.kernel import FAULT, IDLE, LIE, NETWORK, NOISE, node, pick, side, stream, uniform
from coterie.privacy.door import book_entries as server_book  # bound
from coterie.privacy.door import clear, look_up
from coterie.privacy.mechanisms.laplace import add_laplace as server_add_noise  # bound
from coterie.privacy.offers import offers_of
from coterie.privacy.secret import empty, enclose, falsify, hand_in, seal
from coterie.problem.bernoulli import lay_out, regret, regret_until  # bound

CROWDS = DROPS = FOLDED = LIES = LOSES = SEALED = SERVER_PAIRED = SERVER_STREAMED = SERVER_WEIGHS = TRUSTED = False  # bound


class Team(NamedTuple):
    """How clients work together: `size` of them (or of crowds) around a server, of whom `reporters` report after each plan."""

    size: int
    agents: int
    reporters: int
    rotate: bool
    delay: int  # rounds that messages are under way
    quorum: int  # reports without which no sum of shares is opened


class Hall(NamedTuple):
    """Servers, one for each team, and what lies between them and their clients."""

    secrets: Any
    opens: Any
    ledgers: Any
    out: Any
    desks: Any  # what a server knows of each client
    envelopes: Any  # what each sends past all hooks, where the server adds it up
    invited: Any
    report: Any
    decision: Any


def run(p, seeds, first, span, worlds, team, weather, nodes, hall, common):
    """Replications `first`, `first` + 1, ... as many as there is room for."""
    for r in range(nodes.totals.shape[0]):
        for number in range(hall.opens.shape[1]):
            live(p, keys_of(seeds, first + r), span, worlds, team, number, weather, nodes_of(nodes, r), hall, common, r)


@node
def live(p, keys, span, worlds, team, number, weather, n, hall, common, r):
    """One team in one replication. A client's place is its row in the records; its number is its coordinate of chance."""
    secrets, inners, opens, ledgers = n.secrets, n.inners, n.opens, n.ledgers
    totals, curve, horizon = n.totals, common.curve[r], span.horizon
    tally, plan, harvest, out = common.tally[r], common.plan[r], common.harvest[r], common.out[r]
    server, decision, desks = hall.opens[r, number], hall.decision[r], hall.desks[r]
    size, start, own_world = team.size, number * team.size, 1 if worlds.shape[0] > 1 else 0
    t, now, mark = 0, 1, 0
    while now <= horizon:
        t += 1
        if SERVER_WEIGHS:
            server_weigh(server, desks, p, t)
        tally.down_words += team.agents * server_speak(server, p, t, decision)
        tally.down_messages += team.agents
        after, later, rounds = mark, mark, 0
        for i in range(start, start + size):
            place, world = start if FOLDED else i, worlds[i * own_world]
            if i == start or not FOLDED:
                listen(secrets[place], inners[place], opens[place], n.peers[place], p, t, decision)
                decide(secrets[place], inners[place], opens[place], p, t, keys, i, plan)
                if not even(plan, harvest) or (i > start and harvest.rounds != rounds):
                    tally.uneven += 1
                    return
                rounds = harvest.rounds
                lay_out(world, plan, harvest)
                weight = heft(weather, i, voices(secrets[place], size))
                after = note(world, plan, harvest, now, span.marks, mark, weight, totals[place], curve)
                note_late(plan, harvest, now, span.late, horizon, n.late, place)
            if now + rounds - 1 > horizon:
                if i == start or not FOLDED:
                    totals[place] += regret_until(world, plan, harvest, horizon - now + 1)
            else:
                first = i == start or not FOLDED
                pull_and_release(secrets[place], opens[place], ledgers[place], world, p, t, keys, i, plan, harvest, out, first)
                if SEALED:
                    if first:
                        empty(hall.envelopes[r, place])  # of a report that was lost
                    seal(out, hall.envelopes[r, place])
                publish(opens[place], p, t, plan, out)
                if i == start or not FOLDED:
                    totals[place] += regret(world, plan)
        if now + rounds - 1 > horizon:
            beat(common.pulse, team.agents * (horizon - now + 1))
            return
        now, mark = now + rounds, after
        if team.delay > 0 and now <= horizon:
            for i in range(start, start + size):
                world = worlds[i * own_world]
                wait(world, opens[i], p, t, keys, i, plan, harvest, min(team.delay, horizon - now + 1))
                weight = heft(weather, i, voices(secrets[i], size))
                later = note(world, plan, harvest, now, span.marks, mark, weight, totals[i], curve)
                totals[i] += regret(world, plan)
                note_late(plan, harvest, now, span.late, horizon, n.late, i)
            mark = later
        now += team.delay
        if not beat(common.pulse, team.agents * (rounds + team.delay)):
            return
        tally.rounds += 1
        gather(p, t, keys, now - 1, horizon, team, number, weather, n, hall, common, r)
        pass_server_door(p, t, keys, number, plan, hall, r)


@node
def gather(p, t, keys, now, horizon, team, number, weather, n, hall, common, r):
    """Those invited report, and the server hears them."""
    size, reporters, start, invited, report = team.size, team.reporters, number * team.size, hall.invited[r], hall.report[r]
    server, desks, tally, tale = hall.opens[r, number], hall.desks[r], common.tally[r], common.tale[r]
    secrets, opens = n.secrets, n.opens
    if reporters < size and (t == 1 or not team.rotate):
        shuffle(invited, start, size, size if team.rotate else reporters, stream(keys.world, start, NETWORK, t))
    opens_up = not SEALED or not (DROPS or LOSES) or arrivals(t, keys, start, size, weather) >= team.quorum
    for j in range(1 if FOLDED else reporters):
        i = invited[start + (((t - 1) * reporters + j) % size if team.rotate else j)]
        words = speak(opens[i], p, t, report)
        if LIES:
            words = corrupt(opens[i], p, t, now, horizon, weather, i, tale, keys, report, words)
        if words > 0 and not (DROPS and out_of(t, 0, i, keys, weather)) and not (LOSES and lost(t, i, keys, weather)):
            if TRUSTED or SEALED:
                if TRUSTED:
                    enclose(secrets[i], hall.envelopes[r, i], p.arms)
                if LIES and deceives(tale, p, t, now, horizon, weather, i, stream(keys.dice, i, LIE, t), words):
                    falsify(hall.envelopes[r, i], tale.value, p.arms)
                words += hand_in(hall.envelopes[r, i], hall.secrets[r, number], p.arms) if opens_up else 0
            tally.up_words += voices(secrets[i], size) * words
            tally.up_messages += voices(secrets[i], size)
            if opens_up:
                server_hear(server, desks[i], p, t, report)


@node
def arrivals(t, keys, start, size, weather):
    """How many reports of an epoch are not lost."""
    number = 0
    for i in range(start, start + size):
        number += 0 if out_of(t, 0, i, keys, weather) or lost(t, i, keys, weather) else 1
    return number


@node
def pass_server_door(p, t, keys, number, plan, hall, r):
    """What a server lets out, from the rewards that it was trusted with."""
    secret, open, ledger, out = hall.secrets[r, number], hall.opens[r, number], hall.ledgers[r, number], hall.out[r]
    clear(out)
    server_release(open, p, t, plan, offers_of(out))
    look_up(out, secret, ledger, p.arms, SERVER_PAIRED, SERVER_STREAMED)
    server_book(out, ledger)
    server_add_noise(out, secret, stream(keys.noise, -1 - number, NOISE, t),
                     stream(keys.noise, -1 - number, NOISE, -1))
    server_publish(open, p, t, plan, out)


@node
def voices(secret, size):
    """How many agents a record stands for."""
    return size if FOLDED else secret.voices if CROWDS else 1


@node
def heft(weather, i, weight):
    """How many honest agents a record stands for."""
    return 0 if LIES and weather.liar[i] == 1 else weight


@node
def lost(t, i, keys, weather):
    return uniform(side(stream(keys.world, i, FAULT, t), 0), 0) < weather.loss


@node
def note(world, plan, harvest, now, marks, mark, weight, before, curve):
    """Add the regret at every mark that lies inside the plan; return the first mark behind it."""
    while mark < marks.shape[0] and marks[mark] < now + harvest.rounds:
        curve[mark] += weight * (before + regret_until(world, plan, harvest, marks[mark] - now + 1))
        mark += 1
    return mark


@node
def note_late(plan, harvest, now, late, horizon, plays, place):
    """Count the plays from round `late` to the horizon. Slot s of a plan, from 0 on, is of its entry s mod entries."""
    since, until, entries = max(late - now, 0), min(harvest.rounds, horizon - now + 1), plan.entries
    for e in range(entries if since < until else 0):
        plays[place, plan.arm[e]] += (until - 1 - e) // entries - (since - 1 - e) // entries


@node
def even(plan, harvest):
    """A plan of many rounds pulls all its arms equally often: how many rounds it takes follows."""
    same = plan.entries > 0 and plan.pulls[0] > 0
    for e in range(plan.entries):
        same &= plan.pulls[e] == plan.pulls[0]
    harvest.rounds = plan.entries * plan.pulls[0]
    return same


@node
def wait(world, open, p, t, keys, i, plan, harvest, rounds):
    """A plan of one arm for the time in which messages are under way."""
    arm = idle(open, p, t, stream(keys.dice, i, IDLE, t))
    plan.arm[0] = arm if 0 <= arm < p.arms else plan.arm[0]
    plan.pulls[0], harvest.rounds, plan.entries = rounds, rounds, 1
    lay_out(world, plan, harvest)


@node
def shuffle(invited, start, size, count, die):
    """Draw `count` of the team without replacement into the first places."""
    for j in range(count):
        other = j + pick(die, j, size - j)
        invited[start + j], invited[start + other] = invited[start + other], invited[start + j]
