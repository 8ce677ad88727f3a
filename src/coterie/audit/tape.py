"""What the hooks of an audited node do beside their work: note what can be seen, and live by a tape.

An audited node keeps these in its open record, under names no algorithm uses:

    audit_seen                  the transcript, one stretch of words for each turn
    audit_life                  FIRST: what came out of the door goes on the tape; SECOND: it is handed out again; else neither
    audit_arm, audit_number     the changed reward of this node (arm -1: none; number 0: of one of those it speaks for)
    audit_tape, audit_at        of each turn: how many numbers, and the numbers; how much of it was used
    audit_plans                 choices that are imposed where audit_pin is 1
    audit_faults                what is wrong with the second life: see FAULTS
    audit_cost, ..._squares, ..._dearest   prices of all numbers that the changed reward has moved
    audit_since, audit_until    the stretch that all of these cover

Words are integers; a floating-point number is noted by its bits, because an adversary can read them.
"""

import numpy as np
from numpy import dtype, float64, int64

from coterie.kernel import UNIT, extend, node

FIRST, SECOND = 1, 2
FAULTS = {
    1: "how many numbers leave shows the reward",
    2: "a number that leaves moves further than its sensitivity",
    4: "a number that leaves moves, but does not cover the reward",
    8: "there is more to tell than the tape can hold",
}
NUMBER, FAR, STRAY, FULL = FAULTS


def with_notes(kind: dtype, seen: int, tape: int, plans: int) -> dtype:
    """The open record of an audited node."""
    numbers = dict.fromkeys(("life", "pin", "arm", "number", "at", "faults", "since", "until"), int64)
    prices = dict.fromkeys(("cost", "squares", "dearest"), float64)
    arrays = {"seen": (int64, seen), "tape": (int64, tape), "plans": (int64, plans)}
    return extend(kind, **{f"audit_{name}": field for name, field in (numbers | prices | arrays).items()})


@node
def brief(open, world):
    """A server is told by the world of its first client what an agent knows beforehand."""
    open.audit_life, open.audit_arm, open.audit_number = world.life, world.changed, 0
    for j in range(len(world.tape)):
        open.audit_tape[j] = world.tape[j]


@node
def hand_back(open, out, stream):
    """In front of `publish`: keep what came out of the door, or put in its place what came out in the first life."""
    if open.audit_life == 0:
        return
    count, at = out.entries, open.audit_at
    open.audit_at = at + 1 + count
    if at + 1 + count > len(open.audit_tape):
        open.audit_faults |= FULL
    elif open.audit_life == FIRST:
        open.audit_tape[at] = count
        for e in range(count):
            open.audit_tape[at + 1 + e] = out.value[e]
    elif open.audit_tape[at] != count:
        open.audit_faults |= NUMBER
        open.audit_life = 0  # the rest of the tape belongs to another life
    else:
        for e in range(count):
            moved = out.value[e] - open.audit_tape[at + 1 + e]
            if moved != 0:
                charge(open, out, e, moved, stream)
            out.value[e] = open.audit_tape[at + 1 + e]


@node
def charge(open, out, e, moved, stream):
    """The noise is that of the first life, so a number has moved by what the reward does to its sum."""
    first, last, price = 1 if stream else out.first[e], out.first[e] if stream else out.last[e], out.price[e]
    if open.audit_dearest == 0.0:
        open.audit_since, open.audit_until = first, last
    open.audit_since, open.audit_until = max(open.audit_since, first), min(open.audit_until, last)
    inside = open.audit_since <= open.audit_until and (open.audit_number == 0 or first <= open.audit_number <= last)
    if out.arm[e] != open.audit_arm or not inside:
        open.audit_faults |= STRAY
    if abs(moved) > out.sensitivity[e] * UNIT:
        open.audit_faults |= FAR
    open.audit_cost += price
    open.audit_squares += price * price
    open.audit_dearest = max(open.audit_dearest, price)


@node
def note_plan(open, at, plan, arms):
    open.audit_seen[at] = plan.entries
    for e in range(min(plan.entries, arms)):
        open.audit_seen[at + 1 + 2 * e], open.audit_seen[at + 2 + 2 * e] = plan.arm[e], plan.pulls[e]


@node
def impose(open, at, plan, arms):
    """The choice of the first life, as note_plan has written it."""
    plan.entries = open.audit_plans[at]
    for e in range(min(plan.entries, arms)):
        plan.arm[e], plan.pulls[e] = open.audit_plans[at + 1 + 2 * e], open.audit_plans[at + 2 + 2 * e]


@node
def bits(number):
    """Of a floating-point number, as an integer."""
    return np.float64(number).view(np.int64)
