"""The picture of regret against a number that a study sweeps: a line for each algorithm, with its name at the end."""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.report.axes import Scale, draw_axes, linear_scale, log_scale, needs_log_scale
from coterie.report.labels import end_names, names_in_lines, short_labels, width_of
from coterie.report.rows import Row, renamed
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, add, colour, dash, path, picture, source
from coterie.studies.numbers import bounds_of, interval_note, measured, number
from coterie.studies.words import Words


class Series(NamedTuple):
    """One line: a row for each value across."""

    name: str
    rows: list[tuple[float, Row]]


def regret_lines(series: Sequence[Series], across: str, words: Words) -> str:
    """Regret per agent, with bars for its 95 % intervals; empty where there is nothing to compare across."""
    series = [line for line in series if len(line.rows) > 1]
    if not series:
        return ""
    names = names_in_lines(short_labels([renamed(line.rows[0][1], line.name) for line in series]))
    right = WIDTH - 16 - max(map(width_of, names), default=0.0)
    values = [value for line in series for value, _ in line.rows]
    means = [row["regret_per_agent"]["mean"] for line in series for _, row in line.rows]
    flat, up = Scale(min(values), max(values), LEFT + 12, right - 12), _up(means)
    per_agent, log_note = words.in_place_of_ours("per agent"), " (log scale)" if up.logarithmic else ""
    bars = interval_note("bars", [row["regret_per_agent"] for one in series for _, row in one.rows])
    svg = picture("lines", f"Line chart of regret {per_agent}, {across.lower()} across. {_described(series)}")
    draw_axes(svg, flat, up, across, f"Regret {per_agent}{log_note}{bars}", sorted(set(values)))
    drawn = []
    for index, line in enumerate(series):
        group = add(svg, "g", class_=f"row {colour(index)}")
        points = [(flat.at(value), up.at(row["regret_per_agent"]["mean"])) for value, row in line.rows]
        add(group, "path", class_="mean", d=path(points), stroke_dasharray=dash(index))
        for (x, y), (_, row) in zip(points, line.rows, strict=True):
            low, high = bounds_of(row["regret_per_agent"])
            add(group, "circle", class_="dot", cx=x, cy=y, r=3.5)
            add(group, "line", class_="bar", x1=x, x2=x, y1=up.at(low), y2=up.at(high))
        drawn.append((group, points[-1][1]))
    if names:
        end_names([group for group, _ in drawn], [end for _, end in drawn], names, right + 8)
    return source(svg)


def _up(means: Sequence[float]) -> Scale:
    if needs_log_scale(means):
        return log_scale(means, HEIGHT - BOTTOM, TOP, margin=1.3)
    return linear_scale([1.1 * max(means)], HEIGHT - BOTTOM, TOP)


def _described(series: Sequence[Series]) -> str:
    texts = []
    for line in series:
        pairs = [f"{number(value)}: {measured(row['regret_per_agent'])}" for value, row in line.rows]
        texts.append(f"{line.name}: {', '.join(pairs)}")
    return "; ".join(texts) + "."
