"""The hero of a sweep: a dot for each row in the order of what is swept, a line for each group of rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.report.draw.marks import dashes, swatch
from coterie.report.draw.scale import Scale, linear, log, wide
from coterie.report.draw.scatter import HEIGHT, Axis, Dot, margin_of, plane
from coterie.report.template import csv_text
from coterie.report.view import TAGGED_MAX, Shown, View, reach, spread_out
from coterie.studies.numbers import compact

NAMES = {"epsilon": "ε", "life": "hops"}


class Entry(NamedTuple):
    """A line of the key: a row, or a line of rows that is told by its last one."""

    shown: Shown
    swatch: Markup
    name: str
    numbers: str


class Sweep(NamedTuple):
    heading: str
    title: str
    across: str
    picture: Markup
    left: float
    key: list[Entry]
    caption: str
    numbers: str


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
    lines = _lines(view, standing, values)
    tagged = spread_out([line[-1] for line in lines] if view.lines else standing, TAGGED_MAX)
    dots = [_dot(one, float(values[one.place]), tag=one in tagged) for one in standing]
    name = NAMES.get(swept["key"], swept["key"].replace("_", " "))
    reference = references[0] if references else None
    told = "; ".join(f"{name} {values[one.place]:g}: {one.full}" for one in standing)
    said = f"{view.lost}, by {name}. {told}." + (f" Dashed line: {reference.name} {reference.full}." if reference else "")
    places = [one.place for one in standing]
    joined = [[places.index(one.place) for one in line] for line in lines if len(line) > 1]
    scales = [text for text, scale in ((f"{name}", across.scale), ("regret", up.scale)) if scale.log]
    return Sweep(
        f"Regret by {name}",
        f"Regret: {view.lost}",
        f"by {'the ε promised' if name == 'ε' else name}",
        plane(dots, across, up, said, joined, reference and reference.value),
        margin_of(up),
        _key(view, lines, reference),
        f"{view.interval_note.replace('Thin', 'Vertical')}" + (f" Logarithmic: {' and '.join(scales)}." if scales else ""),
        csv_text(
            ["row", "name", swept["key"], f"regret {view.answer['unit']['text']}", "95 % interval, half"],
            [(one.number, one.name, values[one.place], one.value, one.margin) for one in view.rows],
        ),
    )


def _lines(view: View, standing: list[Shown], values: Mapping[int, Any]) -> list[list[Shown]]:
    """Rows that differ only in what is swept, in its order."""
    found = [[one for one in standing if one.place in group["rows"]] for group in view.answer["groups"]]
    return [sorted(line, key=lambda one: float(values[one.place])) for line in found if line]


def _key(view: View, lines: list[list[Shown]], reference: Shown | None) -> list[Entry]:
    """Of one line every row, of several lines what each begins and ends at."""
    if view.lines:
        found = [_line_entry(view, line) for line in lines]
    else:
        found = [Entry(one, swatch(one.row["promise"]["state"]), one.name, one.full) for line in lines for one in line]
    return found + ([Entry(reference, dashes(), reference.name, reference.full)] if reference else [])


def _line_entry(view: View, line: list[Shown]) -> Entry:
    first, last = line[0], line[-1]
    numbers = f"from {first.text} to {last.full}" if len(line) > 1 else last.full
    return Entry(last, swatch(last.row["promise"]["state"]), view.lines.get(last.place, last.name), numbers)


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
        scale = log(reach(rows), HEIGHT - 14, 34.0, room=1.15)
    else:
        scale = linear([one.value + (one.margin or 0.0) for one in rows], HEIGHT, 34.0, room=1.0)
    return Axis(scale, [(tick, compact(tick)) for tick in scale.ticks(5)])


def _dot(one: Shown, across: float, *, tag: bool) -> Dot:
    state = one.row["promise"]["state"]
    number, says = f"{one.number}" if tag else "", f"{one.number} {one.name}: {one.full}"
    return Dot(one.style, number, across, one.value, one.margin, state, says)
