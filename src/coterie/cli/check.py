"""`coterie check`."""

import typer
from rich.text import Text

from coterie.cli.console import output, visible, write_json
from coterie.cli.progress import HELP, waiting


def check(
    algorithm: str = typer.Argument(help="The path of a file of your own, or the name of an algorithm."),
    quick: bool = typer.Option(False, "--quick", help="The interpreted part only: nothing is compiled."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
    as_json: bool = typer.Option(False, "--json", help="What was checked as JSON on stdout, and nothing else there."),
) -> None:
    """Check whether an algorithm keeps the contract, in every form that its examples name.

    What is wrong is one line with the file, the line and the hook, and exit code 2. `coterie run`, `budget` and `audit` do the
    quick part by themselves before they use a file of your own.

    [bold]Looked at[/bold]: parameters, records, signatures, marks, fields. [bold]Played[/bold], interpreted and with all bounds
    checked: plans, offers, words, divisions, endless loops; the same seed twice; one changed reward with the same noise.
    [bold]Compiled[/bold]: the compiled, the interpreted and the deployed run must end in the same bytes.

    It does not look for leaks through what is paid for: that is `coterie audit`.

    Example: coterie check examples/own_algorithm.py --quick
    """
    from coterie.algorithms import find
    from coterie.checking import check as checks

    console, found = output(), list[str]()
    with waiting("reading, and playing a dozen rounds", progress) as shown:
        for step in checks(algorithm, quick):
            found.append(step)
            shown.clear()
            if not as_json:
                console.print(Text.assemble(("✓", "green"), f" {visible(step)}"), soft_wrap=True)
            shown.do("checking", "compiling every form, and playing it" if len(found) > 3 and not quick else "playing")
    entry = find(algorithm)
    forms = len(entry.examples)
    if as_json:
        facts = {"algorithm": entry.name, "forms": forms, "compiled": not quick, "checked": found}
        write_json(facts)
    else:
        console.print(f"checked: {entry.name} ({forms} form{'s' if forms != 1 else ''})", soft_wrap=True)
