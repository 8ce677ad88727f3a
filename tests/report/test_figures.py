"""The pictures: well-formed, in the right place, and legible without colour."""

import math
import re
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from coterie.report import figures
from coterie.report.figures import View
from coterie.report.words import Verdict


def row(
    label: str, end: float = 100.0, accounted: float | None = 1.0, size: float = 1000.0, **changes: Any
) -> dict[str, Any]:
    """Two agents, three checkpoints, regret growing to `end` in total."""
    claimed = None if accounted is None else {"epsilon": 1.0, "delta": 0.0}
    return {
        "label": label,
        "agents": 2,
        "replications": 20,
        "regret": {"mean": end, "sem": 1.0},
        "regret_per_agent": {"mean": end / 2, "sem": 0.5},
        "curve": {
            "round": [1, 10, 100],
            "mean": [end / 100, end / 10, end],
            "low": [0.0, end / 20, end / 2],
            "high": [end / 50, end / 5, 2 * end],
        },
        "communication": {"rounds": 1, "messages": 1, "bytes": size, "cost": 1.0},
        "privacy": {
            "claimed": claimed,
            "accounted": {"epsilon": accounted, "delta": 0.0},
            "private": accounted is not None,
        },
    } | changes


def draw_curves(rows: list[dict[str, Any]], view: View) -> Element:
    return fromstring(figures.regret_curves(rows, [entry["label"] for entry in rows], view))


def draw_tradeoff(rows: list[dict[str, Any]]) -> Element:
    return fromstring(figures.tradeoff(rows, [entry["label"] for entry in rows]))


def points(path: Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path.get("d", ""))]


def with_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def pixel(low: float, high: float, start: float, end: float, value: float, log: bool) -> float:
    """Independent of `Scale`: linear interpolation, of exponents if the scale is logarithmic."""
    if log:
        low, high, value = math.log10(low), math.log10(high), math.log10(value)
    return start + (end - start) * (value - low) / (high - low)


@pytest.mark.parametrize("view", figures.VIEWS, ids="-".join)
def test_a_curve_passes_through_its_values_in_every_view(view: View) -> None:
    svg = draw_curves([row("a")], view)
    drawn = points(with_class(svg, "mean")[0])
    left, right = float(svg.get("data-left", "")), float(svg.get("data-right", ""))
    top, bottom = figures.TOP, figures.HEIGHT - figures.BOTTOM
    factor = 1.0 if view.unit == "total" else 0.5
    lowest, highest = (1.0, 200.0) if view.regret == "log" else (0.0, 1.04 * 200)
    for (x, y), when, regret in zip(drawn, (1, 10, 100), (1, 10, 100), strict=True):
        first = 1 if view.time == "log" else 0
        assert x == pytest.approx(pixel(first, 100, left, right, when, view.time == "log"), abs=0.06)
        height = pixel(factor * lowest, factor * highest, bottom, top, factor * regret, view.regret == "log")
        assert y == pytest.approx(height, abs=0.06)


def test_the_band_reaches_from_the_lowest_to_the_highest_replication() -> None:
    svg = draw_curves([row("a")], View())
    band = points(with_class(svg, "band")[0])
    line = points(with_class(svg, "mean")[0])
    assert band[2][1] < line[2][1] < band[3][1]
    assert len(band) == 6


def test_equal_replications_have_no_band() -> None:
    flat = {"round": [1, 2], "mean": [1.0, 2.0], "low": [1.0, 2.0], "high": [1.0, 2.0]}
    assert not with_class(draw_curves([row("a", curve=flat)], View()), "band")


@pytest.mark.parametrize("view", figures.VIEWS, ids="-".join)
def test_zero_regret_and_a_start_at_round_zero_can_be_drawn_in_every_view(view: View) -> None:
    nothing = {"round": [0, 5], "mean": [0.0, 0.0], "low": [0.0, 0.0], "high": [0.0, 0.0]}
    zero = row("zero", regret={"mean": 0.0, "sem": 0.0}, regret_per_agent={"mean": 0.0, "sem": 0.0}, curve=nothing)
    text = figures.regret_curves([zero], ["zero"], view)
    fromstring(text)
    assert "nan" not in text and "inf" not in text


def test_a_long_curve_is_thinned_but_keeps_its_ends_and_its_values() -> None:
    rounds = list(range(1, 10_001))
    curve = {"round": rounds, "mean": [2.0 * when for when in rounds]}
    thin = figures.thinned(curve)
    assert len(thin["round"]) <= 300 and thin["round"][:3] == [1, 2, 3] and thin["round"][-1] == 10_000
    assert thin["mean"] == [2.0 * when for when in thin["round"]]
    assert max(after - before for before, after in pairwise(thin["round"])) <= 10_000 / 149 + 1
    assert figures.thinned(thin) == thin


def test_thirty_rows_can_be_told_apart_by_colour_and_dash() -> None:
    assert len({(figures.colour(index), figures.dash(index)) for index in range(30)}) == 30


def test_names_at_the_ends_of_curves_do_not_collide() -> None:
    svg = draw_curves([row(f"row{index}", 100.0) for index in range(14)], View())
    heights = sorted(float(name.get("y", "")) for name in with_class(svg, "name"))
    assert len(heights) == 14
    assert min(after - before for before, after in pairwise(heights)) >= 15.9
    assert heights[-1] <= figures.HEIGHT


def test_many_rows_leave_the_names_to_the_legend() -> None:
    rows = [row(f"row{index}") for index in range(15)]
    assert not with_class(draw_curves(rows, View()), "name")
    assert not with_class(draw_tradeoff(rows), "name")
    assert len(with_class(draw_tradeoff(rows[:14]), "name")) == 14


def test_a_picture_tells_its_numbers_in_words_too() -> None:
    assert "b: 50.0 ± 1.0" in draw_curves([row("a"), row("b", 50.0)], View()).get("aria-label", "")
    described = draw_tradeoff([row("a"), row("b")]).get("aria-label", "")
    assert "a: regret 50.00 ± 0.50 per agent, accounted epsilon 1, 1 kB" in described


def test_curves_of_very_different_size_open_on_a_logarithmic_axis() -> None:
    assert figures.first_view([row("a", 10.0), row("b", 190.0)]).regret == "linear"
    assert figures.first_view([row("a", 10.0), row("b", 210.0)]).regret == "log"
    assert figures.first_view([row("a", 0.0), row("b", 210.0)]).regret == "linear"


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0, 10.4, False, [0, 2, 4, 6, 8, 10]),
        (-1, 1, False, [-1, -0.5, 0, 0.5, 1]),
        (1, 1000, True, [1, 10, 100, 1000]),
        (2, 40, True, [3, 10, 30]),
    ],
)
def test_ticks_are_round_numbers_inside_the_scale(low: float, high: float, log: bool, expected: list[float]) -> None:
    assert figures.Scale(low, high, 0, 1, log).ticks() == pytest.approx(expected)


def test_rows_of_one_epsilon_are_set_against_communication_instead() -> None:
    cheap = {"rounds": 1, "messages": 1, "bytes": 10.0, "cost": 5.0}
    assert figures.tradeoff_axis([row("a"), row("b", accounted=2.0)]) is figures.EPSILON
    assert figures.tradeoff_axis([row("a"), row("b", accounted=None)]) is figures.EPSILON
    assert "cost" in figures.tradeoff_axis([row("a"), row("b", communication=cheap)]).title
    assert "Bytes" in figures.tradeoff_axis([row("a"), row("b", size=10.0)]).title


def test_where_nothing_can_be_traded_there_is_no_picture() -> None:
    silent = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}
    alone = [row(label, accounted=None, communication=silent) for label in "ab"]
    assert figures.tradeoff([row("a")], ["a"]) == figures.tradeoff(alone, ["a", "b"]) == ""
    assert figures.tradeoff([row("a"), row("b")], ["a", "b"])


def test_more_privacy_is_farther_left_and_none_is_in_a_lane_of_its_own() -> None:
    svg = draw_tradeoff([row("a", accounted=0.5), row("b", accounted=1.0), row("c", accounted=None)])
    places = [float(circle.get("cx", "")) for circle in svg.iter("circle")]
    lane = float(with_class(svg, "lane")[0].get("x", ""))
    assert places[0] < places[1] < lane < places[2]


def test_the_area_of_a_mark_is_in_proportion_to_the_data_sent() -> None:
    svg = draw_tradeoff([row("a", size=4000.0), row("b", size=1000.0, accounted=0.5)])
    radii = sorted(float(circle.get("r", "")) for circle in svg.iter("circle"))
    assert radii[1] ** 2 / radii[0] ** 2 == pytest.approx(4.0)


def test_verdicts_differ_in_shape_and_a_broken_claim_shows_its_distance() -> None:
    svg = draw_tradeoff([row("kept"), row("broken", accounted=50.0)])
    kept, broken = with_class(svg, "within")[0], with_class(svg, "above")[0]
    assert kept.find("circle") is not None and broken.find("circle") is None
    (claim,) = with_class(svg, "claim")
    line = claim.find("line")
    assert line is not None and float(line.get("x1", "")) == float(next(kept.iter("circle")).get("cx", ""))
    assert len({figures.shape(kind).split(">", 1)[1] for kind in Verdict}) == 3  # filled and hollow circles share one


def test_user_text_cannot_leave_its_element() -> None:
    text = figures.regret_curves([row('<script>&"')], ['<script>&"'], View())
    assert "<script" not in text
    assert with_class(fromstring(text), "name")[0].text == '<script>&"'
