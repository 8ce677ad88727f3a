"""`coterie statement`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coterie.cli.completing import settings, study_names
from coterie.cli.console import output, write_json
from coterie.cli.options import whole
from coterie.cli.progress import waiting
from coterie.files import check_writable
from coterie.limits import HORIZON_MOST

if TYPE_CHECKING:
    from coterie.report.statement import Verdict
    from coterie.studies.spec import Row


def statement(
    study: str = typer.Argument(help="A TOML file, or the name of a built-in study.", autocompletion=study_names),
    row: str = typer.Option(None, metavar="LABEL|N", help="Which row. Default: the smallest epsilon that is kept."),
    rewards: int = typer.Option(
        None, metavar="M", parser=whole("--rewards", 1, HORIZON_MOST),
        help="Also tell what a person with so many rewards loses; default: as many as one has in the study's table, or 10.",
    ),
    times: list[str] = typer.Option([], metavar="STUDY", help="Another study on the same data, added up. May be given again."),
    sets: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="A key of the study, e.g. --set horizon=1000", autocompletion=settings
    ),
    audit: bool = typer.Option(False, "--audit", help="Audit the row's algorithm first (minutes), and tell the verdict."),
    out: Path = typer.Option(None, metavar="FILE", help="The page. Default: <study>-statement.html; with --json, none"),
    yes: bool = typer.Option(False, "--yes", help="Do not ask, however long it will take."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """One page to sign: what a row of a study protects, from whom, how well, and what is not covered.

    Example: coterie statement quickstart --row 4 --rewards 30
    """
    from coterie.cli.asking import asked
    from coterie.report import statement as page
    from coterie.studies import load_study
    from coterie.studies.budget import person_of, price_study

    loaded, others = load_study(study, sets).specification, [load_study(other).specification for other in times]
    path = out or Path(f"{loaded.name}-statement.html")
    if out is not None or not as_json:
        check_writable(path)
    named = None if row is None else page.row_of(loaded, row)
    with waiting("adding up") as shown:
        prices = price_study(loaded, asked(yes, shown))
        index = page.headline(prices) if named is None else named
        beside = [page.Beside(other, price_study(other, asked(yes, shown))) for other in others]
        verdict = _audited(study, sets, loaded.rows[index]) if audit else None
        found = page.facts(loaded, prices, index, rewards or person_of(loaded), beside, verdict)
    if out is not None or not as_json:
        page.write(path, found)
    if as_json:
        write_json(found)
        return
    console = output()
    for line in [*page.text(found, console.width), f"page: {path}"]:
        console.print(line, soft_wrap=True)


def _audited(study: str, sets: list[str], row: "Row") -> "Verdict":
    from coterie import audit as auditing
    from coterie.report.statement import Verdict

    if row.content:  # a file may do something else with other numbers of agents and arms
        whole = auditing.audit_study(study, tuple(sets), quick=True, label=row.label)
        return Verdict(whole.rows[0].verdict if whole.rows else whole.verdict, whole.failed)
    options = row.options.model_dump(exclude_defaults=True)
    found = auditing.document(auditing.audit(row.reference, options, trials=auditing.TRIALS_QUICK))
    return Verdict(found["verdict"], found["failed"])
