"""What a simulation takes for true: the mean reward of each arm for each agent, where the study says it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coterie.problem import diabetes
from coterie.problem.linear import quality
from coterie.report.agents import AGENTS_MAX

ARMS_MAX = 12

Problem = Mapping[str, Any]  # `study["problem"]` of a summary


class Truth(NamedTuple):
    arms: list[str]
    means: np.ndarray  # [agents, arms]
    overall: np.ndarray  # [arms]: what regret is counted against

    @property
    def own_best(self) -> list[str]:
        """The arm that each agent would choose if it knew its own means only."""
        return [self.arms[arm] for arm in self.means.argmax(axis=1)]

    @property
    def best(self) -> str:
        return self.arms[self.overall.argmax()]


def agent_names(problem: Problem, agents: int) -> list[str]:
    """As the study names them, else numbered from 0 as in its file; those of a data set from 1, as is usual."""
    if problem.get("agent_names"):
        return list(problem["agent_names"])
    first = 1 if problem.get("dataset") else 0
    return [f"agent {number}" for number in range(first, first + agents)]


def truth_of(problem: Problem) -> Truth | None:
    """None where all agents are alike, or the means are drawn anew for each replication, or made of a file."""
    means = problem.get("means")
    if problem.get("dataset") and problem["rule"] == "exclusive":
        table, arms = diabetes.EXCLUSIVE[problem["split"]].means, list(diabetes.ARMS)
    elif means and isinstance(means[0], Sequence):
        table = np.array(means)
        arms = [f"arm {number}" for number in range(table.shape[1])]
    else:
        return None
    return Truth(arms, table, quality(table, problem.get("weights")))


def table(truth: Truth | None, names: Sequence[str]) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Lines of cells with three decimals, each marked if it is the largest of its line; nothing where they are many."""
    if truth is None or len(names) > AGENTS_MAX or len(truth.arms) > ARMS_MAX:
        return []
    lines = [*zip(names, truth.means, strict=True), ("all agents", truth.overall)]
    return [(name, [(f"{mean:.3f}", mean == line.max()) for mean in line]) for name, line in lines]
