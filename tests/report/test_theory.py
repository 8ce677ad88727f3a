"""Bounds beside measurements."""

from collections.abc import Callable
from typing import Any

from coterie.report import theory

MakeRow = Callable[..., dict[str, Any]]


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def bounded(row: MakeRow, label: str, bound: float | None, regret: float = 10.0) -> dict[str, Any]:
    return row(label, regret, extra={"lambda_2": 0.5, "bound_per_agent": bound, "trivial_bound_per_agent": 8000.0})


def test_a_bound_above_the_trivial_one_is_said_to_say_nothing(row: MakeRow) -> None:
    rows = [bounded(row, "a", 9000.0), bounded(row, "b", None), bounded(row, "c", 8000.0), row("d")]
    (sentence,) = theory.theory_findings(rows)
    assert sentence.startswith(
        "Nothing about “a”, “b” and “c”: at this horizon the theorem's bound is not below 8,000 per"
    )
    assert [line.reading for line in theory.promises(rows)] == 3 * ["says nothing here"]
    assert [line.bound for line in theory.promises(rows)] == ["9,000", "none", "8,000"]


def test_a_bound_that_says_something_is_set_beside_the_measured_regret(row: MakeRow) -> None:
    rows = [row("d"), bounded(row, "kept", 3621.0), bounded(row, "broken", 5.0)]
    kept, broken = map(plain, theory.theory_findings(rows))
    assert kept == "The regret per agent is below the theorem's bound in “kept” (bound 3,621, measured 10.00 ± 0.10)."
    assert broken == "The regret per agent is above the theorem's bound in “broken” (bound 5, measured 10.00 ± 0.10)."
    lines = [tuple(map(plain, map(str, line))) for line in theory.promises(rows)]
    assert lines == [
        ("1", "kept", "0.5", "3,621", "8,000", "10.00 ± 0.10", "holds"),
        ("2", "broken", "0.5", "5", "8,000", "10.00 ± 0.10", "is broken"),
    ]


def test_rows_without_a_theorem_have_nothing_to_say(row: MakeRow) -> None:
    assert theory.theory_findings([row("a")]) == theory.promises([row("a")]) == []
