"""Block UCB: every agent plays UCB on noised sums, its own and those of the agents it hears.

An agent commits to as many pulls of an arm as it has had before, and then releases their sum: its pulls double. Each reward is
told once, so all together costs epsilon per reward.
"""

from math import inf, log, sqrt

from numpy import float64, int64
from pydantic import Field

from coterie.contract import Algorithm, Claim, Entry, Method, Options, Setting, offer, order, params
from coterie.kernel import UNIT, argmax, capacity, node, record


class BlockOptions(Options):  # what a study may set; hooks read those that are numbers, as p.epsilon
    epsilon: float = Field(1.0, gt=0, description="inf: no privacy")


def open_record(p):
    n = capacity(p.arms)
    return record(
        arm=int64, news=int64, fresh_count=int64, fresh_total=int64, pulls=(int64, n), count=(int64, n), total=(int64, n),
        index=(float64, n),
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
    open.arm = (t - 1) % p.arms if t <= p.arms else argmax(open.index, p.arms)
    order(plan, open.arm, max(1, open.pulls[open.arm]))


@node
def release(open, p, t, plan, out):
    offer(out, open.arm, p.epsilon)  # the sum of the arm's rewards since its last offer


@node
def publish(open, p, t, plan, out):
    k, open.news = open.arm, out.entries  # none where a budget is spent
    open.pulls[k] += plan.pulls[0]
    if open.news > 0:
        open.fresh_count, open.fresh_total = plan.pulls[0], out.value[0]
        open.count[k] += open.fresh_count
        open.total[k] += open.fresh_total


@node
def speak(open, p, t, message):
    message.arm, message.count, message.total = open.arm, open.fresh_count, open.fresh_total
    return 3 if open.news > 0 else 0


def build(options: BlockOptions, setting: Setting) -> Method:
    return Method(BLOCK_UCB, params(options, setting), Claim(options.epsilon))


BLOCK_UCB = Algorithm(
    "block_ucb", open_record, message_record, choose=choose, release=release, publish=publish, speak=speak, hear=hear,
    commits=True,  # to plans of many rounds
)
ENTRIES = (Entry("block-ucb", "UCB on noised block sums", BlockOptions, build, ({}, {"epsilon": inf})),)
