"""Regret over time."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from coterie.report.course import course, few, floor_of, inside, kept_moments
from coterie.report.draw.lines import Line
from coterie.report.draw.scale import log
from coterie.report.draw.scatter import Axis
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


def test_every_method_has_a_panel_and_lines_end_at_the_numbers_used_elsewhere(row: MakeRow, summary: MakeSummary) -> None:
    rows = [
        row("alone", 9.0, size=0.0),
        row("ucb private 1", 3.0, claimed=1, accounted=1),
        row("ucb private 2", 2.0, claimed=2, accounted=2),
    ]
    view = View(summary(rows))
    found = course(view)
    assert [(panel.heading, panel.note) for panel in found.panels] == [
        ("alone", "ends at 9.0"), ("ucb private", "ends at 3.0 / 2.0")
    ]  # fmt: skip
    assert found.panels[0].picture.count('class="ctx"') == 2 and found.panels[1].picture.count('class="ctx"') == 1
    assert found.panels[1].picture.count('class="bd"') == 2
    lines = found.numbers.splitlines()
    for one in view.rows:
        ends = [line.split(",") for line in lines if line.startswith(f"{one.number},")]
        assert float(ends[-1][3]) == pytest.approx(one.value) and float(ends[0][3]) == pytest.approx(3 * one.value)


def test_of_more_than_three_lines_the_range_is_told(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row(f"ucb {n}", 5.0 + n, claimed=1, accounted=1) for n in range(5)]
    assert [panel.note for panel in course(View(summary(rows))).panels] == ["ends at 5.0 to 9.0"]


def test_of_many_lines_the_lowest_and_the_highest_are_strong(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row(f"ucb {n}", 5.0 + n, claimed=1, accounted=2) for n in range(8)]
    (panel,) = course(View(summary(rows))).panels
    assert panel.picture.count('class="ln"') == 2 and panel.picture.count('class="ln thin"') == 6
    assert panel.picture.count('class="bd"') == 2
    assert panel.broken


def test_a_long_curve_is_thinned_evenly_in_logarithmic_time_and_keeps_its_ends(row: MakeRow, summary: MakeSummary) -> None:
    curve = row()["curve"] | {"round": list(range(1, 2001))}
    view = View(summary([row(curve=curve)]))
    kept = kept_moments(view, view.rows[0])
    assert kept[0] == 0 and kept[-1] == 1999 and len(kept) <= 37
    assert sum(1 for place in kept if place < 45) >= 10  # half of logarithmic time


def test_too_few_runs_have_no_bands(row: MakeRow, summary: MakeSummary) -> None:
    found = course(View(summary([row(replications=4)])))
    assert 'class="bd"' not in found.panels[0].picture and "Band" not in found.caption


def test_a_row_that_loses_nothing_has_a_panel(row: MakeRow, summary: MakeSummary) -> None:
    assert course(View(summary([row("a", 0.0)]))).panels[0].note == "ends at 0.0"


def test_a_floor_that_is_known_is_dashed_and_drawn_once_for_rows_that_share_it(row: MakeRow, summary: MakeSummary) -> None:
    floor = {"constant": 1.0, "kind": "alike", "label": "asymptotic"}
    rows = [row("ucb private 1", 9.0, floor=floor), row("ucb private 2", 8.0, floor=floor), row("other", 9.0)]
    found = course(View(summary(rows)))
    assert [panel.picture.count('class="ref"') for panel in found.panels] == [1, 0]
    assert "asymptotic" in found.caption and "asymptotic" not in course(View(summary([row("other", 9.0)]))).caption


@pytest.mark.parametrize(("floors", "drawn"), [(3, 3), (4, 1)])
def test_of_many_floors_only_the_lowest_is_drawn(row: MakeRow, summary: MakeSummary, floors: int, drawn: int) -> None:
    told = [{"constant": 0.1 * (1 + n), "kind": "alike", "label": "asymptotic"} for n in range(floors)]
    view = View(summary([row(f"ucb {n}", 9.0, floor=floor) for n, floor in enumerate(told)]))
    assert course(view).panels[0].picture.count('class="ref"') == drawn
    lines = [Line(f"r{n}", [(1.0, 2.0 + n), (2.0, 1.0 + n)], kind="ref") for n in range(4)]
    assert few(lines[::-1]) == lines[:1]


def test_a_floor_above_all_that_is_shown_is_not_spoken_of(row: MakeRow, summary: MakeSummary) -> None:
    floor = {"constant": 1e6, "kind": "alike", "label": "asymptotic"}
    found = course(View(summary([row("a", 9.0, floor=floor)])))
    assert 'class="ref"' not in found.panels[0].picture and "Dashed" not in found.caption


def test_a_floor_lies_where_it_is_and_not_above_all_that_is_shown(row: MakeRow, summary: MakeSummary) -> None:
    view = View(summary([row("a", 9.0, floor={"constant": 7.0, "kind": "alike", "label": "asymptotic"})]))
    (shown,) = view.rows
    last, agents = shown.row["curve"]["round"][-1], shown.row["agents"]
    drawn = floor_of(view, shown, Line("a", [(1.0, 0.0), (float(last), 0.0)]))
    assert drawn.values[-1][1] == pytest.approx(view.decisions * 7.0 * math.log(agents * last) / (agents * last))
    top = Axis(log([1.0, 2.0], 100.0, 0.0), [])
    cut = inside([Line("a", [(1.0, 9.0), (2.0, 1.9), (3.0, 1.5)], kind="ref")], top)
    assert [line.values for line in cut] == [[(2.0, 1.9), (3.0, 1.5)]]
