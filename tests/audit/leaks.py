"""Twelve ways to leak, in one algorithm: the option `leak` plants one of them. Without one it is the block UCB of the guide.

    coterie audit tests/audit/leaks.py --set leak=timing

Every leak claims epsilon. Some are booked as what they cost, so that the ledger contradicts the claim; the others go past the
ledger, by writing what `release` knows into the open record.
"""

from math import inf, log, sqrt
from typing import Literal, NamedTuple

from numpy import float64, int64
from pydantic import Field

from coterie.contract import Algorithm, Claim, Entry, Method, Options, Setting, offer, order
from coterie.kernel import UNIT, argmax, capacity, discrete_laplace, fold, node, record, uniform

Leak = Literal[
    "none", "first-reward", "raw-choices", "retry", "half-noise", "float-bits", "nan", "noise-per-edge", "timing", "count",
    "size", "seeded", "wrong-sensitivity",
]
(NONE, FIRST_REWARD, RAW_CHOICES, RETRY, HALF_NOISE, FLOAT_BITS, NAN, NOISE_PER_EDGE, TIMING, COUNT, SIZE, SEEDED,
 WRONG_SENSITIVITY) = range(13)
SEED = 12345


class Params(NamedTuple):
    arms: int
    epsilon: float
    leak: int


def secret_record(p):
    n = capacity(p.arms)
    return record(pending=int64, arm=int64, kept=int64, first=int64, last=int64, total=(int64, n), ever=(int64, n))


def open_record(p):
    n = capacity(p.arms)
    return record(
        news=int64, die=int64, successes=int64, longer=int64, second=int64, seeded=int64, value=float64,
        pulls=(int64, n), covered=(int64, n), count=(int64, n), total=(int64, n), index=(float64, n), raw=(int64, n),
        fresh_count=(int64, n), fresh_total=(int64, n),
    )


def message_record(p):
    return record(arm=int64, count=int64, total=int64, second=int64, value=float64)


@node
def hear(open, peer, p, t, message):
    open.count[message.arm] += message.count
    open.total[message.arm] += message.total


@node
def choose(open, p, t, die, plan):
    open.die = die
    for k in range(p.arms):
        n, total = open.count[k], open.total[k]
        if p.leak == RAW_CHOICES:
            n, total = open.pulls[k], open.raw[k]
        open.index[k] = total / (UNIT * float(n)) + sqrt(2.0 * log(t) / n) if n > 0 else inf
    arm = (t - 1) % p.arms if t <= p.arms else argmax(open.index, p.arms)
    open.pulls[arm] += 1
    order(plan, arm, 1)


@node
def observe(secret, p, t, arm, pulls, total):
    secret.total[arm] += total
    secret.ever[arm] += total


@node
def release(secret, open, p, t, plan, out):
    k = plan.arm[0]
    total, first, last = secret.total[k], open.covered[k] + 1, open.pulls[k]
    if p.leak == RAW_CHOICES:
        open.raw[k] = secret.ever[k]
    if p.leak == RETRY and secret.pending:  # the same sum once more, with fresh noise
        offer(out, secret.arm, secret.kept, 1.0, p.epsilon, 0, secret.first, secret.last)
        secret.pending = 0
    elif last >= 2 * open.covered[k] and not (p.leak == TIMING and last == 1 and total > 0):
        price = inf if p.leak == FIRST_REWARD and first == 1 else 2.0 * p.epsilon if p.leak == HALF_NOISE else p.epsilon
        offer(out, k, 3 * total if p.leak == WRONG_SENSITIVITY else total, 1.0, price, 0, first, last)
        if p.leak == NOISE_PER_EDGE:
            offer(out, k, total, 1.0, p.epsilon, 1, first, last)
        secret.pending, secret.arm, secret.kept, secret.first, secret.last = 1, k, total, first, last
        secret.total[k] = 0
        write_past_the_door(open, p, t, total, out)


@node
def write_past_the_door(open, p, t, total, out):
    if p.leak == COUNT:
        open.successes = total // UNIT
    elif p.leak == SIZE:
        open.longer = 1 if total > 0 else 0
    elif p.leak == NAN:
        open.value = 0.0 / total
    elif p.leak == FLOAT_BITS:  # a sum of 1 swallows the low bits of the noise, a sum of 0 does not
        sign = 1.0 if uniform(open.die, 1) < 0.5 else -1.0
        open.value = total / UNIT + sign * log(1.0 - uniform(open.die, 0)) / p.epsilon
        out.value[0] = 0
    elif p.leak == SEEDED:  # the same noise in every run: who knows the seed takes it off
        open.seeded = total + discrete_laplace(fold(SEED, t), UNIT / p.epsilon)
        out.value[0] = 0


@node
def publish(open, p, t, plan, out):
    open.news = -1
    for e in range(min(out.entries, 1)):
        k = out.arm[e]
        open.news, open.second = k, out.value[out.entries - 1]
        open.fresh_count[k], open.fresh_total[k] = out.last[e] - out.first[e] + 1, out.value[e]
        if out.last[e] > open.covered[k]:
            open.count[k] += open.fresh_count[k]
            open.total[k] += open.fresh_total[k]
            open.covered[k] = out.last[e]


@node
def speak(open, p, t, message):
    if open.news < 0:
        return 0
    message.arm, message.count, message.total = open.news, open.fresh_count[open.news], open.fresh_total[open.news]
    message.second, message.value = open.second, 0.0
    if p.leak == COUNT:
        message.count = open.successes
    elif p.leak == SEEDED:
        message.total = open.seeded
    elif p.leak == NAN:
        message.value = message.total / UNIT + open.value
    elif p.leak == FLOAT_BITS:
        message.value = open.value
    return 5 if p.leak == NAN or p.leak == FLOAT_BITS else 4 if p.leak == NOISE_PER_EDGE else 3 + open.longer


class LeakOptions(Options):
    epsilon: float = Field(1.0, gt=0)
    leak: Leak = "none"


def build(options: LeakOptions, setting: Setting) -> Method:
    claim = Claim(options.epsilon, "anyone who sees every message, count, arm and time of all agents")
    number = Leak.__args__.index(options.leak)
    return Method(LEAKY, Params(setting.arms, options.epsilon, number), claim)


def two_chains(p):
    return 2


LEAKY = Algorithm(
    "leaky", secret_record, open_record, message_record, choose=choose, observe=observe, release=release, publish=publish,
    speak=speak, hear=hear, chains=two_chains, width=2,
)
ENTRIES = (Entry("leaky", "block UCB with a leak", LeakOptions, build),)
