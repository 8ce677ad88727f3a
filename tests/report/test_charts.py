"""Further pictures: marks where the numbers say, and nothing where there is nothing to show."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from coterie.report.charts import charts, orders, quality
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]
PROBLEM = {"kind": "procurement", "alpha": 0.4, "producer_names": ["mill", "forge", "loom"]}
ORDERS = {
    "mean": [[4.0, 1.0, 0.0], [0.0, 1.0, 2.0]],
    "best": [[5, 0, 0], [0, 3, 0]],
    "capacity": [[5, 5, 5], [5, 5, 5]],
    "quality": [0.5, 0.9, 0.1],
}


def bought(summary: MakeSummary, rows: list[dict[str, Any]]) -> View:
    return View(summary(rows, study={"problem": PROBLEM, "words": {"agent": "buyer", "arm": "producer"}}, kind="procurement"))


def test_an_agent_that_broke_the_limit_is_a_cross_and_the_others_are_rings(buying_row: MakeRow, summary: MakeSummary) -> None:
    found = quality(bought(summary, [buying_row("a", violations=3.0)]))
    assert found is not None
    svg = fromstring(found.lines[0].drawing)
    assert len(list(svg.iter("circle"))) == 2 and len(list(svg.iter("path"))) == 1  # the fourth agent bought nothing
    (limit,) = [line for line in svg.iter("line") if line.get("class") == "ref"]
    discs = sorted(float(part.get("x", "").rstrip("%")) for part in svg if part.tag == "svg")
    assert float(limit.get("x1", "").rstrip("%")) < discs[0]
    assert svg.get("aria-label") == "a: average quality 0.410 to 0.600"
    assert "each buyer bought" in found.caption and "limit 0.4" in found.axis


def test_nothing_is_drawn_where_nothing_was_bought_or_arms_are_played(
    row: MakeRow, buying_row: MakeRow, summary: MakeSummary
) -> None:
    empty = buying_row("a")
    empty["procurement"]["by_agent"]["quality"] = [None] * 4
    assert charts(bought(summary, [empty])) == []
    assert charts(View(summary([row("a")]))) == []


def test_producers_are_sorted_by_quality_and_bars_are_totals_over_agents(buying_row: MakeRow, summary: MakeSummary) -> None:
    row = buying_row("a")
    row["procurement"]["orders"] = ORDERS
    found = orders(bought(summary, [row]))
    assert found is not None
    assert [line.name for line in found.lines] == ["forge (0.90)", "mill (0.50)", "loom (0.10)"]
    frames = [
        next(rect for rect in fromstring(line.drawing).iter("rect") if rect.get("class") == "frame") for line in found.lines
    ]
    best = [float(rect.get("width", "").rstrip("%")) for rect in frames]
    assert best[1] / best[0] == pytest.approx(5 / 3, rel=0.01) and best[2] == 0
    assert found.numbers.splitlines()[1] == "1,a,forge,0.9,2,3,10"


def test_orders_are_not_drawn_where_instances_differ(buying_row: MakeRow, summary: MakeSummary) -> None:
    assert orders(bought(summary, [buying_row("a")])) is None
