"""What a theorem promises about the regret per agent, beside what is true of any algorithm and what was measured."""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.report.numbers import listed, measured, number
from coterie.report.rows import Row, all_named, named

MEASUREMENTS = ("lambda_2", "bound_per_agent", "trivial_bound_per_agent")  # shown here, not among the further ones


class Promise(NamedTuple):
    """One line of the table, as text."""

    index: int
    label: str
    lambda_2: str
    bound: str
    trivial: str
    measured: str
    reading: str


def bounded(rows: Sequence[Row]) -> list[Row]:
    """The rows a theorem is about."""
    return [row for row in rows if "bound_per_agent" in row["extra"]]


def promises(rows: Sequence[Row]) -> list[Promise]:
    found = []
    for index, row in enumerate(rows):
        if "bound_per_agent" in row["extra"]:
            lambda_2, bound, trivial = (row["extra"][name] for name in MEASUREMENTS)
            regret = measured(row["regret_per_agent"], row["replications"])
            stated = "none" if bound is None else number(bound)
            numbers = (number(lambda_2), stated, number(trivial), regret)
            found.append(Promise(index, row["label"], *numbers, _reading(row)))
    return found


def _reading(row: Row) -> str:
    if says_nothing(row):
        return "says nothing here"
    return "broken" if row["regret_per_agent"]["mean"] > row["extra"]["bound_per_agent"] else "holds"


def says_nothing(row: Row) -> bool:
    """Is the bound no better than the trivial one? None is an infinite one: a gap is too small for the theorem."""
    bound = row["extra"]["bound_per_agent"]
    return bound is None or bound >= row["extra"]["trivial_bound_per_agent"]


def theory_findings(rows: Sequence[Row]) -> list[str]:
    empty = [row for row in bounded(rows) if says_nothing(row)]
    telling = [row for row in bounded(rows) if not says_nothing(row)]
    sentences = []
    if empty:
        trivial = number(empty[0]["extra"]["trivial_bound_per_agent"])
        sentences.append(
            f"Nothing about {all_named(empty)}: at this horizon the theorem's bound is larger than {trivial} per agent, "
            "which is what choosing the worst arm in every round would lose."
        )
    if telling:
        sentences.append(f"Regret per agent stays below the theorem's bound in {listed([_kept(row) for row in telling])}.")
    return sentences


def _kept(row: Row) -> str:
    regret = measured(row["regret_per_agent"], row["replications"])
    return f"{named(row)} (bound {number(row['extra']['bound_per_agent'])}, measured {regret})"
