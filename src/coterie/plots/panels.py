"""Our pictures of the papers' figures: the paper's quantities across and up, its curves in its order, and numbers as CSV."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from coterie.claims import Lab
from coterie.claims.claim import Curve, Panel, Pick
from coterie.plots.figures import BAND, MARKERS, STROKES, in_plain_numbers, outline, steps
from coterie.report.draw.colours import HUES
from coterie.report.template import csv_text
from coterie.studies.numbers import compact
from coterie.studies.spread import RUNS_LEAST, margin

ORDERED = ("#0b3c7d", "#1f6f8b", "#388b5a", "#b08a1e", "#c8552b")  # dark to bright: an order also for who sees no red or green
BAR = 0.8  # of the room of one place


class Line(NamedTuple):
    name: str
    across: list[Any]
    mean: np.ndarray
    half: np.ndarray | None  # of the 95 % interval, where there are runs enough


def lines_of(lab: Lab, panel: Panel) -> list[Line]:
    return [_line(lab, panel, curve) for curve in panel.curves]


def draw(panel: Panel, lines: Sequence[Line], axes: Any) -> None:
    colours = [ORDERED[round(place * (len(ORDERED) - 1) / max(1, len(lines) - 1))] for place in range(len(lines))]
    if not panel.ordered:
        hues = [hue.light[0] for name, hue in HUES.items() if name != "alone"]
        colours = [hues[place % len(hues)] for place in range(len(lines))]
    {"over time": _draw_time, "lines": _draw_lines, "bars": _draw_bars}[panel.kind](panel, lines, colours, axes)
    sure = "\n95 % interval" if any(line.half is not None for line in lines) else ""
    axes.set_ylabel(panel.up + sure)
    axes.set_xlabel(panel.across)
    _scale(panel, lines, axes)
    if len(lines) > 1:  # below, so that the picture is as wide as a narrow page
        axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.17), ncols=2)


def numbers_of(panel: Panel, lines: Sequence[Line]) -> str:
    return csv_text(["curve", panel.across, panel.up, "95 % interval, half"], _cells(lines))


def _cells(lines: Sequence[Line]) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        for place, across in enumerate(line.across):
            yield line.name, across, float(line.mean[place]), "" if line.half is None else float(line.half[place])


# --- numbers --------------------------------------------------------------------------------------------


def _line(lab: Lab, panel: Panel, curve: Curve) -> Line:
    across, own = _values(lab, panel, curve.of)
    other = _values(lab, panel, curve.beside)[1] if curve.beside else np.ones_like(own)
    if panel.held == "as a difference":
        mean, spread = np.nanmean(own - other, axis=0), own - other
    else:
        base = np.nanmean(other, axis=0)
        mean = np.nanmean(own, axis=0) / base
        spread = (own - mean * other) / base if curve.beside else own
    runs = (~np.isnan(own)).sum(axis=0).min()
    return Line(curve.name, across, mean, margin(spread) if runs >= RUNS_LEAST else None)


def _values(lab: Lab, panel: Panel, picks: Sequence[Pick]) -> tuple[list[Any], np.ndarray]:
    """Where the points of a curve stand, and [replication, point]: nan where a point has fewer runs than another."""
    sizes = [lab.result(pick.study).study.problem.agents if panel.each else 1 for pick in picks]
    if panel.kind == "over time":
        rounds, found = lab.course(picks[0])
        return rounds.tolist(), found / sizes[0]
    values = [lab.runs(pick, panel.quantity) / size for pick, size in zip(picks, sizes, strict=True)]
    across: list[Any] = list(panel.places)
    if panel.quantity_across:
        across = [float(runs.mean()) for pick in picks for runs in lab.runs(pick, panel.quantity_across)]
    most = max(found.shape[1] for found in values)
    padded = [np.pad(found, ((0, 0), (0, most - found.shape[1])), constant_values=np.nan) for found in values]
    return across, np.concatenate(padded).T


# --- pictures -------------------------------------------------------------------------------------------


def _draw_time(panel: Panel, lines: Sequence[Line], colours: Sequence[str], axes: Any) -> None:
    """Where curves coincide, the later ones are thinner: what lies below shows at their sides."""
    for place, (line, colour) in enumerate(zip(lines, colours, strict=True)):
        width = 2.4 - 1.2 * place / max(1, len(lines) - 1)
        axes.plot(line.across, line.mean, color=colour, ls=STROKES[place % len(STROKES)], lw=width, label=line.name)
        if line.half is not None:
            axes.fill_between(line.across, line.mean - line.half, line.mean + line.half, color=colour, alpha=BAND, lw=0)
    axes.set_xlim(left=0)


def _draw_lines(panel: Panel, lines: Sequence[Line], colours: Sequence[str], axes: Any) -> None:
    for place, (line, colour) in enumerate(zip(lines, colours, strict=True)):
        axes.errorbar(line.across, line.mean, yerr=line.half, color=colour, ls=STROKES[place % len(STROKES)], lw=1.3, capsize=2,
                      marker=MARKERS[place % len(MARKERS)], label=line.name)  # fmt: skip


def _draw_bars(panel: Panel, lines: Sequence[Line], colours: Sequence[str], axes: Any) -> None:
    room = BAR / len(lines)
    for place, (line, colour) in enumerate(zip(lines, colours, strict=True)):
        at = np.arange(len(line.across)) + (place - (len(lines) - 1) / 2) * room
        drawn = axes.bar(at, line.mean, 0.92 * room, yerr=line.half, color=colour, label=line.name,
                         error_kw={"lw": 0.9, "ecolor": "#333333", "capsize": 2})  # fmt: skip
        outline(drawn.errorbar[2] if drawn.errorbar else ())
    axes.set_xticks(np.arange(len(panel.places)), [str(name) for name in panel.places])
    axes.grid(visible=False, axis="x")


def _scale(panel: Panel, lines: Sequence[Line], axes: Any) -> None:
    if "x" in panel.log:
        axes.set_xscale("log")
        known = sorted({float(value) for line in lines for value in line.across})
        in_plain_numbers(axes.xaxis, known if len(known) <= 8 else steps(known[0], known[-1]))
    elif panel.kind == "lines" and not panel.quantity_across:
        axes.set_xticks(lines[0].across)
    elif panel.kind != "bars":
        axes.xaxis.set_major_formatter(lambda value, _: compact(value))
    if "y" in panel.log:
        axes.set_yscale("log")
        told = [float(value) for line in lines for value in line.mean if value > 0]
        in_plain_numbers(axes.yaxis, steps(min(told), max(told)))
        return
    axes.yaxis.set_major_formatter(lambda value, _: compact(value))
    if min(float(line.mean.min()) for line in lines) >= 0:
        axes.set_ylim(bottom=0)
