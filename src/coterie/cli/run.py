"""`coterie run`."""

from pathlib import Path

import typer
from rich.text import Text

from coterie.cli.completing import settings, study_names
from coterie.cli.console import output, visible, write_json
from coterie.cli.interrupts import keeps
from coterie.cli.options import left_out, one_of, place, whole
from coterie.cli.progress import HELP, waiting
from coterie.helper import expect_compiling


def run(
    study: str = typer.Argument(
        help="A TOML file, or the name of a built-in study (see `coterie studies`).", autocompletion=study_names
    ),
    out: Path = typer.Option(
        None, metavar="DIR", parser=place("--out", "a folder"), help="Where to keep the run. Default: runs/<name>-<hash>"
    ),
    sets: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="Override a value, e.g. --set horizon=1000", autocompletion=settings
    ),
    workers: int = typer.Option(
        None, metavar="N", parser=whole("--workers", 1), help="Worker threads. Default: one for each core."
    ),
    engine: str = typer.Option("local", metavar="local|ray", help="Where batches run: here, or on a Ray cluster."),
    address: str = typer.Option(None, metavar="ADDRESS", help="Of the Ray cluster. Default: one of its own on this machine."),
    fresh: bool = typer.Option(False, "--fresh", help="Remove what a run left in DIR first, damaged or not; other files stay."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
    yes: bool = typer.Option(False, "--yes", help="Do not ask, however long it will take."),
    every: bool = typer.Option(False, "--all", help="Print all rows, also where there are many."),
    as_json: bool = typer.Option(False, "--json", help="Print summary.json to stdout, and nothing else there."),
) -> None:
    """Run a study and write a page about it. A run that was interrupted goes on where it stopped.

    Example: coterie run quickstart --set replications=5
    """
    if engine != "ray":
        expect_compiling(workers)
    from coterie.cli.asking import ask
    from coterie.cli.table import summary_lines, warnings_of
    from coterie.report import write
    from coterie.studies import ENGINES, builtin_names, load_study
    from coterie.studies.store import read_manifest

    one_of("--engine", ENGINES, engine)
    if engine != "ray":
        left_out({"--address": address}, "without --engine ray")
    with waiting("reading the study", progress) as shown:
        loaded = load_study(study, sets)
        folder = out or loaded.folder
        as_shipped, done = study in builtin_names() and not sets, not fresh and (folder / "summary.json").exists()
        if not (as_shipped or done):
            forecast = loaded.forecast(workers)
            forecast.refuse(folder)
            ask(forecast.seconds, yes, shown)
        keeps(f"what was finished is kept in {folder}; the same command goes on from there", folder)
        result = loaded.run(workers, folder, shown.show, fresh, engine, address)
        shown.do("writing", "writing the page")
        page, document = folder / "report.html", result.document()
        write(page, document, read_manifest(folder))
    if as_json:
        write_json(document)
        return
    printed = output()
    for line in summary_lines(document, printed.width, every):
        printed.print(line)
    for rows, warning in warnings_of(result.summary):
        printed.print(Text.assemble(("note", "yellow"), f" {visible(rows)}: {visible(warning)}"))
    printed.print(f"page: {page}", soft_wrap=True)
