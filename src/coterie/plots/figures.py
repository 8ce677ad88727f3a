"""The pictures there are. Each says what it needs, draws itself into axes, and gives its numbers as a table."""

import colorsys
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from coterie.privacy.statement import SENDS_NOTHING
from coterie.report.draw.scale import wide
from coterie.report.template import csv_text
from coterie.report.view import Shown, View
from coterie.studies.groups import Sweep, sweep_of
from coterie.studies.names import row_name, sends_nothing, settings_of
from coterie.studies.numbers import GLUE, compact

BAND = 0.18  # how much of a colour a band has
ROWS_NAMED = 12  # lines that a legend can name; the others are thin and grey
GREY = "#b8bcc0"
STROKES = ("-", "--", ":", "-.")
MARKERS = "osD^vP*"  # no cross: that is a broken promise
GREYISH = 0.35  # saturation below which colours of different methods look alike
LABEL = 34  # letters that stand along an axis
FLAT = 10  # how far below the least end of a curve a logarithmic axis begins


class Kind(NamedTuple):
    sentence: str  # what it shows, for --help
    draw: Callable[[View, Any], None]
    columns: Callable[[View], list[str]]
    lines: Callable[[View], Iterator[tuple[Any, ...]]]
    missing: Callable[[View], str] = lambda view: ""  # why this run has no such picture


def numbers_of(kind: Kind, view: View) -> str:
    return csv_text(kind.columns(view), kind.lines(view))


def unit(view: View) -> str:
    return view.answer["unit"]["text"]


def colours(view: View) -> dict[int, str]:
    """Of each row on white paper."""
    return {one.place: colour.light for one, colour in zip(view.rows, view.colours(), strict=True)}


def strokes(view: View) -> dict[int, str]:
    """Rows of one method have kindred colours, and so have all that are grey: their strokes tell them apart."""
    hue, ranks = colours(view), dict[str, int]()
    found = {}
    for one in sorted(view.rows, key=lambda one: (not one.row["alone"], one.row["promise"]["promised"] or float("inf"))):
        kin = "grey" if greyish(hue[one.place]) else view.method(one)
        rank = ranks[kin] = ranks.get(kin, -1) + 1
        found[one.place] = STROKES[rank % len(STROKES)]
    return found


def greyish(colour: str) -> bool:
    """
    >>> greyish("#5d6469"), greyish("#0b3c7d")
    (True, False)
    """
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return colorsys.rgb_to_hsv(red, green, blue)[1] < GREYISH


def title(one: Shown, more: str = "") -> str:
    """Its name with what must be known of it: above all that its promise is broken."""
    notes = ", ".join(filter(None, [more, "promise broken" if one.broken else ""]))
    return f"{one.name} ({notes})" if notes else one.name


def label_up(view: View, axes: Any, what: str) -> None:
    """In as many lines as the axis has room for, with how the axis is to be read."""
    what += "" if axes.get_yscale() == "linear" else ", log scale"
    axes.set_ylabel(textwrap.fill(what, LABEL) + ("\n95 % interval" if view.enough else ""))


def scale_up(axes: Any, values: Sequence[float], below: float = 1.0) -> None:
    """From zero, or logarithmic where that would flatten the smallest; linear near zero where something is zero."""
    positive = [value for value in values if value > 0]
    if not wide(values):
        axes.yaxis.set_major_formatter(lambda value, _: compact(value))
        axes.set_ylim(bottom=0)
        return
    low, high = min(positive) / below, max(positive)
    zero = min(values) <= 0
    if zero:
        axes.set_yscale("symlog", linthresh=low)
    else:
        axes.set_yscale("log")
    axes.set_ylim(0 if zero else low / 1.3, high * 1.5)
    marks = [mark for mark in steps(low, high) if low / 1.3 <= mark <= high * 1.5]
    decades = [mark for mark in marks if math.log10(mark) % 1 < 1e-9]
    in_plain_numbers(axes.yaxis, [0.0] * zero + (marks if len(marks) <= 10 else decades))


def outline(intervals: Sequence[Any]) -> None:
    """A light rim, so that the lines of intervals show on dark bars, too."""
    from matplotlib.patheffects import withStroke

    for lines in intervals:
        lines.set_path_effects([withStroke(linewidth=2.6, foreground="white")])


def beside(axes: Any) -> None:
    """The key stands beside the picture, where it hides nothing."""
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0)


def in_plain_numbers(axis: Any, ticks: Sequence[float]) -> None:
    """A logarithmic axis with marks where something stands, and no powers of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))


def steps(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten, from below the low to above the high."""
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    found = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    return [step for step in found if low / 2.6 <= step <= high * 2.6]


def named(view: View) -> list[Shown]:
    return view.rows if len(view.rows) <= ROWS_NAMED else view.tagged[:ROWS_NAMED]


# --- regret over time -----------------------------------------------------------------------------------


def draw_regret(view: View, axes: Any) -> None:
    """Of one agent, summed over the rounds so far, as the papers draw it."""
    hue, stroke, kept = colours(view), strokes(view), named(view)
    ends = [regret_so_far(view, one)[1][-1] for one in view.rows]
    for one in sorted(view.rows, key=lambda one: (one in kept, -one.value)):  # the key has the order of the curves' ends
        rounds, mean, margin = regret_so_far(view, one)
        shown = one in kept
        axes.plot(rounds, mean, color=hue[one.place] if shown else GREY, lw=None if shown else 0.7,
                  ls=stroke[one.place], label=title(one) if shown else None)  # fmt: skip
        if shown and margin:
            low, high = ([value + sign * half for value, half in zip(mean, margin, strict=True)] for sign in (-1, 1))
            axes.fill_between(rounds, low, high, color=hue[one.place], alpha=BAND, lw=0)
    axes.set_xlabel("round")
    if len(kept) < len(view.rows):
        axes.plot([], [], color=GREY, lw=0.7, label=f"{len(view.rows) - len(kept)} other rows: see the numbers")
    axes.xaxis.set_major_formatter(lambda value, _: compact(value))
    axes.set_xlim(left=0)
    scale_up(axes, ends, FLAT)
    label_up(view, axes, f"regret per {view.words.agent}")
    beside(axes)


def regret_so_far(view: View, one: Shown) -> tuple[list[int], list[float], list[float]]:
    """Rounds, regret of one honest agent, and half of its 95 % interval; no interval of few runs."""
    curve = one.row["curve"]
    rounds = curve["round"]
    mean = [value * moment for value, moment in zip(curve["per_decision"], rounds, strict=True)]
    margins = [(half or 0.0) * moment for half, moment in zip(curve["per_decision_margin"], rounds, strict=True)]
    return rounds, mean, margins if view.enough else []


def regret_lines(view: View) -> Iterator[tuple[Any, ...]]:
    for one in view.rows:
        rounds, mean, margins = regret_so_far(view, one)
        for place, moment in enumerate(rounds):
            yield one.name, moment, mean[place], margins[place] if margins else ""


# --- regret against what is given up --------------------------------------------------------------------


def holding(view: View) -> list[tuple[Shown, float]]:
    """Rows with the epsilon that holds, where there is one."""
    return [(one, float(holds)) for one in view.rows if (holds := one.row["promise"]["holds"]) and not sends_nothing(one.row)]


def draw_tradeoff(view: View, axes: Any) -> None:
    hue, standing = colours(view), {one.place: holds for one, holds in holding(view)}
    for number, one in enumerate(sorted(view.rows, key=lambda one: -one.value)):
        if one.place in standing:
            axes.errorbar(standing[one.place], one.value, yerr=one.margin, color=hue[one.place], capsize=2, lw=1, ls="",
                          marker="x" if one.broken else MARKERS[number % len(MARKERS)], mew=2 if one.broken else None,
                          label=title(one))  # fmt: skip
        else:
            axes.axhline(one.value, color=hue[one.place], ls=STROKES[1 + number % 3], lw=1, label=title(one, no_epsilon(one)))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.1)
    across = sorted(set(standing.values()))
    in_plain_numbers(axes.xaxis, across if len(across) <= 6 else steps(across[0], across[-1]))
    in_plain_numbers(axes.yaxis, steps(min(one.value for one in view.rows), max(one.value for one in view.rows)))
    axes.set_xlabel("ε that holds")
    label_up(view, axes, view.lost)
    beside(axes)


def no_epsilon(one: Shown) -> str:
    if one.row["promise"]["holds"] == 0:
        return f"ε{GLUE}={GLUE}0"
    return SENDS_NOTHING if one.row["alone"] else "no limit"


def tradeoff_lines(view: View) -> Iterator[tuple[Any, ...]]:
    for one in view.rows:
        holds = one.row["promise"]["holds"]
        yield one.name, no_epsilon(one) if holds is None else float(holds), one.value, "" if one.margin is None else one.margin


# --- regret against what is swept -----------------------------------------------------------------------


def sweep(view: View) -> Sweep | None:
    """The number in which rows differ, whatever else the study asks; most rows may stand in no line."""
    rows = [one.row for one in sorted(view.rows, key=lambda one: one.place)]
    return sweep_of(rows, spare=len(rows))


def swept(view: View) -> list[list[tuple[float, Shown]]]:
    """Lines of rows that differ in what is swept only, in its order."""
    found = sweep(view)
    by_place = {one.place: one for one in view.rows}
    lines = [[by_place[place] for place in line.rows] for line in found.lines] if found else []
    return [[(float(settings_of(one.row)[found.key]), one) for one in line] for line in lines] if found else []


def swept_key(view: View) -> str:
    found = sweep(view)
    return found.key if found else ""


def line_name(line: list[tuple[float, Shown]], key: str) -> str:
    """The name of its rows without what is swept, or the words that their names begin with."""
    names = [row_name(one.row, (key,)) for _, one in line]
    words = zip(*(name.split() for name in names), strict=False)
    shared = " ".join(met[0] for met in takewhile(lambda met: len(set(met)) == 1, words))
    return shared.rstrip(" ,ε=(") or line[0][1].row["method"]


def draw_sweep(view: View, axes: Any) -> None:
    hue, key = colours(view), swept_key(view)
    standing = {one.place for line in swept(view) for _, one in line}
    for line in swept(view):
        across, up = [value for value, _ in line], [one.value for _, one in line]
        margins = [one.margin or 0.0 for _, one in line] if view.enough else None
        name = line_name(line, key)
        axes.errorbar(across, up, yerr=margins, color=hue[line[-1][1].place], marker="o", capsize=2, lw=1.2, label=name)
    beside_them = [one for one in view.rows if one.place not in standing][:2]
    for number, one in enumerate(beside_them):
        axes.axhline(one.value, color=hue[one.place], ls=STROKES[1 + number], lw=0.9, label=title(one))
    if broken := [(value, one.value) for line in swept(view) for value, one in line if one.broken]:
        axes.plot(*zip(*broken, strict=True), ls="", marker="x", ms=9, mew=2, color="#1f2225", label="promise broken")
    values = sorted({value for line in swept(view) for value, _ in line})
    if values[0] > 0 and values[-1] >= 8 * values[0]:
        axes.set_xscale("log")
        in_plain_numbers(axes.xaxis, values if len(values) <= 8 else steps(values[0], values[-1]))
    scale_up(axes, [one.value for one in view.rows if one.place in standing or one in beside_them])
    axes.set_xlabel({"epsilon": "ε promised"}.get(key, key.replace("_", " ")))
    label_up(view, axes, view.lost)
    beside(axes)


def sweep_lines(view: View) -> Iterator[tuple[Any, ...]]:
    for line in swept(view):
        for value, one in line:
            yield line_name(line, swept_key(view)), value, one.value, "" if one.margin is None else one.margin


# --- all rows -------------------------------------------------------------------------------------------


def draw_bars(view: View, axes: Any) -> None:
    hue, rows = colours(view), view.rows[::-1]
    places = range(len(rows))
    axes.figure.set_size_inches(4.6, 0.9 + 0.26 * len(rows))
    drawn = axes.barh(places, [one.value for one in rows], color=[hue[one.place] for one in rows], height=0.62,
                      xerr=[one.margin or 0.0 for one in rows] if view.enough else None,
                      error_kw={"lw": 0.9, "ecolor": "#333333"})  # fmt: skip
    outline(drawn.errorbar[2] if drawn.errorbar else ())
    axes.set_yticks(list(places), [title(one) for one in rows])
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"{view.lost}{', 95 % interval' if view.enough else ''}")


def bar_lines(view: View) -> Iterator[tuple[Any, ...]]:
    for one in view.rows:
        yield one.name, one.value, "" if one.margin is None else one.margin


def measured(view: View) -> list[str]:
    return [f"regret {unit(view)}", "95 % interval, half"]


FIGURES = {
    "regret": Kind(
        "regret of one agent over time",
        draw_regret,
        lambda view: ["row", "round", "regret of one agent", "95 % interval, half"],
        regret_lines,
    ),
    "tradeoff": Kind(
        "regret against the epsilon that holds",
        draw_tradeoff,
        lambda view: ["row", "epsilon that holds", *measured(view)],
        tradeoff_lines,
        lambda view: "" if holding(view) else "needs a row with an epsilon that holds, got none",
    ),
    "sweep": Kind(
        "regret against what is swept",
        draw_sweep,
        lambda view: ["line", swept_key(view), *measured(view)],
        sweep_lines,
        lambda view: "" if swept(view) else "needs rows that differ in one number, got none",
    ),
    "bars": Kind("the regret of all rows at the end", draw_bars, lambda view: ["row", *measured(view)], bar_lines),
}
