"""Pooled private UCB: all agents are one learner with many hands, around a server or among peers.

Of each arm there is one estimate: noised sums of batches of rewards, added up and never forgotten. Its index is the largest
mean that the noised sum does not contradict, by Chernoff's method for rewards and noise at once. For rewards in [0, 1], with x
their noised mean, n pulls and J draws of Laplace noise of scale 1/e in it, and N the pulls of all agents so far:

    U = min(1, min over 0 < l < e of (1 - exp(-l x - (B - J ln(1 - l^2/e^2)) / n)) / (1 - exp(-l)))
    B = max(0, ln N - thrift ln n)

Agents are shared out one by one, each to the arm with the largest index, as if the batches of those before it had come in with
the mean their arm has now. So few explore, each for long, and the others play what is best: a long batch of one agent carries
one draw of noise where short batches of many carry many. An arm is released when its pulls since the last release exceed those
before by `growth`. Every reward is in one release, and all acts follow from releases.

    apart     agents play different arms at a time: for agents that see the same means
    together  all agents play one arm at a time, equally often: also for agents whose means differ, and the best average counts

    pooled-ucb  a server keeps the estimates and shares out; reports may also travel among peers, or through sinks
    peer-ucb    no server. A common clock has windows that grow with time; in each every agent shares out all agents by what it
                has heard, and takes the place that is its own
    solo-ucb    every agent for itself, by the same rule

What is proved, what is argued, what was measured and where it breaks: docs/pooled-ucb.md. Compare Azize, Wu, Honda, Orabona,
Ito and Basu (2025) for the index of a single agent.
"""

from math import ceil, exp, inf, log, nan, sqrt
from typing import Any, Literal

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie import contract
from coterie.algorithms.cooperative import Life
from coterie.contract import Algorithm, Claim, Entry, Method, Setting, can_sum_to, has_room, offer, order, params
from coterie.errors import UsageError
from coterie.kernel import UNIT, argmax, capacity, extend, node, record
from coterie.limits import EPSILON_LEAST
from coterie.options import SumOptions, enters
from coterie.privacy.mechanisms import SHARES, SUMS
from coterie.privacy.quorum import check_unused, quorum_of

STEEPEST = 40.0  # the largest l that is tried: more matters only for means within e^-40 of 0 or 1
GOLDEN = 0.6180339887498949
PORTIONS = 64  # agents are shared out in so many at most
WIDE = 8.0  # ranges of so many standard deviations of a reward and more are worth a warning
PULLS_MOST = 2.0**45  # of all agents: sums stay within 62 bits


# --- the index ------------------------------------------------------------------------------------------


@node
def upper(x, n, draws, scale, level):
    """U: the largest mean that x does not contradict."""
    tilt = best_tilt(x, n, draws, scale, level)
    return min(1.0, max(0.0, bound_at(tilt, x, n, draws, scale, level)))


@node
def best_tilt(x, n, draws, scale, level):
    """The l of the least bound, by golden sections of ln l. Every l gives a bound, so the search need not be exact."""
    top = min(STEEPEST, (1.0 - 1e-9) / scale) if draws * scale > 0.0 else STEEPEST
    low, high = log(1e-4 * min(top, 1.0)), log(top)
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = bound_at(exp(a), x, n, draws, scale, level), bound_at(exp(b), x, n, draws, scale, level)
    for _ in range(22):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = bound_at(exp(a), x, n, draws, scale, level)
        else:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = bound_at(exp(b), x, n, draws, scale, level)
    return exp(a if at_a < at_b else b)


@node
def bound_at(tilt, x, n, draws, scale, level):
    """What Chernoff's method gives for one l, the tilt."""
    if draws > 0.0:
        level -= draws * log(1.0 - tilt * tilt * scale * scale)
    return (1.0 - exp(-tilt * x - level / n)) / (1.0 - exp(-tilt))


@node
def level_of(p, pulls, n):
    """B: a mean may lie outside with probability e^-B."""
    return max(0.0, log(pulls) - p.thrift * log(n))


@node
def mean_of(open, p, k):
    """Of arm k as released, scaled to [0, 1] (noise may lead outside)."""
    return (open.total[k] / (UNIT * float(open.count[k])) - p.low) / p.reach


@node
def leader_of(open, p, pulls):
    """The arm with the best lower bound; before anything is known, the one with most seats."""
    leader, best = argmax(open.seats, p.arms), -1.0
    for k in range(p.arms):
        if open.count[k] > 0 and max(0.0, mean_of(open, p, k)) > best:  # no lower bound lies above
            n = float(open.count[k])
            low = 1.0 - upper(1.0 - mean_of(open, p, k), n, open.draws[k], p.scale, level_of(p, pulls, n))
            if low > best:
                leader, best = k, low
    return leader


# --- sharing out ----------------------------------------------------------------------------------------


def estimate_record(p):
    """What is known of each arm, and the agents that are to play it."""
    n = capacity(p.arms)
    return record(
        count=(int64, n), total=(int64, n), draws=(float64, n),  # n, S and J, as released
        pending=(int64, n),  # pulls that were ordered and are not released
        seats=(int64, n), ahead=(float64, n), fresh=(float64, n),  # groups that play it; n and new J as if they had
        index=(float64, n), searched=(int64, n), tilt=(float64, n),  # a bound that may be too large, until it is searched for
    )  # fmt: skip


@node
def batch_of(open, p, k):
    """Pulls of one agent that make arm k due."""
    return max(p.first, ceil((p.growth - 1.0) * open.count[k]))


@node
def share_out(open, p, pulls):
    """seats[k] groups of agents for arm k, where all agents together have pulled `pulls` times."""
    for k in range(p.arms):
        open.seats[k], open.fresh[k] = 0, 0.0
        open.ahead[k] = float(open.count[k] + open.pending[k])
        look_at(open, p, k, pulls)
    for _ in range(p.groups):
        best = first_of(open, p)
        while open.searched[best] == 0:
            search(open, p, best, pulls)
            best = first_of(open, p)
        open.seats[best] += 1
        open.ahead[best] += float(p.portion * batch_of(open, p, best))
        open.fresh[best] = p.draws if p.draws > 0.0 else float(p.portion * open.seats[best])
        look_at(open, p, best, pulls)


@node
def first_of(open, p):
    """The arm with the largest index, of several the one with fewest pulls."""
    best = 0
    for k in range(1, p.arms):
        tie = open.index[k] == open.index[best] and open.ahead[k] < open.ahead[best]
        if open.index[k] > open.index[best] or tie:
            best = k
    return best


@node
def look_at(open, p, k, pulls):
    """What the l that was best last time says of an arm: it is no less than the index, and costs no search."""
    open.searched[k] = 0
    if open.count[k] == 0:
        open.index[k] = 2.0 if open.ahead[k] == 0.0 else -1.0  # never played; being played for the first time
        open.searched[k] = 1
    elif open.tilt[k] == 0.0:
        open.index[k] = 1.0
    else:
        n, draws = open.ahead[k], open.draws[k] + open.fresh[k]
        bound = bound_at(open.tilt[k], mean_of(open, p, k), n, draws, p.scale, level_of(p, pulls, n))
        open.index[k] = min(1.0, max(0.0, bound))


@node
def search(open, p, k, pulls):
    n, draws = open.ahead[k], open.draws[k] + open.fresh[k]
    open.tilt[k] = best_tilt(mean_of(open, p, k), n, draws, p.scale, level_of(p, pulls, n))
    bound = bound_at(open.tilt[k], mean_of(open, p, k), n, draws, p.scale, level_of(p, pulls, n))
    open.index[k], open.searched[k] = min(open.index[k], max(0.0, bound)), 1


# --- around a server: the client ------------------------------------------------------------------------


def client_open(p):
    n = capacity(p.arms)
    return record(
        number=int64, arm=int64, rounds=int64, leader=int64, asked=int64,
        due=(int64, n), waiting=(int64, n),  # arms that are asked for; own pulls of each arm that are not released
        count=(int64, n), total=(int64, n),  # of the arms that are asked for, in their order
        told_count=(int64, n), told_total=(int64, n),  # of each arm, in all own releases
    )  # fmt: skip


def report_record(p):
    return record(word=(int64, 2 * capacity(p.arms)))


def decision_record(p):
    """Words: the arms that are due after this epoch, then pairs of an arm and its seats."""
    return record(rounds=int64, leader=int64, asked=int64, played=int64, word=(int64, 3 * capacity(p.arms)))


@node
def hear_decision(open, peer, p, t, decision):
    """Groups move on by one seat in every epoch, so that all take part in exploring."""
    open.rounds, open.leader, open.asked = decision.rounds, decision.leader, decision.asked
    for d in range(open.asked):
        open.due[d] = decision.word[d]
    seat = (open.number // p.portion + t) % p.groups
    for e in range(decision.played):
        k, seats = decision.word[open.asked + 2 * e], decision.word[open.asked + 2 * e + 1]
        if 0 <= seat < seats:
            open.arm = k
        seat -= seats


@node
def choose(open, p, t, die, plan):
    open.waiting[open.arm] += open.rounds
    order(plan, open.arm, open.rounds)


@node
def idle(open, p, t, die):
    return open.leader


@node
def release(open, p, t, plan, out):
    for d in range(open.asked):
        if open.waiting[open.due[d]] > 0:
            offer(out, open.due[d], p.epsilon)


@node
def publish(open, p, t, plan, out):
    e = 0
    for d in range(open.asked):
        open.count[d] = open.total[d] = 0
        if e < out.entries and out.arm[e] == open.due[d]:
            open.count[d], open.total[d] = out.last[e] - out.first[e] + 1, out.value[e]
            open.told_count[open.due[d]] += open.count[d]
            open.told_total[open.due[d]] += open.total[d]
            open.waiting[open.due[d]] = 0
            e += 1


@node
def speak_report(open, p, t, report):
    said = 0
    for d in range(open.asked):
        report.word[2 * d], report.word[2 * d + 1] = open.count[d], open.total[d]
        said += open.count[d]
    return 2 * open.asked if said > 0 else 0


@node
def decision_fits(open, p, t, decision):
    """Arms in order, each once, and a seat for every group."""
    asked, played, seats = decision.asked, decision.played, 0
    if not (0 < decision.rounds <= p.horizon and 0 <= decision.leader < p.arms and 0 <= asked <= p.arms):
        return False
    if not (0 < played <= p.arms and in_order(decision.word, 0, asked, 1, p.arms)):
        return False
    for e in range(played):
        if not 0 < decision.word[asked + 2 * e + 1] <= p.groups:
            return False
        seats += decision.word[asked + 2 * e + 1]
    return seats == p.groups and in_order(decision.word, asked, played, 2, p.arms)


@node
def in_order(word, start, number, step, arms):
    """Whether arms that exist follow each other upwards."""
    last = -1
    for e in range(number):
        if not last < word[start + step * e] < arms:
            return False
        last = word[start + step * e]
    return True


@node
def own_worth(open, p, t, k):
    """By the own releases: a client is not told the estimates of all."""
    return open.told_total[k] / (UNIT * float(open.told_count[k])) if open.told_count[k] > 0 else nan


@node
def lie_report(open, p, t, tale, die, report):
    words = speak_report(open, p, t, report)
    for d in range(open.asked):
        report.word[2 * d + 1] = int(tale.value[open.due[d]] * UNIT) * report.word[2 * d]
    return words


# --- around a server: the server ------------------------------------------------------------------------


def server_open(p):
    return extend(estimate_record(p), now=int64, asked=int64, reports=int64, due=(int64, capacity(p.arms)))


def desk_record(p):
    return record(voices=int64)


@node
def hear_report(open, peer, p, t, report):
    add_up(open, open, peer, report)


@node
def add_up(book, open, peer, report):
    """A report of more pulls than were ordered is no agent's. Those of an idle agent are in none: `now` need not count them."""
    for d in range(open.asked):
        k, count = open.due[d], report.word[2 * d]
        if 0 < count <= peer.voices * open.now:
            book.count[k] += count
            book.total[k] += report.word[2 * d + 1]
            book.draws[k] += peer.voices


@node
def report_fits(open, p, t, report):
    """Of the arms that were asked for, no more pulls than were ordered, and of one of them at least some."""
    said = 0
    for d in range(open.asked):
        count, total = report.word[2 * d], report.word[2 * d + 1]
        if not 0 <= count <= open.now or (count == 0 and total != 0) or not has_room(open.total[open.due[d]]):
            return False
        if not can_sum_to(total, count, p.low, p.low + p.reach, p.scale * p.reach):
            return False
        said += count
    return said > 0


@node
def worth(open, p, t, k):
    return open.total[k] / (UNIT * float(open.count[k])) if open.count[k] > 0 else nan


@node
def speak_decision(open, p, t, decision):
    pulls = max(1.0, float(p.agents) * open.now)
    share_out(open, p, pulls)
    decision.leader = leader_of(open, p, pulls)
    decision.rounds = until_due(open, p)
    if pulls > p.pulls_most:  # nothing more is learned
        settle(open, p, decision)
    open.now += decision.rounds
    ask_for(open, p, decision)
    return 4 + open.asked + 2 * decision.played


@node
def until_due(open, p):
    """Rounds until the first arm that is played is due, and no fewer than a first batch has."""
    rounds = p.horizon
    for k in range(p.arms):
        if open.seats[k] > 0:
            missing = max(0.0, (p.growth - 1.0) * open.count[k] - open.pending[k])
            rounds = min(rounds, max(p.first, ceil(missing / (p.portion * open.seats[k]))))
    return rounds


@node
def settle(open, p, decision):
    for k in range(p.arms):
        open.seats[k] = p.groups if k == decision.leader else 0
    decision.rounds = p.horizon


@node
def ask_for(open, p, decision):
    """After the epoch that begins now, for arms whose pulls since the last release will have grown enough."""
    open.asked = decision.played = 0
    for k in range(p.arms):
        open.pending[k] += p.portion * open.seats[k] * decision.rounds
        if open.pending[k] > 0 and open.pending[k] >= (p.growth - 1.0) * open.count[k]:
            open.due[open.asked] = decision.word[open.asked] = k
            open.pending[k] = 0
            open.asked += 1
    decision.asked = open.asked
    for k in range(p.arms):
        if open.seats[k] > 0:
            place = open.asked + 2 * decision.played
            decision.word[place], decision.word[place + 1] = k, open.seats[k]
            decision.played += 1


# --- where agents differ: the average over agents, also where reports are lost ------------------------------


def account_record(p):
    """What an agent has reported of each arm."""
    n = capacity(p.arms)
    return record(voices=int64, count=(int64, n), total=(int64, n), draws=(float64, n))


@node
def file_report(open, peer, p, t, report):
    add_up(peer, open, peer, report)


@node
def level_out(open, peers, p, t):
    """Of each agent as many pulls count as are known of the one with fewest, with the mean that its own have.

    So S/n is the average over agents whatever was lost, and none is known before everyone was heard.
    """
    for d in range(open.asked):
        k = open.due[d]
        fewest = peers[0].count[k]
        for i in range(1, len(peers)):
            fewest = min(fewest, peers[i].count[k])
        open.count[k], open.total[k], open.draws[k] = len(peers) * fewest, 0, 0.0
        for i in range(len(peers) if fewest > 0 else 0):
            part = fewest / peers[i].count[k]
            open.total[k] += peers[i].total[k] if part == 1.0 else int(part * peers[i].total[k])
            open.draws[k] += part * part * peers[i].draws[k]


# --- a server that is handed sums, raw or with shares of noise ------------------------------------------------


@node
def share_release(open, p, t, plan, out):
    """Of every arm that is asked for: who has not played it adds a share of the noise."""
    for d in range(open.asked):
        offer(out, open.due[d], p.epsilon)
        open.waiting[open.due[d]] = 0


@node
def speak_briefly(open, p, t, report):
    report.word[0] = t
    return 1


@node
def speak_if_asked(open, p, t, report):
    """Who has not played what is asked for has nothing to say. What is enclosed is all that is new."""
    news = False
    for d in range(open.asked):
        news |= open.waiting[open.due[d]] > 0
    for k in range(p.arms if news else 0):
        open.waiting[k] = 0
    report.word[0] = t
    return 1 if news else 0


@node
def sums_release(open, p, t, plan, out):
    for d in range(open.asked):
        offer(out, open.due[d], p.epsilon)


@node
def sums_publish(open, p, t, plan, out):
    """So many pulls count as are in the sum: someone may have been away."""
    take_sums(open, out, p.draws)


@node
def count_report(open, peer, p, t, report):
    open.reports += peer.voices


@node
def brief_fits(open, p, t, report):
    return report.word[0] == t


@node
def shares_publish(open, p, t, plan, out):
    """Each report has brought its share of the noise."""
    take_sums(open, out, p.draws * (float(open.reports) / p.agents))
    open.reports = 0


@node
def take_sums(open, out, draws):
    for e in range(out.entries):
        k = out.arm[e]
        open.count[k] += out.last[e] - out.first[e] + 1
        open.total[k] += out.value[e]
        open.draws[k] += draws


CLIENT = Algorithm(
    "pooled_client", client_open, report_record, hears=decision_record, choose=choose, idle=idle, release=release,
    publish=publish, speak=speak_report, hear=hear_decision, lie=lie_report, fits=decision_fits, worth=own_worth,
)  # fmt: skip
SERVER = Algorithm(
    "pooled_server", server_open, decision_record, desk_record, hears=report_record, speak=speak_decision, hear=hear_report,
    fits=report_fits, worth=worth,
)  # fmt: skip
FILING = SERVER._replace(peer=account_record, hear=file_report, weigh=level_out)
BRIEF = CLIENT._replace(publish=contract.publish, lie=contract.lie)
SHARING = BRIEF._replace(release=share_release, speak=speak_briefly, mechanism=SHARES)
TRUSTING = BRIEF._replace(release=contract.release, speak=speak_if_asked, trusts=True, fits=None)
SUMMING = SERVER._replace(hear=contract.hear, release=sums_release, publish=sums_publish, fits=None)
OPENING = SUMMING._replace(hear=count_report, publish=shares_publish, mechanism=SUMS, sums=True, fits=brief_fits)
TRUSTED = SUMMING._replace(trusted=True)
ROLES = {"local": (CLIENT, SERVER), "secagg": (SHARING, OPENING), "central": (TRUSTING, TRUSTED)}


# --- among peers ----------------------------------------------------------------------------------------


def peer_open(p):
    n = capacity(p.arms)
    return extend(
        estimate_record(p),
        number=int64, window=int64, until=int64, arm=int64, quota=int64, leader=int64, playing=int64,
        said_count=int64, said_total=int64,
        waiting=(int64, n), released=(int64, n),  # own pulls
        lately=(int64, n),  # pulls of all that this window will bring; those of the last one are `pending`
    )  # fmt: skip


def peer_message(p):
    return record(arm=int64, count=int64, total=int64)


@node
def peer_hear(open, peer, p, t, message):
    """Claims that no agent can make are dropped."""
    if 0 <= message.arm < p.arms and 0 < message.count <= t:
        learn(open, message.arm, message.count, message.total)


@node
def learn(open, k, count, total):
    open.count[k] += count
    open.total[k] += total
    open.draws[k] += 1.0
    arrived = min(open.pending[k], count)
    open.pending[k] -= arrived
    open.lately[k] = max(0, open.lately[k] - (count - arrived))


@node
def peer_choose(open, p, t, die, plan):
    """A batch of the arm to explore, then the leader: until enough of it can be released, or the window ends."""
    if t > open.until:
        begin_window(open, p, t)
    open.playing, pulls = open.arm, open.quota
    if pulls == 0:
        open.playing = open.leader
        pulls = min(open.until - t + 1, max(1, own_batch(open, p, open.leader) - open.waiting[open.leader]))
    open.waiting[open.playing] += pulls
    order(plan, open.playing, pulls)


@node
def begin_window(open, p, t):
    """What the last window should have brought is on its way; what the one before should have is given up."""
    while open.until < t:
        open.until += max(p.first, ceil(p.pace * (open.until + 1)))
        open.window += 1
    rounds, pulls = open.until - t + 1, float(p.agents) * t
    for k in range(p.arms):
        open.pending[k] = open.lately[k]
    share_out(open, p, pulls)
    open.leader = leader_of(open, p, pulls)
    open.arm, seat = open.leader, (open.number // p.portion + open.window) % p.groups
    for k in range(p.arms):
        open.lately[k] = p.portion * open.seats[k] * min(rounds, batch_of(open, p, k))
        if 0 <= seat < open.seats[k]:
            open.arm = k
        seat -= open.seats[k]
    open.quota = 0 if open.arm == open.leader else min(rounds, batch_of(open, p, open.arm))


@node
def own_batch(open, p, k):
    """Own pulls of an arm that are worth a release, if it is not explored."""
    return max(p.first, ceil((p.growth - 1.0) * open.released[k]))


@node
def peer_release(open, p, t, plan, out):
    if open.quota > 0 or open.waiting[open.playing] >= own_batch(open, p, open.playing):
        offer(out, open.playing, p.epsilon)


@node
def peer_publish(open, p, t, plan, out):
    open.quota = open.said_count = 0
    if out.entries > 0:
        k = open.playing
        open.said_count, open.said_total = open.waiting[k], out.value[0]
        open.released[k] += open.said_count
        open.waiting[k] = 0
        learn(open, k, open.said_count, open.said_total)


@node
def peer_speak(open, p, t, message):
    message.arm, message.count, message.total = open.playing, open.said_count, open.said_total
    return 3 if open.said_count > 0 else 0


@node
def peer_fits(open, p, t, message):
    k = message.arm
    possible = 0 <= k < p.arms and 0 < message.count <= t and has_room(open.total[k])
    return possible and can_sum_to(message.total, message.count, p.low, p.low + p.reach, p.scale * p.reach)


@node
def peer_lie(open, p, t, tale, die, message):
    if tale.arm >= 0:
        message.arm, message.count = tale.arm, max(1, t // tale.shares)
    message.total = int(tale.value[message.arm] * UNIT) * message.count
    return 3


PEER = Algorithm(
    "pooled_peer", peer_open, peer_message, choose=peer_choose, release=peer_release, publish=peer_publish, speak=peer_speak,
    hear=peer_hear, lie=peer_lie, fits=peer_fits, worth=worth, seldom=True, commits=True, rounds=True,
)  # fmt: skip


# --- what a study may set, and what it means ----------------------------------------------------------------


class PooledOptions(SumOptions):
    """Those of all three."""

    mode: Literal["private"] = Field("private", description="there is no printed form")
    epsilon: float = Field(1.0, ge=EPSILON_LEAST, description="inf: no privacy",
        json_schema_extra=enters(
            "U = min over 0 < l < epsilon of (1 - exp(-l x - (B - J ln(1 - l^2 / epsilon^2)) / n)) / (1 - exp(-l))"))
    noise: Literal["local", "secagg", "central"] = Field("local", description="who adds it",
        json_schema_extra=enters(
            "J grows by a draw for each report (local), by M / honest (secagg) or by 1 (central) for each sum"))
    through: Literal["server", "peers", "components"] = Field("server", description="how reports travel")
    play: Literal["apart", "together"] | None = Field(None, description="default: apart where all agents see the same means",
        json_schema_extra=enters(
            "apart: x = S / n over whoever played; together: all play one arm, equally often",
            default="'apart'; 'together' where agents differ"))
    batch: int | None = Field(None, ge=1, le=10**9, description="rounds of a first batch; default about 8 / epsilon",
        json_schema_extra=enters(
            "b0 = ceil(8 / epsilon x share); share: min(1, 5 sqrt(K / M)) apart, min(1, sqrt(10 / M)) together, less where "
            "others add the noise",
            default="as the formula says"))
    growth: float = Field(1.5, ge=1.01, le=16, description="an arm is released when its pulls have grown by this factor",
        json_schema_extra=enters("an arm with n released pulls is due after max(b0, (growth - 1) n) more"))
    thrift: float = Field(0.5, ge=0, le=1, description="0: most cautious; 1: lower regret in the mean, and rare bad runs",
        json_schema_extra=enters("B = max(0, ln N - thrift ln n)"))
    life: Life = Field("diameter", description="hops a message lives",
        json_schema_extra=enters("n, S: sums over all agents d <= life hops away, as of round t - d"))
    pace: float | None = Field(None, ge=1e-3, le=1, description="a window lasts so many times the rounds before it",
        json_schema_extra=enters("a window lasts max(b0, pace x rounds before it) rounds", default="0.1 min(1, M / (2 K))"))


AROUND_SERVER = PooledOptions.without("life", "pace")
AMONG_PEERS = PooledOptions.without("noise", "honest", "quorum", "colluders", "through", "play")
SOLO = AMONG_PEERS.without("life", "pace").by_default(epsilon=inf, growth=1.2)
STRUCTURES = {"server": "server", "peers": "synchronise", "components": "hybrid"}


def build_pooled(o: PooledOptions, s: Setting) -> Method:
    check(o, s)
    together = o.play == "together" or (o.play is None and not s.homogeneous)
    noise = o.noise if o.epsilon < inf else "local"
    client, server = ROLES[noise]
    if together and not s.homogeneous and noise == "local":  # sums of all say nothing of one
        server = FILING
    crew = quorum_of(s.agents, o.honest, o.quorum, o.colluders) if noise == "secagg" else None
    p = make_params(o, s, noise, together, draws=s.agents / crew.holders if crew else 1.0 if noise == "central" else 0.0)
    apart = "play = 'apart' estimates the mean of those who played an arm, not of all: agents differ, so use 'together'"
    return Method(
        client, p, claim(noise, o.epsilon), server=server, structure=STRUCTURES[o.through],
        holders=crew.holders if crew else 1, quorum=crew.quorum if crew else 0,
        crowds=crowds_of(p) if s.homogeneous else (), known={"number": np.arange(s.agents)},
        warnings=advice(o, s) if s.homogeneous or together else (*advice(o, s), apart),
    )  # fmt: skip


def crowds_of(p: Any) -> tuple[int, ...]:
    """Groups move as one."""
    return tuple(min(p.portion, p.agents - start) for start in range(0, p.agents, p.portion)) if p.portion > 1 else ()


def build_solo(o: PooledOptions, s: Setting) -> Method:
    """Every agent with a server of its own."""
    one = s._replace(agents=1, homogeneous=True, weights=())
    check(o, one)
    p = make_params(o, one, "local", together=True)
    return Method(CLIENT, p, claim("local", o.epsilon), server=SERVER, structure="alone")


def build_peer(o: PooledOptions, s: Setting) -> Method:
    check(o, s)
    pace = o.pace or 0.1 * min(1.0, s.agents / (2.0 * s.arms))  # every arm needs its turn
    p = make_params(o, s, "local", together=False, pace=pace)
    unlike = "agents differ: what is estimated of an arm is the mean of those who explored it"
    warnings = advice(o, s) if s.homogeneous else (*advice(o, s), unlike)
    return Method(
        PEER, p, claim("local", o.epsilon), known={"number": np.arange(s.agents)}, life=o.life, warnings=warnings
    )  # fmt: skip


def advice(o: PooledOptions, s: Setting) -> tuple[str, ...]:
    """What a setting asks for that costs more than it must."""
    found = []
    if s.reach > WIDE * s.proxy:
        found.append(
            f"rewards differ by {s.proxy:g} or so within a range of {s.reach:g}, and the index counts on the range: "
            "narrow problem.clip, or take cdp-mab"
        )
    if o.batch and o.batch > longest_first(s):
        found.append(f"batch = {o.batch} is more than every arm can have: first batches end after {longest_first(s)}")
    return tuple(found)


def longest_first(s: Setting) -> int:
    """Rounds of a first batch that leave as many for every arm."""
    return max(1, s.horizon // s.arms)


def check(o: PooledOptions, s: Setting) -> None:
    if s.unbounded:
        raise UsageError("rewards must be bounded for a pooled index: give problem.clip = [low, high]")
    if s.weights:
        raise UsageError("problem.weights must be left out: pooling averages all agents alike")
    if o.noise != "local" and o.through != "server":
        raise UsageError(f"noise must be local with through = {o.through!r}, where single reports travel, got {o.noise!r}")
    check_unused(o.noise, honest=o.honest, quorum=o.quorum, colluders=o.colluders)


def make_params(o: PooledOptions, s: Setting, noise: str, together: bool, draws: float = 0.0, pace: float = 0.0) -> Any:
    portion = s.agents if together else ceil(s.agents / PORTIONS)
    first = o.batch or first_batch(o.epsilon, s, noise, together)
    return params(
        o, s, agents=s.agents, horizon=s.horizon, low=s.low, reach=s.reach,
        portion=portion,  # agents that always play the same arm
        groups=ceil(s.agents / portion),  # of so many agents, the last one perhaps smaller
        first=min(first, longest_first(s)),  # b0: rounds of a first batch
        scale=0.0 if o.epsilon == inf else 1.0 / o.epsilon,  # of one draw of noise, in widths of a reward; 0: none
        draws=draws,  # of noise in a release; 0: one of each agent that reports
        pace=pace,  # a window lasts so many times the rounds before it
        pulls_most=PULLS_MOST / max(abs(s.low), abs(s.high)),
    )  # fmt: skip


def first_batch(epsilon: float, s: Setting, noise: str, together: bool) -> int:
    """Rounds after which noise is not the larger part of a batch; fewer where many agents share an arm."""
    if epsilon == inf:
        return 1
    if noise == "local":
        share = sqrt(10.0 / s.agents) if together else 5.0 * sqrt(s.arms / s.agents)
    else:
        share = 1.0 / s.agents if together else float(s.arms) / s.agents
    return max(1, ceil(8.0 / epsilon * min(1.0, share) - 1e-9))


def claim(noise: str, epsilon: float) -> Claim:
    notes = {
        "local": "each reward enters one noised batch, once, whatever the horizon",
        "secagg": "holds only if secure aggregation shows the sum of all reports and no single one, which carries a share of "
        "the noise only, and only if as many agents as stated are honest",
        "central": "the server is trusted: it receives raw sums and adds the noise",
    }
    return Claim(epsilon, note="no noise is added" if epsilon == inf else notes[noise])


ENTRIES = (
    Entry("pooled-ucb", "all agents are one learner with many hands; a server shares them out among the arms", AROUND_SERVER,
          build_pooled,
          ({}, {"epsilon": inf}, {"noise": "secagg"}, {"noise": "central"}, {"play": "together", "growth": 2.0, "thrift": 0.0},
           {"through": "peers"}, {"through": "components", "epsilon": 0.3})),
    Entry("peer-ucb", "all agents are one learner with many hands; each hears the others, without a server",
          AMONG_PEERS, build_peer, ({}, {"epsilon": inf})),
    Entry("solo-ucb", "every agent learns alone by the same rule and sends nothing", SOLO, build_solo, ({}, {"epsilon": 1.0})),
)
