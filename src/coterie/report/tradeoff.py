"""The picture that sets regret against privacy, or against communication where privacy does not differ."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from coterie.privacy.statement import SENDS_NOTHING, epsilon_text
from coterie.report.axes import Scale, draw_axes, linear_scale, log_scale, needs_log_scale
from coterie.report.labels import LETTERS_MAX, ROWS_MAX, Box, best_place, in_lines, width_of, write_name
from coterie.report.privacy import Verdict, epsilon_of, verdict
from coterie.report.rows import Row
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Point, add, colour, path, picture, source
from coterie.studies.numbers import bounds_of, interval_note, measured, sent_text
from coterie.studies.words import Words

LANE = 216  # holds a name of the largest width


class Axis(NamedTuple):
    """What the picture shows across: a value for each row (None goes to a lane of its own)."""

    title: str
    lane: str
    value: Callable[[Row], float | None]


EPSILON = Axis(
    "ε that holds (log scale; smaller = more private)",
    "no limit",
    lambda row: epsilon_of(row["privacy"]["accounted"]),
)
COST = Axis("Communication cost (log scale)", "no cost", lambda row: row["communication"]["cost"] or None)
DATA = Axis("Bytes sent (log scale)", SENDS_NOTHING, lambda row: row["communication"]["bytes"] or None)


def tradeoff_axis(rows: Sequence[Row]) -> Axis:
    """Epsilon, unless all rows have the same: then the first measure of communication that tells them apart."""
    for axis in (EPSILON, COST, DATA):
        if len({axis.value(row) for row in rows}) > 1:
            return axis
    return DATA if EPSILON.value(rows[0]) is None else EPSILON


def tradeoff(rows: Sequence[Row], names: Sequence[str], words: Words) -> str:
    """One mark for each row: across by `tradeoff_axis`, up by regret per agent, area by bytes sent.

    Empty where there is nothing to trade: a single row, or rows that neither account for an epsilon nor communicate.
    """
    axis = tradeoff_axis(rows)
    if len(rows) == 1 or all(axis.value(row) is None for row in rows):
        return ""
    across, up = _across_scale(rows, axis), _up_scale(rows)
    per_agent = words.in_place_of_ours("per agent")
    marks = [_mark_text(row, per_agent) for row in rows]
    svg = picture("tradeoff", f"Scatter chart of regret {per_agent}: {'; '.join(marks)}.")
    log_note = " (log scale)" if up.logarithmic else ""
    lines = interval_note("lines", [row["regret_per_agent"] for row in rows])
    draw_axes(svg, across, up, axis.title, f"Regret {per_agent}{log_note}{lines}")
    centres, radii = _centres(svg, rows, axis, across, up), _radii(rows)
    claims = _claims(svg, rows, centres, across) if axis is EPSILON else []
    leaders = add(svg, "g")
    for index in sorted(range(len(rows)), key=lambda index: -radii[index]):
        _mark(svg, index, rows[index], centres[index], radii[index], up, marks[index])
    if len(rows) <= ROWS_MAX:
        named = [_name_and_size(name, row) for name, row in zip(names, rows, strict=True)]
        beside_lane = (across.end, TOP, across.end + 20, HEIGHT - BOTTOM)
        _name_marks(svg, leaders, named, centres, radii, [*claims, beside_lane])
    return source(svg)


def _mark_text(row: Row, per_agent: str) -> str:
    regret = measured(row["regret_per_agent"])
    holds, sent = epsilon_text(row["privacy"]["accounted"]), sent_text(row["communication"]["bytes"])
    return f"{row['label']}: regret {regret} {per_agent}, ε that holds {holds}, {sent}"


def _across_scale(rows: Sequence[Row], axis: Axis) -> Scale:
    values = [axis.value(row) for row in rows]
    lane = LANE if None in values else 0
    if axis is EPSILON:
        values += [epsilon_of(row["privacy"]["claimed"]) for row in rows]
    return log_scale([value for value in values if value is not None], LEFT + 4, WIDTH - 24 - lane, margin=1.9)


def _up_scale(rows: Sequence[Row]) -> Scale:
    means = [row["regret_per_agent"]["mean"] for row in rows]
    if needs_log_scale(means):
        return log_scale(means, HEIGHT - BOTTOM, TOP, margin=1.7)
    reach = [bound for row in rows for bound in bounds_of(row["regret_per_agent"])]
    return linear_scale([*reach, 1.12 * max(means)], HEIGHT - BOTTOM, TOP)


def _centres(svg: Element, rows: Sequence[Row], axis: Axis, across: Scale, up: Scale) -> list[Point]:
    """Where the marks go; rows without a value stand side by side in the middle of the lane, which is drawn too."""
    absent = [index for index, row in enumerate(rows) if axis.value(row) is None]
    left, width = across.end + 20, WIDTH - across.end - 24
    if absent:
        add(svg, "rect", x=left, y=TOP - 6, width=width, height=HEIGHT - BOTTOM - TOP + 6, rx=4, class_="lane")
        add(svg, "text", axis.lane, x=left + width / 2, y=HEIGHT - BOTTOM + 19, text_anchor="middle")
    step = min(24.0, width / (len(absent) + 1))
    centres = []
    for index, row in enumerate(rows):
        value = axis.value(row)
        if value is None:
            x = left + width / 2 + step * (absent.index(index) - (len(absent) - 1) / 2)
        else:
            x = across.at(value)
        centres.append((x, up.at(row["regret_per_agent"]["mean"])))
    return centres


def _radii(rows: Sequence[Row]) -> list[float]:
    """Area in proportion to the bytes sent; very small marks are enlarged to stay visible."""
    sizes = [row["communication"]["bytes"] for row in rows]
    if max(sizes) <= 1.01 * min(sizes):
        return [8.0] * len(rows)
    return [round(max(4.5, 18 * math.sqrt(size / max(sizes))), 1) for size in sizes]


def _mark(svg: Element, index: int, row: Row, centre: Point, radius: float, up: Scale, text: str) -> None:
    x, y = centre
    group = add(svg, "g", class_=f"mark {colour(index)} {verdict(row).key}")
    add(group, "title", text)
    _shape(group, verdict(row), x, y, radius)
    low, high = (up.at(bound) for bound in bounds_of(row["regret_per_agent"]))
    add(group, "line", x1=x, x2=x, y1=low, y2=high, class_="error")


def _shape(group: Element, kind: Verdict, x: float, y: float, radius: float) -> None:
    """A circle, a diamond or a crossed square of the same area, so that verdicts differ without colour."""
    if kind is Verdict.ABOVE:
        half = 1.253 * radius
        add(group, "path", d=path([(x, y - half), (x + half, y), (x, y + half), (x - half, y)]) + "Z")
    elif kind is Verdict.UNSUPPORTED:
        half = 0.886 * radius
        left, right, top, bottom = x - half, x + half, y - half, y + half
        square = path([(left, top), (right, top), (right, bottom), (left, bottom)]) + "Z"
        cross = path([(left, top), (right, bottom)]) + path([(left, bottom), (right, top)])
        add(group, "path", d=square + cross)
    else:
        add(group, "circle", cx=x, cy=y, r=radius)


def shape(kind: Verdict) -> str:
    """The mark of a verdict, for the caption."""
    svg = Element("svg", {"viewBox": "0 0 18 18", "class": f"shape mark {kind.key}", "aria-hidden": "true"})
    _shape(svg, kind, 9, 9, 6.4)
    return source(svg)


def _claims(svg: Element, rows: Sequence[Row], centres: Sequence[Point], across: Scale) -> list[Box]:
    """Dotted lines from the epsilon promised to the mark, where they differ; returns the room they take."""
    boxes = []
    for index, (row, (end, y)) in enumerate(zip(rows, centres, strict=True)):
        claimed = epsilon_of(row["privacy"]["claimed"])
        if claimed is None or abs(across.at(claimed) - end) < 2:
            continue
        group, start = add(svg, "g", class_=f"claim {colour(index)}"), across.at(claimed)
        add(group, "line", x1=start, y1=y, x2=end, y2=y)
        add(group, "line", x1=start, y1=y - 6, x2=start, y2=y + 6, class_="end")
        boxes.append((min(start, end) - 2, y - 2, max(start, end) + 2, y + 2))
    return boxes


def _name_and_size(name: str, row: Row) -> list[str]:
    lines, size = in_lines(name), sent_text(row["communication"]["bytes"])
    last = f"{lines[-1]} · {size}"
    return [*lines[:-1], last] if len(last) <= LETTERS_MAX else [*lines, size]


def _name_marks(
    svg: Element,
    leaders: Element,
    names: Sequence[Sequence[str]],
    centres: Sequence[Point],
    radii: Sequence[float],
    drawn: Sequence[Box],
) -> None:
    """Write each name where it covers neither marks nor what else is drawn nor other names, the longest name first."""
    marks = list(zip(centres, radii, strict=True))
    taken = [*((x - radius, y - radius, x + radius, y + radius) for (x, y), radius in marks), *drawn]
    for index in sorted(range(len(names)), key=lambda index: -width_of(names[index])):
        lines, centre = names[index], centres[index]
        # A mark may lie inside a larger one; its name goes outside both.
        reach = max(radius for other, radius in marks if math.dist(centre, other) < radius)
        place = best_place(lines, centre, reach, taken)
        write_name(svg, lines, place.spot, colour(index))
        taken.append(place.box)
        if place.leader:
            x, top, _, bottom = place.leader
            add(leaders, "line", x1=x, x2=x, y1=top, y2=bottom, class_=f"leader {colour(index)}")
            taken.append(place.leader)
