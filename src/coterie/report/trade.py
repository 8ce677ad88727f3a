"""What less regret costs: regret against the epsilon that holds, and against the data sent, in two planes with one key."""

from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from coterie.privacy.statement import SENDS_NOTHING, epsilon_text
from coterie.report.draw.marks import SHAPES, swatch
from coterie.report.draw.scale import log
from coterie.report.draw.scatter import HEIGHT, Axis, Dot, Lane, ends_beside, margin_of, plane
from coterie.report.template import csv_text
from coterie.report.view import Shown, View, reach
from coterie.studies.names import sends_nothing
from coterie.studies.numbers import GLUE, compact, data_size, sent_text

EVEN = 1.2  # below this ratio of the most to the least, all send about as much
PRIVACY = "Regret and privacy"
PROMISES_MAX = 8  # lines that lead to what was promised


class Panel(NamedTuple):
    heading: str
    note: str
    picture: Markup


class Entry(NamedTuple):
    """A line of the key."""

    shown: Shown
    swatch: Markup
    numbers: str


class Trade(NamedTuple):
    heading: str
    panels: list[Panel]
    note: str  # what is not worth a panel
    key: list[Entry]
    left: float  # pixels for the numbers of the upward axis
    shapes: list[tuple[Markup, str]]
    caption: str
    numbers: str


def trade(view: View) -> Trade | None:
    """Nothing where there is nothing to trade: one row, or rows that neither send anything nor have a limit."""
    if len(view.rows) < 2 or view.answer["kind"] == "liars":
        return None
    up = upward(view)
    panels = []
    if any(epsilon_of(one) is not None for one in view.rows):
        note = "ε that holds; further left is more private"
        panels.append(_panel(view, up, PRIVACY, note, _privacy, lambda value: f"{value:g}", "epsilon"))
    sizes = [sent(one) or 0.0 for one in view.rows]
    even = max(sizes) < EVEN * min(sizes)
    if any(sizes) and not (even and panels):
        whose = view.words.in_place_of_ours("data sent by each agent")
        panels.append(_panel(view, up, "Regret and communication", whose, _sent, _size, "sent"))
    if not panels:
        return None
    states = {one.row["promise"]["state"] for one in view.rows}
    several, numbered = len(panels) > 1, sorted(view.tagged, key=lambda one: one.number)
    note = f"Vertical: {view.lost}. All scales are logarithmic. "
    note += view.intervals("Vertical lines and ranges in brackets: 95 % intervals. ")
    if panels[0].heading == PRIVACY and any(sends_nothing(one.row) for one in view.rows):
        note += f"Who {SENDS_NOTHING} is off the scale of ε: choices, if seen, are not protected. "
    note += "" if len(view.tagged) == len(view.rows) else "Grey: the other rows, which are in the table of all numbers. "
    return Trade(
        "What less regret costs: " + ("privacy and messages" if several else panels[0].heading.partition(" and ")[2]),
        panels,
        f"All send about as much: {data_size(max(sizes))} by each {view.words.agent} at most." if even and not several else "",
        [Entry(one, swatch(one.row["promise"]["state"]), _entry(one)) for one in numbered],
        margin_of(up),
        [(swatch(state), text) for state, text in SHAPES.items() if state in states],
        note,
        csv_text(
            ["row", "name", f"regret {view.answer['unit']['text']}", "95 % interval, half", "promised", "holds", "bytes sent"],
            [(one.number, one.name, one.value, one.margin, *_promise_cells(one), sent(one) or 0) for one in view.rows],
        ),
    )


def _promise_cells(one: Shown) -> tuple[float | str, float | str]:
    """What is promised and what holds, for a file, where an empty cell would say neither."""
    promised, holds = one.row["promise"]["promised"], epsilon_of(one)
    limit = SENDS_NOTHING if one.row["alone"] else "no limit"
    return "nothing" if promised is None else float(promised), limit if holds is None else float(holds)


def epsilon_of(one: Shown) -> float | None:
    return one.row["promise"]["holds"]


def sent(one: Shown) -> float | None:
    """Bytes by one agent; None where it sends nothing."""
    return one.row["communication"]["bytes"] / one.row["agents"] or None


IN_TWO_LINES = SENDS_NOTHING.replace(" ", "\n")
NO_LIMIT, ZERO = Lane("no limit", left=False), Lane("0", left=True)
NO_MESSAGE, SILENT = Lane(IN_TWO_LINES, left=False, outer=True), Lane(IN_TWO_LINES, left=True)


def _privacy(one: Shown) -> float | Lane:
    """No scale of ratios has a place for a loss of nothing, or for one without limit.

    Who sends nothing stands beyond all of them: choices that rest on rewards without noise are not private, if they are seen.
    """
    holds = epsilon_of(one)
    if sends_nothing(one.row):
        return NO_MESSAGE
    return NO_LIMIT if holds is None else holds or ZERO


def _sent(one: Shown) -> float | Lane:
    return sent(one) or SILENT


def _size(value: float) -> str:
    return data_size(value).replace("bytes", "B")


def upward(view: View) -> Axis:
    """Regret on a logarithmic scale, with room for tags at the top."""
    scale = log(reach(view.rows), HEIGHT - 14, 30.0, room=1.15)
    return Axis(scale, [(tick, compact(tick)) for tick in scale.ticks(6)])


def _panel(view: View, up: Axis, heading: str, note: str, value: Callable[[Shown], float | Lane],
           text: Callable[[float], str], what: str) -> Panel:  # fmt: skip
    found = [value(one) for one in view.rows]
    values = [one for one in found if not isinstance(one, Lane)]
    if what == "epsilon":
        values += [one.row["promise"]["promised"] for one in view.rows if one.row["promise"]["promised"]]
    scale = log(values, *ends_beside([one for one in found if isinstance(one, Lane)]))
    exact = what == "epsilon" and len(set(values)) <= 6
    ticks = sorted(set(values)) if exact else scale.ticks(5)
    dots = [_dot(view, one, value(one), what) for one in view.rows]
    said = "; ".join(f"{one.number} {one.name}: {one.full}, {_across(one, what)}" for one in view.tagged)
    across = Axis(scale, [(tick, text(tick)) for tick in ticks])
    return Panel(heading, note, plane(dots, across, up, f"{heading}, {view.lost}. {said}."))


def _across(one: Shown, what: str) -> str:
    return epsilon_words(one) if what == "epsilon" else sent_text(sent(one) or 0.0)


def epsilon_words(one: Shown) -> str:
    holds = epsilon_of(one)
    if sends_nothing(one.row):
        return sent_text(0.0)
    return "no limit" if holds is None else f"ε = {epsilon_text({'epsilon': holds, 'delta': 0.0})}"


def _dot(view: View, one: Shown, across: float | Lane, what: str) -> Dot:
    told = one.row["promise"]
    tagged = one in view.tagged
    differs = what == "epsilon" and told["promised"] is not None and told["promised"] != told["holds"]
    return Dot(
        one.style,
        f"{one.number}" if tagged else "",
        across,
        one.value,
        one.margin,
        told["state"],
        f"{one.number} {one.name}: {one.full}, {_entry_tail(one)}",
        told["promised"] if differs and tagged and len(view.rows) <= PROMISES_MAX else None,
        not tagged,
    )


def _entry(one: Shown) -> str:
    return f"{one.full} · {_entry_tail(one)}"


def _entry_tail(one: Shown) -> str:
    data = sent(one)
    if sends_nothing(one.row):
        return sent_text(0.0)
    return f"{epsilon_words(one)} · {sent_text(0.0) if data is None else f'{data_size(data)}{GLUE}sent'}"
