"""Small multiples: a panel for each method with its lines and bands, all the others in grey behind them."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from coterie.report.draw.scale import fitting
from coterie.report.draw.scatter import Axis
from coterie.report.draw.svg import STRETCH, Element, Point, add, percent, picture, points, source, stretched

HEIGHT, FOOT = 124.0, 22.0


class Line(NamedTuple):
    """`name` is the class that has its colour. A margin that is None anywhere means that there is no band."""

    name: str
    values: Sequence[tuple[float, float]]  # (across, up)
    margins: Sequence[float | None] = ()
    kind: str = "ln"


Steps = Sequence[Sequence[str]]  # for each value across of the first line: what is read off there


def panel(lines: Sequence[Line], others: Sequence[Line], across: Axis, up: Axis, said: str, steps: Steps = (),
          height: float = HEIGHT) -> Markup:  # fmt: skip
    svg = picture(height + FOOT, said)
    if steps:
        stops = [[round(across.scale.at(x), 1), *step] for (x, _), step in zip(lines[0].values, steps, strict=True)]
        svg.attrib |= {"data-readout": "", "tabindex": "0", "data-plot": f"{height:g}", "data-steps": json.dumps(stops)}
    for value, text in up.texts:
        y = round(up.scale.at(value), 1)
        add(svg, "line", x1="0", x2="100%", y1=y, y2=y, class_="gl")
        add(svg, "text", text, x=0, dx=-6, y=y + 4, text_anchor="end")
    for at, text in fitting([(across.scale.at(value), text) for value, text in across.texts]):
        anchor = "start" if at < 5 else "end" if at > 95 else "middle"
        add(svg, "text", text, x=percent(at), y=height + 16, text_anchor=anchor)
    curves = stretched(svg, height)
    for line in others:
        add(curves, "polyline", points=points(_corners(line.values, across, up)), class_="ctx")
    for line in lines:
        group = add(curves, "g", class_=line.name)
        if line.margins and None not in line.margins:
            add(group, "polygon", points=points(_band(line, across, up)), class_="bd")
        add(group, "polyline", points=points(_corners(line.values, across, up)), class_=line.kind)
    return source(svg)


def _corners(values: Sequence[tuple[float, float]], across: Axis, up: Axis) -> list[Point]:
    return [(STRETCH / 100 * across.scale.at(x), up.scale.at(y)) for x, y in values if y > 0 or not up.scale.log]


def _band(line: Line, across: Axis, up: Axis) -> list[Point]:
    pairs = [(x, y, margin or 0.0) for (x, y), margin in zip(line.values, line.margins, strict=True)]
    upper = _corners([(x, y + margin) for x, y, margin in pairs], across, up)
    lower = [(STRETCH / 100 * across.scale.at(x), up.scale.at(y - margin)) for x, y, margin in pairs]
    return upper + lower[::-1]


def bars_outline(parent: Element, edges: Sequence[float], heights: Sequence[float], across: Axis, up: Axis, name: str) -> None:
    """The outline of a histogram inside a stretched part."""
    corners = [(edges[0], 0.0)]
    for left, right, height in zip(edges, edges[1:], heights, strict=False):
        corners += [(left, height), (right, height)]
    corners.append((edges[-1], 0.0))
    places = points((STRETCH / 100 * across.scale.at(x), up.scale.at(y)) for x, y in corners)
    group = add(parent, "g", class_=name)
    add(group, "polygon", points=places, class_="bd")
    add(group, "polyline", points=places, class_="ln")
