"""Plans of many rounds, of peers that commit: how far each has been played, and what that part of it is.

Engines draw and book a plan in its last round. What they tell of the rounds before (regret, plays) is read off the part that
has been played.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from coterie.contract import plan_record
from coterie.engines.memory import pulls_since_noted
from coterie.kernel import node, rows


class Plans(NamedTuple):
    """Of each node: its plan, how many rounds it takes, and how many of them were played. Equal: there is none under way."""

    plan: np.ndarray
    rounds: np.ndarray
    played: np.ndarray


def make_plans(p: Any, replications: int, count: int, compiled: bool) -> Plans:
    plan = rows((replications, count), plan_record(p), compiled)
    plan["arms"] = p.arms
    return Plans(plan, *(np.zeros((replications, count), int64) for _ in range(2)))


@node
def plans_of(plans, r):
    return Plans(plans.plan[r], plans.rounds[r], plans.played[r])


@node
def length_of(plan, horizon):
    """Rounds that a plan takes; at least one, and beyond the horizon no matter how many."""
    rounds = 0
    for e in range(plan.entries):
        rounds += min(plan.pulls[e], horizon + 1)
    return max(1, rounds)


@node
def cut(plan, rounds, part):
    """What is played of a plan in its first rounds: one entry after the other."""
    part.entries = 0
    while rounds > 0 and part.entries < plan.entries:
        e = part.entries
        part.arm[e], part.pulls[e] = plan.arm[e], min(rounds, plan.pulls[e])
        rounds -= part.pulls[e]
        part.entries += 1


@node
def under_way(plans, i):
    """Rounds of node i's plan that were played, as long as it is not finished."""
    return plans.played[i] if plans.played[i] < plans.rounds[i] else 0


@node
def goes_on(plans, i, horizon):
    """Play one more round of node i's plan, which may be a new one. Whether there is another round."""
    plans.played[i] = under_way(plans, i) + 1
    plans.rounds[i] = length_of(plans.plan[i], horizon)
    return plans.played[i] < plans.rounds[i]


@node
def plays_since_noted(late, secrets, plans, part):
    """As `pulls_since_noted`, with the parts of plans that are not booked yet."""
    pulls_since_noted(late, secrets)
    for i in range(late.shape[0]):
        cut(plans.plan[i], under_way(plans, i), part)
        for e in range(part.entries):
            late[i, part.arm[e]] += part.pulls[e]
