"""`coterie studies`."""

import typer
from rich.table import Table

from coterie.cli.console import output, write_json
from coterie.cli.layout import INDENT, wrapped

NARROW = 72  # columns: beside the longest names no title could be read


def studies(as_json: bool = typer.Option(False, "--json", help="Names and titles as JSON.")) -> None:
    """List the built-in studies, one line each.

    Example: coterie studies
    """
    from coterie.studies import builtin_studies

    found = builtin_studies()
    if as_json:
        write_json(found)
        return
    console = output()
    if console.width < NARROW:
        for name, title in found.items():
            for line in (*wrapped(name, console.width, style="bold"), *wrapped(title, console.width, INDENT)):
                console.print(line)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("study", no_wrap=True)
    table.add_column("what it asks")
    for name, title in found.items():
        table.add_row(name, title)
    console.print(table)
