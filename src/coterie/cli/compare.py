"""`coterie compare`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coterie.cli.console import output, visible, write_json
from coterie.cli.layout import wrapped
from coterie.cli.options import run_folder

if TYPE_CHECKING:
    from coterie.studies.comparing import Comparison

VERDICTS = {"less": "less", "more": "more", "close": "too close to call"}


def compare(
    runs: list[Path] = typer.Argument(metavar="RUN RUN...", parser=run_folder, help="Folders of finished runs."),
    against: str = typer.Option(None, metavar="LABEL", help="The row that others are held against. Default: the first."),
    out: Path = typer.Option(None, metavar="FILE", help="Also write a page with all rows, such as compare.html."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """Put finished runs side by side: all rows in one table, and differences run by run, with an interval.

    Runs must share problem, horizon, seed and replications: then replication r of each met the same instance and seeds.

    Example: coterie run quickstart --out ring && coterie run quickstart --out star --set network.graph=star &&
    coterie compare ring star --out compare.html
    """
    from coterie.cli.table import summary_lines
    from coterie.report import write
    from coterie.studies.comparing import compare as put_together
    from coterie.studies.store import read_manifest

    found = put_together(runs, against)
    if out is not None:
        write(out, found.summary, read_manifest(runs[0]))
    if as_json:
        write_json({**found.summary, "differences": found.differences, "differ": found.differ})
        return
    console = output()
    for line in [*summary_lines(found.summary, console.width), ""]:
        console.print(line)
    for text in difference_lines(found):
        for line in wrapped(text, console.width):
            console.print(line)
    if out is not None:
        console.print(f"page: {out}", soft_wrap=True)


def difference_lines(found: "Comparison") -> list[str]:
    from coterie.studies.messages import given
    from coterie.studies.numbers import amount

    rows, unit = found.summary["rows"], found.summary["answer"]["unit"]
    told, before = [f"Differences run by run, of regret {unit['text']}; ±: 95 % interval"], None
    for held in sorted(found.differences, key=lambda held: held["against"]):
        if held["against"] != before:
            before = held["against"]
            told.append(f"from “{visible(rows[before]['label'])}”:")
        mean, margin = held["mean"] * unit["decisions"], held["margin"]
        half = "" if margin is None else f" ± {amount(margin * unit['decisions'], unit['decimals'])}"
        more = f"{'+' if mean > 0 else ''}{amount(mean, unit['decimals'])}{half}, {VERDICTS[held['verdict']]}"
        told.append(f"  {visible(rows[held['row']]['label'])}: {'the same' if mean == 0 == margin else more}")
    for key, values in found.differ.items():
        told.append(f"The studies differ in {key}: {' / '.join(given(value) for value in values)}")
    return told
