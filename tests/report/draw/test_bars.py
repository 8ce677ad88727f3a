"""Bars, their intervals, torn ends and arrows."""

from xml.etree.ElementTree import Element, fromstring

import pytest

from coterie.report.draw.bars import Bar, arrow_picture, axis_picture, bar_picture, bar_scale
from coterie.report.draw.scale import NARROW, Scale
from coterie.report.draw.svg import percent, text_width


def bar(value: float, margin: float | None = None, marks: list[tuple[float, str]] | None = None) -> Bar:
    return Bar(value, margin, f"{value:.1f}", f"a: {value}", marks=marks or ())


def drawn(*args, **options) -> Element:
    return fromstring(bar_picture(*args, **options))


def test_bars_begin_at_zero_and_are_as_long_as_their_values() -> None:
    bars = [bar(10.0, 2.0), bar(6.0)]
    scale, limit = bar_scale(bars)
    assert limit == float("inf") and scale.low == 0 and scale.high == 12.0
    for one in bars:
        rect = drawn(one, scale, limit, thick=True).find("rect")
        assert rect is not None and rect.get("x") == "0"
        assert float(rect.get("width", "").rstrip("%")) == pytest.approx(scale.end * one.value / 12, abs=0.01)


@pytest.mark.parametrize(
    ("values", "torn"),
    [
        ([42.0, 13.2, 2.0], [42.0]),
        ([39.0, 13.2, 2.0], []),
        ([5.0], []),
        ([5.0, 0.0], []),
        ([212.0, 200.0, 27.0, 16.0, 10.0, 6.0], [212.0, 200.0]),
        ([212.0, 200.0, 27.0, 16.0, 10.0], []),
    ],
)
def test_bars_over_three_times_the_next_are_torn_if_they_are_few(values: list[float], torn: list[float]) -> None:
    bars = [bar(value) for value in values]
    scale, limit = bar_scale(bars)
    assert [one.value for one in bars if one.value >= limit] == torn
    for one in bars:
        svg = drawn(one, scale, limit, thick=False)
        tears = [path for path in svg.iter("path") if path.get("class") == "tear"]
        (text,) = [text.text for text in svg.iter("text")]
        assert bool(tears) == (one.value in torn)
        assert text == f"{one.value:.1f}"
    if torn:
        assert scale.high == max(set(values) - set(torn))


@pytest.mark.parametrize("value", [1.0, 123456.7])
def test_the_number_of_the_longest_bar_has_room_on_a_phone(value: float) -> None:
    scale, _ = bar_scale([bar(value)])
    assert (100 - scale.end) / 100 * NARROW >= 7 + text_width(f"{value:.1f}", 14)


def test_a_bar_that_the_picture_is_about_is_never_torn() -> None:
    scale, limit = bar_scale([bar(42.0)._replace(whole=True), bar(1.0)])
    assert limit == float("inf") and scale.high == 42.0


def test_an_interval_reaches_to_both_sides_and_the_number_stands_behind_it() -> None:
    scale, limit = bar_scale([bar(10.0, 2.0)])
    svg = drawn(bar(10.0, 2.0), scale, limit, thick=True)
    caps = sorted(float(line.get("x1", "0").rstrip("%")) for line in svg.iter("line") if line.get("x1") == line.get("x2"))
    assert pytest.approx(scale.end * 8 / 12, abs=0.01) in caps and pytest.approx(scale.end, abs=0.01) in caps
    text = svg.find("text")
    assert text is not None and text.get("x") == percent(scale.end)


def test_further_marks_stand_below_the_bar_and_are_named_unless_names_would_touch() -> None:
    bars = [bar(10.0, None, [(4.0, "H1"), (4.1, "H2"), (4.2, "H4"), (11.0, "H3")])]
    scale, limit = bar_scale(bars)
    svg = drawn(bars[0], scale, limit, thick=True)
    assert [(text.text, text.get("text-anchor")) for text in svg.findall("svg/text")] == [
        ("H1", "end"),
        ("H4", None),
        ("H3", None),
    ]
    number = next(text for text in svg.iter("text") if text.get("class") == "val")
    assert number.get("x") == percent(scale.at(10.0))
    assert all(float(ring.get("y", "")) > float(number.get("y", "")) + 8 for ring in svg.findall("svg"))


@pytest.mark.parametrize(("start", "end", "anchor"), [(10.0, 2.0, "start"), (2.0, 3.0, "start"), (11.0, 12.0, "end")])
def test_an_arrow_points_from_one_bar_to_the_other_and_its_text_stays_inside(start: float, end: float, anchor: str) -> None:
    svg = fromstring(arrow_picture(start, end, Scale(0, 12, 0, 84), "privacy: +0.6 (0.4 to 0.9)", "said"))
    line = next(line for line in svg.iter("line") if line.get("class") == "arr")
    ends = [float(line.get(key, "").rstrip("%")) for key in ("x1", "x2")]
    assert ends == pytest.approx([84 * start / 12, 84 * end / 12], abs=0.01)
    head = next(path for path in svg.iter("path"))
    assert head.get("d", "").startswith("M6" if end < start else "M-6")
    text = next(svg.iter("text"))
    assert text.get("text-anchor") == anchor and text.get("dx") == ("6" if anchor == "start" else "0")


def test_the_text_of_an_arrow_stands_clear_of_the_line_of_zero() -> None:
    for said in ("short", "privacy at ε = 0.3: +146.5 (130.2 to 162.8), and more"):
        text = next(fromstring(arrow_picture(0.0, 0.5, Scale(0, 12, 0, 84), said, said)).iter("text"))
        assert (text.get("x"), text.get("text-anchor"), text.get("dx")) == ("0%", "start", "6")


def test_the_axis_makes_room_for_a_value_that_has_a_name() -> None:
    svg = fromstring(axis_picture(Scale(0.68, 0.76, 2, 98), (0.7, "limit 0.7")))
    texts = [text.text for text in svg.iter("text")]
    assert "limit 0.7" in texts and "0.7" not in texts
    assert [text.text for text in fromstring(axis_picture(Scale(0, 20, 0, 84))).iter("text")] == ["0", "5", "10", "15", "20"]
