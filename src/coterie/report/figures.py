"""The pictures of the report as SVG text: regret curves, and the trade-off of regret, privacy and communication.

Pure functions, no I/O. Everything is drawn here, so a page looks the same without scripts and on paper; the page's
script only shows one view or another and reads values off. Colours are classes `c0`..`c5` (their values depend on
light or dark and belong to the style sheet); dashes, shapes and direct labels say the same without colour.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from coterie.report.words import Row, Verdict, compact, data_size, epsilon_of, epsilon_text, measured, verdict

WIDTH, HEIGHT = 860, 430
TOP, BOTTOM, LEFT = 34, 52, 62
COLOURS = 6
DASHES = ("", "9 4", "3 3", "12 3 3 3", "6 2 2 2 2 2")  # 5 and 6 have no common factor: 30 rows look different
LABELLED_ROWS_MAX = 14
LETTER = 8.8  # width of a letter at the larger size used on narrow screens


Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom


class View(NamedTuple):
    """One way to look at the curves: scale of time, scale of regret, and whose regret."""

    time: str = "linear"
    regret: str = "linear"
    unit: str = "total"


VIEWS = [View(*choice) for choice in product(("linear", "log"), ("linear", "log"), ("total", "agent"))]


class Scale(NamedTuple):
    """Maps low..high to pixels start..end. Values outside (zero on a logarithmic scale) stick to the ends."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.logarithmic else _linear_ticks(self.low, self.high)


def linear_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """From zero (or the lowest value below it) to a little above the largest value."""
    values = list(values)
    low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    return Scale(low, high + 0.04 * (high - low) or 1.0, start, end)


def log_scale(values: Iterable[float], start: float, end: float, margin: float = 1.0) -> Scale:
    """Over the values above zero, which are all it can show."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive) / margin, max(positive) * margin
    return Scale(low, high, start, end, True) if high > low else Scale(low / 2, high * 2, start, end, True)


def _linear_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 7
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * count for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        ticks = [factor * 10.0**decade for decade in decades for factor in factors]
        ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(ticks) >= 3:
            break
    return ticks[:: math.ceil(len(ticks) / 8)] if ticks else [low, high]


# SVG ----------------------------------------------------------------------------------------------------------------


def _add(parent: Element, tag: str, text: str = "", **attributes: Any) -> Element:
    names = {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items()}
    element = SubElement(parent, tag, names)
    element.text = text or None
    return element


def _picture(key: str, description: str) -> Element:
    return Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "aria-label": description, "class": key})


def _text(element: Element) -> str:
    return tostring(element, encoding="unicode")


def colour(index: int) -> str:
    return f"c{index % COLOURS}"


def dash(index: int) -> str:
    return DASHES[index % len(DASHES)]


def swatch(index: int) -> str:
    """A short piece of a row's line, for legend and table."""
    svg = Element("svg", {"viewBox": "0 0 34 10", "class": f"swatch {colour(index)}", "aria-hidden": "true"})
    _add(svg, "line", x1=1, y1=5, x2=33, y2=5, stroke_dasharray=dash(index))
    return _text(svg)


def _axes(svg: Element, across: Scale, up: Scale, title_across: str, title_up: str) -> None:
    axes = _add(svg, "g", class_="axes")
    for tick in up.ticks():
        _add(axes, "line", x1=across.start, x2=across.end, y1=up.at(tick), y2=up.at(tick))
        _add(axes, "text", compact(tick), x=LEFT - 8, y=up.at(tick) + 4, text_anchor="end")
    _add(axes, "line", x1=across.start, x2=across.end, y1=up.start, y2=up.start, class_="base")
    for tick in across.ticks():
        _add(axes, "line", x1=across.at(tick), x2=across.at(tick), y1=up.start, y2=up.start + 5, class_="base")
        _add(axes, "text", compact(tick), x=across.at(tick), y=up.start + 19, text_anchor="middle")
    _add(axes, "text", title_up, x=4, y=14, class_="title")
    _add(axes, "text", title_across, x=across.end, y=HEIGHT - 8, text_anchor="end", class_="title")


# Regret curves ------------------------------------------------------------------------------------------------------


def regret_curves(rows: Sequence[Row], names: Sequence[str], view: View) -> str:
    """Mean regret over time with bands from the smallest to the largest replication; `names` are short labels."""
    right = WIDTH - (min(210, 16 + LETTER * max(map(len, names))) if labelled(rows) else 16)
    across, up = _time_scale(rows, view, right), _regret_scale(rows, view)
    whose = "total over agents" if view.unit == "total" else "per agent"
    ends = "; ".join(f"{row['label']}: {measured(_statistic(row, view), row['replications'])}" for row in rows)
    svg = _picture("curves", f"Line chart of regret, {whose}, over the rounds. At the end: {ends}.")
    svg.attrib |= {"data-view": "-".join(view), "data-left": f"{across.start}", "data-right": f"{across.end}"}
    svg.attrib |= {"data-first": f"{across.low}", "data-last": f"{across.high}", "tabindex": "0"}
    scales = [" (log scale)" if scale == "log" else "" for scale in (view.time, view.regret)]
    _axes(svg, across, up, "Round" + scales[0], f"Regret, {whose}{scales[1]}")
    _add(svg, "line", class_="guide", y1=up.end, y2=up.start, visibility="hidden")
    groups = [_curve(svg, index, row, view, across, up) for index, row in enumerate(rows)]
    if labelled(rows):
        _end_labels(groups, [up.at(_curve_values(row, "mean", view)[-1]) for row in rows], names, right + 8)
    return _text(svg)


def first_view(rows: Sequence[Row]) -> View:
    """What the page opens with: a logarithmic regret axis where a linear one would flatten some curves to nothing."""
    return View(regret="log" if _wide([row["regret"]["mean"] for row in rows]) else "linear")


def _wide(means: Sequence[float]) -> bool:
    return 0 < 20 * min(means) < max(means)


def labelled(rows: Sequence[Row]) -> bool:
    """Is there room for names inside the pictures? If not, legend and table still have them."""
    return len(rows) <= LABELLED_ROWS_MAX


def thinned(curve: Mapping[str, Sequence[float]], most: int = 300) -> dict[str, list[float]]:
    """A curve of at most `most` checkpoints, spread over it evenly and, for logarithmic time, densely at its start."""
    last = len(curve["round"]) - 1
    if last < most:
        return {key: list(values) for key, values in curve.items()}
    steps = [step / (most // 2 - 1) for step in range(most // 2)]
    kept = sorted({round(last * step) for step in steps} | {round(last**step) for step in steps})
    return {key: [values[place] for place in kept] for key, values in curve.items()}


def agent_share(row: Row) -> float:
    """What turns the total into regret per agent (honest agents, where some lie)."""
    total = row["regret"]["mean"]
    return row["regret_per_agent"]["mean"] / total if total else 1 / row["agents"]


def _statistic(row: Row, view: View) -> Any:
    return row["regret" if view.unit == "total" else "regret_per_agent"]


def _curve_values(row: Row, key: str, view: View) -> list[float]:
    factor = 1.0 if view.unit == "total" else agent_share(row)
    return [value * factor for value in row["curve"][key]]


def _time_scale(rows: Sequence[Row], view: View, right: float) -> Scale:
    rounds = [moment for row in rows for moment in row["curve"]["round"]]
    if view.time == "log":
        return log_scale(rounds, LEFT, right)
    return Scale(0.0, max(rounds) or 1.0, LEFT, right)


def _regret_scale(rows: Sequence[Row], view: View) -> Scale:
    values = [value for row in rows for key in ("mean", "low", "high") for value in _curve_values(row, key, view)]
    if view.regret == "linear":
        return linear_scale(values, HEIGHT - BOTTOM, TOP)
    # The first rounds and lucky replications must not stretch the axis by decades: start two below the lowest end.
    ends = [_statistic(row, view)["mean"] for row in rows]
    floor = min([end for end in ends if end > 0], default=0.0) / 100
    return log_scale([value for value in values if value >= floor], HEIGHT - BOTTOM, TOP)


def _curve(svg: Element, index: int, row: Row, view: View, across: Scale, up: Scale) -> Element:
    """One row's line and band; moments that a logarithmic scale cannot show are left out."""
    group = _add(svg, "g", class_=f"row {colour(index)}", data_row=index)
    mean, low, high = (_curve_values(row, key, view) for key in ("mean", "low", "high"))
    moments = zip(row["curve"]["round"], mean, low, high, strict=True)
    shown = [moment for moment in moments if moment[0] >= across.low and moment[1] >= up.low]
    middle = [(across.at(when), up.at(value)) for when, value, _, _ in shown]
    lower = [(across.at(when), up.at(value)) for when, _, value, _ in shown]
    upper = [(across.at(when), up.at(value)) for when, _, _, value in shown]
    if lower != upper:
        _add(group, "path", class_="band", d=_path(upper + lower[::-1]) + "Z")
    if middle:
        _add(group, "path", class_="mean", d=_path(middle), stroke_dasharray=dash(index))
    return group


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{round(x, 1):g},{round(y, 1):g}" for x, y in points)


def _end_labels(groups: Sequence[Element], heights: Sequence[float], names: Sequence[str], left: float) -> None:
    """Names at the ends of the curves, moved apart where they would collide."""
    gap = 16.0
    order = sorted(range(len(groups)), key=lambda index: heights[index])
    placed: list[float] = []
    for index in order:
        placed.append(max([heights[index], *(height + gap for height in placed[-1:])]))
    limit = float(HEIGHT - BOTTOM)
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], limit)
        limit = placed[place] - gap
    for index, height in zip(order, placed, strict=True):
        _add(groups[index], "text", _shorten(names[index]), x=left, y=height + 4, class_="name")


def _shorten(name: str, letters: int = 26) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


# Trade-off ----------------------------------------------------------------------------------------------------------


class Axis(NamedTuple):
    """What the trade-off picture shows across: a value for each row (None goes to a lane of its own)."""

    title: str
    lane: str
    value: Callable[[Row], float | None]


def _accounted(row: Row) -> float | None:
    return epsilon_of(row["privacy"].get("accounted"))


EPSILON = Axis("Accounted epsilon (log scale; smaller = more private)", "no finite epsilon", _accounted)
TRAFFIC = [
    Axis("Communication cost (log scale)", "no cost", lambda row: row["communication"]["cost"] or None),
    Axis("Bytes sent (log scale)", "nothing sent", lambda row: row["communication"]["bytes"] or None),
    Axis("Messages sent (log scale)", "nothing sent", lambda row: row["communication"]["messages"] or None),
]


def tradeoff_axis(rows: Sequence[Row]) -> Axis:
    """Epsilon, unless all rows have the same: then the first measure of communication that tells them apart."""
    for axis in (EPSILON, *TRAFFIC):
        if len({axis.value(row) for row in rows}) > 1:
            return axis
    return EPSILON if _accounted(rows[0]) is not None else TRAFFIC[1]


def tradeoff(rows: Sequence[Row], names: Sequence[str]) -> str:
    """One mark for each row: across by `tradeoff_axis`, up by regret per agent, area by bytes sent.

    Empty where there is nothing to trade: a single row, or rows that neither account for an epsilon nor communicate.
    """
    axis = tradeoff_axis(rows)
    if len(rows) == 1 or all(axis.value(row) is None for row in rows):
        return ""
    across, up = _across_scale(rows, axis), _up_scale(rows)
    described = "; ".join(map(_mark_text, rows))
    svg = _picture("tradeoff", f"Scatter chart of regret per agent against {axis.title}. {described}.")
    log_note = " (log scale)" if up.logarithmic else ""
    _axes(svg, across, up, axis.title, f"Regret per agent{log_note}, lines ± 2 standard errors")
    centres = _centres(svg, rows, axis, across, up)
    radii = _radii(rows)
    claims = _claims(svg, rows, centres, across) if axis is EPSILON else []
    leaders = _add(svg, "g")
    for index in sorted(range(len(rows)), key=lambda index: -radii[index]):
        _mark(svg, index, rows[index], centres[index], radii[index], up)
    marks = [(x - radius, y - radius, x + radius, y + radius) for (x, y), radius in zip(centres, radii, strict=True)]
    for index, centre in enumerate(centres if labelled(rows) else []):
        text = f"{_shorten(names[index])} · {_sent(rows[index])}"
        marks.append(_mark_label(svg, leaders, index, text, centre, radii[index], [*marks, *claims]))
    return _text(svg)


def _mark_text(row: Row) -> str:
    regret = measured(row["regret_per_agent"], row["replications"])
    accounted = epsilon_text(row["privacy"].get("accounted"))
    return f"{row['label']}: regret {regret} per agent, accounted epsilon {accounted}, {_sent(row)}"


def _sent(row: Row) -> str:
    return data_size(row["communication"]["bytes"])


def _across_scale(rows: Sequence[Row], axis: Axis) -> Scale:
    values = [axis.value(row) for row in rows]
    if axis is EPSILON:
        values += [epsilon_of(row["privacy"].get("claimed")) for row in rows]
    lane = 150 if any(axis.value(row) is None for row in rows) else 0
    return log_scale([value for value in values if value is not None], LEFT + 4, WIDTH - 24 - lane, margin=1.9)


def _up_scale(rows: Sequence[Row]) -> Scale:
    means = [row["regret_per_agent"]["mean"] for row in rows]
    reach = [bound for row in rows for bound in _interval(row)]
    if _wide(means):
        return log_scale(means, HEIGHT - BOTTOM, TOP, margin=1.7)
    return linear_scale([*reach, 1.12 * max(means)], HEIGHT - BOTTOM, TOP)


def _interval(row: Row) -> tuple[float, float]:
    regret = row["regret_per_agent"]
    return regret["mean"] - 2 * regret["sem"], regret["mean"] + 2 * regret["sem"]


def _centres(svg: Element, rows: Sequence[Row], axis: Axis, across: Scale, up: Scale) -> list[Point]:
    """Where the marks go; rows without a value stand side by side in the lane."""
    absent = [index for index, row in enumerate(rows) if axis.value(row) is None]
    left, width = across.end + 20, WIDTH - across.end - 24
    if absent:
        _add(svg, "rect", x=left, y=TOP - 6, width=width, height=HEIGHT - BOTTOM - TOP + 6, rx=4, class_="lane")
        _add(svg, "text", axis.lane, x=left + width / 2, y=HEIGHT - BOTTOM + 19, text_anchor="middle", class_="axis")
    centres = []
    for index, row in enumerate(rows):
        value = axis.value(row)
        place = left + width * (absent.index(index) + 1) / (len(absent) + 1) if value is None else across.at(value)
        centres.append((place, up.at(row["regret_per_agent"]["mean"])))
    return centres


def _radii(rows: Sequence[Row]) -> list[float]:
    """Area in proportion to the bytes sent; very small marks are enlarged to stay visible."""
    sizes = [row["communication"]["bytes"] for row in rows]
    if max(sizes) <= 1.01 * min(sizes):
        return [8.0] * len(rows)
    return [round(max(4.5, 18 * math.sqrt(size / max(sizes))), 1) for size in sizes]


def _mark(svg: Element, index: int, row: Row, centre: Point, radius: float, up: Scale) -> None:
    x, y = centre
    group = _add(svg, "g", class_=f"mark {colour(index)} {verdict(row['privacy']).key}")
    _add(group, "title", _mark_text(row))
    _shape(group, verdict(row["privacy"]), x, y, radius)
    low, high = (up.at(bound) for bound in _interval(row))
    _add(group, "line", x1=x, x2=x, y1=low, y2=high, class_="error")


def _shape(group: Element, kind: Verdict, x: float, y: float, radius: float) -> None:
    """A circle, a diamond or a crossed square of the same area, so that verdicts differ without colour."""
    if kind is Verdict.ABOVE:
        half = 1.253 * radius
        _add(group, "path", d=_path([(x, y - half), (x + half, y), (x, y + half), (x - half, y)]) + "Z")
    elif kind is Verdict.UNSUPPORTED:
        half = 0.886 * radius
        left, right, top, bottom = x - half, x + half, y - half, y + half
        square = _path([(left, top), (right, top), (right, bottom), (left, bottom)]) + "Z"
        cross = _path([(left, top), (right, bottom)]) + _path([(left, bottom), (right, top)])
        _add(group, "path", d=square + cross)
    else:
        _add(group, "circle", cx=x, cy=y, r=radius)


def shape(kind: Verdict) -> str:
    """The mark of a verdict, for the caption."""
    svg = Element("svg", {"viewBox": "0 0 18 18", "class": f"shape mark {kind.key}", "aria-hidden": "true"})
    _shape(svg, kind, 9, 9, 6.4)
    return _text(svg)


def _claims(svg: Element, rows: Sequence[Row], centres: Sequence[Point], across: Scale) -> list[Box]:
    """Dotted lines from the epsilon claimed to the mark, where they differ; returns the room they take."""
    boxes = []
    for index, (row, (end, y)) in enumerate(zip(rows, centres, strict=True)):
        claimed = epsilon_of(row["privacy"].get("claimed"))
        if claimed is None or abs(across.at(claimed) - end) < 2:
            continue
        group, start = _add(svg, "g", class_=f"claim {colour(index)}"), across.at(claimed)
        _add(group, "line", x1=start, y1=y, x2=end, y2=y)
        _add(group, "line", x1=start, y1=y - 6, x2=start, y2=y + 6, class_="end")
        boxes.append((min(start, end) - 2, y - 2, max(start, end) + 2, y + 2))
    return boxes


def _mark_label(
    svg: Element, leaders: Element, index: int, text: str, centre: Point, radius: float, taken: Sequence[Box]
) -> Box:
    """Write a name at the first of the best places around its mark; returns the room it takes."""
    spots = _spots(*centre, radius + 5)
    boxes = [_box(spot, 0.8 * LETTER * len(text)) for spot in spots]
    hidden = [sum(_overlap(box, other) for other in taken) for box in boxes]
    place = min(range(len(spots)), key=lambda place: (not _fits(boxes[place]), hidden[place], place))
    x, y, anchor = spots[place]
    if place >= NEAR_SPOTS:
        edge = centre[1] + math.copysign(radius, y - centre[1])
        _add(leaders, "line", x1=x, x2=x, y1=edge, y2=y + 3 if y < edge else y - 12, class_=f"leader {colour(index)}")
    _add(svg, "text", text, x=round(x, 1), y=round(y, 1), text_anchor=anchor, class_=f"name {colour(index)}")
    return boxes[place]


def _spots(x: float, y: float, gap: float) -> list[tuple[float, float, str]]:
    """Above, below, right, left, at the corners, and then farther and farther above and below."""
    above, below = y - gap - 2, y + gap + 11
    near = [(x, above, "middle"), (x, below, "middle"), (x + gap, y + 4, "start"), (x - gap, y + 4, "end")]
    corners = [(x + gap, above, "end"), (x + gap, below, "end"), (x - gap, above, "start"), (x - gap, below, "start")]
    farther = [(x, y + side * (gap + step), "middle") for step in range(16, 80, 14) for side in (-1, 1)]
    return near + corners + farther


NEAR_SPOTS = 8  # names at the later spots of `_spots` need a line to their mark


def _box(spot: tuple[float, float, str], width: float) -> Box:
    x, y, anchor = spot
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 12, left + width, y + 3


def _fits(box: Box) -> bool:
    return box[0] > LEFT and box[2] < WIDTH and box[1] > TOP - 12 and box[3] < HEIGHT - BOTTOM


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
