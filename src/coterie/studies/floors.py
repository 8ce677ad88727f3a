"""The floor of a row: c of c ln(M t), which the regret of all agents cannot stay below in the long run (`theory.floor`)."""

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from coterie.privacy.statement import SEES_NO_CHOICES
from coterie.studies.case import problem_of
from coterie.studies.rows import Floor
from coterie.studies.spec import Row, Specification
from coterie.theory.floor import alike_constant, unlike_constant

COINS = (0.0, 1.0)  # the rewards of which a floor is known
LABEL = "asymptotic"


def floor_of(study: Specification, row: Row, privacy: Mapping[str, Any]) -> Floor | None:
    """None where nothing is known: other rewards, liars (whose pulls are free), an epsilon of agents that differ.

    `privacy` is the row's statement. Where instances are drawn, c is its mean over those that were played.
    """
    if getattr(study.problem, "values", ()) != COINS or row.faults.liars:
        return None
    problem, epsilon = problem_of(study), epsilon_of(privacy)
    kind, constants = "", []
    for run in range(study.replications if problem.drawn else 1):
        played = problem.instance(row, run)
        means = played.worlds["means"][:, : study.problem.arms]
        if played.setting.homogeneous:
            kind = "alike" if epsilon == inf else "private"
            constants.append(alike_constant(means[0], epsilon))
        elif epsilon == inf and not study.problem.weights:
            kind = "unlike"
            constants.append(unlike_constant(means))
        else:
            return None
    return {"constant": float(np.mean(constants)) * study.problem.unit, "kind": kind, "label": LABEL}


def epsilon_of(privacy: Mapping[str, Any]) -> float:
    """What was booked, where it is pure and holds against those who see what is played; else inf."""
    holds = privacy.get("per_reward", privacy["accounted"])
    if not holds["epsilon"] or holds["delta"] or privacy["adversary"] == SEES_NO_CHOICES:
        return inf
    return float(holds["epsilon"])
