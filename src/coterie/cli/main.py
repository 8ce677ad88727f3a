"""Entry point: the list of commands, and what happens to errors."""

import contextlib
import os
import sys
import traceback
from io import TextIOWrapper
from typing import NoReturn

import typer

from coterie.cli.agent import agent
from coterie.cli.algorithms import algorithms
from coterie.cli.audit import audit
from coterie.cli.budget import budget
from coterie.cli.check import check
from coterie.cli.claims import claims
from coterie.cli.compare import compare
from coterie.cli.console import visible
from coterie.cli.coordinator import coordinator
from coterie.cli.doctor import doctor
from coterie.cli.federation import federation
from coterie.cli.interrupts import interruptible, is_interrupted
from coterie.cli.ledger import ledger
from coterie.cli.plan import plan
from coterie.cli.plot import plot
from coterie.cli.replay import replay
from coterie.cli.reproduce import reproduce
from coterie.cli.run import run
from coterie.cli.scale import scale
from coterie.cli.show import show
from coterie.cli.statement import statement
from coterie.cli.studies import studies
from coterie.cli.up import up
from coterie.cli.usage import Command, words_of
from coterie.cli.warm import warm
from coterie.errors import (
    BROKEN_PIPE,
    INTERRUPTED,
    AlgorithmError,
    CoterieError,
    StorageError,
    UsageError,
    exit_codes,
)
from coterie.guests import blamed
from coterie.version import VERSION

app = typer.Typer(
    rich_markup_mode="rich",
    help="Private federated bandits: many agents learn together which arm is best, without handing over their data.",
    epilog="Start with [bold]coterie run hospitals[/bold], then open the page it names. "
    "[bold]coterie studies[/bold] lists more. A study is a short TOML file: copy one and change it.\n\n"
    "[bold]Exit codes[/bold]\n" + "\n".join(f"{code:>3}  {meaning}" for code, meaning in exit_codes().items()),
)
PANELS = {
    "Studies": (run, plan, studies, show, algorithms, plot, compare, scale, replay, warm),
    "The papers": (reproduce, claims),
    "Privacy, and files of your own": (audit, budget, statement, check),
    "A federation that runs": (up, coordinator, ledger, doctor),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel)(command)
for name, group in (("agent", agent), ("federation", federation)):
    app.add_typer(group, name=name, rich_help_panel="A federation that runs")


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        typer.echo(VERSION)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@interruptible
def main() -> None:
    """Run a command. Every error is one line on stderr; its class decides the exit code."""
    if sys.stdout is None:  # closed by whoever started the command
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack some characters
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code or 0)
    except SystemExit as stopped:
        if isinstance(stopped.__context__, BrokenPipeError):  # whatever code the libraries have for it
            close_pipe()
        raise
    except BrokenPipeError:
        close_pipe()
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(INTERRUPTED)
    except CoterieError as error:
        fail(str(error), error.exit_code)
    except Exception as error:
        if is_interrupted():
            sys.exit(INTERRUPTED)
        if hasattr(error, "format_message"):  # the command line itself was wrong: every release of typer has this method
            fail(f"{words_of(error)} (coterie --help lists what there is)", UsageError.exit_code)
        if os.environ.get("COTERIE_DEBUG"):
            traceback.print_exc()
        if line := blamed(error):
            fail(line, AlgorithmError.exit_code)
        if isinstance(error, OSError):
            write_nowhere()
            unnamed = "the current folder" if isinstance(error, FileNotFoundError) else "the output"
            fail(f"{error.filename or unnamed}: {error.strerror}", StorageError.exit_code)
        fail(f"bug: {type(error).__name__}: {error} (COTERIE_DEBUG=1 shows where)", CoterieError.exit_code)


def fail(message: str, code: int) -> NoReturn:
    with contextlib.suppress(OSError, ValueError):  # where nobody can be told, the code still tells
        if sys.stderr is not None:
            print(f"coterie: {visible(' '.join(message.splitlines()))}", file=sys.stderr, flush=True)
    sys.exit(code)


def close_pipe() -> NoReturn:
    write_nowhere()
    sys.exit(BROKEN_PIPE)


def write_nowhere() -> None:
    """What is left in the buffer cannot be written; Python would complain at its end, with a code of its own."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
