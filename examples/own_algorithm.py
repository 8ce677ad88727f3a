"""Block UCB: every agent plays UCB on noised sums, its own and those of the agents it hears.

An arm's rewards are released when their number has doubled. Each is told once, so all together costs epsilon per reward.
"""

from math import inf, log, sqrt

from numpy import float64, int64
from pydantic import Field

from coterie.contract import Algorithm, Claim, Entry, Method, Options, Setting, offer, order, params
from coterie.kernel import UNIT, argmax, capacity, node, record


class BlockOptions(Options):  # what a study may set; hooks read those that are numbers, as p.epsilon
    epsilon: float = Field(1.0, gt=0, description="inf: no privacy")
    commit: bool = Field(False, description="whether an arm is played until its next release")


def open_record(p):
    n = capacity(p.arms)
    return record(
        news=int64, pulls=(int64, n), covered=(int64, n), count=(int64, n), total=(int64, n), index=(float64, n),
        fresh_count=(int64, n), fresh_total=(int64, n),
    )


def message_record(p):
    return record(arm=int64, count=int64, total=int64)


# --- one turn, in the order in which the engine calls it ----------------------------------------------


@node
def hear(open, peer, p, t, message):
    open.count[message.arm] += message.count
    open.total[message.arm] += message.total


@node
def choose(open, p, t, die, plan):
    for k in range(p.arms):
        n = open.count[k]
        open.index[k] = open.total[k] / (UNIT * float(n)) + sqrt(2.0 * log(t) / n) if n > 0 else inf
    arm = (t - 1) % p.arms if t <= p.arms else argmax(open.index, p.arms)
    pulls = max(1, open.pulls[arm]) if p.commit else 1
    open.pulls[arm] += pulls
    order(plan, arm, pulls)


@node
def release(open, p, t, plan, out):
    k = plan.arm[0]
    if open.pulls[k] >= 2 * open.covered[k]:
        offer(out, k, p.epsilon)  # the sum of the arm's rewards since its last offer


@node
def publish(open, p, t, plan, out):
    open.news = -1
    for e in range(out.entries):
        k = open.news = out.arm[e]
        open.fresh_count[k], open.fresh_total[k] = open.pulls[k] - open.covered[k], out.value[e]
        open.count[k] += open.fresh_count[k]
        open.total[k] += open.fresh_total[k]
        open.covered[k] = open.pulls[k]


@node
def speak(open, p, t, message):
    if open.news < 0:
        return 0
    message.arm, message.count, message.total = open.news, open.fresh_count[open.news], open.fresh_total[open.news]
    return 3


def build(options: BlockOptions, setting: Setting) -> Method:
    rule = BLOCK_UCB._replace(commits=options.commit)  # a plan then takes as many rounds as it has pulls
    return Method(rule, params(options, setting), Claim(options.epsilon))


BLOCK_UCB = Algorithm(
    "block_ucb", open_record, message_record, choose=choose, release=release, publish=publish, speak=speak, hear=hear,
)
ENTRIES = (Entry("block-ucb", "UCB on noised block sums", BlockOptions, build, ({}, {"epsilon": inf}, {"commit": True})),)
