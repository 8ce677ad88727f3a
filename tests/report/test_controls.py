"""Which rows a row is measured by, and when it is better than they are."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import procurement
from coterie.report.controls import alone_of, compared, echo_of

MakeRow = Callable[..., dict[str, Any]]
SILENT = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def test_a_row_is_compared_with_learning_alone_by_the_same_rule(buying_row: MakeRow) -> None:
    bold, careful = {"oracle": "optimistic"}, {"oracle": "safe"}
    rows = [
        buying_row("alone", parameters=bold, algorithm="nf-cb", communication=SILENT),
        buying_row("alone, cautious", parameters=careful, algorithm="nf-cb", communication=SILENT),
        buying_row("together", parameters=careful | {"epsilon": 1.0}, algorithm="p-fcb", against={"alone, cautious": 0.5}),
        buying_row("pooled", parameters={"oracle": "other"}, algorithm="fcb", against={"alone": 0.5}),
    ]
    assert [alone_of(row, rows) for row in rows] == [None, None, rows[1], None]
    assert alone_of(rows[3], rows[:1]) is rows[0]  # there is no choice
    (finding,) = procurement.together_findings(rows)
    assert [plain(case) for case in finding.cases] == ["“together”: 0.50 times, with 0 violated rounds per agent"]


def test_an_echo_differs_in_nothing_but_its_learning(buying_row: MakeRow) -> None:
    row = buying_row("private", algorithm="p-fcb", parameters={"epsilon": 1.0, "learning": None})
    echo = buying_row("echo", algorithm="p-fcb", parameters={"epsilon": 1.0, "learning": "echo"})
    other = buying_row("other echo", algorithm="p-fcb", parameters={"epsilon": 3.0, "learning": "echo"})
    assert echo_of(row, [row, other, echo]) is echo
    assert echo_of(row, [row, other]) is None
    assert echo_of(echo, [row, echo]) is None


@pytest.mark.parametrize(("ratio", "lower", "higher"), [(0.85, True, False), (0.95, False, False), (1.15, False, True)])
def test_a_difference_is_one_beyond_its_95_percent_interval(
    buying_row: MakeRow, ratio: float, lower: bool, higher: bool
) -> None:
    """Half of the interval of the ratios is 0.1."""
    found = compared(buying_row("a", against={"b": ratio}), buying_row("b"))
    assert found is not None
    assert (found.lower, found.higher) == (lower, higher)


def test_rows_that_cannot_be_compared_are_not(buying_row: MakeRow) -> None:
    row = buying_row("a", against={"b": 0.5})
    assert compared(row, None) is None
    assert compared(row, buying_row("c")) is None
    row["procurement"]["against"]["b"]["after"] = None  # nothing to divide by
    assert compared(row, buying_row("b")) is None
    assert compared(row, buying_row("b"), "whole") is not None
