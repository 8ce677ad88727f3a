"""The picture of the trade-off: every row in its place, and verdicts that differ without colour."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from coterie.report import tradeoff
from coterie.report.privacy import Verdict
from coterie.studies.words import Words

MakeRow = Callable[..., dict[str, Any]]
PRIVATE = {"claimed": 1, "accounted": 1}
WORDS = Words("shop", "offer")


def draw(rows: list[dict[str, Any]]) -> Element:
    return fromstring(tradeoff.tradeoff(rows, [entry["label"] for entry in rows], WORDS))


def with_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def test_rows_of_one_epsilon_are_set_against_communication_instead(row: MakeRow) -> None:
    cheap = {"rounds": 1, "messages": 1, "bytes": 10.0, "cost": 5.0}
    first = row("a", **PRIVATE)
    assert tradeoff.tradeoff_axis([first, row("b", claimed=2, accounted=2)]) is tradeoff.EPSILON
    assert tradeoff.tradeoff_axis([first, row("b")]) is tradeoff.EPSILON
    assert tradeoff.tradeoff_axis([first, first]) is tradeoff.EPSILON
    assert tradeoff.tradeoff_axis([first, row("b", **PRIVATE, communication=cheap)]) is tradeoff.COST
    assert tradeoff.tradeoff_axis([first, row("b", **PRIVATE, size=10.0)]) is tradeoff.DATA
    assert tradeoff.tradeoff_axis([row("a"), row("b")]) is tradeoff.DATA


def test_where_nothing_can_be_traded_there_is_no_picture(row: MakeRow) -> None:
    silent = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}
    alone = [row(label, communication=silent) for label in "ab"]
    assert tradeoff.tradeoff([row("a")], ["a"], WORDS) == tradeoff.tradeoff(alone, ["a", "b"], WORDS) == ""
    assert tradeoff.tradeoff([row("a"), row("b")], ["a", "b"], WORDS)


def test_more_privacy_is_farther_left_and_none_is_in_a_lane_of_its_own(row: MakeRow) -> None:
    svg = draw([row("a", claimed=0.5, accounted=0.5), row("b", **PRIVATE), row("c")])
    places = [float(circle.get("cx", "")) for circle in svg.iter("circle")]
    lane = float(with_class(svg, "lane")[0].get("x", ""))
    assert places[0] < places[1] < lane < places[2]


def test_many_rows_without_epsilon_stand_side_by_side_inside_the_lane(row: MakeRow) -> None:
    svg = draw([row("a", **PRIVATE), *(row(f"row{index}") for index in range(13))])
    places = sorted(float(circle.get("cx", "")) for circle in svg.iter("circle"))[1:]
    (lane,) = with_class(svg, "lane")
    assert len(set(places)) == 13
    assert float(lane.get("x", "")) < places[0] < places[-1] < float(lane.get("x", "")) + float(lane.get("width", ""))


def test_the_area_of_a_mark_is_in_proportion_to_the_data_sent(row: MakeRow) -> None:
    svg = draw([row("a", **PRIVATE, size=4000.0), row("b", claimed=0.5, accounted=0.5)])
    radii = sorted(float(circle.get("r", "")) for circle in svg.iter("circle"))
    assert radii[1] ** 2 / radii[0] ** 2 == pytest.approx(4.0)


def test_verdicts_differ_in_shape_and_a_broken_claim_shows_its_distance(row: MakeRow) -> None:
    svg = draw([row("kept", **PRIVATE), row("broken", claimed=1, accounted=50)])
    kept, broken = with_class(svg, "within")[0], with_class(svg, "above")[0]
    assert kept.find("circle") is not None and broken.find("circle") is None
    (claim,) = with_class(svg, "claim")
    line = claim.find("line")
    assert line is not None and float(line.get("x1", "")) == float(next(kept.iter("circle")).get("cx", ""))
    assert len({tradeoff.shape(kind).split(">", 1)[1] for kind in Verdict}) == 3  # filled and hollow circles share one


def test_the_name_of_a_mark_inside_a_larger_one_is_outside_both(row: MakeRow) -> None:
    svg = draw([row("small", **PRIVATE), row("large", **PRIVATE, size=100_000.0), row("far", claimed=9, accounted=9)])
    large = max(svg.iter("circle"), key=lambda circle: float(circle.get("r", "")))
    bottom, top = (float(large.get("cy", "")) + sign * float(large.get("r", "")) for sign in (1, -1))
    left, right = (float(large.get("cx", "")) + sign * float(large.get("r", "")) for sign in (-1, 1))
    near = [name for name in with_class(svg, "name") if not (name[0].text or "").startswith("far")]
    assert len(near) == 2
    for name in near:
        x, baselines = float(name[0].get("x", "")), [float(line.get("y", "")) for line in name]
        above_or_below = baselines[-1] < top or baselines[0] - 12 >= bottom
        assert above_or_below or (x >= right and name.get("text-anchor") == "start") or x <= left


def test_a_name_is_followed_by_the_data_sent(row: MakeRow) -> None:
    svg = draw([row("short", **PRIVATE), row("each shop alone, no noise"), row("together without a server, private")])
    names = [[" ".join((line.text or "").split()) for line in name] for name in with_class(svg, "name")]
    assert ["short · 1 kB"] in names
    assert ["each shop alone, no noise", "1 kB"] in names
    assert ["together without a server,", "private · 1 kB"] in names


def test_many_rows_are_named_only_when_pointed_at(row: MakeRow) -> None:
    rows = [row(f"row{index}", claimed=index + 1, accounted=index + 1) for index in range(15)]
    assert not with_class(draw(rows), "name")
    assert len(list(draw(rows).iter("title"))) == 15
    assert len(with_class(draw(rows[:14]), "name")) == 14


def test_the_picture_tells_its_numbers_in_words_too(row: MakeRow) -> None:
    described = " ".join(draw([row("a", **PRIVATE), row("b")]).get("aria-label", "").split())
    assert described.startswith("Scatter chart of regret per shop")
    assert "a: regret 10.00 ± 0.10 per shop, ε that holds 1, 1 kB" in described
