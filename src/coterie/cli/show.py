"""`coterie show`."""

import sys

import typer

from coterie.cli.completing import study_names


def show(
    study: str = typer.Argument(help="The name of a built-in study, or a TOML file.", autocompletion=study_names),
) -> None:
    """Print a study's own TOML, to copy and change.

    Example: coterie show quickstart > mine.toml
    """
    from coterie.studies.reading import load, text_of

    load(study)  # what is wrong with it is said first
    sys.stdout.write(text_of(study))
