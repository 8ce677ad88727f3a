"""Ways to leak that can still be written, in one algorithm: the option `leak` plants one of them. Without one it is block UCB.

    coterie audit tests/audit/leaks.py --set leak=dear

Every leak promises epsilon. Those of PRICES spend more than that: the ledger knows. Those of PEEKS are under a caveat and write
what `peek` reads of the secret into the open record, which the caveat does not cover; `speak` then sends it.
"""

from math import inf, log, sqrt
from typing import Literal, NamedTuple

from numpy import float64, int64
from pydantic import Field

from coterie.contract import NOW, NOWHERE, START, Algorithm, Claim, Entry, Method, Options, Setting, offer, offer_between, order
from coterie.kernel import UNIT, argmax, capacity, node, pick, record, uniform

PRICES = ("bare-first", "dear", "retry", "half-noise", "two-chains", "late-price", "second-price", "crowd-price", "heir-price",
          "rare-price")  # fmt: skip
PEEKS = ("copy", "late", "second", "crowd", "heir", "middle", "thrice", "rare", "pair", "choices")
LEAKS = ("none", *PRICES, *PEEKS)
(NONE, BARE_FIRST, DEAR, RETRY, HALF_NOISE, TWO_CHAINS, LATE_PRICE, SECOND_PRICE, CROWD_PRICE, HEIR_PRICE, RARE_PRICE,
 COPY, LATE, SECOND, CROWD, HEIR, MIDDLE, THRICE, RARE, PAIR, CHOICES) = range(len(LEAKS))  # fmt: skip
LATE_ROUND, TWICE = 60, 11  # from which round on; which reward is counted three times
RARELY = 1 / 2000  # in so many runs
MASK = 1 << 40


class Params(NamedTuple):
    arms: int
    agents: int
    epsilon: float
    leak: int


def open_record(p):
    n = capacity(p.arms)
    return record(
        who=int64, heir=int64, rare=int64, news=int64, hint=int64, mask=int64, fresh_count=int64, fresh_total=int64,
        pulls=(int64, n), covered=(int64, n), count=(int64, n), total=(int64, n), index=(float64, n),
    )


def inner_record(p):
    return record(before=int64)


def message_record(p):
    return record(arm=int64, count=int64, total=int64, hint=int64, mask=int64)


@node
def hear(open, peer, p, t, message):
    open.count[message.arm] += message.count
    open.total[message.arm] += message.total


@node
def choose(open, p, t, die, plan):
    if t == 1:
        open.rare = 1 if uniform(die, 0) < RARELY else 0
    for k in range(p.arms):
        n = open.count[k]
        open.index[k] = open.total[k] / (UNIT * float(n)) + sqrt(2.0 * log(t) / n) if n > 0 else inf
    arm = (t - 1) % p.arms if t <= p.arms else argmax(open.index, p.arms)
    open.pulls[arm] += 1
    order(plan, arm, 1)


@node
def peek(secret, inner, open, p, t, die, plan):
    """Chooses as `choose` does, and writes what it sees where it must not."""
    open.hint = open.mask = 0
    now = secret.count[0] == TWICE
    if p.leak == PAIR:
        open.mask = pick(die, 1, MASK)
        open.hint = open.mask ^ secret.total[0]
    elif p.leak == MIDDLE:
        open.hint = secret.total[0] % UNIT
    elif p.leak == THRICE and now:
        open.hint = secret.total[0] + 2 * (secret.total[0] - inner.before)
    elif shows(open, p, t):
        open.hint = secret.total[0]
    inner.before = secret.total[0]
    choose(open, p, t, die, plan)
    if p.leak == CHOICES and t > p.arms:
        plan.arm[0] = (secret.total[0] + secret.total[1]) // UNIT % p.arms


@node
def shows(open, p, t):
    return (
        p.leak == COPY
        or (p.leak == LATE and t > LATE_ROUND)
        or (p.leak == SECOND and open.who == 1)
        or (p.leak == CROWD and p.agents > 3)
        or (p.leak == HEIR and open.heir == 1)
        or (p.leak == RARE and open.rare == 1)
    )


@node
def release(open, p, t, plan, out):
    k = plan.arm[0]
    n = open.pulls[k]
    if n >= 2 * open.covered[k]:
        offer(out, k, price(open, p, t, n))
        if p.leak == TWO_CHAINS:
            offer_between(out, k, 0, NOW, 0, p.epsilon, 1)
    elif p.leak == RETRY and n == 3:  # what has left in two blocks once more, with fresh noise
        offer_between(out, k, START, 0, NOWHERE, p.epsilon, 0)


@node
def price(open, p, t, n):
    bare = (p.leak == BARE_FIRST and n == 1) or (p.leak == RARE_PRICE and open.rare == 1)
    if bare or (p.leak == HEIR_PRICE and open.heir == 1):
        return inf
    dear = p.leak == DEAR or (p.leak == LATE_PRICE and t > LATE_ROUND) or (p.leak == SECOND_PRICE and open.who == 1)
    if dear or (p.leak == CROWD_PRICE and p.agents > 3):
        return 50.0 * p.epsilon
    return 2.0 * p.epsilon if p.leak == HALF_NOISE else p.epsilon


@node
def publish(open, p, t, plan, out):
    open.news = -1
    if out.entries > 0 and open.pulls[plan.arm[0]] >= 2 * open.covered[plan.arm[0]]:
        k = plan.arm[0]
        open.news, open.fresh_count, open.fresh_total = k, open.pulls[k] - open.covered[k], out.value[0]
        open.count[k] += open.fresh_count
        open.total[k] += open.fresh_total
        open.covered[k] = open.pulls[k]


@node
def speak(open, p, t, message):
    message.arm, message.count, message.total = open.news, open.fresh_count, open.fresh_total
    message.hint, message.mask = open.hint, open.mask
    return 0 if open.news < 0 else 5


@node
def inherit(open, p, t, card):
    open.heir = 1


class LeakOptions(Options):
    epsilon: float = Field(1.0, gt=0)
    leak: Literal[LEAKS] = "none"


def build(options: LeakOptions, setting: Setting) -> Method:
    role = PEEKING if options.leak in PEEKS else HONEST
    p = Params(setting.arms, setting.agents, options.epsilon, LEAKS.index(options.leak))
    return Method(role, p, Claim(options.epsilon), known={"who": list(range(setting.agents))}, life=1)


HONEST = Algorithm(
    "leaky", open_record, message_record, choose=choose, release=release, publish=publish, speak=speak, hear=hear,
    inherit=inherit, chains=lambda p: 2, width=2,
)
PEEKING = HONEST._replace(name="peeking", inner=inner_record, peek=peek, caveat="a planted leak")
ENTRIES = (Entry("leaky", "block UCB with a leak", LeakOptions, build),)
