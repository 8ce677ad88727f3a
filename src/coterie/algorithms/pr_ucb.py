"""PR-UCB: private and robust at once. Released batch means are votes, and a median over votes takes no notice of liars.

Sender: the rewards of an arm are collected in fresh batches of b0, g b0, g^2 b0, ... pulls. A full batch is released once, with
Laplace noise for epsilon; only releases are sent. Every reward is in one release, and everything else is a function of
releases: the whole transcript is epsilon-private for every reward, whatever the horizon.

Receiver: the latest release of every origin within reach, and the own one, is one vote on its arm, and votes get sharper as
batches grow. Of n votes l = floor(beta n) may be lies. For the median to be below mu - r, at least h = ceil(n / 2) - l of the
n - l others must be, each of which is with a probability of at most tail(r, its batch size):

    U = median + r,  r the least radius with  mean of tail(r, b) <= allowed(n)  over the n - l smallest claimed sizes b

where allowed(n) is the mean at which h of n - l independent votes fail together with probability T^(-c^2). Liars who claim
large batches are left out of the mean, and those who claim small ones make U larger. The own clip keeps U within the radius of
the own latest release, which fails with probability 1 / T: without it an agent can go on for ever on stale votes of others who
have stopped pulling an arm.

    median  the algorithm
    mean    the mean of votes in its place, for comparison: liars own it
    scouts  agent j releases votes on arm j mod K only; everyone plays its scout arm or the leader. Fewer, larger batches

Threat model, what is proved and what is not, price and limits: docs/pr-ucb.md.
"""

from math import ceil, inf, nan
from typing import Any, Literal

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie.algorithms.cooperative import CoopOptions
from coterie.contract import Algorithm, Claim, Entry, Method, Setting, can_sum_to, offer, order, params
from coterie.errors import UsageError
from coterie.kernel import UNIT, argmax, capacity, node, one, record
from coterie.limits import EPSILON_LEAST
from coterie.options import enters
from coterie.theory.votes import LEVELS, tail_allowed, tail_table

FINE = 1 << 32  # unit of votes in sums: integers add up the same in any order


def open_record(p):
    n, rungs = capacity(p.arms), capacity(p.rungs)
    return record(
        arm=int64, scout=int64, news=int64,
        pulls=(int64, n), filled=(int64, n), rung=(int64, n),  # of the batch that is being filled
        said=(int64, n), said_rung=(int64, n), said_total=(int64, n), own=(float64, n),  # own latest release, if there is one
        votes=(int64, n), whole=(int64, n), batches=(int64, (n, rungs)), ballot=(float64, (n, capacity(p.voters))),
        stale=(int64, n), centre=(float64, n), level=(int64, n), index=(float64, n),  # level: place of the radius
    )  # fmt: skip


def message_record(p):
    return record(arm=int64, rung=int64, total=int64)


def peer_record(p):
    n = capacity(p.arms)
    return record(origin=int64, voted=(int64, n), rung=(int64, n), vote=(float64, n))


# --- receiving: votes ------------------------------------------------------------------------------------


@node
def hear(open, peer, p, t, message):
    """Claims that no honest agent can make are dropped: unknown arms and sizes, batches older than the run, others' scouts."""
    k, e = message.arm, message.rung
    if k < 0 or k >= p.arms or e < 0 or e >= p.rungs:
        return
    if p.tables.sizes[e] > t or (p.scouts and k != peer.origin % p.arms):
        return
    vote = message.total / (UNIT * float(p.tables.sizes[e]))
    if peer.voted[k] == 1 and peer.rung[k] == e and peer.vote[k] == vote:
        return
    cast(open, k, e, vote, peer.voted[k], peer.rung[k], peer.vote[k])
    peer.voted[k], peer.rung[k], peer.vote[k] = 1, e, vote


@node
def cast(open, k, e, vote, voted, old_e, old):
    """In place of the voter's older vote, if it has voted. The ballot stays sorted: only what lies between the two moves."""
    here = open.votes[k]
    if voted == 1:
        here = lower_votes(open, k, old, 0, here)
        open.whole[k] -= int(old * FINE)
        open.batches[k, old_e] -= 1
    else:
        open.votes[k] += 1
    there = lower_votes(open, k, vote, 0, here)
    if there == here:
        there = lower_votes(open, k, vote, here + 1, open.votes[k]) - 1
    for place in range(here, there):
        open.ballot[k, place] = open.ballot[k, place + 1]
    for back in range(here - there):
        open.ballot[k, here - back] = open.ballot[k, here - back - 1]
    open.ballot[k, there] = vote
    open.whole[k] += int(vote * FINE)
    open.batches[k, e] += 1
    open.stale[k] = 1


@node
def lower_votes(open, k, vote, first, end):
    """Of the ballot: where those lower than this one end, between two places."""
    while first < end:
        middle = (first + end) // 2
        if open.ballot[k, middle] < vote:
            first = middle + 1
        else:
            end = middle
    return first


@node
def centre_of(open, p, k):
    n = open.votes[k]
    if p.median:
        return 0.5 * (open.ballot[k, (n - 1) // 2] + open.ballot[k, n // 2])
    return float(open.whole[k]) / (FINE * float(n))


@node
def weigh_up(open, p, k):
    """Where the votes on arm k are, and the least radius by which they may be off."""
    n, level = open.votes[k], open.level[k]
    open.centre[k] = centre_of(open, p, k)
    honest = n - int(p.liars_assumed * n + 1e-9)
    while misled(open, p, k, honest, level) > p.tables.allowed[n] * honest:
        level -= 1
    while level + 1 < LEVELS and misled(open, p, k, honest, level + 1) <= p.tables.allowed[n] * honest:
        level += 1
    open.level[k], open.stale[k] = level, 0


@node
def misled(open, p, k, honest, level):
    """How many votes are expected to be too low by the radius, if those who claim the smallest batches are the honest ones.

    Whatever sizes liars claim, the honest votes are expected to be no more.
    """
    total, e = 0.0, 0
    while honest > 0:
        held = min(honest, open.batches[k, e])
        total += held * p.tables.tails[level, e]
        honest, e = honest - held, e + 1
    return total


# --- deciding --------------------------------------------------------------------------------------------


@node
def choose(open, p, t, die, plan):
    if t <= p.arms * p.tables.sizes[0]:
        open.arm = (t - 1) // p.tables.sizes[0] if p.commit else (t - 1) % p.arms
    else:
        for k in range(p.arms):
            open.index[k] = bound(open, p, k, 1.0)
        open.arm = argmax(open.index, p.arms)
    commit(open, p, plan)


@node
def commit(open, p, plan):
    """To one pull, or to the rest of the arm's batch."""
    k = open.arm
    pulls = p.tables.sizes[open.rung[k]] - open.filled[k] if p.commit else 1
    open.pulls[k] += pulls
    open.filled[k] += pulls
    order(plan, k, pulls)


@node
def bound(open, p, k, side):
    """Above (side 1) or below (-1) the mean of arm k, as far as votes tell and the own latest release allows."""
    if open.votes[k] == 0:
        return side * inf
    if open.stale[k]:
        weigh_up(open, p, k)
    index = open.centre[k] + side * p.tables.radii[open.level[k]]
    if p.own_clip and open.said[k]:
        radius = p.tables.own_radii[open.said_rung[k]]
        return min(max(index, open.own[k] - radius), open.own[k] + radius)
    return index


@node
def scouts_choose(open, p, t, die, plan):
    """The own scout arm, or the arm whose lower bound leads."""
    open.arm = open.scout
    if t > p.tables.sizes[0]:
        for k in range(p.arms):
            open.index[k] = bound(open, p, k, -1.0)
        leader = argmax(open.index, p.arms)
        if bound(open, p, open.scout, 1.0) < bound(open, p, leader, 1.0):
            open.arm = leader
    commit(open, p, plan)


# --- sending: batches ------------------------------------------------------------------------------------


@node
def release(open, p, t, plan, out):
    k = open.arm
    if (not p.scouts or k == open.scout) and open.filled[k] == p.tables.sizes[open.rung[k]]:
        offer(out, k, p.epsilon)


@node
def publish(open, p, t, plan, out):
    k, open.news = open.arm, out.entries
    e = open.rung[k]
    if out.entries > 0:
        vote = out.value[0] / (UNIT * float(p.tables.sizes[e]))
        cast(open, k, e, vote, open.said[k], open.said_rung[k], open.own[k])
        open.said[k], open.said_rung[k], open.said_total[k], open.own[k] = 1, e, out.value[0], vote
    if open.filled[k] == p.tables.sizes[e]:
        open.filled[k], open.rung[k] = 0, e + 1


@node
def speak(open, p, t, message):
    k = open.arm
    message.arm, message.rung, message.total = k, open.said_rung[k], open.said_total[k]
    return 3 if open.news > 0 else 0


@node
def fits(open, p, t, message):
    """`hear` drops other claims that no honest agent can make; a total must be one that so many rewards and noise can have."""
    k, e = message.arm, message.rung
    if k < 0 or k >= p.arms or e < 0 or e >= p.rungs or p.tables.sizes[e] > t:
        return False
    return can_sum_to(message.total, p.tables.sizes[e], p.low, p.high, p.reach / p.epsilon)


@node
def worth(open, p, t, k):
    return centre_of(open, p, k) if open.votes[k] > 0 else nan


@node
def lie(open, p, t, tale, die, message):
    """A vote on every arm in turn, or on the own scout arm, claiming the largest batch size up to t / 2."""
    if tale.arm >= 0:
        message.arm, message.rung = open.scout if p.scouts else t % p.arms, 0
        while message.rung + 1 < p.rungs and 2 * p.tables.sizes[message.rung + 1] <= t:
            message.rung += 1
    message.total = int(tale.value[message.arm] * UNIT) * p.tables.sizes[message.rung]
    return 3


MEDIAN = Algorithm(
    "pr_ucb", open_record, message_record, peer_record, choose=choose, release=release, publish=publish, speak=speak,
    hear=hear, lie=lie, fits=fits, worth=worth, seldom=True,
)  # fmt: skip
SCOUTS = MEDIAN._replace(name="pr_ucb_scouts", choose=scouts_choose)


# --- what a study may set, and what it means ------------------------------------------------------------


class VoteOptions(CoopOptions):
    mode: Literal["private"] = Field("private", description="there is no printed form")
    epsilon: float = Field(1.0, ge=EPSILON_LEAST, description="inf: no privacy",
        json_schema_extra=enters("Laplace noise of scale 1 / epsilon on the sum of a batch"))
    batch: int | None = Field(None, ge=1, le=10**9, description="b0: pulls in the first batch; default 4 / epsilon, at least 4",
        json_schema_extra=enters("sizes b0, g b0, g^2 b0, ...", default="4 / epsilon, 4 at least"))
    growth: float = Field(2.0, ge=1.1, le=16, description="g: factor between batches",
        json_schema_extra=enters("sizes b0, g b0, g^2 b0, ..."))
    liars_assumed: float = Field(0.3, ge=0, lt=0.5, description="beta: share of liars among the votes",
        json_schema_extra=enters("of n votes floor(beta n) may lie: ceil(n / 2) - floor(beta n) honest ones must be wrong"))
    votes: Literal["median", "mean", "scouts"] = Field("median", description="what is made of the votes on an arm",
        json_schema_extra=enters("U = x + r, x: median or mean of the votes"))
    own_clip: bool = Field(True, description="whether the own latest release bounds what votes say",
        json_schema_extra=enters("U is moved into x_own +- r_own, where tail(r_own, b_own) = 1 / T"))
    commit: bool = Field(False, description="whether a batch once begun is played to its end")
    explore: float = Field(0.5, ge=1e-6, le=10, description="c: votes mislead with probability horizon^(-c^2) at most",
        json_schema_extra=enters("P(x + r < mu) <= T^(-c^2)"))


def build(o: VoteOptions, s: Setting) -> Method:
    if s.liars >= 0.5:
        raise UsageError(f"liars must be below 0.5, where a median breaks down, got {s.liars:g}")
    sizes, voters = ladder(first_batch(o), o.growth, s.horizon), 1 + s.hears(o.life)
    p = params(
        o, s,
        low=s.low, high=s.high, reach=s.reach,
        voters=voters,  # room for one vote of each that can be heard, and the own one
        rungs=len(sizes),  # sizes of batches: rung e has size p.tables.sizes[e]
        median=o.votes != "mean", scouts=o.votes == "scouts", tables=tables(o, s, sizes, voters),
    )  # fmt: skip
    rule = (SCOUTS if p.scouts else MEDIAN)._replace(commits=o.commit)
    return Method(rule, p, claim(o), known={"scout": np.arange(s.agents) % s.arms}, life=o.life, warnings=warnings(o, s))


def first_batch(o: VoteOptions) -> int:
    return o.batch or ceil(4 / min(1.0, o.epsilon))


def ladder(first: int, growth: float, horizon: int) -> list[int]:
    """Sizes of batches up to one that the horizon cannot fill; none is repeated.

    >>> ladder(10, 2.0, 100)
    [10, 20, 40, 80, 160]
    """
    sizes = [first]
    while sizes[-1] <= horizon:
        sizes.append(max(sizes[-1] + 1, ceil(first * growth ** len(sizes))))
    return sizes


def tables(o: VoteOptions, s: Setting, sizes: list[int], voters: int) -> Any:
    """How far votes may be off."""
    coins = {0.0, 1.0} <= set(s.reward_values)
    radii, tails = tail_table(tuple(sizes), s.reach / o.epsilon, s.proxy, coins)
    own_level = [np.flatnonzero(tail <= 1 / s.horizon)[-1] for tail in tails.T]
    rungs, room = capacity(len(sizes)), capacity(voters + 1)
    found = one(record(
        sizes=(int64, rungs), radii=(float64, LEVELS), tails=(float64, (LEVELS, rungs)),  # of each size, at each radius
        allowed=(float64, room), own_radii=(float64, rungs),  # by the number of votes, by the own size
    ))  # fmt: skip
    found.sizes[: len(sizes)], found.own_radii[: len(sizes)], found.tails[:, : len(sizes)] = sizes, radii[own_level], tails
    found.radii, found.allowed = radii, tail_allowed(room - 1, o.liars_assumed, s.horizon ** -(o.explore**2))
    return found


def claim(o: VoteOptions) -> Claim:
    once = "each reward enters one noised batch, once, whatever the horizon"
    return Claim(o.epsilon, note="no noise is added" if o.epsilon == inf else once)


def warnings(o: VoteOptions, s: Setting) -> tuple[str, ...]:
    texts = []
    if s.liars > o.liars_assumed:
        texts.append(f"liars_assumed = {o.liars_assumed:g} is below the share of liars, {s.liars:g}: no guarantee holds")
    if o.commit and (first := first_batch(o)) * s.arms > s.horizon:
        texts.append(f"first batches of {first:,} pulls do not end within {s.horizon:,} rounds: some arms are not played")
    if o.votes == "scouts" and s.agents < 30 * s.arms:
        texts.append(f"scouts want 30 votes on every arm: {s.agents} agents give {s.agents // s.arms}")
    return tuple(texts)


ENTRIES = (
    Entry("pr-ucb", "agents pass noisy means to agents nearby and take the median, so that a minority of liars cannot win",
          VoteOptions, build,
          ({}, {"votes": "mean", "own_clip": False}, {"votes": "scouts", "epsilon": 0.5},
           {"epsilon": 0.3, "batch": 4, "growth": 1.5}, {"commit": True, "batch": 2}, {"commit": True, "votes": "scouts"})),
)
