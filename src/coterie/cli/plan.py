"""`coterie plan`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from coterie.cli.console import output, write_json
from coterie.cli.deployed import installed
from coterie.cli.layout import Entry, lines, wrapped
from coterie.cli.options import number, whole
from coterie.cli.progress import HELP, waiting
from coterie.errors import StorageError, UsageError
from coterie.limits import AGENTS_MOST, ARMS_MOST, EPSILON_RANGE, HORIZON_MOST

GAP = "a number >= 1e-06 and < best (default 0.6)"


def plan(
    agents: int = typer.Option(..., metavar="N", parser=whole("--agents", 2, AGENTS_MOST), help="How many agents there are."),
    arms: int = typer.Option(..., metavar="K", parser=whole("--arms", 2, ARMS_MOST), help="How many arms."),
    horizon: int = typer.Option(
        ..., metavar="T", parser=whole("--horizon", 1, HORIZON_MOST), help="How many rounds each agent plays."
    ),
    epsilon: float = typer.Option(
        ..., metavar="E", parser=number("--epsilon", EPSILON_RANGE), help="What is to be promised for one reward."
    ),
    gap: float = typer.Option(
        ..., metavar="G", parser=number("--gap", GAP), help="A guess: by how much the second arm is worse than the best."
    ),
    best: float = typer.Option(
        0.6, metavar="B", parser=number("--best", "a number > 0 and < 1"), help="A guess: the mean reward of the best arm."
    ),
    message_cost: float = typer.Option(
        0.0,
        metavar="C",
        parser=number("--message-cost", "a finite number >= 0"),
        help="What a message costs, in rewards.",
    ),
    no_server: bool = typer.Option(False, "--no-server", help="There is none: agents talk to one another."),
    unlike: bool = typer.Option(False, "--unlike", help="Agents' means differ, and what is best on average counts."),
    liars: float = typer.Option(
        0.0, metavar="S", parser=number("--liars", "a number >= 0 and < 0.5"), help="The share of agents that lie."
    ),
    trust: str = typer.Option(
        "nobody", metavar="nobody|aggregation|server", help="Who may see what is not protected: sums only, or all reports."
    ),
    workers: int = typer.Option(
        None, metavar="N", parser=whole("--workers", 1), help="Worker threads. Default: one for each core."
    ),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
    yes: bool = typer.Option(False, "--yes", help="Do not ask, however long it will take."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
    federation: Path = typer.Option(None, metavar="FILE", help="Also write a federation file to fill in: to run it for real."),
) -> None:
    """Which algorithm to run, what it will cost, and whether joining is worth it.

    Instances that fit the guess are drawn, and the algorithms are run on them. Prints the study to run as TOML.

    Example: coterie plan --agents 20 --arms 10 --horizon 100000 --epsilon 1 --gap 0.05
    """
    from coterie.cli.asking import ask
    from coterie.studies.guess import Guess
    from coterie.studies.planning import Plan

    if federation:
        installed()
        from coterie.deploy.drafts import draft
        from coterie.files import check_writable, write

        if federation.exists():
            raise UsageError(f"--federation must be a file that is not there yet, got {federation}")
        try:
            check_writable(federation)
        except StorageError as error:
            raise StorageError(f"--federation {error}") from None
    try:
        guess = Guess(agents, arms, horizon, epsilon, gap, best, message_cost, not no_server, unlike, liars, trust)
    except UsageError as error:  # it begins with the name of the field
        raise UsageError(f"--{error}") from None
    with waiting("drawing instances that fit", progress) as shown:
        made = Plan(guess, workers, shown.show)
        ask(made.estimate().seconds, yes, shown)
        found = made.document()
    if as_json:
        write_json(found)
    console = output()
    for line in [] if as_json else plan_lines(found, console.width):
        console.print(line, soft_wrap=True)
    if federation:
        row = made.recommended
        try:
            write(federation, draft(row.choice.table(row.epsilon), agents, arms, horizon, str(federation)))
        except UsageError as error:  # the plan is an answer, also where nobody is to be joined
            why = str(error).removeprefix("--federation must be left out here: ")
            typer.echo(f"coterie: {federation}: was not written: {why}", err=True)
            return
        if not as_json:
            console.print(f"federation: {federation}, to be filled in", soft_wrap=True)


def plan_lines(found: dict[str, Any], width: int) -> list[Text]:
    """What to run, as TOML; tables; and what else there is to know, in lines that fit."""
    told = [Text(line) for line in found["study"].split("\n")]
    below = [part for line in sentences(found) for part in wrapped(line, width)]
    return [
        *wrapped(verdict(found), width, style="bold"), Text(""), *told, Text(""),
        *cost_table(found, width), Text(""), *price_table(found, width), Text(""), *below,
    ]  # fmt: skip


def verdict(found: dict[str, Any]) -> str:
    best, unseen = found["recommended"], found["alone"]["unseen"]
    if best["regret"] is None:
        return f"Run {name_of(best)}. There is no forecast: to simulate it would take too long."
    if best["row"] == unseen["row"]:
        together = min(row["total"] for row in found["rows"] if row["total"] is not None)
        return f"Stay alone: that costs about {about(best['total'])}, and learning together {about(together)}."
    return f"Run {name_of(best)}: it costs about {about(best['total'])}, where each alone would lose {about(unseen['total'])}."


def cost_table(found: dict[str, Any], width: int) -> list[Text]:
    rows = [(name_of(row), row) for row in found["rows"]]
    rows += [(f"each alone, {how}", found["alone"][how]) for how in ("unseen", "seen")]
    return table("", rows, found["guess"]["message_cost"], width)


def price_table(found: dict[str, Any], width: int) -> list[Text]:
    """Of one row, by its epsilon."""
    if not found["prices"]:
        return []
    rows = [(f"ε = {epsilon:g}" if (epsilon := row["row"]["epsilon"]) else "no privacy", row) for row in found["prices"]]
    return table(name_of(found["prices"][0]), rows, found["guess"]["message_cost"], width)


def table(name: str, rows: list[tuple[str, dict[str, Any]]], message_cost: float, width: int) -> list[Text]:
    headings = ["regret\nof all", "80 %\ninterval", "\nmessages", *(["in one\nsum"] if message_cost else [])]
    return lines(headings, [Entry(label, cells(row, message_cost)) for label, row in rows], width, name)


def cells(row: dict[str, Any], message_cost: float) -> list[str]:
    regret = row["regret"]
    if regret is None:
        return ["no forecast", *["-"] * (3 if message_cost else 2)]
    inside = f"{about(regret['low'])} .. {about(regret['high'])}"
    return [about(regret["mean"]), inside, about(round(row["messages"])), *([about(row["total"])] if message_cost else [])]


def sentences(found: dict[str, Any]) -> Iterator[str]:
    guess, rows, pays = found["guess"], [*found["rows"], *found["prices"]], found["pays_from"]
    yield {
        "from": f"Learning together pays from about ε = {pays['epsilon'] or 0:.2g} on; below it, each alone and unseen.",
        "always": "Learning together pays at every ε down to 0.001.",
        "never": "Learning together does not pay at any ε: each alone and unseen costs less.",
        "unknown": "From which ε learning together pays is not known without a forecast.",
    }[pays["state"]]
    yield from floor_words(found)
    yield "Unseen: nobody sees what an agent plays, so it needs no noise. Seen: everyone does, and ε holds for its choices."
    if guess["unlike"]:
        yield "Agents differ: alone, each finds what is best for itself, and its regret grows in proportion to the rounds."
    if guess["liars"]:
        yield "Regret is that of the honest. The liars of the simulation praise the worst arm; others may do more harm."
    if any(row["shortened"] for row in rows):
        yield "Too long to simulate: peer-ucb was run for a tenth of the rounds, and its last decade added once more."
    if any(row["regret"] is None for row in rows):
        yield "No forecast: to simulate it would take too long."
    yield "Regret is in rewards, of all agents together. The interval holds 80 % of the instances that fit the guess."


def floor_words(found: dict[str, Any]) -> Iterator[str]:
    floor = found["floor"]
    if floor is None:
        yield "No floor is known for this case."
        return
    whom, label = "with this ε" if floor["kind"] == "private" else "even without privacy", floor["label"]
    below = f"below about {about(floor['regret'])} {whom} ({label}: before that, regret may lie lower)"
    yield f"Floor: in the long run nobody stays {below}."
    if found["guess"]["unlike"] and found["guess"]["epsilon"] is not None:
        yield "Of an ε with agents that differ, no floor is known."


def name_of(row: dict[str, Any]) -> str:
    """
    >>> name_of({"row": {"name": "pooled-ucb", "epsilon": 1.0, "noise": "secagg"}})
    'pooled-ucb noise=secagg'
    """
    return " ".join(str(value) if key == "name" else f"{key}={value}" for key, value in row["row"].items() if key != "epsilon")


def about(value: float) -> str:
    """To three digits.

    >>> about(12808.9), about(0.04567), about(0.0)
    ('12,800', '0.0457', '0')
    """
    return f"{float(f'{value:.3g}'):,.12g}"
