"""Entry point: the list of commands, and what happens to errors."""

import os
import sys
import traceback

import typer

from coterie.cli.audit import audit
from coterie.cli.budget import budget
from coterie.cli.check import check
from coterie.cli.interrupts import interruptible
from coterie.cli.run import run
from coterie.cli.statement import statement
from coterie.cli.studies import studies
from coterie.errors import AlgorithmError, CoterieError
from coterie.guests import blamed
from coterie.version import VERSION

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Private federated bandits: many agents learn together which arm is best, without handing over their data.",
    epilog="Start with [bold]coterie run hospitals[/bold], then open the page it names. "
    "[bold]coterie studies[/bold] lists more. A study is a short TOML file: copy one and change it.",
)
app.command()(run)
app.command()(studies)
app.command()(audit)
app.command()(budget)
app.command()(statement)
app.command()(check)


@app.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        typer.echo(VERSION)
        raise typer.Exit


@interruptible
def main() -> None:
    """Run a command. Every error is one line on stderr; its class decides the exit code."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except CoterieError as error:
        fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if hasattr(error, "format_message"):  # the command line itself was wrong: every release of typer has this method
            fail(f"{error.format_message().splitlines()[0]} (coterie --help lists what there is)", 2)
        if os.environ.get("COTERIE_DEBUG"):
            traceback.print_exc()
        if line := blamed(error):
            fail(line, AlgorithmError.exit_code)
        fail(f"bug: {type(error).__name__}: {error} (COTERIE_DEBUG=1 shows where)", 70)


def fail(message: str, code: int) -> None:
    print(f"coterie: {message}", file=sys.stderr)
    sys.exit(code)
