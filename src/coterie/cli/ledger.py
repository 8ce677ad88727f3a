"""`coterie ledger`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from coterie.cli.console import output, visible, write_json
from coterie.cli.deployed import installed
from coterie.cli.layout import Entry, lines, wrapped


def ledger(
    folder: Path = typer.Argument(metavar="DIR", help="The folder of an agent or a coordinator, running or not."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """What a member has released, what it cost and what is left. Verifies the chain of its ledger; exit code 4: it is broken.

    Example: coterie ledger north/
    """
    installed()
    from coterie.deploy.stores.summary import summary_of

    found = summary_of(folder)
    if as_json:
        write_json(found)
        return
    console = output()
    for line in ledger_lines(found, console.width):
        console.print(line)


def ledger_lines(found: dict[str, Any], width: int) -> list[Text]:
    """What is left, then what was told of each arm."""
    from coterie.privacy.statement import epsilon_text

    headings = ("sums\nreleased", "rewards\nin them", "ε spent\non one")
    entries = [
        Entry(
            arm["arm"], (f"{arm['releases']:,}", f"{arm['rewards']:,}", epsilon_text({"epsilon": arm["spent"], "delta": 0.0}))
        )
        for arm in found["arms"]
    ]
    links, head = found["chain"]["links"], found["chain"]["head"][:16]
    below = [f"chain: all of its {links:,} releases are as they were committed; the last is {head}"]
    if found["releases"]:
        below.append(f"last release: {when(found['releases'][-1]['at'])}, in turn {found['releases'][-1]['turn']:,}")
    if persons := found["persons"]:
        below.append(f"persons: {persons_words(persons)}")
    below.append(f"run {found['run'][:16]}, {found['algorithm']}")
    return [
        *wrapped(Text(f"{visible(found['name'])}: {budget_words(found['budget'])}", "bold"), width),
        *lines(headings, entries, width, name="arm"),
        *(part for line in below for part in wrapped(line, width)),
    ]


def budget_words(budget: dict[str, Any]) -> str:
    if budget["epsilon"] is None:
        return "no privacy was promised, and sums leave without noise"
    from coterie.privacy.statement import epsilon_text

    lost, allowed = (epsilon_text({"epsilon": budget[part], "delta": budget["delta"]}) for part in ("spent", "epsilon"))
    said = f"the dearest reward has lost ε = {lost} of {allowed}, {budget['left']:.4g} is left for it"
    return f"{said}; a release was refused, as it would cost more, and none follows" if budget["refused"] else said


def persons_words(persons: dict[str, Any]) -> str:
    if "error" in persons:
        return visible(f"not known: {persons['error']}")
    from coterie.deploy.stores.persons import told

    return f"{told(persons)}; the dearest has lost ε = {persons['most']:.4g} of {persons['epsilon']:.4g}"


def when(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
