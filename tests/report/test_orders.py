"""The pictures of purchases: marks where the numbers say, and nothing where there is nothing to show."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from coterie.report.orders import orders_picture, producer_names, quality_picture
from coterie.studies.words import Words

MakeRow = Callable[..., dict[str, Any]]
ORDERS = {
    "mean": [[4.0, 1.0, 0.0], [0.0, 1.0, 2.0]],
    "best": [[5, 0, 0], [0, 3, 0]],
    "capacity": [[5, 5, 5], [5, 5, 5]],
    "quality": [0.5, 0.9, 0.1],
}


def test_an_agent_that_broke_the_limit_is_a_cross_and_the_others_are_discs(buying_row: MakeRow) -> None:
    svg = fromstring(quality_picture([buying_row("a", violations=3.0)], ["a"], 0.4, Words()))
    assert len(list(svg.iter("circle"))) == 2  # the fourth agent bought nothing
    assert len(list(svg.iter("path"))) == 1
    (limit,) = [line for line in svg.iter("line") if line.get("class") == "limit"]
    discs = sorted(float(circle.get("cx", "")) for circle in svg.iter("circle"))
    assert float(limit.get("x1", "")) < discs[0] < discs[1]
    assert "a: 0.410 to 0.600" in svg.get("aria-label", "")


def test_the_picture_of_quality_uses_the_words_of_the_study(buying_row: MakeRow) -> None:
    assert "what a buyer bought" in quality_picture([buying_row("a")], ["a"], 0.4, Words("buyer", "producer"))


def test_nothing_is_drawn_where_nothing_was_bought(buying_row: MakeRow) -> None:
    row = buying_row("a")
    row["procurement"]["by_agent"]["quality"] = [None] * 4
    assert quality_picture([row], ["a"], 0.4, Words()) == ""


def test_producers_are_sorted_by_quality_and_bars_are_totals_over_agents(buying_row: MakeRow) -> None:
    row = buying_row("a")
    row["procurement"]["orders"] = ORDERS
    svg = fromstring(orders_picture([row], ["mill", "forge", "loom"], Words()))
    labels = [text.text for text in svg.iter("text") if "(" in (text.text or "")]
    assert labels == ["forge (0.90)", "mill (0.50)", "loom (0.10)"]
    best = [float(bar.get("width", "")) for bar in svg.iter("rect") if bar.get("class") == "best"]
    assert best[1] / best[0] == pytest.approx(5 / 3, rel=0.01)  # loom has none
    titles = [title.text for title in svg.iter("title")]
    assert titles == ["a: 2 from forge", "a: 4 from mill", "a: 2 from loom"]


def test_orders_are_not_drawn_where_instances_differ_or_producers_are_many(buying_row: MakeRow) -> None:
    assert orders_picture([buying_row("a")], ["mill"], Words()) == ""
    row = buying_row("a")
    row["procurement"]["orders"] = ORDERS
    assert orders_picture([row], [f"p{number}" for number in range(31)], Words()) == ""


def test_producers_without_names_are_numbered() -> None:
    assert producer_names({"producer_names": ["mill"]}, 1) == ["mill"]
    assert producer_names({}, 2) == ["arm 0", "arm 1"]
