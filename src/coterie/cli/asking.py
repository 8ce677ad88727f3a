"""What takes long is asked about first: on a terminal by a question, elsewhere it needs `--yes`."""

import sys
from collections.abc import Callable
from functools import cache

import typer

from coterie.cli.progress import Waiting
from coterie.errors import UsageError
from coterie.studies.estimate import SECONDS_UNASKED, time_text


def ask(seconds: float, yes: bool, shown: Waiting) -> None:
    """Go on, or raise. `seconds` is the forecast; `shown` is what the command shows meanwhile."""
    if yes or seconds <= SECONDS_UNASKED:
        return
    forecast = f"this will take about {time_text(seconds)}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{forecast}: give --yes to go on")
    with shown.held():
        typer.confirm(f"{forecast}; go on?", abort=True, err=True)


def asked(yes: bool, shown: Waiting) -> Callable[[float], None]:
    """`ask`, but never twice about the same forecast."""
    return cache(lambda seconds: ask(seconds, yes, shown))
