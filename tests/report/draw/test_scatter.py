"""Planes of dots with lanes beside them."""

from xml.etree.ElementTree import Element, fromstring

import pytest

from coterie.report.draw.scale import Scale
from coterie.report.draw.scatter import HEIGHT, Axis, Dot, Lane, ends_beside, plane

NO_LIMIT, SILENT, BEYOND = Lane("no limit", left=False), Lane("nothing", left=True), Lane("be\nyond", left=False, outer=True)
ACROSS = Axis(Scale(1, 100, 8, 70, True), [(1.0, "1"), (100.0, "100")])
UP = Axis(Scale(1, 10, HEIGHT, 0.0, True), [(1.0, "1"), (10.0, "10")])


def dots_of(svg: Element) -> list[Element]:
    return [group for group in svg.iter("g") if (group.get("class") or "").startswith("pt")]


def at(group: Element) -> tuple[float, float]:
    (inside,) = [part for part in group if part.tag == "svg"]
    return float(inside.get("x", "").rstrip("%")), float(inside.get("y", ""))


def test_dots_lie_at_their_true_places_or_in_their_lanes() -> None:
    dots = [
        Dot("r1", "1", 10.0, 1.0, None),
        Dot("r2", "2", NO_LIMIT, 10.0, None, "broken"),
        Dot("r3", "3", SILENT, 10.0, None, "nothing"),
    ]
    svg = fromstring(plane(dots, ACROSS, UP, "said"))
    assert [at(group) for group in dots_of(svg)] == [(39, HEIGHT), (89, 0), (11, 0)]
    lanes = [rect.get("x") for rect in svg.iter("rect") if rect.get("class") == "lane"]
    assert lanes == ["0%", "78%"]
    assert [text.text for text in svg.iter("text")][:2] == ["nothing", "no limit"]
    kinds = [element.get("class") for group in dots_of(svg) for element in group.iter()]
    assert [kind for kind in kinds if kind in ("dot", "ring", "cross")] == ["dot", "cross", "ring"]


def test_of_two_lanes_at_a_side_one_is_the_outer_and_a_name_of_two_lines_has_room() -> None:
    plain, both = (
        fromstring(plane([Dot("r1", "", lane, 1.0, None) for lane in lanes], ACROSS, UP, ""))
        for lanes in ([NO_LIMIT], [BEYOND, NO_LIMIT])
    )
    assert [at(group)[0] for group in dots_of(both)] == [91, 73]
    texts = [(text.text, text.get("x")) for text in both.iter("text")][:3]
    assert texts == [("be", "91%"), ("yond", "91%"), ("no limit", "73%")]
    assert float(both.get("height", "")) > float(plain.get("height", ""))


@pytest.mark.parametrize(
    ("lanes", "ends"), [([], (8, 92)), ([NO_LIMIT], (8, 70)), ([SILENT], (30, 92)), ([SILENT, NO_LIMIT], (30, 70)),
     ([BEYOND, NO_LIMIT], (8, 56))]
)
def test_a_scale_makes_room_for_lanes(lanes: list[Lane], ends: tuple[float, float]) -> None:
    assert ends_beside(lanes) == ends


def test_intervals_promises_lines_and_references_are_drawn() -> None:
    dots = [Dot("r1", "1", 1.0, 5.0, 1.0, promised=100.0, says="a <b>"), Dot("r2", "", 100.0, 5.0, None, faint=True)]
    svg = fromstring(plane(dots, ACROSS, UP, "", lines=[[0, 1]], reference=10.0))
    kinds = [element.get("class") for element in svg.iter()]
    assert kinds.count("ci2") == 1 and kinds.count("dotted") == 1 and "ln thin" in kinds and "pt r2 faint" in kinds
    (reference,) = [line for line in svg.iter("line") if line.get("class") == "ref"]
    assert reference.get("y1") == "0.0"
    assert [group.findtext("title") for group in dots_of(svg)] == ["", "a <b>"]  # the faint ones lie behind
    assert kinds.count("tn") == 1
