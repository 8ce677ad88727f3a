"""`coterie budget`."""

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from coterie.cli.completing import settings, study_names
from coterie.cli.console import output, visible, write_json
from coterie.cli.layout import Entry, lines, wrapped
from coterie.cli.options import is_algorithm, left_out, number, parameters_of, whole
from coterie.cli.progress import waiting
from coterie.errors import UsageError
from coterie.limits import AGENTS_MOST, ARMS_MOST, EPSILON_LEAST, HORIZON_MOST

if TYPE_CHECKING:
    from coterie.studies.words import Words


def budget(
    target: str = typer.Argument(
        help="An algorithm, a TOML file, or the name of a built-in study.", autocompletion=study_names
    ),
    agents: int = typer.Option(
        None, metavar="N", parser=whole("--agents", 1, AGENTS_MOST), help="For an algorithm: the number of agents; default 10."
    ),
    arms: int = typer.Option(
        None, metavar="K", parser=whole("--arms", 2, ARMS_MOST), help="For an algorithm: the number of arms; default 10."
    ),
    horizon: int = typer.Option(
        None, metavar="T", parser=whole("--horizon", 1, HORIZON_MOST),
        help="For an algorithm: the number of rounds; default 10,000.",
    ),
    epsilon: float = typer.Option(
        None, metavar="E", parser=number("--epsilon"), help="For an algorithm: the epsilon to promise."
    ),
    mode: str = typer.Option(None, metavar="M", help="For an algorithm: private, paper, ..."),
    true_epsilon: float = typer.Option(
        None, metavar="E", parser=number("--true-epsilon"), help="Instead: the epsilon that shall hold; finds the noise."
    ),
    sets: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="An option of the algorithm, or a key of the study.", autocompletion=settings
    ),
    person: int = typer.Option(
        None, metavar="M", parser=whole("--person", 1, HORIZON_MOST),
        help="Also tell what a person with so many rewards loses; default: as many as one has in the study's table, or 10.",
    ),
    yes: bool = typer.Option(False, "--yes", help="Do not ask, however long it will take."),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """What each party learns and what it costs, over the whole horizon, before anything runs.

    Example: coterie budget fed-ucb --agents 10 --arms 10 --horizon 1000 --epsilon 1
    """
    from coterie.checking import find
    from coterie.cli.asking import asked
    from coterie.studies import load_study
    from coterie.studies.budget import PERSON, person_of, price_study
    from coterie.studies.words import Words

    named, words = is_algorithm(target), Words()
    parameters = parameters_of(sets, {"epsilon": epsilon, "mode": mode}) if named else {}
    if true_epsilon is not None:
        left_out({"epsilon": parameters.get("epsilon")}, "beside --true-epsilon")
    if not named:
        sizes = {"--agents": agents, "--arms": arms, "--horizon": horizon}
        given = sizes | {"--epsilon": epsilon, "--mode": mode, "--true-epsilon": true_epsilon}
        left_out(given, "for a study (--set changes its keys)")
    with waiting("adding up") as shown:
        if named:
            about = (agents or 10, arms or 10, horizon or 10_000)
            prices = [_price(find(target), parameters, about, true_epsilon, asked(yes, shown))]
        else:
            study = load_study(target, sets).specification
            prices, words = price_study(study, asked(yes, shown)), Words(**study.words.model_dump())
            person = person or person_of(study)
    person = person or PERSON
    rows = [price.document(person) for price in prices]
    if as_json:
        write_json({"rows": rows})
        return
    console = output()
    for row in rows:
        for line in budget_lines(row, person, words, console.width):
            console.print(line)


def _price(
    entry: Any, parameters: dict[str, Any], sizes: tuple[int, int, int], true_epsilon: float | None, allow: Any
) -> Any:
    from coterie.contract import Setting
    from coterie.studies.budget import price_algorithm, price_of_truth

    setting = Setting(*sizes, gap=0.1, components=(sizes[0],))
    if true_epsilon is None:
        return price_algorithm(entry, parameters, setting, allow)
    if not EPSILON_LEAST <= true_epsilon < inf:
        raise UsageError(f"--true-epsilon must be a finite number >= {EPSILON_LEAST:g}, got {true_epsilon}")
    return price_of_truth(entry, parameters, setting, true_epsilon, allow)


def budget_lines(row: dict[str, Any], person: int, words: "Words", width: int) -> list[Text]:
    """What is promised, then what each party sees, how much it learns and why, in lines that fit."""
    from coterie.cli.table import COLOURS
    from coterie.privacy.statement import epsilon_text, promise, promise_words
    from coterie.studies.numbers import plural

    privacy, found = row["privacy"], promise(row["privacy"])
    said = f"ε = {epsilon_text(privacy['claimed'])} " if found.kept else ""
    head = (f"{visible(row['label'])}: {said}", "bold")
    title = Text.assemble(head, (promise_words(privacy), f"bold {COLOURS[found]}"))
    sizes = {"agent": row["agents"], "arm": row["arms"], "round": row["horizon"]}
    about = f"{', '.join(plural(count, noun) for noun, count in sizes.items())}; ε that holds: of {privacy['unit']}"
    headings = ("ε that\nholds", f"with {person}\nrewards", "whole\nhistory")
    entries = [Entry("the agent itself", "---", "sees its own rewards"), *_parties(row)]
    told = [Entry(words.in_place_of_ours(who), cells, words.in_place_of_ours(remark)) for who, cells, remark in entries]
    below = [words.in_place_of_ours(line) for line in (about, *_lines(row))]
    after = [part for line in below for part in wrapped(line, width)]
    return [*wrapped(title, width), *lines(headings, told, width, name="who"), *after, Text("")]


def _parties(row: dict[str, Any]) -> Iterator[Entry]:
    from coterie.privacy.statement import epsilon_text

    for one, several, every in zip(row["parties"], row["person"]["parties"], row["history"], strict=True):
        losses = [epsilon_text({"epsilon": view["epsilon"], "delta": 0.0}) for view in (one, several, every)]
        reason = f"trusting {one['trusts']}" if one["epsilon"] is not None else f"no limit, because {one['why']}"
        yield Entry(one["party"], losses, f"sees {one['sees']}; {reason}")


def _lines(row: dict[str, Any]) -> list[str]:
    from coterie.privacy.mechanisms import MECHANISMS

    noise, delta = row["noise"], row["privacy"]["accounted"]["delta"]
    sizes = " .. ".join(dict.fromkeys(f"{scale:.4g}" for scale in noise["scale"]))
    kind = "standard deviation" if MECHANISMS[noise["mechanism"]].adds_up == "squares" else "scale"
    scaled = f"each with {noise['mechanism']} noise of {kind} {sizes} rewards"
    count = "not counted" if row["releases"] is None else f"at most {row['releases']:,}"
    lines = [f"releases of one arm: {count}, {scaled if any(noise['scale']) else 'without noise'}"]
    lines += [f"delta: {delta:g}"] if delta else []
    return lines + ([f"note: {row['privacy']['note']}"] if row["privacy"]["note"] else [])
