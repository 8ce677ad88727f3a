"""`coterie run`."""

import json
import sys
from pathlib import Path

import typer
from rich.console import Console

from coterie.cli.progress import advance, progress_bar
from coterie.cli.table import summary_lines
from coterie.errors import UsageError


def run(
    study: str = typer.Argument(help="A TOML file, or the name of a built-in study (see `coterie studies`)."),
    out: Path = typer.Option(None, metavar="DIR", help="Where to keep the run. Default: runs/<name>-<hash>"),
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Override a value, e.g. --set horizon=1000"),
    workers: int = typer.Option(None, metavar="N", help="Worker threads. Default: one for each core."),
    engine: str = typer.Option("local", metavar="local", help="Where batches run."),
    every: bool = typer.Option(False, "--all", help="Print all rows, also where there are many."),
    as_json: bool = typer.Option(False, "--json", help="Print summary.json to stdout, and nothing else there."),
) -> None:
    """Run a study and write a page about it. A run that was interrupted goes on where it stopped.

    Example: coterie run quickstart --set replications=5
    """
    from coterie.report import write
    from coterie.report.rows import warnings_of
    from coterie.studies import load_study

    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be a whole number >= 1, got {workers}")
    if engine != "local":
        raise UsageError(f"--engine must be local, got {engine!r}")
    loaded = load_study(study, sets)
    folder = out or loaded.folder
    console = Console(stderr=True)
    with progress_bar(console) as bar:
        task = bar.add_task("compiling (the first time only)", total=None)
        try:
            result = loaded.run(workers, folder, lambda done, total, label: advance(bar, task, done, total, label))
        except KeyboardInterrupt:
            bar.stop()
            console.print(f"interrupted: what was finished is kept in {folder}; the same command goes on from there")
            raise
    page = folder / "report.html"
    write(page, result.document(), json.loads((folder / "manifest.json").read_text()))
    if as_json:
        sys.stdout.write(json.dumps(result.document(), indent=1, allow_nan=False) + "\n")
        return
    output = Console()
    for line in summary_lines(result.document(), output.width, every):
        output.print(line)
    for rows, warning in warnings_of(result.summary):
        output.print(f"note {rows}: {warning}", highlight=False, markup=False)
    output.print(f"page: {page}", soft_wrap=True, highlight=False)
