"""The printed P-FCB is not private: one changed unit, all other outcomes fixed, and what its messages give away.

The outcome of the n-th unit that agent 0 buys of a producer stands in a table, so two histories differ in one outcome and in
what follows from it, and in nothing else. Orders up to the first exchange rest on no noise.
"""

import hashlib
import sys
from math import sqrt
from pathlib import Path

import numpy as np
from numpy import int64

from coterie.algorithms import entries
from coterie.audit.bounds import epsilon_at_least
from coterie.contract import Setting, Terms
from coterie.engines.simulate import Links, simulate_mesh
from coterie.kernel import UNIT, node, record
from coterie.privacy.gauss import mu_of
from coterie.problem.procurement import lay_out  # noqa: F401  (an engine takes it from this module)

LIMIT, EXPLORED, LAST = 50, 21, 44
TERMS = Terms(np.full((2, 2), 0.805), np.array([[1, LIMIT], [1, LIMIT]]), 0.01, 1.0)
SETTING = Setting(2, 2, LAST, terms=TERMS)
LINKS = Links(np.array([0, 1, 2]), np.array([1, 0]), np.array([1, 1]), np.array([[0, 1]]))
TRIALS, BATCHES = 10_000, 6


# --- a problem whose outcomes stand in a table ------------------------------------------------------------


def worlds_of(canary):
    """Agent 0 finds 5 of 20 units of producer 1 good, then `canary`, then all; agent 1 buys from the other history."""
    worlds = np.zeros(2, record(good=(int64, (2, LIMIT * LAST + 1))))
    for own, found in zip(worlds, (canary, 0), strict=True):
        outcomes = np.ones((2, LIMIT * LAST), int64)
        outcomes[1, : EXPLORED - 1] = np.arange(EXPLORED - 1) % 4 == 0
        outcomes[1, EXPLORED - 1] = found
        own["good"][:, 1:] = outcomes.cumsum(axis=1)
    return worlds


def reach(worlds, arms):
    return TERMS.limit


@node
def draw(world, secret, plan, harvest, die):
    for e in range(plan.entries):
        k = plan.arm[e]
        before = secret.count[k]
        harvest.total[e] = UNIT * (world.good[k, before + plan.pulls[e]] - world.good[k, before])


@node
def regret(world, plan):
    return 0.0


@node
def regret_until(world, plan, harvest, slots):
    return 0.0


@node
def violates(world, plan):
    return 0


# --- the experiment ---------------------------------------------------------------------------------------


def printed():
    """Noise of the size that is right for a fixed stream of orders, at epsilon 1 and delta 0.01."""
    entry = entries()["p-fcb"]
    chosen = {"mode": "paper", "calibration": "tight", "schedule": "start", "window": (LAST, LAST), "exploration": EXPLORED}
    method = entry.build(entry.options(**chosen), SETTING)
    text = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]  # engines are cached by name, and this file may change
    return method._replace(node=method.node._replace(name=f"printed_{text}"))


def told(canary, replications, first=0, **how):
    """Units of producer 1 that agent 0 tells of, and those it has bought."""
    about = (printed(), sys.modules[__name__], worlds_of(canary), 2, LAST, np.array([LAST]), LINKS)
    run = simulate_mesh(*about, seed=8, first=first, replications=replications, **how)
    return run.opens["units"][:, 0, 1], run.secrets["count"][:, 0, 1]


def test_messages_of_the_printed_form_lose_more_than_eight_times_what_is_stated():
    """Certain but for an error of 1e-6. The event, more units than a fixed number, was chosen before any message was seen."""
    scale = sqrt(2) * LIMIT / mu_of(1.0, 0.01)
    bought = [int(told(canary, 1)[1][0]) for canary in (0, 1)]
    assert bought[1] - bought[0] > 8 * scale
    event = bought[0] + 5.5 * scale
    misses, hits = (
        sum(int((told(canary, TRIALS, batch * TRIALS)[0] > event).sum()) for batch in range(BATCHES)) for canary in (0, 1)
    )
    proven = float(epsilon_at_least(hits, misses, BATCHES * TRIALS, 0.01, 1e-6))
    assert proven > 8.0
