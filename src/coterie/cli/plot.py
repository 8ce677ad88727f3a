"""`coterie plot`."""

from pathlib import Path

import typer

from coterie.cli.console import output
from coterie.cli.options import one_of, place, run_folder
from coterie.errors import UsageError

SHOWS = "regret (over time), tradeoff (against the epsilon that holds), sweep (against what is swept), bars (all rows)"


def plot(
    run: Path = typer.Argument(metavar="RUN", parser=run_folder, help="The folder of a finished run."),
    figure: str = typer.Option("regret", metavar="regret|tradeoff|sweep|bars", help=f"{SHOWS}."),
    kind: str = typer.Option(None, "--format", metavar="pdf|svg|png", help="Of the picture. Default: that of FILE, or pdf."),
    out: Path = typer.Option(
        None, metavar="FILE", parser=place("--out", "a file"), help="Where to put it. Default: RUN/<figure>.<format>"
    ),
) -> None:
    """Draw a picture for a paper from a finished run, and put its numbers beside it as CSV.

    Example: coterie run quickstart --out quick && coterie plot quick --figure tradeoff
    """
    from coterie.plots import FIGURES, FORMATS, save
    from coterie.studies.store import read_summary

    one_of("--figure", FIGURES, figure)
    if kind is not None:
        one_of("--format", FORMATS, kind)
    picture = out if out is not None else run / f"{figure}.{kind or 'pdf'}"
    if kind is not None and picture.suffix != f".{kind}":
        raise UsageError(f"--out must have a name that ends in .{kind}, as --format says, got {str(out)!r}")
    if picture.suffix[1:] not in FORMATS:
        known = " or ".join(f".{name}" for name in FORMATS)
        raise UsageError(f"--out must have a name that ends in {known}, got {str(out)!r}")
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"--out must be in a folder that exists, got {str(out)!r}")
    numbers = save(read_summary(run), picture, figure)
    output().print(f"picture: {picture}\nnumbers: {numbers}", soft_wrap=True)
