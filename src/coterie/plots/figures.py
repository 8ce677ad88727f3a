"""The pictures there are. Each says what it needs, draws itself into axes, and gives its numbers as a table."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from coterie.report.template import csv_text
from coterie.report.view import Shown, View
from coterie.studies.groups import Sweep, sweep_of
from coterie.studies.names import settings_of
from coterie.studies.numbers import compact

BAND = 0.18  # how much of a colour a band has
ROWS_NAMED = 12  # lines that a legend can name; the others are thin and grey
GREY = "#b8bcc0"
STROKES = ("-", "--", ":", "-.")
MARKERS = "osD^vPX*"


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
    """Rows of one method have kindred colours: what is swept shows in the stroke, too."""
    ranks: dict[str, int] = {}
    found = {}
    for one in sorted(view.rows, key=lambda one: one.row["promise"]["promised"] or float("inf")):
        rank = ranks[view.method(one)] = ranks.get(view.method(one), -1) + 1
        found[one.place] = STROKES[rank % len(STROKES)]
    return found


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
    for one in sorted(view.rows, key=lambda one: one in kept):
        rounds, mean, margin = regret_so_far(view, one)
        shown = one in kept
        axes.plot(rounds, mean, color=hue[one.place] if shown else GREY, lw=None if shown else 0.7,
                  ls=stroke[one.place], label=one.name if shown else None)  # fmt: skip
        if shown and margin:
            low, high = ([value + sign * half for value, half in zip(mean, margin, strict=True)] for sign in (-1, 1))
            axes.fill_between(rounds, low, high, color=hue[one.place], alpha=BAND, lw=0)
    axes.set_xlabel("round")
    axes.set_ylabel(f"regret per {view.words.agent}{', 95 % interval' if view.enough else ''}")
    if len(kept) < len(view.rows):
        axes.plot([], [], color=GREY, lw=0.7, label=f"{len(view.rows) - len(kept)} other rows: see the numbers")
    axes.xaxis.set_major_formatter(lambda value, _: compact(value))
    axes.yaxis.set_major_formatter(lambda value, _: compact(value))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
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
    return [(one, float(holds)) for one in view.rows if (holds := one.row["promise"]["holds"])]


def draw_tradeoff(view: View, axes: Any) -> None:
    hue, standing = colours(view), {one.place: holds for one, holds in holding(view)}
    for number, one in enumerate(view.rows):
        if one.place in standing:
            axes.errorbar(standing[one.place], one.value, yerr=one.margin, color=hue[one.place], capsize=2, lw=1, ls="",
                          marker=MARKERS[number % len(MARKERS)], label=one.name)  # fmt: skip
        else:
            name = f"{one.name} ({no_epsilon(one)})"
            axes.axhline(one.value, color=hue[one.place], ls=STROKES[1 + number % 3], lw=1, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.1)
    across = sorted(set(standing.values()))
    in_plain_numbers(axes.xaxis, across if len(across) <= 6 else steps(across[0], across[-1]))
    in_plain_numbers(axes.yaxis, steps(min(one.value for one in view.rows), max(one.value for one in view.rows)))
    axes.set_xlabel("ε that holds")
    axes.set_ylabel(f"{view.lost}{', 95 % interval' if view.enough else ''}")
    beside(axes)


def no_epsilon(one: Shown) -> str:
    return "sends nothing" if one.row["alone"] else "no limit"


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


def line_name(line: list[tuple[float, Shown]]) -> str:
    """What the names of its rows share."""
    letters = zip(*(one.name for _, one in line), strict=False)
    shared = "".join(met[0] for met in takewhile(lambda met: len(set(met)) == 1, letters))
    return shared.rstrip(" ,ε=(") or line[0][1].row["method"]


def draw_sweep(view: View, axes: Any) -> None:
    hue, key = colours(view), swept_key(view)
    standing = {one.place for line in swept(view) for _, one in line}
    for line in swept(view):
        across, up = [value for value, _ in line], [one.value for _, one in line]
        margins = [one.margin or 0.0 for _, one in line] if view.enough else None
        name = line_name(line)
        axes.errorbar(across, up, yerr=margins, color=hue[line[-1][1].place], marker="o", capsize=2, lw=1.2, label=name)
    for one in [one for one in view.rows if one.place not in standing][:2]:
        axes.axhline(one.value, color=hue[one.place], ls="--", lw=0.9, label=one.name)
    values = sorted({value for line in swept(view) for value, _ in line})
    if values[0] > 0 and values[-1] >= 8 * values[0]:
        axes.set_xscale("log")
        in_plain_numbers(axes.xaxis, values if len(values) <= 8 else steps(values[0], values[-1]))
    axes.set_ylim(bottom=0)
    axes.set_xlabel({"epsilon": "ε promised"}.get(key, key.replace("_", " ")))
    axes.set_ylabel(f"{view.lost}{', 95 % interval' if view.enough else ''}")
    beside(axes)


def sweep_lines(view: View) -> Iterator[tuple[Any, ...]]:
    for line in swept(view):
        for value, one in line:
            yield line_name(line), value, one.value, "" if one.margin is None else one.margin


# --- all rows -------------------------------------------------------------------------------------------


def draw_bars(view: View, axes: Any) -> None:
    hue, rows = colours(view), view.rows[::-1]
    places = range(len(rows))
    axes.figure.set_size_inches(4.6, 0.9 + 0.26 * len(rows))
    axes.barh(places, [one.value for one in rows], xerr=[one.margin or 0.0 for one in rows] if view.enough else None,
              color=[hue[one.place] for one in rows], height=0.62, error_kw={"lw": 0.9, "ecolor": "#333333"})  # fmt: skip
    axes.set_yticks(list(places), [one.name for one in rows])
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
