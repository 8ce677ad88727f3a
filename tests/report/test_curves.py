"""The picture of regret over time: well-formed, in the right place, and legible without colour."""

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from coterie.report import curves
from coterie.report.curves import View
from coterie.report.svg import BOTTOM, HEIGHT, TOP
from coterie.studies.words import Words

MakeRow = Callable[..., dict[str, Any]]


def draw(rows: list[dict[str, Any]], view: View) -> Element:
    return fromstring(curves.regret_curves(rows, [entry["label"] for entry in rows], view, Words("shop", "offer")))


def points(path: Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path.get("d", ""))]


def with_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def pixel(low: float, high: float, start: float, end: float, value: float, log: bool) -> float:
    """Independent of `Scale`: linear interpolation, of exponents if the scale is logarithmic."""
    if log:
        low, high, value = math.log10(low), math.log10(high), math.log10(value)
    return start + (end - start) * (value - low) / (high - low)


@pytest.mark.parametrize("view", curves.VIEWS, ids="-".join)
def test_a_curve_passes_through_its_values_in_every_view(row: MakeRow, view: View) -> None:
    svg = draw([row("a", 25.0)], view)
    drawn = points(with_class(svg, "mean")[0])
    left, right = float(svg.get("data-left", "")), float(svg.get("data-right", ""))
    factor, log = 1.0 if view.unit == "total" else 0.25, view.regret == "log"
    # With linear time a logarithmic regret axis starts at a tenth of the end, which the first checkpoint lies below.
    seen = [1, 10, 100] if view != ("linear", "log", view.unit) else [10, 100]
    lowest = {("log", "log"): 1.0, ("linear", "log"): 10.0}.get(view[:2], 0.0)
    highest = 200 if log else 1.04 * 200
    for (x, y), when in zip(drawn, seen, strict=True):
        first = 1 if view.time == "log" else 0
        assert x == pytest.approx(pixel(first, 100, left, right, when, view.time == "log"), abs=0.06)
        height = pixel(factor * lowest, factor * highest, HEIGHT - BOTTOM, TOP, factor * when, log)
        assert y == pytest.approx(height, abs=0.06)


def test_the_band_reaches_from_the_lowest_to_the_highest_replication(row: MakeRow) -> None:
    svg = draw([row("a")], View())
    band = points(with_class(svg, "band")[0])
    line = points(with_class(svg, "mean")[0])
    assert band[2][1] < line[2][1] < band[3][1]
    assert len(band) == 6


def test_equal_replications_have_no_band(row: MakeRow) -> None:
    flat = {"round": [1, 2], "mean": [1.0, 2.0], "low": [1.0, 2.0], "high": [1.0, 2.0]}
    assert not with_class(draw([row("a", curve=flat)], View()), "band")


@pytest.mark.parametrize("view", curves.VIEWS, ids="-".join)
def test_zero_regret_can_be_drawn_in_every_view(row: MakeRow, view: View) -> None:
    text = curves.regret_curves([row("zero", 0.0, margin=0.0)], ["zero"], view, Words())
    fromstring(text)
    assert "nan" not in text and "inf" not in text


def test_a_long_curve_is_thinned_but_keeps_its_ends_and_its_values() -> None:
    rounds = list(range(1, 10_001))
    curve = {"round": rounds, "mean": [2.0 * when for when in rounds]}
    thin = curves.thinned(curve)
    assert len(thin["round"]) <= 300 and thin["round"][:3] == [1, 2, 3] and thin["round"][-1] == 10_000
    assert thin["mean"] == [2.0 * when for when in thin["round"]]
    assert max(after - before for before, after in pairwise(thin["round"])) <= 10_000 / 149 + 1
    assert curves.thinned(thin) == thin


def test_names_at_the_ends_of_curves_do_not_collide(row: MakeRow) -> None:
    svg = draw([row(f"row{index}") for index in range(14)], View())
    heights = sorted(float(line.get("y", "")) for name in with_class(svg, "name") for line in name)
    assert len(heights) == 14
    assert min(after - before for before, after in pairwise(heights)) >= 15.9
    assert heights[-1] <= HEIGHT - BOTTOM


def test_long_names_are_whole_as_long_as_there_is_room(row: MakeRow) -> None:
    label = "together without a server, private"
    (name,) = with_class(draw([row(label)], View()), "name")
    assert [line.text for line in name] == ["together without a server,", "private"]
    crowd = with_class(draw([row(f"{label} {index}") for index in range(14)], View()), "name")
    assert [len(name) for name in crowd] == [1] * 14


def test_many_rows_leave_the_names_to_the_legend(row: MakeRow) -> None:
    assert not with_class(draw([row(f"row{index}") for index in range(15)], View()), "name")


def test_the_picture_tells_its_numbers_in_words_too(row: MakeRow) -> None:
    description = draw([row("a"), row("b", 50.0)], View(unit="agent")).get("aria-label", "")
    assert "per shop" in description and "b: 50.00 ± 0.10" in " ".join(description.split())


@pytest.mark.parametrize(("unit", "title"), [("total", "Regret, total over shops"), ("agent", "Regret, per shop")])
def test_the_axis_speaks_the_words_of_the_study(row: MakeRow, unit: str, title: str) -> None:
    assert title in [text.text for text in with_class(draw([row("each agent alone")], View(unit=unit)), "title")]


def test_curves_of_very_different_size_open_on_a_logarithmic_axis(row: MakeRow) -> None:
    assert curves.first_view([row("a", 10.0), row("b", 99.0)]) == ("linear", "linear", "total")
    assert curves.first_view([row("a", 10.0), row("b", 101.0)]) == ("linear", "log", "total")


def test_where_agents_lie_the_page_opens_on_regret_per_honest_agent(row: MakeRow) -> None:
    assert curves.first_view([row("a"), row("b", faults={"liars": 0.1, "attack": "random"})]).unit == "agent"
    assert curves.first_view([row("a"), row("b", faults={"loss": 0.1})]).unit == "total"
