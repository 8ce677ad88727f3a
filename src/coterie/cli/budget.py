"""`coterie budget`."""

from math import inf
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from coterie.cli.console import messages, output, visible, write_json
from coterie.cli.options import is_algorithm, left_out, number, parameters_of, whole
from coterie.cli.table import COLOURS
from coterie.errors import UsageError
from coterie.privacy.mechanisms import MECHANISMS
from coterie.privacy.statement import epsilon_text, promise, promise_words


def budget(
    target: str = typer.Argument(help="An algorithm, a TOML file, or the name of a built-in study."),
    agents: int = typer.Option(
        None, metavar="N", parser=whole("--agents", 1), help="For an algorithm: the number of agents; default 10."
    ),
    arms: int = typer.Option(
        None, metavar="K", parser=whole("--arms", 2), help="For an algorithm: the number of arms; default 10."
    ),
    horizon: int = typer.Option(
        None, metavar="T", parser=whole("--horizon", 1), help="For an algorithm: the number of rounds; default 10,000."
    ),
    epsilon: float = typer.Option(
        None, metavar="E", parser=number("--epsilon"), help="For an algorithm: the epsilon to promise."
    ),
    mode: str = typer.Option(None, metavar="M", help="For an algorithm: private, paper, ..."),
    true_epsilon: float = typer.Option(
        None, metavar="E", parser=number("--true-epsilon"), help="Instead: the epsilon that shall hold; finds the noise."
    ),
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="An option of the algorithm, or a key of the study."),
    person: int = typer.Option(
        10, metavar="M", parser=whole("--person", 1), help="Also tell what a person with so many rewards loses."
    ),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """What each party learns and what it costs, over the whole horizon, before anything runs.

    Example: coterie budget fed-ucb --agents 10 --arms 10 --horizon 1000 --epsilon 1
    """
    from coterie.checking import find
    from coterie.studies import load_study
    from coterie.studies.budget import price_study

    named = is_algorithm(target)
    parameters = parameters_of(sets, {"epsilon": epsilon, "mode": mode}) if named else {}
    if true_epsilon is not None:
        left_out({"epsilon": parameters.get("epsilon")}, "beside --true-epsilon")
    if not named:
        sizes = {"--agents": agents, "--arms": arms, "--horizon": horizon}
        given = sizes | {"--epsilon": epsilon, "--mode": mode, "--true-epsilon": true_epsilon}
        left_out(given, "for a study (--set changes its keys)")
    with messages().status("adding up (a long horizon is compiled the first time)"):
        if named:
            prices = [_price(find(target), parameters, (agents or 10, arms or 10, horizon or 10_000), true_epsilon)]
        else:
            prices = price_study(load_study(target, sets).specification)
    rows = [price.document(person) for price in prices]
    if as_json:
        write_json({"rows": rows})
        return
    console = output()
    for row in rows:
        console.print(_table(row, person))
        for line in _lines(row):
            console.print(line)


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
    title = Text.assemble(f"{visible(row['label'])}: {said}", (promise_words(privacy), COLOURS[found]), style="table.title")
    table = Table(title=title, caption=f"{sizes}; ε that holds: {privacy['unit']}", header_style="bold")
    for heading in ("who", "sees", "ε that holds", f"with {person} rewards", "whole history", "trusting"):
        table.add_column(heading, justify="left" if heading in ("who", "sees", "trusting") else "right")
    table.add_row("the agent itself", "its own rewards", "-", "-", "-", "-")
    for one, several, every in zip(row["parties"], row["person"]["parties"], row["history"], strict=True):
        losses = [epsilon_text({"epsilon": view["epsilon"], "delta": 0.0}) for view in (one, several, every)]
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
