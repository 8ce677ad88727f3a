"""`coterie studies`."""

import json

import typer
from rich.console import Console
from rich.table import Table


def studies(as_json: bool = typer.Option(False, "--json", help="Names and titles as JSON.")) -> None:
    """List the built-in studies, one line each.

    Example: coterie studies
    """
    from coterie.studies import builtin_studies

    found = builtin_studies()
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("study", no_wrap=True)
    table.add_column("what it asks")
    for name, title in found.items():
        table.add_row(name, title)
    Console().print(table)
