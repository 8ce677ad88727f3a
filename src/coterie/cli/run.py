"""`coterie run`."""

import json
from pathlib import Path

import typer
from rich.text import Text

from coterie.cli.console import messages, output, visible, write_json
from coterie.cli.options import one_of, whole
from coterie.cli.progress import advance, progress_bar
from coterie.cli.table import summary_table


def run(
    study: str = typer.Argument(help="A TOML file, or the name of a built-in study (see `coterie studies`)."),
    out: Path = typer.Option(None, metavar="DIR", help="Where to keep the run. Default: runs/<name>-<hash>"),
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Override a value, e.g. --set horizon=1000"),
    workers: int = typer.Option(
        None, metavar="N", parser=whole("--workers", 1), help="Worker threads. Default: one for each core."
    ),
    engine: str = typer.Option("local", metavar="local", help="Where batches run."),
    as_json: bool = typer.Option(False, "--json", help="Print summary.json to stdout, and nothing else there."),
) -> None:
    """Run a study and write a page about it. A run that was interrupted goes on where it stopped.

    Example: coterie run quickstart --set replications=5
    """
    from coterie.report import write
    from coterie.studies import load_study

    one_of("--engine", ["local"], engine)
    loaded = load_study(study, sets)
    folder = out or loaded.folder
    console = messages()
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
        write_json(result.document())
        return
    printed = output()
    printed.print(summary_table(result.document()))
    for row in result.summary:
        for warning in row["warnings"]:
            printed.print(Text.assemble(("note", "yellow"), f" {visible(row['label'])}: {visible(warning)}"))
    printed.print(f"page: {page}", soft_wrap=True)
