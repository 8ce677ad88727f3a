"""`coterie scale`."""

from pathlib import Path

import typer

from coterie.cli.completing import settings, study_names
from coterie.cli.console import output, write_json
from coterie.cli.interrupts import keeps
from coterie.cli.layout import Entry, lines
from coterie.cli.options import whole
from coterie.cli.progress import HELP, waiting


def scale(
    study: str = typer.Argument(help="A TOML file, or the name of a built-in study.", autocompletion=study_names),
    over: str = typer.Option(metavar="KEY=A,B,...", help="What grows: problem.agents, problem.arms, horizon, ..."),
    sets: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="Override a value, e.g. --set replications=10", autocompletion=settings
    ),
    picture: Path = typer.Option(None, metavar="FILE", help="Draw it: a name that ends in .pdf, .svg or .png"),
    workers: int = typer.Option(None, metavar="N", parser=whole("--workers", 1), help="Worker threads. Default: all cores."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
    yes: bool = typer.Option(False, "--yes", help="Do not ask, however long it will take."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """Run a study for several sizes of its problem, and fit by which power of the size regret grows.

    Each size is an ordinary run in its own folder under runs/, and is not run again.

    Example: coterie scale quickstart --over problem.agents=5,10,20 --set horizon=2000 --set replications=5
    """
    from coterie.cli.asking import ask
    from coterie.plots.scaling import save as draw
    from coterie.studies.numbers import number
    from coterie.studies.scaling import scale as run_all
    from coterie.studies.scaling import studies_of

    with waiting("reading the study", progress) as shown:
        loaded = studies_of(study, sets, over)
        todo = [one.forecast(workers) for one in loaded if not (one.folder / "summary.json").exists()]
        ask(sum(forecast.seconds for forecast in todo), yes, shown)
        keeps("what was finished is kept in runs/; the same command goes on from there")
        found = run_all(study, over, sets, lambda one: one.folder, workers, shown.show)
        numbers = draw(found, picture) if picture is not None else None
    if as_json:
        write_json({"key": found.key, "values": found.values, "rows": [row._asdict() for row in found.rows]})
        return
    console = output()
    headings = [*(f"regret at\n{found.key.split('.')[-1]} {value:g}" for value in found.values), "exponent"]
    entries = [
        Entry(row.label, [*map(number, row.regret), exponent_text(row.exponent, row.exponent_margin)]) for row in found.rows
    ]
    for line in lines(headings, entries, console.width):
        console.print(line)
    console.print("\nregret: of all agents at the horizon, mean of the runs")
    console.print(f"exponent: regret grows as {found.key} to this power; ±: 95 % interval over the runs")
    if picture is not None:
        console.print(f"picture: {picture}\nnumbers: {numbers}", soft_wrap=True)


def exponent_text(exponent: float | None, margin: float | None) -> str:
    if exponent is None:
        return "-"
    return f"{exponent:.2f}" if margin is None else f"{exponent:.2f} ± {margin:.2f}"
