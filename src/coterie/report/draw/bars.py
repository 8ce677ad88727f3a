"""Bars from zero, with 95 % intervals, torn ends and arrows between them. Each bar is a picture of one line.

All bars of a picture share a scale and its grid lines, so they can stand in lines of HTML beside names that wrap.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from coterie.report.draw.scale import NARROW, Scale, fitting, linear
from coterie.report.draw.svg import Element, add, hidden, percent, picture, place, source, text_width
from coterie.studies.numbers import compact

BESIDE_LINE = 6  # pixels from the line of zero to a text that begins there
TORN_FROM = 3.0  # a bar that is so many times the next one runs off the scale


class Bar(NamedTuple):
    value: float
    margin: float | None
    text: str  # the number beside it
    said: str  # its numbers in a sentence
    whole: bool = False  # it is what the picture is about, and never torn
    marks: Sequence[tuple[float, str]] = ()  # further values on the same line, each with its short name


def bar_scale(bars: Sequence[Bar]) -> tuple[Scale, float]:
    """The common scale, and the value beyond which bars are torn."""
    limit = _limit(sorted(bars, key=lambda bar: -bar.value))
    inside = [bar for bar in bars if bar.value < limit]
    ends = [bar.value + (bar.margin or 0.0) for bar in inside] + [mark for bar in inside for mark, _ in bar.marks]
    widest = max((text_width(bar.text, 14) for bar in bars), default=0.0)
    return linear(ends, 0.0, 100 - (widest + 10) / NARROW * 100, room=1.0), limit


def _limit(bars: Sequence[Bar]) -> float:
    """Of bars from the largest on: where one is so many times the next, it is torn with all before it, at most a third."""
    for count, (bar, after) in enumerate(pairwise(bars), 1):
        if bar.whole or (count > 1 and 3 * count > len(bars)):
            break
        if bar.value > TORN_FROM * after.value > 0:
            return bar.value
    return float("inf")


def bar_picture(bar: Bar, scale: Scale, limit: float, *, thick: bool) -> Markup:
    tall = 16 if thick else 11
    height = (30 if thick else 26) + (12 if bar.marks else 0)
    svg = picture(height, bar.said, class_="bar")
    grid(svg, scale)
    middle = 14 if thick else 12.5
    if bar.value >= limit:
        _torn(svg, bar, scale, middle, tall)
        return source(svg)
    end = scale.at(bar.value)
    add(svg, "rect", x=0, y=middle - tall / 2, width=percent(end), height=tall, class_="fill")
    right = _interval(svg, bar, scale, middle) if bar.margin else end
    _marks(svg, bar, scale, middle)
    add(svg, "text", bar.text, x=percent(right), dx=7, y=middle + 4.5, class_="val")
    return source(svg)


def _interval(svg: Element, bar: Bar, scale: Scale, middle: float) -> float:
    """Light inside the bar and dark outside; returns where it ends."""
    margin = bar.margin or 0.0
    low, end, high = (scale.at(bar.value + sign * margin) for sign in (-1, 0, 1))
    for start, stop, cap, kind in ((low, end, low, "ci inn"), (end, high, high, "ci")):
        add(svg, "line", x1=percent(start), x2=percent(stop), y1=middle, y2=middle, class_=kind)
        add(svg, "line", x1=percent(cap), x2=percent(cap), y1=middle - 4, y2=middle + 4, class_=kind)
    return high


def _torn(svg: Element, bar: Bar, scale: Scale, middle: float, tall: float) -> None:
    """Runs to the end of the scale, where it is torn."""
    add(svg, "rect", x=0, y=middle - tall / 2, width=percent(scale.end), height=tall, class_="fill torn")
    add(place(svg, scale.end, middle), "path", d="M-10-10l-5 20M-5-10l-5 20", class_="tear")
    add(svg, "text", bar.text, x=percent(scale.end), dx=7, y=middle + 4.5, class_="val")


def _marks(svg: Element, bar: Bar, scale: Scale, middle: float) -> None:
    """Rings on a line of their own below the bar, each with its name to the right, or to the left where the next is near."""
    places = [(scale.at(value), name) for value, name in sorted(bar.marks)]
    taken = 0.0
    for (across, name), (after, _) in zip(places, [*places[1:], (float("inf"), "")], strict=False):
        ring, wide = place(svg, across, middle + 19), (text_width(name, 12) + 16) / NARROW * 100
        add(ring, "circle", r=4, class_="ring")
        if after - across > wide:
            add(ring, "text", name, x=8, y=4.5)
        elif across - wide > taken:
            add(ring, "text", name, x=-8, y=4.5, text_anchor="end")
        taken = across + (wide if after - across > wide else 0.0)


def grid(svg: Element, scale: Scale) -> None:
    for tick in scale.ticks(5):
        kind = "gl" if tick else "zero"
        add(svg, "line", x1=percent(scale.at(tick)), x2=percent(scale.at(tick)), y1=0, y2="100%", class_=kind)


def arrow_picture(start: float, end: float, scale: Scale, text: str, said: str) -> Markup:
    """From one bar's end to another's, with what it means above."""
    svg = picture(36, said, class_="bar arrow")
    grid(svg, scale)
    first, last = scale.at(start), scale.at(end)
    left, right, back = min(first, last), max(first, last), last < first
    add(svg, "line", x1=percent(first), x2=percent(last), y1=26, y2=26, class_="arr")
    head = place(svg, last, 26)
    add(head, "path", d="M6-4 0 0 6 4" if back else "M-6-4 0 0-6 4", class_="arr")
    wide = (text_width(text, 13) + BESIDE_LINE) / NARROW * 100
    across, anchor = (left, "start") if left + wide < 100 else (right, "end") if right > wide else (0.0, "start")
    shift = BESIDE_LINE if anchor == "start" else 0
    add(svg, "text", text, x=percent(across), dx=shift, y=16, text_anchor=anchor, class_="d")
    return source(svg)


def axis_picture(scale: Scale, named: tuple[float, str] | None = None) -> Markup:
    """The numbers below the bars, and a value that has a name; numbers make room for it."""
    svg = hidden(0, 20, class_="bar")
    svg.set("width", "100%")
    marks = [(scale.at(tick), compact(tick)) for tick in scale.ticks(5)]
    if named:
        own = (scale.at(named[0]), named[1])
        marks = sorted([own, *(mark for mark in marks if len(fitting(sorted([own, mark]))) == 2)])
    for across, text in marks if named else fitting(marks):
        anchor = "start" if across < 5 and len(text) > 1 else "end" if across > 95 else "middle"
        add(svg, "text", text, x=percent(across), y=14, text_anchor=anchor)
    return source(svg)
