"""Byzantine-Proof Multi-Agent UCB (Dubey and Pentland 2020): single rewards travel, and a trimmed mean takes no notice of lies.

Messages are (arm, reward). Of all samples of an arm, own and received, every other one goes to X, the rest to Y, in the order
of their arrival; those that arrive in one round do so in the order of their values. The shortest interval that holds nearly all
of Y tells which of X to believe.

Rewards with few values are kept exactly, as counts of every value in X and in Y: a sample is one increment, and the interval is
found by walking over the values. Other rewards are rounded to the middle of one of `cells` cells, and the estimate is that of
the rounded samples. A message has a place for every value and a 1 in one of them, so that messages add up.

    trimmed  the paper's estimator
    clipped  for comparison: the mean of all samples, each cut to the honest range; lies bias it by their share at most
"""

from math import ceil, inf, log, nan, sqrt
from typing import Literal

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie.algorithms.cooperative import CoopOptions
from coterie.contract import Algorithm, Claim, Entry, Method, Setting, offer, order, params
from coterie.errors import UsageError
from coterie.kernel import UNIT, apart, argmax, capacity, node, record, uniform
from coterie.options import enters


def open_record(p):
    n, places = capacity(p.arms), capacity(p.places)
    return record(
        arm=int64, place=int64, value=(float64, places), honest=(float64, places),  # of a place; cut to the honest range
        samples=(int64, n), x=(int64, (n, places)), y=(int64, (n, places)), wanted=(int64, n), index=(float64, n),
    )  # fmt: skip


def message_record(p):
    return record(arm=int64, count=(int64, p.places))


@apart
def choose(open, p, t, die, plan):
    if t <= p.arms:
        open.arm = t - 1
    else:
        log_t = log(t)
        for k in range(p.slots):  # no branch, so that it is a loop of vectors
            open.wanted[k] = keep(open.samples[k] // 2, p.contamination, log_t)
            open.index[k] = sqrt(2.0 * p.spread * log_t / max(open.samples[k], 1))
        for k in range(p.arms):  # who sat out a round of the start has not seen all arms
            open.index[k] = estimate(open, p, k, open.wanted[k]) + open.index[k] if open.samples[k] > 0 else inf
        open.arm = argmax(open.index, p.arms)
    order(plan, open.arm, 1)


@node
def estimate(open, p, k, c):
    """The constant sigma sqrt(eps) of the paper's index is the same for all arms and left out."""
    if p.trims:
        lower, upper = shortest(open, p, k, c, open.samples[k] // 2)  # size of Y: X is served first
        inside, total = 0, 0.0
        for v in range(lower, upper + 1):
            inside += open.x[k, v]
            total += open.x[k, v] * open.value[v]
        if inside > 0:
            return total / inside
    total = 0.0
    for v in range(p.places):
        total += (open.x[k, v] + open.y[k, v]) * (open.value[v] if p.trims else open.honest[v])
    return total / open.samples[k]


@node
def keep(n, contamination, log_t):
    """c: how many of the n samples in Y the interval must hold, at delta = 1 / t^2. Where n is 0 nobody asks."""
    n = float(max(n, 1))
    log_1, log_4 = 2.0 * log_t, 2.0 * log_t + log(4.0)
    alpha = max(contamination, log_1 / n)
    return int(ceil(n * (1.0 - 2.0 * alpha - sqrt(2.0 * alpha * log_4 / n) - log_4 / n)))


@node
def shortest(open, p, k, c, n):
    """The shortest interval of places with at least c of Y: of equally short ones that with more, then the lowest.

    Empty (0, -1) where c is less than half of Y: then all samples count.
    """
    if 2 * c < n or n == 0:
        return 0, -1
    best_lower, best_upper, width, most, lower, held = 0, -1, inf, 0, 0, 0
    for upper in range(p.places):
        held += open.y[k, upper]
        while held - open.y[k, lower] >= c:
            held -= open.y[k, lower]
            lower += 1
        size = open.value[upper] - open.value[lower]
        if held >= c and (size < width or (size == width and held > most)):
            best_lower, best_upper, width, most = lower, upper, size, held
    return best_lower, best_upper


@apart
def release(open, p, t, plan, out):
    offer(out, open.arm, inf)  # the one reward since the last offer


@apart
def publish(open, p, t, plan, out):
    open.place = nearest(open, p, float(out.value[0]) / UNIT)
    take(open, open.arm, open.place, 1)


@node
def nearest(open, p, reward):
    place = 0
    for v in range(p.places):
        place = v if abs(open.value[v] - reward) < abs(open.value[place] - reward) else place
    return place


@node
def take(open, k, v, count):
    """`count` samples of one value arrive: X and Y are served in turn."""
    odd = open.samples[k] & 1
    open.x[k, v] += (count + 1 - odd) // 2
    open.y[k, v] += (count + odd) // 2
    open.samples[k] += count


@apart
def speak(open, p, t, message):
    fill(message, p, open.arm, open.place)
    return 1 + p.places


@node
def fill(message, p, arm, place):
    message.arm = arm
    for v in range(p.places):
        message.count[v] = 1 if v == place else 0


@apart
def hear(open, peer, p, t, news):
    for v in range(p.places):
        take(open, news.arm, v, news.count[v])


@node
def fits(open, p, t, message):
    """One sample of an arm that exists."""
    samples = 0
    for v in range(p.places):
        if not 0 <= message.count[v] <= 1:
            return False
        samples += message.count[v]
    return samples == 1 and 0 <= message.arm < p.arms


@node
def worth(open, p, t, k):
    return estimate(open, p, k, keep(open.samples[k] // 2, p.contamination, log(max(t, 1)))) if open.samples[k] > 0 else nan


@apart
def lie(open, p, t, tale, die, message):
    """One reward: 1 with the probability the tale gives the arm. A contaminated message keeps its arm and tells the value."""
    if tale.arm >= 0:
        place = nearest(open, p, 1.0 if uniform(die, 0) < tale.value[tale.arm] else 0.0)
        fill(message, p, tale.arm, place)
    else:
        fill(message, p, message.arm, nearest(open, p, tale.value[message.arm]))
    return 1 + p.places


BYZANTINE = Algorithm(
    "byzantine_ucb", open_record, message_record, choose=choose, release=release, publish=publish, speak=speak, hear=hear,
    lie=lie, fits=fits, worth=worth, additive="news",
)  # fmt: skip


# --- what a study may set, and what it means ------------------------------------------------------------


class ByzantineOptions(CoopOptions):
    estimator: Literal["trimmed", "clipped"] = Field("trimmed", description="what is made of an arm's samples",
        json_schema_extra=enters(
            "trimmed: of the shortest interval that holds ceil(n (1 - 2 a - sqrt(2 a L / n) - L / n)) samples, L = ln(4 "
            "t^2)"))
    liars_assumed: float | None = Field(None, ge=0, lt=0.5, description="share of lies; default: what the study's faults say",
        json_schema_extra=enters("a = max(liars_assumed, ln(t^2) / n)", default="what the faults say"))
    radius: Literal["paper", "variance"] = Field("paper", description="grows with sigma, or with its square",
        json_schema_extra=enters("paper: sqrt(2 sigma ln t / n); variance: sqrt(2 sigma^2 ln t / n)"))
    cells: int = Field(64, ge=2, le=1024, description="for rewards with many values",
        json_schema_extra=enters("rewards are rounded to the middle of (high - low) / cells"))


def build(o: ByzantineOptions, s: Setting) -> Method:
    if s.unbounded and not s.reward_values:
        raise UsageError("problem.clip must be given for byzantine-ucb, whose samples lie in a range, got none")
    values = np.array(s.reward_values) if s.reward_values else s.low + (np.arange(o.cells) + 0.5) * s.reach / o.cells
    assumed = s.liars if o.liars_assumed is None else o.liars_assumed
    if assumed >= 0.5:
        raise UsageError(f"liars must be below 0.5, where the trimmed mean breaks down, got {assumed:g}")
    p = params(
        o, s,
        places=len(values),  # values a sample may have
        slots=capacity(s.arms),  # loops over all slots compile to whole vectors
        contamination=assumed,  # share of lies
        spread=s.proxy if o.radius == "paper" else s.proxy * s.proxy,  # the radius is sqrt(2 spread ln t / samples)
        trims=o.estimator == "trimmed",
    )  # fmt: skip
    spare = np.zeros(capacity(len(values)) - len(values))
    known = {
        "value": np.tile(np.concatenate([values, spare]), (s.agents, 1)),
        "honest": np.tile(np.concatenate([values.clip(s.low, s.high), spare]), (s.agents, 1)),
    }
    claim = Claim(inf, note="single rewards travel without noise")
    return Method(BYZANTINE, p, claim, known=known, life=o.life)


ENTRIES = (
    Entry("byzantine-ucb", "agents pass single rewards to agents nearby and trim what looks forged", ByzantineOptions, build,
          ({}, {"liars_assumed": 0.1}, {"estimator": "clipped"}, {"radius": "variance", "liars_assumed": 0.001})),
)
