"""SVG that keeps its text size."""

from xml.etree.ElementTree import fromstring

from coterie.report.draw.svg import add, hidden, percent, picture, place, points, source, stretched, text_width


def test_a_picture_has_no_view_box_and_says_its_numbers() -> None:
    svg = fromstring(source(picture(30, 'a < b & "c"', data_row=3)))
    assert svg.attrib == {"width": "100%", "height": "30", "role": "img", "aria-label": 'a < b & "c"', "data-row": "3"}


def test_text_is_escaped() -> None:
    svg = hidden(1, 1)
    add(svg, "text", "<script>alert(1)</script>", text_anchor="end", class_="val")
    assert "<script>" not in source(svg) and 'text-anchor="end" class="val"' in source(svg)


def test_places_are_in_percent_across_and_pixels_down() -> None:
    inside = place(picture(30, ""), 12.3456, 7.04)
    assert (inside.get("x"), inside.get("y"), inside.get("overflow")) == ("12.35%", "7.0", "visible")
    assert percent(50.0) == "50%" and points([(1.04, 2.0), (3, 4.66)]) == "1,2 3,4.7"


def test_what_is_stretched_is_stretched_across_only() -> None:
    part = stretched(picture(30, ""), 20)
    assert (part.get("viewBox"), part.get("preserveAspectRatio"), part.get("height")) == ("0 0 1000 20", "none", "20")


def test_text_is_taken_to_be_wide() -> None:
    assert text_width("0000000000", 10) >= 10 * 5.56  # a digit of Arial is 0.556 of its size wide
