"""`coterie audit`."""

from pathlib import Path
from typing import Any

import typer

from coterie.cli.console import output, write_json
from coterie.cli.options import is_algorithm, left_out, number, parameters_of, whole
from coterie.cli.progress import HELP, waiting
from coterie.errors import FAILED
from coterie.files import check_writable


def audit(
    subject: str = typer.Argument(
        metavar="ALGORITHM|FILE|STUDY", help="The name of an algorithm, a file of your own (.py), or a study."
    ),
    mode: str = typer.Option(None, metavar="M", help="private or paper. Default: the algorithm's own."),
    epsilon: float = typer.Option(None, metavar="E", parser=number("--epsilon"), help="Default: the algorithm's own."),
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Another option, e.g. --set mechanism=tree"),
    view: str = typer.Option(None, metavar="V", help="Who looks: public, messages, neighbour or server. Default: as promised."),
    horizon: int = typer.Option(
        None, metavar="T", parser=whole("--horizon", 24), help="Rounds lived twice. Default: 200, or what two epochs need."
    ),
    trials: int = typer.Option(
        None, metavar="N", parser=whole("--trials", 300), help="Trials of each side, for each reward tried. Default: 30000."
    ),
    seed: int = typer.Option(0, metavar="S", parser=whole("--seed", 0), help="The same seed plays the same trials."),
    quick: bool = typer.Option(False, "--quick", help="6000 trials, and at most 1000 rewards lived twice."),
    yes: bool = typer.Option(False, "--yes", help="Do not ask, however long it will take."),
    out: Path = typer.Option(None, metavar="DIR", help="Write a page about it there (audit.html, audit.json)."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
    as_json: bool = typer.Option(False, "--json", help="Print the audit as JSON to stdout, and nothing else there."),
) -> None:
    """Try to tell two runs apart that differ in one reward, and say how much privacy is proven to be lost.

    Of a study every row that promises privacy is lived twice, at its own size. Exit code 1: a promise is broken. A pass
    proves nothing; it says what was not found.

    Example: coterie audit fed-ucb --mode paper --epsilon 1 --quick
    """
    from coterie.audit.auditing import TRIALS, check_numbers, seconds_needed
    from coterie.cli.asking import ask
    from coterie.report.audit import write

    check_numbers(seed, horizon or 0)
    if quick:
        left_out({"--trials": trials}, "with --quick")
    if out is not None:
        check_writable(out, "audit.html", "audit.json")
    named = is_algorithm(subject)
    options = parameters_of(sets, {"mode": mode, "epsilon": epsilon}) if named else {}
    if not named:
        left_out({"--mode": mode, "--epsilon": epsilon, "--view": view, "--trials": trials}, "with a study")
    with waiting("setting the stage", progress) as shown:
        about: dict[str, Any] = {"horizon": horizon or 0, "seed": seed, "progress": shown.show}
        if named:
            ask(seconds_needed(horizon or 0, trials or TRIALS), yes, shown)
            facts = _of_algorithm(subject, options, view, trials, quick, about)
        else:
            facts = _of_study(subject, sets, quick, about | {"ask": lambda seconds: ask(seconds, yes, shown)})
        if out is not None:
            shown.do("writing", "writing the page")
            write(out, facts)
    if as_json:
        write_json(facts)
    else:
        _print(facts, out)
    if facts["failed"]:
        raise typer.Exit(FAILED)


def _of_study(study: str, sets: list[str], quick: bool, about: dict[str, Any]) -> dict[str, Any]:
    from coterie import audit as auditing

    return auditing.study_document(auditing.audit_study(study, tuple(sets), quick=quick, **about))


def _of_algorithm(
    algorithm: str, options: dict[str, Any], view: str | None, trials: int | None, quick: bool, about: dict[str, Any]
) -> dict[str, Any]:
    from coterie import audit as auditing

    count = trials if trials is not None else auditing.TRIALS_QUICK if quick else auditing.TRIALS
    found = auditing.audit(algorithm, options, view=view, trials=count, **about)
    return auditing.document(found)


def _print(facts: dict[str, Any], out: Path | None) -> None:
    from coterie.report.audit import lines, verdict_words

    console = output()
    console.print(verdict_words(facts), style=f"bold {_colour(facts)}", soft_wrap=True)
    for name, text in lines(facts):
        console.print(f"{name:<11} {text}", soft_wrap=True)
    if out is not None:
        console.print(f"page: {out / 'audit.html'}", soft_wrap=True)


def _colour(facts: dict[str, Any]) -> str:
    """Where nothing is promised nothing is kept, either."""
    from coterie.cli.table import COLOURS
    from coterie.privacy.statement import Promise
    from coterie.report.audit import promises

    if facts["failed"]:
        return COLOURS[Promise.BROKEN]
    return COLOURS[Promise.KEPT if promises(facts) else Promise.NOTHING]
