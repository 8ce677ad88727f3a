"""Bars: alone, together, private, with arrows between them."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report.hero import bars, difference_text
from coterie.report.view import DASH, MINUS, View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


def difference(row: int, against: int, mean: float, margin: float | None, verdict: str) -> dict[str, Any]:
    return {"row": row, "against": against, "mean": mean, "margin": margin, "verdict": verdict, "runs": 20}


@pytest.fixture
def view(row: MakeRow, summary: MakeSummary) -> View:
    rows = [
        row("printed", 40.0, claimed=1, algorithm="x"),
        row("alone", 10.0, size=0.0),
        row("together", 2.0),
        row("private", 2.5, claimed=1, accounted=1),
    ]
    differences = [difference(2, 1, -0.08, 0.01, "less"), difference(3, 2, 0.005, 0.002, "more")]
    return View(summary(rows, kind="privacy", alone=1, together=2, headline=3, order=[1, 2, 3, 0], differences=differences))


def test_the_three_that_answer_are_thick_with_arrows_and_the_rest_is_thin(view: View) -> None:
    found = bars(view)
    assert [line.shown and line.shown.name for line in found.thick] == ["alone", None, "together", None, "private"]
    assert [line.shown and line.shown.name for line in found.thin] == ["printed"]
    assert f"together: {MINUS}8.0 (7.0{DASH}9.0)" in found.thick[1].picture
    assert f"+0.5 (0.3{DASH}0.7)" in found.thick[3].picture
    assert 'class="tear"' in found.thin[0].picture and ">40.0<" in found.thin[0].picture
    assert "Torn bars run beyond the scale." in found.caption and found.caption.endswith("✕: promise broken.")


def test_the_numbers_of_bars_are_those_of_the_summary_and_said_to_those_who_do_not_see(view: View) -> None:
    found = bars(view)
    assert f'aria-label="alone: 10.0 rewards lost in 100 decisions, 95 % interval 9.9{DASH}10.1"' in found.thick[0].picture
    assert found.numbers.splitlines() == [
        'row,name,regret per 100 decisions,"95 % interval, half"', "2,alone,10,0.1", "3,together,2,0.1", "4,private,2.5,0.1",
        "1,printed,40,0.1",
    ]  # fmt: skip


def test_a_difference_is_told_with_its_interval_or_as_too_close_to_call(view: View) -> None:
    assert difference_text(view, difference(2, 1, -0.08, 0.01, "less")) == f"{MINUS}8.0 (7.0{DASH}9.0)"  # type: ignore[arg-type]
    close = difference_text(view, difference(2, 1, 0.01, 0.02, "close"))  # type: ignore[arg-type]
    assert close == "too close to call (+1.0 ± 2.0)"
    assert difference_text(view, difference(2, 1, 0.01, None, "close")) == "too few runs to tell"  # type: ignore[arg-type]


def test_agents_that_differ_are_counted_and_marked_one_by_one(row: MakeRow, summary: MakeSummary) -> None:
    apart = {"regret": [5.0, 15.0], "margin": [0.1] * 2, "found": [1.0, 0.2], "count": [20, 4], "of": [20, 20]}
    alike = {"regret": [2.0], "margin": [0.1], "found": [1.0], "count": [19], "of": [20]}
    rows = [row("alone", size=0.0, agents=2, by_agent=apart), row("together", 2.0, agents=2, by_agent=alike)]
    words = {"agent": "hospital", "arm": "drug"}
    found = bars(View(summary(rows, study={"words": words}, kind="privacy", alone=0, together=1)))
    assert found.columns == ("Runs of 20 ending on the best drug", ["hospital 0", "hospital 1"])
    counts = [[(cell.text, cell.who) for cell in line.counts] for line in found.thick]
    assert counts == [[("20", "H1"), ("4", "H2")], [("19", "H1"), ("19", "H2")]]
    assert ">H1<" in found.thick[0].picture and ">H1<" not in found.thick[1].picture


def test_many_agents_are_counted_together_and_rounds_below_a_limit_in_a_procurement(
    row: MakeRow, buying_row: MakeRow, summary: MakeSummary
) -> None:
    many = bars(View(summary([row("a", agents=40)])))
    assert [cell.text for cell in many.thick[0].counts] == ["79 of 80"]
    problem = {"problem": {"kind": "procurement", "alpha": 0.4}}
    bought = bars(View(summary([buying_row("a", violations=8.0)], study=problem, kind="procurement")))
    assert bought.columns[0] == "Rounds below the limit of 0.4" and "revenue lost" in bought.title
    assert [" ".join(cell.text.split()) for cell in bought.thick[0].counts] == ["2 %"]


def test_of_very_many_rows_the_first_are_drawn_and_the_rest_is_counted(row: MakeRow, summary: MakeSummary) -> None:
    found = bars(View(summary([row(f"r{n}") for n in range(40)])))
    assert (len(found.thick), len(found.thin), found.left_out) == (0, 12, 28)
    assert found.numbers.count("\n") == 41


def test_one_row_seen_once_has_a_bar_without_interval(row: MakeRow, summary: MakeSummary) -> None:
    found = bars(View(summary([row("a", 0.0, None, replications=1)])))
    assert 'class="ci' not in found.thick[0].picture and "Shorter" not in found.caption
    assert "too few for an interval" in found.caption
