"""`coterie warm`."""

import typer

from coterie.cli.completing import study_names
from coterie.cli.console import output
from coterie.cli.interrupts import keeps
from coterie.cli.options import whole
from coterie.cli.progress import HELP, waiting
from coterie.errors import UsageError
from coterie.helper import expect_compiling

FIRST = ("hospitals", "quickstart")  # what most people begin with


def warm(
    study: str = typer.Argument(
        None,
        help="A TOML file, or the name of a built-in study. Default: hospitals and quickstart.",
        autocompletion=study_names,
    ),
    every: bool = typer.Option(False, "--all", help="All built-in studies: some minutes."),
    workers: int = typer.Option(None, metavar="N", parser=whole("--workers", 1), help="Processes. Default: one for each core."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
) -> None:
    """Compile what a study needs and run nothing, for a machine that is prepared beforehand.

    What is compiled already is left as it is. Compiled code is kept in $COTERIE_CACHE, or ~/.cache/coterie.

    Example: coterie warm quickstart
    """
    if every and study is not None:
        raise UsageError(f"--all must be left out where a study is named, got both: {study!r}")
    expect_compiling(workers)
    from coterie.studies import builtin_names, load_study
    from coterie.studies.ahead import warm as compile_all

    with waiting("reading studies", progress) as shown:
        chosen = builtin_names() if every else [study] if study is not None else FIRST
        keeps("what was compiled is kept")
        count = compile_all([load_study(name).specification for name in chosen], workers, shown.show)
    done = f"compiled {count} engine{'s' if count != 1 else ''}" if count else "nothing was left to compile"
    output().print(f"{done}: {', '.join(chosen) if not every else 'all built-in studies'}", soft_wrap=True)
