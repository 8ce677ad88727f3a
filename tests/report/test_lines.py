"""The picture of regret against a number that a study sweeps."""

import re
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from coterie.report import hops
from coterie.report.lines import Series, regret_lines
from coterie.report.svg import BOTTOM, HEIGHT
from coterie.studies.words import Words

MakeRow = Callable[..., dict[str, Any]]


def with_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def sweep(row: MakeRow, name: str, *regrets: float) -> Series:
    return Series(name, [(float(place), row(name, regret)) for place, regret in enumerate(regrets)])


def test_a_line_passes_through_its_values(row: MakeRow) -> None:
    svg = fromstring(
        regret_lines([sweep(row, "a", 10.0, 20.0, 40.0), sweep(row, "b", 30.0, 30.0, 30.0)], "Hops", Words("shop"))
    )
    first, second = (
        [(float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", line.get("d", ""))]
        for line in with_class(svg, "mean")
    )
    assert [x for x, _ in first] == [x for x, _ in second]
    assert abs((first[1][0] - first[0][0]) - (first[2][0] - first[1][0])) < 0.2  # 0, 1 and 2 are evenly spaced
    base = HEIGHT - BOTTOM
    heights = [base - y for _, y in first]
    assert [round(height / heights[0], 2) for height in heights] == [1, 2, 4]  # a linear axis from zero
    assert [name[0].text for name in with_class(svg, "name")] == ["a", "b"]
    assert "per shop" in svg.get("aria-label", "") and len(with_class(svg, "bar")) == 6


def test_only_the_values_there_are_are_marked_across(row: MakeRow) -> None:
    svg = fromstring(regret_lines([sweep(row, "a", 10.0, 20.0, 40.0)], "Hops", Words()))
    (axes,) = with_class(svg, "axes")
    assert [text.text for text in axes if text.get("text-anchor") == "middle"] == ["0", "1", "2"]


def test_regrets_of_very_different_size_stand_on_a_logarithmic_axis(row: MakeRow) -> None:
    assert "(log scale)" in regret_lines([sweep(row, "a", 1.0, 20.0)], "Hops", Words())
    assert "(log scale)" not in regret_lines([sweep(row, "a", 10.0, 20.0)], "Hops", Words())
    assert "nan" not in regret_lines([sweep(row, "a", 0.0, 0.0)], "Hops", Words())


def test_a_single_value_is_no_line(row: MakeRow) -> None:
    assert regret_lines([sweep(row, "a", 10.0)], "Hops", Words()) == ""
    assert regret_lines([], "Hops", Words()) == ""


def test_rows_that_differ_in_their_life_form_a_line(row: MakeRow) -> None:
    lives = [2, 0, 1, "diameter"]
    rows = [row(f"coop life={life} epsilon=1", 10.0 + place, parameters={"life": life}) for place, life in enumerate(lives)]
    (found,) = hops.series([*rows, row("alone"), row("far", parameters={"life": None})])
    assert found.name == "coop epsilon=1"
    assert [(life, entry["regret_per_agent"]["mean"]) for life, entry in found.rows] == [(0, 11.0), (1, 12.0), (2, 10.0)]
