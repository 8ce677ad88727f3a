"""What the hooks of an audited agent do beside their work: deal fixed rewards, and note what can be seen.

An audited agent keeps these in its open record, under names no algorithm uses:

    audit_arm, audit_number, audit_value   the canary: the value of one reward, by its number among the arm's own; arm -1: none
    audit_rest                             all other rewards: 0, or (1) 1 and 0 by turns
    audit_pulls                            rewards dealt so far of each arm
    audit_seen                             the transcript, one stretch of words for each turn

Words are integers; a floating-point number is noted by its bits, because an adversary can read them.
"""

import numpy as np

from coterie.kernel import UNIT, node


@node
def deal(open, arm, pulls):
    """The sum of the next `pulls` rewards of an arm. Rewards 1, 3, 5, ... are 1 where the others go by turns."""
    before = open.audit_pulls[arm]
    after = before + pulls
    open.audit_pulls[arm] = after
    total = open.audit_rest * ((after + 1) // 2 - (before + 1) // 2)
    if open.audit_arm == arm and before < open.audit_number <= after:
        total += open.audit_value - open.audit_rest * (open.audit_number % 2)
    return total * UNIT


@node
def note_plan(open, at, plan, arms):
    open.audit_seen[at], open.audit_seen[at + 1] = plan.entries, plan.rounds
    for e in range(min(plan.entries, arms)):
        open.audit_seen[at + 2 + 2 * e], open.audit_seen[at + 3 + 2 * e] = plan.arm[e], plan.pulls[e]


@node
def bits(number):
    """Of a floating-point number, as an integer."""
    return np.float64(number).view(np.int64)
