"""`coterie budget`."""

import json
import sys
from math import inf
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coterie.cli.table import COLOURS
from coterie.errors import UsageError
from coterie.privacy.mechanisms import MECHANISMS
from coterie.privacy.statement import epsilon_text, promise, promise_words


def budget(
    target: str = typer.Argument(help="An algorithm, a TOML file, or the name of a built-in study."),
    agents: int = typer.Option(None, metavar="N", help="For an algorithm: the number of agents; default 10."),
    arms: int = typer.Option(None, metavar="K", help="For an algorithm: the number of arms; default 10."),
    horizon: int = typer.Option(None, metavar="T", help="For an algorithm: the number of rounds; default 10,000."),
    epsilon: float = typer.Option(None, metavar="E", help="For an algorithm: the epsilon to promise."),
    mode: str = typer.Option(None, metavar="M", help="For an algorithm: private, paper, ..."),
    true_epsilon: float = typer.Option(None, metavar="E", help="Instead: the epsilon that shall hold; finds the noise."),
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="An option of the algorithm, or a key of the study."),
    person: int = typer.Option(10, metavar="M", help="Also tell what a person with so many rewards loses."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """What each party learns and what it costs, over the whole horizon, before anything runs.

    Example: coterie budget fed-ucb --agents 10 --arms 10 --horizon 1000 --epsilon 1
    """
    from coterie.algorithms import names
    from coterie.checking import find
    from coterie.studies import load_study
    from coterie.studies.budget import price_study
    from coterie.studies.reading import read_options

    for name, value, least in (("agents", agents, 1), ("arms", arms, 2), ("horizon", horizon, 1), ("person", person, 1)):
        if value is not None and value < least:
            raise UsageError(f"--{name} must be a whole number >= {least}, got {value}")
    with Console(stderr=True).status("adding up (a long horizon is compiled the first time)"):
        if target in names() or target.endswith(".py"):
            given: dict[str, Any] = {key: value for key, value in (("epsilon", epsilon), ("mode", mode)) if value is not None}
            given |= read_options(sets)
            prices = [_price(find(target), given, (agents or 10, arms or 10, horizon or 10_000), true_epsilon)]
        elif any(value is not None for value in (epsilon, mode, true_epsilon, agents, arms, horizon)):
            named = "--epsilon, --mode, --true-epsilon, --agents, --arms and --horizon"
            raise UsageError(f"{named} must be left out for a study, use --set; got {target!r}")
        else:
            prices = price_study(load_study(target, sets).specification)
    rows = [price.document(person) for price in prices]
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows}, indent=1, allow_nan=False) + "\n")
        return
    console = Console()
    for row in rows:
        console.print(_table(row, person))
        for line in _lines(row):
            console.print(line, highlight=False)


def _price(entry: Any, parameters: dict[str, Any], sizes: tuple[int, int, int], true_epsilon: float | None) -> Any:
    from coterie.contract import Setting
    from coterie.studies.budget import price_algorithm, price_of_truth

    setting = Setting(*sizes, gap=0.1, components=(sizes[0],))
    if true_epsilon is None:
        return price_algorithm(entry, parameters, setting)
    if not 0 < true_epsilon < inf:
        raise UsageError(f"--true-epsilon must be a finite number > 0, got {true_epsilon}")
    return price_of_truth(entry, parameters, setting, true_epsilon)


def _table(row: dict[str, Any], person: int) -> Table:
    privacy, found = row["privacy"], promise(row["privacy"])
    said = f"ε = {epsilon_text(privacy['claimed'])} " if found.kept else ""
    sizes = f"{row['agents']} agents, {row['arms']} arms, {row['horizon']:,} rounds"
    title = f"{escape(row['label'])}: {said}[{COLOURS[found]}]{promise_words(privacy)}[/]"
    table = Table(title=title, caption=f"{sizes}; ε that holds: {privacy['unit']}", header_style="bold")
    for heading in ("who", "sees", "ε that holds", f"with {person} rewards", "whole history", "trusting"):
        table.add_column(heading, justify="left" if heading in ("who", "sees", "trusting") else "right")
    table.add_row("the agent itself", "its own rewards", "-", "-", "-", "-")
    for one, several, whole in zip(row["parties"], row["person"]["parties"], row["history"], strict=True):
        losses = [epsilon_text({"epsilon": view["epsilon"], "delta": 0.0}) for view in (one, several, whole)]
        table.add_row(one["party"], one["sees"], *losses, one["trusts"] if one["epsilon"] is not None else one["why"])
    return table


def _lines(row: dict[str, Any]) -> list[str]:
    noise, delta = row["noise"], row["privacy"]["accounted"]["delta"]
    sizes = " .. ".join(dict.fromkeys(f"{scale:.4g}" for scale in noise["scale"]))
    kind = "standard deviation" if MECHANISMS[noise["mechanism"]].adds_up == "squares" else "scale"
    scaled = f"each with {noise['mechanism']} noise of {kind} {sizes} rewards"
    count = "not counted" if row["releases"] is None else f"at most {row['releases']:,}"
    lines = [f"releases of one arm: {count}, {scaled if any(noise['scale']) else 'without noise'}"]
    lines += [f"delta: {delta:g}"] if delta else []
    return lines + ([f"note: {row['privacy']['note']}"] if row["privacy"]["note"] else [])
