"""The picture of a scaling: regret against size, both scales logarithmic, with the fitted exponent of each row."""

from pathlib import Path

from coterie.files import write
from coterie.plots import picture_file
from coterie.plots.figures import MARKERS, STROKES, beside, in_plain_numbers, steps
from coterie.report.draw.colours import HUES
from coterie.report.template import csv_text
from coterie.studies.scaling import Scaling


def save(found: Scaling, path: Path) -> Path:
    """Into the file, in the format its name ends in, with the numbers beside it; returns where these are."""
    with picture_file(path) as axes:
        hues = [hue.light[0] for hue in HUES.values()]
        for place, row in enumerate(found.rows):
            near = "" if row.exponent_margin is None else f" ± {row.exponent_margin:.2f}"
            name = row.label if row.exponent is None else f"{row.label}: exponent {row.exponent:.2f}{near}"
            margins = [margin or 0.0 for margin in row.margin]
            stroke, marker = STROKES[place // len(hues) % len(STROKES)], MARKERS[place % len(MARKERS)]
            axes.errorbar(found.values, row.regret, yerr=margins, color=hues[place % len(hues)], capsize=2, lw=1.2,
                          ls=stroke, marker=marker, label=name)  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        in_plain_numbers(axes.xaxis, found.values if len(found.values) <= 8 else steps(found.values[0], found.values[-1]))
        told = [value for row in found.rows for value in row.regret if value > 0]
        if told:
            in_plain_numbers(axes.yaxis, steps(min(told), max(told)))
        axes.set_xlabel(found.key.split(".")[-1])
        sure = any(margin is not None for row in found.rows for margin in row.margin)  # few runs have no interval
        axes.set_ylabel("regret of all agents" + (", 95 % interval" if sure else ""))
        beside(axes)
    table = path.with_suffix(".csv")
    head = ["row", found.key, "regret of all agents", "95 % interval, half", "exponent", "its 95 % interval, half"]
    write(table, csv_text(head, [
        (row.label, value, regret, "" if margin is None else margin, "" if row.exponent is None else row.exponent,
         "" if row.exponent_margin is None else row.exponent_margin)
        for row in found.rows for value, regret, margin in zip(found.values, row.regret, row.margin, strict=True)
    ]))  # fmt: skip
    return table
