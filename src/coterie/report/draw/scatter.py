"""Dots with number tags on a plane, with lanes beside it for what no scale can show: no limit, nothing sent."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from markupsafe import Markup

from coterie.report.draw.marks import State, mark, tag
from coterie.report.draw.scale import Scale, fitting
from coterie.report.draw.svg import Element, Point, add, percent, picture, place, points, source, stretched, text_width
from coterie.report.draw.tags import Span, half_width, tags

HEIGHT, FOOT = 290.0, 24.0
LANE, NARROW_LANE = 22.0, 18.0  # percent of the width: of one lane at a side, and of each of two
LINE = 14.0  # pixels from one line of text to the next


class Lane(NamedTuple):
    """What no scale can show, in a strip beside the plane."""

    text: str  # may have two lines
    left: bool  # of the plane, else right
    outer: bool = False  # beyond the other lane at its side


class Dot(NamedTuple):
    """`name` is the class that has its colour; an empty tag is not drawn."""

    name: str
    tag: str
    across: float | Lane
    up: float
    margin: float | None
    state: State = "kept"
    says: str = ""  # what is read off it
    promised: float | None = None  # where something else was promised: a dotted line leads there
    faint: bool = False


class Axis(NamedTuple):
    scale: Scale
    texts: Sequence[tuple[float, str]]  # the values that are marked, with their texts


def strips(lanes: Collection[Lane]) -> dict[Lane, tuple[float, float]]:
    """Where each lane begins and ends, in percent."""
    found = {}
    for left in (True, False):
        side = sorted({lane for lane in lanes if lane.left == left}, key=lambda lane: lane.outer, reverse=True)
        wide = LANE if len(side) < 2 else NARROW_LANE
        for rank, lane in enumerate(side):
            start = rank * wide if left else 100 - (rank + 1) * wide
            found[lane] = start, start + wide
    return found


def ends_beside(lanes: Collection[Lane]) -> tuple[float, float]:
    """Where a scale begins and ends that leaves room for the lanes."""
    taken = strips(lanes)
    left = max((end for lane, (_, end) in taken.items() if lane.left), default=0.0)
    right = min((start for lane, (start, _) in taken.items() if not lane.left), default=100.0)
    return left + 8, right - 8


def plane(dots: Sequence[Dot], across: Axis, up: Axis, said: str, lines: Sequence[Sequence[int]] = (),
          reference: float | None = None) -> Markup:  # fmt: skip
    """`lines` join dots of one series; `reference` is a value that is marked by a dashed line across."""
    lanes = strips([dot.across for dot in dots if isinstance(dot.across, Lane)])
    deeper = LINE * max((lane.text.count("\n") for lane in lanes), default=0)
    svg = picture(HEIGHT + FOOT + deeper, said, data_readout="", tabindex="0")
    for lane, (start, end) in lanes.items():
        gap = 1 if len(lanes) > 1 and end not in (LANE, 100.0) else 0  # lanes beside each other are two
        add(svg, "rect", x=percent(start), y=0, width=percent(end - start - gap), height=HEIGHT, class_="lane")
        for row, text in enumerate(lane.text.split("\n")):
            add(svg, "text", text, x=percent((start + end) / 2), y=HEIGHT + 18 + LINE * row, text_anchor="middle")
    draw_up(svg, up)
    draw_across(svg, across)
    lefts = [sum(lanes[dot.across]) / 2 if isinstance(dot.across, Lane) else across.scale.at(dot.across) for dot in dots]
    places = [(left, up.scale.at(dot.up)) for left, dot in zip(lefts, dots, strict=True)]
    if reference is not None:
        y = round(up.scale.at(reference), 1)
        add(svg, "line", x1="0", x2="100%", y1=y, y2=y, class_="ref")
    for line in lines:
        curve = stretched(svg, HEIGHT)
        group = add(curve, "g", class_=dots[line[0]].name)
        add(group, "polyline", points=points((10 * places[i][0], places[i][1]) for i in line), class_="ln thin")
    for dot, (x, y) in zip(dots, places, strict=True):
        if dot.promised is not None:
            _promised(svg, dot, across.scale.at(dot.promised), x, y)
    tagged = [i for i, dot in enumerate(dots) if dot.tag]
    others = [places[i] for i, dot in enumerate(dots) if not dot.tag]
    others += [(across.scale.at(dot.promised), y) for dot, (_, y) in zip(dots, places, strict=True) if dot.promised is not None]
    spans = [_span(dot, place, up) for dot, place in zip(dots, places, strict=True) if dot.margin and not dot.faint]
    found = tags([places[i] for i in tagged], [dots[i].tag for i in tagged], HEIGHT, others, spans)
    beside = dict(zip(tagged, found, strict=True))
    for i in sorted(range(len(dots)), key=lambda i: not dots[i].faint):
        dot, (x, y) = dots[i], places[i]
        group = add(svg, "g", class_=f"pt {dot.name}{' faint' if dot.faint else ''}", data_row=dot.name.removeprefix("r"))
        add(group, "title", dot.says)
        here = place(group, x, y)
        if dot.margin:
            _, top, bottom = _span(dot, (x, y), up)
            add(here, "line", y1=round(bottom - y, 1), y2=round(top - y, 1), class_="ci2")
        if i in beside:
            right, down, leader = beside[i]
            half = half_width(dot.tag)
            if leader:
                turn = 1 if right > 0 else -1
                add(here, "path", d=f"M{6 * turn} 0L{right - turn * half:.1f} {down:.1f}", class_="lead")
            mark(here, dot.state)
            tag(here, dot.tag, round(right, 1), round(down, 1), half)
        else:
            mark(here, dot.state)
    return source(svg)


def _span(dot: Dot, place: Point, up: Axis) -> Span:
    """Where the interval of a dot is drawn."""
    margin = dot.margin or 0.0
    return place[0], up.scale.at(dot.up + margin), up.scale.at(dot.up - margin)


def draw_up(svg: Element, up: Axis) -> None:
    """Lines across with their numbers in the margin at the left, which the style sheet leaves free."""
    for value, text in up.texts:
        y = round(up.scale.at(value), 1)
        add(svg, "line", x1="0", x2="100%", y1=y, y2=y, class_="gl")
        add(svg, "text", text, x=0, dx=-8, y=y + 4, text_anchor="end")


def draw_across(svg: Element, across: Axis) -> None:
    """Numbers below, those that fit on a phone."""
    for at, text in fitting([(across.scale.at(value), text) for value, text in across.texts]):
        add(svg, "text", text, x=percent(at), y=HEIGHT + 18, text_anchor="middle")


def _promised(svg: Element, dot: Dot, start: float, end: float, y: float) -> None:
    group = add(svg, "g", class_=f"prom {dot.name}")
    y = round(y, 1)
    add(group, "line", x1=percent(start), x2=percent(end), y1=y, y2=y, class_="dotted")
    add(group, "line", x1=percent(start), x2=percent(start), y1=y - 5, y2=y + 5)


def margin_of(axis: Axis) -> float:
    """Pixels that the numbers of an upward axis take."""
    return max((text_width(text, 12) for _, text in axis.texts), default=0.0) + 10
