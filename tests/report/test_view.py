"""Rows as the page shows them."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report.draw.colours import HUES, shade
from coterie.report.view import DASH, View, frontier, reach, spread_out, warnings_of

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


def test_rows_stand_in_the_order_of_the_answer_with_the_numbers_of_the_study(row: MakeRow, summary: MakeSummary) -> None:
    view = View(summary([row("a", 10.0, 0.5), row("b", 2.0, 0.25)], order=[1, 0], names=["A", "B"]))
    assert [(one.number, one.place, one.name, one.text, one.interval) for one in view.rows] == [
        (2, 1, "B", "2.0", f"1.8{DASH}2.2"),
        (1, 0, "A", "10.0", f"9.5{DASH}10.5"),
    ]
    assert view.rows[1].full.split() == ["10.0", f"(9.5{DASH}10.5)"] and view.rows[0].style == "r2"
    assert view.lost == "rewards lost in 100 decisions"


def test_an_interval_has_the_decimals_that_tell_its_ends_apart_and_is_cut_at_zero(row: MakeRow, summary: MakeSummary) -> None:
    view = View(summary([row("a", 10.0, 0.013), row("b", 1.0, 1.5), row("c", 5.0, 0.0)]))
    assert [one.interval for one in view.rows] == [f"9.99{DASH}10.01", f"0.0{DASH}2.5", f"5.0{DASH}5.0"]


@pytest.mark.parametrize("runs", [1, 4])
def test_under_five_runs_there_is_no_interval(row: MakeRow, summary: MakeSummary, runs: int) -> None:
    view = View(summary([row("a", 10.0, None if runs == 1 else 3.0, replications=runs)]))
    assert (view.rows[0].margin, view.rows[0].interval, view.rows[0].full) == (None, "", "10.0")
    assert "too few for an interval" in view.interval_note and view.intervals("band") == ""


def test_hue_says_the_way_of_learning_and_strength_the_epsilon(row: MakeRow, summary: MakeSummary) -> None:
    rows = [
        row("ucb alone", 9.0, size=0.0),
        row("ucb open", 2.0),
        row("ucb private 5", 3.0, claimed=5, accounted=5),
        row("ucb private 1", 4.0, claimed=1, accounted=1),
        row("other", 4.0, claimed=1, accounted=9),
    ]
    colours = View(summary(rows, kind="privacy", alone=0, together=1, headline=3)).colours()
    assert colours == [
        shade(HUES["alone"], 0), shade(HUES["open"], 0), shade(HUES["blue"], 1), shade(HUES["blue"], 0),
        shade(HUES["magenta"], 0),
    ]  # fmt: skip


def test_rows_of_one_line_have_one_colour(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row(f"ucb x={x} y={y}") for y in (1, 2) for x in (1, 2)]
    groups = [{"name": "y=1", "rows": [0, 1]}, {"name": "y=2", "rows": [2, 3]}]
    view = View(summary(rows, kind="sweep", groups=groups))
    assert view.lines == {0: "y=1", 1: "y=1", 2: "y=2", 3: "y=2"}
    one, other, *rest = view.colours()
    assert one == other and rest[0] == rest[1] and one != rest[0]


def test_of_many_rows_the_telling_ones_are_tagged(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row(f"r{n}", 5.0 + n, claimed=1, accounted=float(40 - n)) for n in range(30)]
    view = View(summary(rows, alone=17, headline=20))
    assert {0, 17, 20, 29} <= {one.place for one in view.tagged} and len(view.tagged) == 12
    assert len(View(summary(rows[:12])).tagged) == 12


def test_of_many_rows_both_ends_and_some_between_are_kept(row: MakeRow, summary: MakeSummary) -> None:
    rows = View(summary([row(f"r{n}") for n in range(30)])).rows
    assert [one.place for one in spread_out(rows, 4)] == [0, 9, 19, 29]
    assert [one.place for one in spread_out(rows[:4], 4)] == [0, 1, 2, 3]


def test_nobody_on_the_frontier_is_beaten_in_both(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a", 5.0, accounted=1), row("b", 4.0, accounted=2), row("c", 6.0, accounted=2), row("d", 1.0)]
    assert [one.name for one in frontier(View(summary(rows)).rows)] == ["a", "b", "d"]
    rows.append(row("alone", 3.0, size=0.0))  # whose choices may tell everything: it does not beat a and b
    assert [one.name for one in frontier(View(summary(rows)).rows)] == ["a", "b", "d"]


def test_a_scale_reaches_to_all_high_ends_and_to_low_ends_that_are_not_near_zero(row: MakeRow, summary: MakeSummary) -> None:
    rows = View(summary([row("a", 10.0, 2.0), row("b", 10.0, 28.0), row("c", 3.0, None)])).rows
    assert sorted(reach(rows)) == [3.0, 3.0, 8.0, 10.0, 10.0, 12.0, 38.0]


def test_agents_are_named_by_the_study_or_numbered(row: MakeRow, summary: MakeSummary) -> None:
    problem = {"kind": "bernoulli", "means": None}
    words = {"agent": "shop", "arm": "offer"}

    def names(**more: Any) -> list[str]:
        return View(summary([row(agents=2)], study={"problem": problem | more, "words": words})).agent_names

    assert names() == ["shop 0", "shop 1"]
    assert names(dataset="diabetes") == ["shop 1", "shop 2"]
    assert names(agent_names=["Ann", "Bob"]) == ["Ann", "Bob"]


def test_each_warning_is_told_once(row: MakeRow) -> None:
    rows = [row(f"r{n}", warnings=["mind the gap"]) for n in range(8)]
    assert warnings_of(rows) == [("“r0” and 7 others", "mind the gap")]
    assert warnings_of(rows[:2]) == [("“r0” and “r1”", "mind the gap")]
