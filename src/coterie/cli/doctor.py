"""`coterie doctor`."""

from pathlib import Path

import typer
from rich.text import Text

from coterie.cli.console import output, visible, write_json
from coterie.cli.deployed import installed

COLOURS = {"good": "green", "bad": "bold red", "unknown": "yellow"}


def doctor(
    folder: Path = typer.Argument(metavar="DIR", help="The folder of an agent or a coordinator, running or not."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """What is well with a member and what is not: keys, disk, ledger, broker, peers; one line each, and what to do.

    It changes nothing, also beside the member at work. The exit code is the gravest of what is wrong: the first of 6, 4, 5,
    7, 3, 2 that applies; 0 if all is well.

    Example: coterie doctor north/
    """
    installed()
    from coterie.deploy.doctor import code_of, examine

    findings = examine(folder)
    code = code_of(findings)
    if as_json:
        write_json({"folder": str(folder), "code": code, "checks": [finding._asdict() for finding in findings]})
    else:
        console = output()
        for finding in findings:
            line = Text.assemble((f"{finding.state:<8}", COLOURS[finding.state]), f"{finding.about:<12}", visible(finding.text))
            console.print(line, soft_wrap=True)
    raise typer.Exit(code)
