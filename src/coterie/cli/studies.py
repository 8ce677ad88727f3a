"""`coterie studies`."""

import typer
from rich.table import Table

from coterie.cli.console import output, write_json


def studies(as_json: bool = typer.Option(False, "--json", help="Names and titles as JSON.")) -> None:
    """List the built-in studies, one line each.

    Example: coterie studies
    """
    from coterie.studies import builtin_studies

    found = builtin_studies()
    if as_json:
        write_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("study", no_wrap=True)
    table.add_column("what it asks")
    for name, title in found.items():
        table.add_row(name, title)
    output().print(table)
