"""`coterie audit`."""

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from coterie.cli.progress import advance, progress_bar
from coterie.errors import UsageError


def audit(
    subject: str = typer.Argument(
        metavar="ALGORITHM|FILE|STUDY", help="The name of an algorithm, a file of your own (.py), or a study."
    ),
    mode: str = typer.Option(None, metavar="M", help="private or paper. Default: the algorithm's own."),
    epsilon: float = typer.Option(None, metavar="E", help="Default: the algorithm's own."),
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Another option, e.g. --set mechanism=tree"),
    view: str = typer.Option(None, metavar="V", help="Who looks: public, messages, neighbour or server. Default: as promised."),
    horizon: int = typer.Option(0, metavar="T", help="Rounds that are lived twice. Default: 200, or what two epochs need."),
    trials: int = typer.Option(None, metavar="N", help="Trials of each side, for each reward that is tried. Default: 30000."),
    seed: int = typer.Option(0, metavar="S", help="The same seed plays the same trials."),
    quick: bool = typer.Option(False, "--quick", help="6000 trials, and at most 1000 rewards lived twice."),
    out: Path = typer.Option(None, metavar="DIR", help="Write a page about it there (audit.html, audit.json)."),
    as_json: bool = typer.Option(False, "--json", help="Print the audit as JSON to stdout, and nothing else there."),
) -> None:
    """Try to tell two runs apart that differ in one reward, and say how much privacy is proven to be lost.

    Of a study every row that promises privacy is lived twice, at its own size. Exit code 1: a promise is broken. A pass
    proves nothing; it says what was not found.

    Example: coterie audit fed-ucb --mode paper --epsilon 1 --quick
    """
    from coterie.report.audit import write

    if quick and trials is not None:
        raise UsageError(f"--trials must be left out with --quick, got {trials}")
    with progress_bar(Console(stderr=True)) as bar:
        task = bar.add_task("compiling (the first time only)", total=None)
        about: dict[str, Any] = {"horizon": horizon, "seed": seed}
        about["progress"] = lambda done, total, label: advance(bar, task, done, total, label)
        if _is_study(subject):
            given = {"--mode": mode, "--epsilon": epsilon, "--view": view, "--trials": trials}
            facts = _of_study(subject, sets, quick, given, about)
        else:
            facts = _of_algorithm(subject, _options(mode, epsilon, sets), view, trials, quick, about)
    if out is not None:
        write(out, facts)
    if as_json:
        sys.stdout.write(json.dumps(facts, indent=1, allow_nan=False) + "\n")
    else:
        _print(facts, out)
    if facts["failed"]:
        raise typer.Exit(1)


def _is_study(subject: str) -> bool:
    from coterie.algorithms import names
    from coterie.studies import builtin_studies

    return subject.endswith(".toml") or (subject in builtin_studies() and subject not in names())


def _of_study(study: str, sets: list[str], quick: bool, given: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    from coterie import audit as auditing

    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} must be left out with a study, got {value}")
    return auditing.study_document(auditing.audit_study(study, tuple(sets), quick=quick, **about))


def _of_algorithm(
    algorithm: str, options: dict[str, Any], view: str | None, trials: int | None, quick: bool, about: dict[str, Any]
) -> dict[str, Any]:
    from coterie import audit as auditing
    from coterie.checking.verdicts import note_audit

    count = trials if trials is not None else auditing.TRIALS_QUICK if quick else auditing.TRIALS
    found = auditing.audit(algorithm, options, view=view, trials=count, **about)
    if algorithm.endswith(".py"):
        note_audit(algorithm, options, found.failed)
    return auditing.document(found)


def _options(mode: str | None, epsilon: float | None, sets: list[str]) -> dict[str, Any]:
    from coterie.studies.reading import read_options

    given = {"mode": mode, "epsilon": epsilon}
    return read_options(sets) | {name: value for name, value in given.items() if value is not None}


def _print(facts: dict[str, Any], out: Path | None) -> None:
    from coterie.report.audit import lines, verdict_words

    output = Console()
    colour = "red" if facts["failed"] else "green"
    output.print(verdict_words(facts), style=f"bold {colour}", highlight=False, soft_wrap=True, markup=False)
    for name, text in lines(facts):
        output.print(f"{name:<10} {text}", highlight=False, soft_wrap=True, markup=False)
    if out is not None:
        output.print(f"page: {out / 'audit.html'}", soft_wrap=True, highlight=False)
