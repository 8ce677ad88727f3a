"""`coterie algorithms`."""

import typer
from rich.table import Table

from coterie.cli.completing import algorithm_names
from coterie.cli.console import output, write_json
from coterie.cli.layout import INDENT, wrapped


def algorithms(
    name: str = typer.Argument(None, help="An algorithm, or the path of a file of one's own.", autocompletion=algorithm_names),
    as_json: bool = typer.Option(False, "--json", help="The same as JSON."),
) -> None:
    """List the algorithms; of one, every option with what it takes, its default and what it means.

    Example: coterie algorithms pooled-ucb
    """
    from coterie.algorithms import entries, find
    from coterie.studies.reference import options_of

    if name is None:
        found = {entry: about.summary for entry, about in sorted(entries().items())}
        if as_json:
            write_json(found)
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("algorithm", no_wrap=True)
        table.add_column("what it is")
        for entry, summary in found.items():
            table.add_row(entry, summary)
        output().print(table)
        return
    entry, keys = find(name), options_of(name)
    if as_json:
        about = {"name": entry.name, "summary": entry.summary, "problem": entry.problem}
        write_json(about | {"options": [key._asdict() for key in keys]})
        return
    console = output()
    console.print(f"{entry.name}: {entry.summary}\n", style="bold")
    for key in keys:
        console.print(key.name, style="bold")
        for text in (key.meaning, f"takes {key.takes}; default {key.default}", key.formula):
            for line in wrapped(text, console.width, INDENT):
                console.print(line)
