"""What a study rests on: people's records, where it is made of them, and what the simulation takes for true."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coterie.problem import diabetes
from coterie.problem.linear import quality
from coterie.report.view import AGENTS_MAX, View

REWARD = "readmitted to hospital after more than 30 days, which the source of the study counts as the reward"
SPLITS = {"order": "three equal parts in the order of the file", "random": "three equal parts at random"}
ARMS_MAX = 12


class Note(NamedTuple):
    heading: str
    text: str


def notes(problem: Mapping[str, Any]) -> list[Note]:
    """Nothing where the problem is not made of data."""
    if problem.get("data"):
        return list(_table_notes(problem))
    if not problem.get("dataset"):
        return []
    return [
        Note("Not a medical finding.", f"{_truth_text(problem)} Whether a late readmission is good is not judged here."),
        Note(
            "Epsilon is per draw, not per patient.",
            "Rewards are drawn with replacement, so one patient's record may be drawn many times: m draws together are "
            "protected by m times epsilon only. A promise to patients would need every record to be used at most once.",
        ),
        Note(
            "Source.",
            "“Diabetes 130-US Hospitals for Years 1999-2008” (B. Strack and others), UCI Machine Learning Repository, "
            f"CC BY 4.0; reduced here to counts. It names no hospitals: those here are {SPLITS[problem['split']]}.",
        ),
    ]


def _table_notes(problem: Mapping[str, Any]) -> Iterator[Note]:
    """Of a table of one's own."""
    yield Note("How sure the means are.", problem["data"]["note"])
    person = problem.get("person")
    if person:
        yield Note(
            "Epsilon is per person.",
            f"The table has {person['persons']:,} persons, of whom one has {person['rewards']:,} rewards. Wherever ε stands on "
            "this page it is what such a person loses, if no person has more rewards in the run than in the table.",
        )
    else:
        yield Note("Epsilon is per reward.", "A person with several rewards loses more. A column `person` would tell how much.")


def _truth_text(problem: Mapping[str, Any]) -> str:
    text = "Rewards are simulated from a table of old records, which is the simulator's truth and nothing more."
    if problem["rule"] != "exclusive":
        return text
    first, second, gap, z = two_best(diabetes.EXCLUSIVE[problem["split"]])
    return (
        f"{text} In that table the two best arms, {first} and {second}, differ by {gap:.3f}; in the records this is "
        f"not significant (z = {z:.1f}), and nobody assigned patients to treatments at random."
    )


def two_best(table: diabetes.Table) -> tuple[str, str, float, float]:
    """The two arms with the best means over hospitals, their gap, and z of the gap between all their samples."""
    overall = table.means.mean(axis=0)
    second, first = overall.argsort()[-2:]
    successes, counts = table.successes.sum(axis=0), table.counts.sum(axis=0)
    shares = successes / counts
    error = math.sqrt(sum(shares[arm] * (1 - shares[arm]) / counts[arm] for arm in (first, second)))
    z = (shares[first] - shares[second]) / error
    return diabetes.ARMS[first], diabetes.ARMS[second], overall[first] - overall[second], z


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


def truth_of(problem: Mapping[str, Any]) -> Truth | None:
    """None where all agents are alike, or the means are drawn anew for each replication, or made of a file."""
    means = problem.get("means")
    if problem.get("dataset") and problem["rule"] == "exclusive":
        table, arms = diabetes.EXCLUSIVE[problem["split"]].means, list(diabetes.ARMS)
    elif len(problem.get("table_means", ())) > 1:
        table, arms = np.array(problem["table_means"]), list(problem["arm_names"])
    elif means and isinstance(means[0], Sequence):
        table = np.array(means)
        arms = [f"arm {number}" for number in range(table.shape[1])]
    else:
        return None
    return Truth(arms, table, quality(table, problem.get("weights")))


def truth_table(view: View) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Lines of cells with three decimals, each marked if it is the largest of its line; nothing where they are many."""
    truth = truth_of(view.problem)
    if truth is None or view.agents > AGENTS_MAX or len(truth.arms) > ARMS_MAX:
        return []
    lines = [*zip(view.agent_names, truth.means, strict=True), (f"all {view.words.in_place_of_ours('agents')}", truth.overall)]
    return [(name, [(f"{mean:.3f}", mean == line.max()) for mean in line]) for name, line in lines]
