"""The picture of regret over time: mean lines, bands over the replications, and a name at the end of each line."""

from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple, cast
from xml.etree.ElementTree import Element

from coterie.report.axes import Scale, draw_axes, linear_scale, log_scale, needs_log_scale
from coterie.report.labels import end_names, names_in_lines, width_of
from coterie.report.rows import Row
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, add, colour, dash, path, picture, source
from coterie.studies.numbers import measured
from coterie.studies.rows import Curve
from coterie.studies.words import Words

CHECKPOINTS_MAX = 300


class View(NamedTuple):
    """One way to look at the curves: scale of time, scale of regret, and whose regret."""

    time: str = "linear"
    regret: str = "linear"
    unit: str = "total"


VIEWS = [View(*choice) for choice in product(("linear", "log"), ("linear", "log"), ("total", "agent"))]


def first_view(rows: Sequence[Row]) -> View:
    """What the page opens with. Where some lie, totals are over different numbers of honest agents."""
    lied_to = any(row["faults"].get("liars") for row in rows)
    scale = "log" if needs_log_scale([row["regret"]["mean"] for row in rows]) else "linear"
    return View(regret=scale, unit="agent" if lied_to else "total")


def thinned(curve: Curve) -> Curve:
    """A curve of few checkpoints, spread over it evenly and, for logarithmic time, densely at its start."""
    last, half = len(curve["round"]) - 1, CHECKPOINTS_MAX // 2
    if last < CHECKPOINTS_MAX:
        return curve
    steps = [step / (half - 1) for step in range(half)]
    kept = sorted({round(last * step) for step in steps} | {round(last**step) for step in steps})
    return cast(Curve, {key: [values[place] for place in kept] for key, values in cast(dict[str, list], curve).items()})


def agent_share(row: Row) -> float:
    """What turns the total into regret per agent (honest agents, where some lie)."""
    total = row["regret"]["mean"]
    return row["regret_per_agent"]["mean"] / total if total else 1 / row["agents"]


def regret_curves(rows: Sequence[Row], names: Sequence[str], view: View, words: Words) -> str:
    """Mean regret over time with bands from the smallest to the largest replication; `names` are short labels."""
    lines = names_in_lines(names)
    right = WIDTH - 16 - max(map(width_of, lines), default=0.0)
    across, up = _time_scale(rows, view, right), _regret_scale(rows, view)
    whose = words.in_place_of_ours("total over agents" if view.unit == "total" else "per agent")
    svg = picture("curves", _described(rows, view, whose))
    svg.attrib |= {"data-view": "-".join(view), "data-left": f"{across.start}", "data-right": f"{across.end}"}
    svg.attrib |= {"data-first": f"{across.low}", "data-last": f"{across.high}", "tabindex": "0"}
    scales = [" (log scale)" if scale == "log" else "" for scale in (view.time, view.regret)]
    draw_axes(svg, across, up, "Round" + scales[0], f"Regret, {whose}{scales[1]}")
    add(svg, "line", class_="guide", y1=up.end, y2=up.start, visibility="hidden")
    groups = [_curve(svg, index, row, view, across, up) for index, row in enumerate(rows)]
    if lines:
        end_names(groups, [up.at(_values(row, "mean", view)[-1]) for row in rows], lines, right + 8)
    return source(svg)


def _described(rows: Sequence[Row], view: View, whose: str) -> str:
    key: Literal["regret", "regret_per_agent"] = "regret" if view.unit == "total" else "regret_per_agent"
    ends = "; ".join(f"{row['label']}: {measured(row[key])}" for row in rows)
    return f"Line chart of regret, {whose}, over the rounds. At the end: {ends}."


def _values(row: Row, key: Literal["mean", "low", "high"], view: View) -> list[float]:
    factor = 1.0 if view.unit == "total" else agent_share(row)
    return [value * factor for value in row["curve"][key]]


def _time_scale(rows: Sequence[Row], view: View, right: float) -> Scale:
    rounds = [moment for row in rows for moment in row["curve"]["round"]]
    if view.time == "log":
        return log_scale(rounds, LEFT, right)
    return Scale(0.0, max(rounds), LEFT, right)


def _regret_scale(rows: Sequence[Row], view: View) -> Scale:
    values = [value for row in rows for key in ("mean", "low", "high") for value in _values(row, key, view)]
    if view.regret == "linear":
        return linear_scale(values, HEIGHT - BOTTOM, TOP)
    # The first rounds and lucky replications must not stretch the axis by decades.
    ends = [_values(row, "mean", view)[-1] for row in rows]
    floor = min([end for end in ends if end > 0], default=0.0) / (100 if view.time == "log" else 10)
    return log_scale([value for value in values if value >= floor], HEIGHT - BOTTOM, TOP)


def _curve(svg: Element, index: int, row: Row, view: View, across: Scale, up: Scale) -> Element:
    """One row's line and band; moments that a logarithmic scale cannot show are left out."""
    group = add(svg, "g", class_=f"row {colour(index)}", data_row=index)
    mean, low, high = (_values(row, key, view) for key in ("mean", "low", "high"))
    moments = zip(row["curve"]["round"], mean, low, high, strict=True)
    shown = [moment for moment in moments if moment[0] >= across.low and moment[1] >= up.low]
    middle = [(across.at(when), up.at(value)) for when, value, _, _ in shown]
    lower = [(across.at(when), up.at(value)) for when, _, value, _ in shown]
    upper = [(across.at(when), up.at(value)) for when, _, _, value in shown]
    if lower != upper:
        add(group, "path", class_="band", d=path(upper + lower[::-1]) + "Z")
    if middle:
        add(group, "path", class_="mean", d=path(middle), stroke_dasharray=dash(index))
    return group
