"""The parts of pictures."""

from xml.etree.ElementTree import fromstring

from coterie.report import svg


def test_thirty_rows_can_be_told_apart_by_colour_and_dash() -> None:
    assert len({(svg.colour(index), svg.dash(index)) for index in range(30)}) == 30


def test_text_cannot_leave_its_element() -> None:
    picture = svg.picture("curves", 'a "quoted" <description>')
    svg.add(picture, "text", "<script>&", text_anchor="end", class_="name")
    written = svg.source(picture)
    assert "<script" not in written and "<description" not in written
    (text,) = fromstring(written)
    assert text.text == "<script>&" and text.attrib == {"text-anchor": "end", "class": "name"}


def test_a_path_visits_its_points_in_order() -> None:
    assert svg.path([(1, 2), (3.04, 4.06)]) == "M1,2L3,4.1"
