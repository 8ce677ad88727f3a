"""What has to be said where a study is made of people's records."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from coterie.problem import diabetes

REWARD = "readmitted to hospital after more than 30 days, which the source of the study counts as the reward"
SPLITS = {"order": "three equal parts in the order of the file", "random": "three equal parts at random"}


class Note(NamedTuple):
    heading: str
    text: str


def notes(problem: Mapping[str, Any]) -> list[Note]:
    """Nothing where the problem is not made of a data set."""
    if not problem.get("dataset"):
        return []
    return [
        Note(
            "Not a medical finding.", f"{_truth_text(problem)} Whether a late readmission is good is not judged here."
        ),
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
