"""The hero of a sweep: a dot for each row in the order of what is swept, a line for each group of rows."""

from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.report.draw.scale import Scale, linear, log, wide
from coterie.report.draw.scatter import HEIGHT, Axis, Dot, margin_of, plane
from coterie.report.template import csv_text
from coterie.report.view import Shown, View
from coterie.studies.numbers import compact

NAMES = {"epsilon": "ε", "life": "hops that a message lives"}


class Sweep(NamedTuple):
    heading: str
    title: str
    across: str
    picture: Markup
    left: float
    key: list[tuple[Shown, str]]
    caption: str
    numbers: Markup


def sweep(view: View) -> Sweep | None:
    """Nothing where fewer than two rows have a number to stand at: then bars are shown."""
    swept = view.answer["swept"]
    if swept is None:
        return None
    values = dict(zip(view.answer["order"], swept["values"], strict=True))
    standing = [one for one in view.rows if _is_number(values[one.place])]
    if len({values[one.place] for one in standing}) < 2:
        return None
    across = _across(view, [float(values[one.place]) for one in standing], swept["log"])
    references = [one for one in view.rows if one not in standing][:1]
    up = _upward(view, [*standing, *references])
    dots = [_dot(one, float(values[one.place])) for one in standing]
    places = [one.place for one in standing]
    lines = [
        sorted((places.index(place) for place in group["rows"] if place in places), key=lambda i: dots[i].across or 0.0)
        for group in view.answer["groups"]
    ]
    name = NAMES.get(swept["key"], swept["key"].replace("_", " "))
    reference = (references[0].value, f"{references[0].name}: {references[0].text}") if references else None
    told = "; ".join(f"{name} {values[one.place]:g}: {one.full}" for one in standing)
    said = f"{view.lost}, by {name}. {told}." + (f" Dashed line: {reference[1]}." if reference else "")
    scales = [text for text, scale in ((f"{name}", across.scale), ("regret", up.scale)) if scale.log]
    return Sweep(
        f"Regret by {name}",
        f"Regret: {view.lost}",
        name,
        plane(dots, across, up, None, said, [line for line in lines if len(line) > 1], reference),
        margin_of(up),
        [(one, one.full) for one in standing if one in view.tagged],
        f"{view.interval_note.replace('Thin', 'Vertical')}" + (f" Logarithmic: {' and '.join(scales)}." if scales else ""),
        csv_text(
            ["row", "name", swept["key"], f"regret {view.answer['unit']['text']}", "95 % interval, half"],
            [(one.number, one.name, values[one.place], one.value, one.margin) for one in view.rows],
        ),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _across(view: View, values: list[float], logarithmic: bool) -> Axis:
    marks = sorted(set(values))
    positive = marks[0] > 0
    scale = log(marks, 7.0, 93.0) if logarithmic and positive else Scale(marks[0], marks[-1], 7.0, 93.0)
    return Axis(scale, [(mark, compact(mark)) for mark in (marks if len(marks) <= 10 else scale.ticks(6))])


def _upward(view: View, rows: list[Shown]) -> Axis:
    """From zero, unless that would flatten the smallest."""
    values = [one.value for one in rows]
    if wide(values):
        scale = log(values, HEIGHT - 14, 34.0, room=1.15)
    else:
        scale = linear([one.value + (one.margin or 0.0) for one in rows], HEIGHT, 34.0, room=1.0)
    return Axis(scale, [(tick, compact(tick)) for tick in scale.ticks(5)])


def _dot(one: Shown, across: float) -> Dot:
    state = one.row["promise"]["state"]
    return Dot(one.style, f"{one.number}", across, one.value, one.margin, state, f"{one.number} {one.name}: {one.full}")
