"""Studies of agents that pull arms: the means and the world of each instance. Other problems answer the same questions."""

import sys
from math import nan
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.contract import Method, Setting
from coterie.engines.simulate import Run
from coterie.errors import UsageError
from coterie.problem import diabetes
from coterie.problem.instances import INSTANCES, TIE, heterogeneous, smallest_gap
from coterie.problem.laws import LAWS
from coterie.problem.linear import quality
from coterie.studies.problems import ArmProblem
from coterie.studies.spec import Row, Specification

if TYPE_CHECKING:
    from coterie.studies.case import Case

PROBLEM = 0  # purpose of an instance's own randomness

Columns = dict[str, np.ndarray]


class Instance(NamedTuple):
    """What one replication is played on, and what an algorithm may know of it."""

    problem: ModuleType
    worlds: np.ndarray
    quality: np.ndarray
    setting: Setting


class Arms:
    """What a study asks of its problem, with the answers of one with arms. `Purchases` has those of a procurement."""

    sort, kinds = "arms", tuple(LAWS)  # what an algorithm's entry calls it, and the kinds of problem that are of this sort
    has_best_arm = True
    public = ""  # what else is protected from nobody
    about: Any

    def __init__(self, study: Specification):
        self.study, self.about = study, study.problem

    @property
    def drawn(self) -> bool:
        """Whether there is more than one instance."""
        named = INSTANCES.get(self.about.instance)
        return self.about.heterogeneity > 0 or self.about.in_order or (named is not None and named.drawn)

    def check(self) -> None:
        """Refuse instances that cannot be played."""

    def instance(self, row: Row, replication: int) -> Instance:
        problem, worlds, means = make_problem(self.about, np.random.default_rng([self.study.seed, replication, PROBLEM]))
        overall = quality(means, self.about.weights)
        return Instance(problem, worlds, overall, make_setting(self.study, row, means, overall))

    def measure(self, case: "Case", run: Run, first: int) -> Columns:
        """Of each replication, from the `first` on: what a row tells beyond its regret."""
        if self.about.in_order:
            refuse_beyond(self.about, case, run)
        return {}

    def tell(self, method: Method, columns: Columns, agents_shown: int) -> dict[str, Any]:
        """The same over all replications, for the summary of a row."""
        return {}

    def compare(self, summary: list[Any], columns: list[Columns]) -> None:
        """Tell each row how it stands to the others."""


def refuse_beyond(about: Any, case: "Case", run: Run) -> None:
    """A log cannot answer where an agent would have played an arm more often than the log has rewards of it."""
    arms = about.arms
    played, there = run.secrets["count"][:, :, :arms].max(axis=0), case.worlds["length"][:, :arms]
    if (played > there).any():
        agent, arm = (int(place) for place in np.argwhere(played > there)[0])
        told = about.told_by_table()
        whom = told["agent_names"][agent] if "agent_names" in told else str(agent)
        which = told["arm_names"][arm] if "arm_names" in told else str(arm)
        wanted = f"agent {whom!r} would play arm {which!r} {played[agent, arm]:,} times"
        wanted += f", and has {there[agent, arm]:,} rewards of it"
        raise UsageError(f"horizon must be shorter for this log to answer, got {case.horizon:,}: {wanted}")


def make_setting(study: Specification, row: Row, means: np.ndarray, overall: np.ndarray) -> Setting:
    """Public facts only: of a table of one's own that is its form, and nothing that was worked out from rewards."""
    about, faults, (low, high) = study.problem, row.faults, study.problem.range
    own_table = about.file is not None and about.dataset is None
    gap = smallest_gap(overall) if np.ptp(overall) > TIE else 1.0
    return Setting(
        about.agents,
        about.arms,
        study.horizon,
        homogeneous=len(means) == 1 if own_table else bool((means == means[0]).all()),
        gap=nan if own_table else gap,
        low=low,
        high=high,
        proxy=about.proxy,
        weights=about.weights or (),
        components=study.network.components or (about.agents,),
        reward_values=tuple(
            sorted({*about.values} | ({contaminant(study, row)} if about.values and faults.contamination else set()))
        ),
        liars=max(faults.liars, faults.contamination),
    )


def contaminant(study: Specification, row: Row) -> float:
    highest = (study.faults.range or study.problem.range)[1]
    if row.faults.contamination and row.faults.contaminant is None and not np.isfinite(highest):
        raise UsageError("faults.contaminant (or faults.range) must be given where rewards have no highest value, got nothing")
    return highest if row.faults.contaminant is None else row.faults.contaminant


def make_problem(about: ArmProblem, rng: np.random.Generator) -> tuple[ModuleType, np.ndarray, np.ndarray]:
    """The kind of rewards, the world, and the means [agents, arms], or [1, arms] where all agents are alike."""
    if about.dataset:
        means = diabetes.table(about.rule, about.split, about.file).means
    elif about.file:
        means = about.table_means()
    elif about.instance:
        means = INSTANCES[about.instance].made(about.arms, rng, about)
    else:
        means = np.array(about.means, float)
    if about.heterogeneity > 0:
        means = heterogeneous(means, about.agents, about.heterogeneity, rng)
    means = about.scaled(np.atleast_2d(means))
    return sys.modules[LAWS[about.kind].__module__], about.drawn_world(means, about.weights, about.agents, rng), means
