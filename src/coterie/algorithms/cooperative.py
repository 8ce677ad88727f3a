"""Cooperation with delays (Dubey and Pentland 2020): released sums travel up to `life` hops, one hop a round.

Every agent plays the arm with the largest S/N + sqrt(2 ln t / N), where N and S count and add up its own rewards and the latest
word of every agent within reach. The algorithms differ in what they let out and what they decide from:

    ucb1         nothing leaves: every agent for itself
    coop-ucb     exact counts and sums
    private-ucb  noised sums, released after 1, 2, ... pulls of an arm so sparsely that their costs add up slowly:
                 pull n pays e n^(-v/2) into the arm's purse, a release at n pulls costs n^(-v/2) and empties it
    dp-ucb-int   a single agent that decides from its own noised means, refreshed every ceil(1/e) pulls of an arm

`paper` is the printed form of private-ucb: own rewards enter raw and current counts travel, so visible choices carry raw sums
and no finite epsilon holds. `corrected` decides from released numbers only, at the printed noise: its true loss is the sum of
its prices, and not the e it is called by. `private` scales the noise so that this sum is the stated epsilon.
"""

from math import ceil, exp, inf, log, nan, sqrt
from typing import Annotated, Any, Literal

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie import contract
from coterie.contract import Algorithm, Claim, Entry, Method, Options, Setting, can_sum_to, has_room, offer_all, order, params
from coterie.errors import UsageError
from coterie.kernel import UNIT, argmax, capacity, extend, node, record
from coterie.limits import AGENTS_MOST, EPSILON_LEAST
from coterie.options import enters
from coterie.privacy.door import FINEST
from coterie.privacy.mechanisms import KEPT
from coterie.theory.cooperative import Releases, losses, multiples, release_counts


def open_record(p):
    n = capacity(p.arms)
    return record(
        arm=int64, news=int64, price=float64, pulls=(int64, n), purse=(float64, n),
        count=(int64, n), total=(int64, n),  # own, as released
        heard_count=(int64, n), heard_total=(int64, n),  # the latest words of all others, summed
        width=(float64, n), index=(float64, n),
    )  # fmt: skip


def message_record(p):
    return record(arm=int64, count=int64, total=int64)


@node
def choose(open, p, t, die, plan):
    commit(open, plan, best_arm(open, open, p, t))


@node
def best_arm(own, view, p, t):
    """By round robin at first, then by the index. Where all speak in every round, nearly all numbers are new in every round."""
    if t <= p.explore:
        return (t - 1) % p.arms
    scale = sqrt(2.0 * log(t))
    for k in range(p.slots):  # no branch, so that it is a loop of vectors
        average, view.width[k] = known(own, view, k)
        view.index[k] = index(average, view.width[k], scale)
    return argmax(view.index, p.arms)


@node
def known(own, view, k):
    """Average and width of arm k, by an agent's own numbers, as released or (as printed) raw, and those that it has heard."""
    count, total = own.count[k] + view.heard_count[k], own.total[k] + view.heard_total[k]
    share = 1.0 / max(count, 1)
    return total / UNIT * share, sqrt(share) if count > 0 else 0.0


@node
def index(average, width, scale):
    """The radius is sqrt(2 ln t / count). Width 0: nothing is known yet."""
    return average + scale * width if width > 0.0 else inf


@node
def commit(open, plan, k):
    open.pulls[k] += 1
    open.arm = k
    order(plan, k, 1)


@node
def release(open, p, t, plan, out):
    offer_all(out, open.arm, inf)


@node
def publish(open, p, t, plan, out):
    k, open.news = open.arm, out.entries
    if out.entries > 0:
        open.count[k], open.total[k], open.purse[k] = out.last[0], out.value[0], 0.0


@node
def speak(open, p, t, message):
    message.arm, message.count, message.total = open.arm, open.count[open.arm], open.total[open.arm]
    return 3 if open.news > 0 else 0


@node
def hear(open, peer, p, t, news):
    open.heard_count[news.arm] += news.count
    open.heard_total[news.arm] += news.total


@node
def fits(open, p, t, message):
    return counts_so_many(open, p, t, message) and can_sum_to(message.total, message.count, p.low, p.high, 0.0)


@node
def counts_so_many(open, p, t, message):
    """An arm that exists, no more pulls than turns, and room for the sum."""
    k = message.arm
    return 0 <= k < p.arms and 0 < message.count <= t and has_room(open.heard_total[k])


@node
def worth(open, p, t, k):
    average, width = known(open, open, k)
    return average if width > 0.0 else nan


@node
def lie(open, p, t, tale, die, message):
    """A liar claims to have shared its pulls among the arms it talks about."""
    if tale.arm >= 0:
        message.arm, message.count = tale.arm, max(1, t // tale.shares)
    message.total = int(tale.value[message.arm] * UNIT) * message.count
    return 3


COOP = Algorithm(
    "coop_ucb", open_record, message_record, choose=choose, release=release, publish=publish, speak=speak, hear=hear, lie=lie,
    fits=fits, worth=worth, additive="words", marks=lambda p: 0,
)  # fmt: skip


# --- quiet: where little is new in a round, and the rest is kept -----------------------------------------


def quiet_open(p):
    return extend(open_record(p), average=(float64, capacity(p.arms)))


@node
def quiet_choose(open, p, t, die, plan):
    if t <= p.explore:
        commit(open, plan, (t - 1) % p.arms)
        return
    scale = sqrt(2.0 * log(t))
    for k in range(p.arms):
        open.index[k] = index(open.average[k], open.width[k], scale)
    commit(open, plan, argmax(open.index, p.arms))


@node
def quiet_publish(open, p, t, plan, out):
    publish(open, p, t, plan, out)
    if out.entries > 0:
        open.average[open.arm], open.width[open.arm] = known(open, open, open.arm)


@node
def quiet_hear(open, peer, p, t, news):
    hear(open, peer, p, t, news)
    open.average[news.arm], open.width[news.arm] = known(open, open, news.arm)


QUIET = COOP._replace(open=quiet_open, choose=quiet_choose, publish=quiet_publish, hear=quiet_hear)


# --- private: releases are bought --------------------------------------------------------------------


@node
def private_choose(open, p, t, die, plan):
    quiet_choose(open, p, t, die, plan)
    pay(open, p)


@node
def pay(open, p):
    open.price = exp(-0.5 * p.rate * log(open.pulls[open.arm]))
    open.purse[open.arm] += p.nominal * open.price


@node
def private_release(open, p, t, plan, out):
    if open.purse[open.arm] >= open.price * (1.0 - 1e-12):
        offer_all(out, open.arm, p.scale * open.price)


@node
def private_fits(open, p, t, message):
    """The noise is that of a release at so many pulls."""
    if not counts_so_many(open, p, t, message):
        return False
    noise = p.reach / (p.scale * exp(-0.5 * p.rate * log(message.count)))
    return can_sum_to(message.total, message.count, p.low, p.high, noise)


PRIVATE = QUIET._replace(name="private_ucb", choose=private_choose, release=private_release, fits=private_fits)


# --- as printed: own rewards enter raw, and current counts travel --------------------------------------


def printed_inner(p):
    n = capacity(p.arms)
    return record(
        pivotal=int64, heard_count=(int64, n), heard_total=(int64, n), width=(float64, n), index=(float64, n),
    )  # fmt: skip


@node
def printed_peek(secret, inner, open, p, t, die, plan):
    arm = best_arm(secret, inner, p, t)
    if t > p.explore:
        inner.pivotal += pivotal(secret, inner, p, arm)
    order(plan, arm, 1)


@node
def pivotal(secret, inner, p, best):
    """1 if another value of one own reward would have changed the choice: it is then plain for all to see.

    A reward 1 of the chosen arm may become 0, a reward 0 of another arm 1; in between lies nothing that changes more.
    """
    top = inner.index[best]
    low = top - inner.width[best] * inner.width[best] * p.reach if secret.count[best] > 0 and secret.total[best] > 0 else top
    for k in range(p.arms):
        raised = inner.index[k]
        if k != best:
            if raised > low or (raised == low and k < best):
                return 1
            if secret.count[k] > 0 and secret.total[k] < secret.count[k] * UNIT:
                raised += inner.width[k] * inner.width[k] * p.reach
            if raised > top or (raised == top and k < best):
                return 1
    return 0


@node
def printed_overhear(secret, inner, open, peer, p, t, news):
    inner.heard_count[news.arm] += news.count
    inner.heard_total[news.arm] += news.total


@node
def printed_release(open, p, t, plan, out):
    open.arm = plan.arm[0]
    open.pulls[open.arm] += 1
    pay(open, p)
    private_release(open, p, t, plan, out)


@node
def printed_publish(open, p, t, plan, out):
    if out.entries > 0:
        k = open.arm
        open.count[k], open.total[k], open.purse[k] = out.last[0], out.value[0], 0.0


@node
def printed_speak(open, p, t, message):
    k = open.arm
    message.arm, message.count, message.total = k, open.pulls[k], 0
    if open.count[k] > 0:
        message.total = int(float(open.total[k]) * open.pulls[k] / open.count[k])
    return 3 if open.count[k] > 0 else 0


PRINTED = PRIVATE._replace(
    name="private_ucb_printed", inner=printed_inner, peek=printed_peek, overhear=printed_overhear, release=printed_release,
    publish=printed_publish, speak=printed_speak, fits=None,
    caveat="own raw rewards and current counts steer choices that everyone sees",
)  # fmt: skip


# --- a single agent's noised means (Tossou and Dimitrakakis 2016) --------------------------------------
#
# Three readings. Live: the noisy mean is refreshed once for every `every` pulls of an arm, and the radius follows t and the
# pulls. Frozen: the radius stays as it was at that look, too. Fresh: noise is drawn anew in every round that finds the count
# at a multiple, for the same rewards again and again.


def single_open(p):
    return extend(quiet_open(p), bonus=(float64, capacity(p.arms)))


@node
def live_choose(open, p, t, die, plan):
    scale = sqrt(2.0 * log(t))
    for k in range(p.slots):
        open.bonus[k] = scale * sqrt(1.0 / max(open.pulls[k], 1)) if open.pulls[k] > 0 else inf
    frozen_choose(open, p, t, die, plan)


@node
def frozen_choose(open, p, t, die, plan):
    if t <= p.explore:
        commit(open, plan, (t - 1) % p.arms)
        return
    for k in range(p.arms):
        open.index[k] = open.average[k] + open.bonus[k]
    commit(open, plan, argmax(open.index, p.arms))


@node
def look(open, p, k, out):
    offer_all(out, k, p.scale * exp(-0.5 * p.rate * log(open.pulls[k])))


@node
def single_release(open, p, t, plan, out):
    if open.pulls[open.arm] % p.every == 0:
        look(open, p, open.arm, out)


@node
def fresh_release(open, p, t, plan, out):
    """Whenever the next decision finds the count of an arm at a multiple, whether the arm was pulled or not.

    Who sat out a round of the exploration has an arm without rewards, and nothing to look at.
    """
    for k in range(p.arms):
        if t >= p.explore and open.pulls[k] > 0 and open.pulls[k] % p.every == 0:
            look(open, p, k, out)


@node
def single_publish(open, p, t, plan, out):
    for e in range(out.entries):
        k, n = out.arm[e], out.last[e]
        open.count[k], open.total[k] = n, out.value[e]
        open.average[k] = float(out.value[e]) / (UNIT * float(n))
        open.bonus[k] = sqrt(2.0 * log(max(t, p.explore) + 1.0) / n)  # as of the first decision that can use it


LIVE = Algorithm(
    "dp_ucb_int_live", single_open, choose=live_choose, release=single_release, publish=single_publish, marks=lambda p: 0,
    fits=contract.fits, worth=worth,
)  # fmt: skip
FROZEN = LIVE._replace(name="dp_ucb_int_frozen", choose=frozen_choose)
FRESH = FROZEN._replace(name="dp_ucb_int_fresh", release=fresh_release)


# --- what a study may set, and what it means ------------------------------------------------------------


Life = Annotated[int, Field(ge=0, le=AGENTS_MOST)] | Literal["half-diameter", "half-diameter-down", "diameter"]


class CoopOptions(Options):
    life: Life | None = Field(None, description="hops a message lives; default: what the network says",
        json_schema_extra=enters("N, S: sums over all agents d <= life hops away, as of round t - d", default="network.life"))


class PrivateOptions(CoopOptions):
    mode: Literal["private", "corrected", "paper"] = Field("private", description="what the stated epsilon means")
    epsilon: float = Field(1.0, ge=EPSILON_LEAST, description="inf: no privacy",
        json_schema_extra=enters(
            "Laplace noise of scale n^(v/2) / c on a sum of n; private: c = epsilon / (sum of n^(-v/2) over all "
            "releases), else c = 1"))
    rate: float = Field(1.1, gt=1, lt=1.5, description="v: a release at n pulls costs n^(-v/2)",
        json_schema_extra=enters("price of a release at n pulls: c n^(-v/2)"))
    nominal: float = Field(0.1, ge=1e-6, le=1, description="the paper's epsilon, which spaces the releases, in mode private",
        json_schema_extra=enters(
            "released once e (sum of l^(-v/2) since the last) >= n^(-v/2); round robin for K ceil(1 / e) rounds"))
    noise: Literal["fresh", "kept"] = Field("fresh", description="of every release, or one draw for all of an arm",
        json_schema_extra=enters("S + Z_n, Z_n drawn anew at each n (fresh), or Z_n = n^(v/2) Z (kept)"))


class SingleOptions(PrivateOptions):
    mode: Literal["private", "paper"] = Field("private", description="what the stated epsilon means")
    rate: float = Field(1.1, gt=1, le=1.5, description="v: a look at n pulls costs n^(-v/2)",
        json_schema_extra=enters("price of a look at n pulls: c n^(-v/2)"))
    reading: Literal["live", "frozen", "fresh"] = Field("live", description="of the paper's rule for refreshing a mean",
        json_schema_extra=enters(
            "live: radius sqrt(2 ln t / n) of now; frozen: as of the look; fresh: a look in every round at a multiple of "
            "1 / e pulls"))


PLAIN = PrivateOptions.without("mode", "rate", "nominal", "noise", epsilon=inf)
SINGLE = SingleOptions.without("life", "noise")


def build_plain(o: PrivateOptions, s: Setting) -> Method:
    """Coop-UCB."""
    p = private_params(o, s, nominal=1.0)
    return Method(COOP, p, Claim(inf, note="no noise is added"), life=o.life)


def build_ucb1(o: PrivateOptions, s: Setting) -> Method:
    made = build_plain(o, s)
    alone = QUIET._replace(name="ucb1", speak=LIVE.speak, hear=LIVE.hear, lie=LIVE.lie, fits=LIVE.fits)
    return made._replace(node=alone, life=0)


def private_params(o: PrivateOptions, s: Setting, nominal: float, scale: float = 1.0, every: int = 1) -> Any:
    return params(
        o, s,
        nominal=nominal,  # the purse's income: share of the pulls' allowance that releases may spend
        scale=scale,  # of all prices; 1: as printed
        low=s.low, high=s.high, reach=s.reach,
        explore=s.arms * ceil(1 / nominal),  # rounds of round robin
        slots=capacity(s.arms),  # loops over all slots compile to whole vectors
        every=every,  # DP-UCB-INT: pulls between two looks at an arm
    )  # fmt: skip


def build_private(o: PrivateOptions, s: Setting) -> Method:
    if o.epsilon == inf:
        return build_plain(o, s)
    nominal = o.nominal if o.mode == "private" else o.epsilon
    if nominal > 1:
        raise UsageError(f"epsilon must be <= 1 in mode = {o.mode!r}, where it spaces the releases, got {o.epsilon:g}")
    releases = release_counts(nominal, o.rate, s.horizon)
    rule = PRINTED if o.mode == "paper" else PRIVATE
    if o.noise == "kept":
        rule = rule._replace(name=f"{rule.name}_kept", mechanism=KEPT)
    return Method(
        rule, private_params(o, s, nominal, scale_of(o, releases, s)), private_claim(o), life=o.life,
        facts=accounts(nominal, o.rate, s.horizon) if o.mode != "private" else {},
        extra=pivots if o.mode == "paper" else None,
    )  # fmt: skip


def scale_of(o: PrivateOptions, releases: Releases, s: Setting) -> float:
    """Makes the prices of all releases up to the horizon add up to epsilon. It may be too short for any; as printed it is 1."""
    scale = o.epsilon / releases.cost if o.mode == "private" and releases.cost > 0 else 1.0
    least, needed = scale * releases.prices.min(initial=inf), FINEST * s.reach
    if least < needed:
        wanted = f">= {o.epsilon * needed / least:.2g} where the last of {len(releases.prices):,} releases costs least of all"
        raise UsageError(f"epsilon must be {wanted}, got {o.epsilon:g}")
    return scale


def accounts(epsilon: float, rate: float, horizon: int) -> dict[str, float]:
    """What the releases cost by the horizon, for a reward of an arm that is pulled throughout."""
    lost = losses(epsilon, rate, horizon, 1e-5)
    return {"loss_basic": lost.basic, "loss_advanced": lost.advanced, "loss_closed_bound": lost.closed_bound}


def pivots(inners: np.ndarray, opens: np.ndarray) -> dict[str, np.ndarray]:
    """How many agents had a round in which one of their own rewards decided what they did for all to see."""
    return {"pivotal_share": (inners["pivotal"] > 0).mean(axis=1), "pivotal_rounds": inners["pivotal"].mean(axis=1)}


def private_claim(o: PrivateOptions) -> Claim:
    notes = {
        "private": "every release covers all rewards of its arm so far; their prices add up to at most the stated epsilon",
        "corrected": "the epsilon in the name spaces the releases; what they cost adds up to the accounted one",
        "paper": "",
    }
    return Claim(o.epsilon, note=notes[o.mode])


def build_single(o: SingleOptions, s: Setting) -> Method:
    if o.epsilon == inf:
        return build_ucb1(o, s)
    if o.mode == "private" and o.reading == "fresh":
        why = "it draws noise for the same data again and again"
        raise UsageError(f"reading must be live or frozen in mode = 'private', got 'fresh': {why}")
    nominal = o.nominal if o.mode == "private" else o.epsilon
    every = ceil(1 / nominal)
    looks = multiples(every, o.rate, s.horizon)
    p = private_params(o, s, nominal, scale_of(o, looks, s), every)
    rule = {"live": LIVE, "frozen": FROZEN, "fresh": FRESH}[o.reading]
    note = "every look covers all rewards of its arm so far; what looks cost adds up"
    return Method(rule, p, Claim(o.epsilon, note=note), life=0)


ENTRIES = (
    Entry("ucb1", "every agent learns alone from its exact rewards and sends nothing", PLAIN.without("life"), build_ucb1),
    Entry("coop-ucb", "agents pass their exact counts and sums to agents nearby", PLAIN, build_plain),
    Entry("private-ucb", "agents pass noisy means to agents nearby", PrivateOptions, build_private,
          ({}, {"mode": "corrected"}, {"mode": "paper", "epsilon": 0.5}, {"mode": "corrected", "noise": "kept"})),
    Entry("dp-ucb-int", "every agent learns alone from noisy means of its rewards and sends nothing", SINGLE, build_single,
          ({}, {"mode": "paper", "reading": "frozen"}, {"mode": "paper", "epsilon": 0.5, "reading": "fresh"})),
)
