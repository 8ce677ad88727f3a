"""What a theorem promises about the regret per agent, beside what is true of any algorithm and what was measured."""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.report.rows import Row, all_named, named
from coterie.studies.numbers import listed, measured, number

MEASUREMENTS = ("lambda_2", "bound_per_agent", "trivial_bound_per_agent")  # shown here, not among the further ones


class Promise(NamedTuple):
    """One line of the table, as text."""

    place: int
    label: str
    lambda_2: str
    bound: str
    trivial: str
    measured: str
    reading: str


def promises(rows: Sequence[Row]) -> list[Promise]:
    found = []
    for index, row in enumerate(rows):
        if row in bounded(rows):
            lambda_2, bound, trivial = (row["extra"][name] for name in MEASUREMENTS)
            stated = "none" if bound is None else number(bound)
            regret = measured(row["regret_per_agent"])
            reading = "says nothing here" if says_nothing(row) else "holds" if holds(row) else "is broken"
            found.append(Promise(index, row["label"], number(lambda_2), stated, number(trivial), regret, reading))
    return found


def bounded(rows: Sequence[Row]) -> list[Row]:
    """The rows a theorem is about."""
    return [row for row in rows if "bound_per_agent" in row["extra"]]


def says_nothing(row: Row) -> bool:
    """Is the bound no better than the trivial one? None is an infinite one: a gap is too small for the theorem."""
    bound = row["extra"]["bound_per_agent"]
    return bound is None or bound >= row["extra"]["trivial_bound_per_agent"]


def holds(row: Row) -> bool:
    return row["regret_per_agent"]["mean"] <= row["extra"]["bound_per_agent"]


def theory_findings(rows: Sequence[Row]) -> list[str]:
    empty = [row for row in bounded(rows) if says_nothing(row)]
    telling = [row for row in bounded(rows) if not says_nothing(row)]
    kept, broken = [row for row in telling if holds(row)], [row for row in telling if not holds(row)]
    sentences = []
    if empty:
        trivial = number(empty[0]["extra"]["trivial_bound_per_agent"])
        sentences.append(
            f"Nothing about {all_named(empty)}: at this horizon the theorem's bound is not below {trivial} per agent, "
            "which is what choosing the worst arm in every round would lose."
        )
    if kept:
        sentences.append(f"The regret per agent is below the theorem's bound in {_beside_bounds(kept)}.")
    if broken:
        sentences.append(f"The regret per agent is above the theorem's bound in {_beside_bounds(broken)}.")
    return sentences


def _beside_bounds(rows: Sequence[Row]) -> str:
    return listed(
        [
            f"{named(row)} (bound {number(row['extra']['bound_per_agent'])}, "
            f"measured {measured(row['regret_per_agent'])})"
            for row in rows
        ]
    )
