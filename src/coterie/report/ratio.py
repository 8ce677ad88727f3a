"""The picture of the federated regret ratio: regret so far of each row, in units of what agents who learn alone have lost."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from coterie.report.axes import Scale, draw_axes, linear_scale, log_scale
from coterie.report.controls import BASELINE, alone_of
from coterie.report.labels import LINE, ROWS_MAX, end_names, in_lines, width_of
from coterie.report.rows import Row
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Point, add, colour, dash, path, picture, source


def ratios(row: Row, alone: Row) -> list[Point]:
    """(round, mean regret / mean regret alone) at the checkpoints at which there is any regret to divide by."""
    moments = zip(row["curve"]["round"], row["curve"]["mean"], alone["curve"]["mean"], strict=True)
    return [(moment, mean / reference) for moment, mean, reference in moments if reference > 0]


def ratio_curves(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Every row that has somebody who learns alone to be compared with; empty where there is none."""
    alone = {index: alone_of(row, rows) for index, row in enumerate(rows) if row["algorithm"] != BASELINE}
    found = {index: ratios(rows[index], other) for index, other in alone.items() if other and ratios(rows[index], other)}
    if not found:
        return ""
    lines = [in_lines(names[index]) for index in found] if len(found) <= ROWS_MAX else []
    right = WIDTH - 16 - max(map(width_of, lines), default=0.0)
    across = log_scale([moment for points in found.values() for moment, _ in points], LEFT, right)
    up = linear_scale([1.0, *(ratio for points in found.values() for _, ratio in points)], HEIGHT - BOTTOM, TOP)
    ends = "; ".join(f"{rows[index]['label']}: {points[-1][1]:.2f}" for index, points in found.items())
    svg = picture("ratios", f"Line chart of regret divided by that of learning alone. At the end: {ends}.")
    draw_axes(svg, across, up, "Round (log scale)", "Regret so far, relative to learning alone")
    _draw_one(svg, across, up)
    groups = []
    for index, points in found.items():
        group = add(svg, "g", class_=f"row {colour(index)}")
        line = path((across.at(moment), up.at(ratio)) for moment, ratio in points)
        add(group, "path", class_="mean", d=line, stroke_dasharray=dash(index))
        groups.append(group)
    if lines:
        end_names(groups, [up.at(points[-1][1]) for points in found.values()], lines, right + 8)
    return source(svg)


def _draw_one(svg: Element, across: Scale, up: Scale) -> None:
    """The line on which nothing is gained by learning together."""
    add(svg, "line", x1=across.start, x2=across.end, y1=up.at(1), y2=up.at(1), class_="limit")
    add(svg, "text", "learning alone", x=across.start + 6, y=up.at(1) - LINE / 3)
