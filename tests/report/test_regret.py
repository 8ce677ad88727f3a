"""Regret of rows beside each other, in words that can be said by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import regret

MakeRow = Callable[..., dict[str, Any]]


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def test_a_single_row_is_not_called_best(row: MakeRow) -> None:
    (finding,) = regret.regret_findings([row("a", 10.0)])
    assert plain(finding) == "The regret of “a” is 40.00 ± 0.40 in total, 10.00 ± 0.10 per agent."


def test_the_lowest_and_highest_regret_are_named_with_their_ratio(row: MakeRow) -> None:
    lowest, highest = map(plain, regret.regret_findings([row("a", 25.0), row("b", 10.0), row("c", 20.0)]))
    assert lowest == "The lowest regret is that of “b”: 40.00 ± 0.40 in total, 10.00 ± 0.10 per agent."
    end = "100.00 ± 0.40 in total, 25.00 ± 0.10 per agent, 2.50 times the lowest."
    assert highest == f"The highest is that of “a”: {end}"


@pytest.mark.parametrize(("other", "close"), [(10.13, True), (10.14, False)])
def test_two_rows_are_too_close_to_call_if_the_interval_of_their_difference_holds_0(
    row: MakeRow, other: float, close: bool
) -> None:
    found = regret.regret_findings([row("a", 10.0), row("b", other)])
    assert found[0].endswith(" Too close to call: “b”.") is close
    assert (len(found) == 1) is close


def test_rows_too_close_to_the_highest_are_named_too(row: MakeRow) -> None:
    found = regret.regret_findings([row("a", 10.0), row("b", 20.0), row("c", 20.1)])
    assert found[1].startswith("The highest is that of “c”") and found[1].endswith("Too close to call: “b”.")


def test_where_no_row_can_be_told_from_the_lowest_they_are_not_listed(row: MakeRow) -> None:
    (finding,) = regret.regret_findings([row("a", 10.0), row("b", 10.05), row("c", 10.1)])
    assert finding.endswith("Too close to call: every other row.")


def test_equal_rows_are_called_the_same_and_nothing_is_called_highest(row: MakeRow) -> None:
    found = regret.regret_findings([row("a", 10.0), row("b", 10.0)])
    assert len(found) == 1 and found[0].endswith("Exactly the same: “b”.")


def test_zero_regret_gives_no_ratio(row: MakeRow) -> None:
    lowest, highest = regret.regret_findings([row("a", 0.0, margin=0.0), row("b", 3.0)])
    assert "0 ± 0 in total, 0 ± 0 per agent." in plain(lowest)
    assert "times" not in highest


@pytest.mark.parametrize(
    ("lowest", "horizon", "decisions"),
    [
        (25.0, 10_000, 1_000),
        (100.0, 10_000, 100),
        (5_000.0, 10_000, 100),
        (0.001, 10_000, 10_000),
        (0.0, 10_000, 100),
        (1.0, 50, 10),
    ],
)
def test_decisions_are_a_power_of_ten_up_to_the_horizon(
    row: MakeRow, lowest: float, horizon: int, decisions: int
) -> None:
    rows = [row("a", lowest, horizon=horizon), row("b", max(9_000.0, lowest), horizon=horizon)]
    assert regret.decisions_shown(rows) == decisions


def test_regret_per_decision_is_that_of_one_agent(row: MakeRow) -> None:
    assert regret.per_decisions(row("a", 25.0, horizon=10_000), 1_000) == 2.5


@pytest.mark.parametrize(
    ("value", "reference", "text"),
    [
        (5.0, 10.0, "0.50 times the regret"),
        (10.1, 10.0, "regret too close to call"),
        (10.0, 10.0, "the same regret"),
        (3.0, 0.0, "regret 3.00 ± 0.10 per agent"),
    ],
)
def test_a_row_is_compared_with_another(row: MakeRow, value: float, reference: float, text: str) -> None:
    assert plain(regret.against(row("a", value), row("b", reference))) == text
