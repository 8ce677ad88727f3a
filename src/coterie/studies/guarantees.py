"""The tables of docs/privacy.md: every algorithm with every one of its examples, what it promises, and what each party learns;
what an epsilon means; and what a person with many rewards loses.

They are made from the code alone. When an algorithm is added or changed, make them anew:

    python -m coterie.studies.guarantees docs/privacy.md
"""

import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from math import ceil, exp, inf
from pathlib import Path
from typing import Any

from coterie.algorithms import entries
from coterie.contract import Entry, Setting
from coterie.files import write
from coterie.privacy.accountant import Loss
from coterie.privacy.gauss import mu_of
from coterie.privacy.statement import (
    EVERYONE,
    NOTHING,
    SENDS_NOTHING,
    WEAK_ABOVE,
    Guarantee,
    odds_text,
    promise,
    rounded_up_text,
)
from coterie.studies.budget import Price, price_algorithm

BEGIN, END = "<!-- made by python -m coterie.studies.guarantees: {} -->", "<!-- end -->"
SETTING = Setting(agents=10, arms=4, horizon=300, gap=0.1, components=(6, 4))
LONG = 10_000  # rounds where turns are epochs of many rounds: each algorithm has at least two of them
PARTIES = ("the server", "a neighbour", EVERYONE)
HEADINGS = ("algorithm", "options", "promised", "promise", *PARTIES, "trusting", "because")
DELTA = 1e-6


def algorithm_table() -> str:
    sizes = f"{SETTING.agents} agents, {SETTING.arms} arms, rewards in [0, 1], {SETTING.horizon:,} rounds"
    opening = f"ε that holds for one reward of one agent, with default options where none are named;\n{sizes}"
    lines = [line for _, entry in sorted(entries().items()) for line in rows(entry)]
    return f"{opening} ({LONG:,} where agents play in epochs).\n\n{table(HEADINGS, lines)}"


def rows(entry: Entry) -> Iterator[tuple[str, ...]]:
    """One for each of the entry's examples that says something else than those before it."""
    seen = set()
    for example, price in prices(entry.name):
        told = tell(price)
        if told not in seen:
            seen.add(told)
            yield (f"`{entry.name}`", ", ".join(f"{key} = {value}" for key, value in example.items()) or "-", *told)


@cache
def prices(name: str) -> list[tuple[dict[str, Any], Price]]:
    """Of every example of an algorithm."""
    entry, found = entries()[name], []
    for example in entry.examples:
        price = price_algorithm(entry, example, SETTING)
        if price.method.server is not None:
            price = price_algorithm(entry, example, SETTING._replace(horizon=LONG))
        found.append((example, price))
    return found


def tell(price: Price) -> tuple[str, ...]:
    claim, found = price.method.claim, price.guarantees()
    everyone = found[-1]
    neighbour = next(one for one in found if one.party == "a neighbour")
    server = next((one for one in found if one.party not in (EVERYONE, neighbour.party)), None)
    columns = [rounded_up_text(claim.epsilon) if claim.epsilon < inf else "nothing"]
    columns += [promise(price.statement()).value if claim.epsilon < inf else "-"]
    columns += ["no server" if server is None else epsilon(server), epsilon(neighbour), epsilon(everyone)]
    trusts = [one.trusts for one in found if one.epsilon < inf and one.sees != NOTHING]
    note = (everyone.why or claim.note).removeprefix("no finite epsilon holds: ")
    return (*columns, trusts[0] if trusts else "-", note.partition(". ")[0].partition(";")[0])


def epsilon(limit: Guarantee) -> str:
    if limit.sees == NOTHING:
        return SENDS_NOTHING
    if limit.epsilon == inf:
        return "**no limit**"
    return rounded_up_text(limit.epsilon) + (f" (delta {limit.delta:g})" if limit.delta and limit.epsilon else "")


def odds_table() -> str:
    """What an epsilon means, by its definition: odds shift by e^epsilon, so even odds become e^epsilon to 1."""
    lines = []
    for value in (0.1, 0.3, 1.0, 3.0, 5.0, 10.0):
        right = ceil(1000 / (1 + exp(-value))) / 10
        share = f"{right:g} %" if right < 100 else "nearly all"
        lines.append((f"{value:g}", odds_text(value), share, "weak" if value > WEAK_ABOVE else ""))
    return table(("ε", "odds shift by at most", "a guess between two is right in at most", ""), lines)


def person_table() -> str:
    """Of one release of epsilon 1: Laplace noise loses in proportion, normal noise faster."""
    laplace, normal = Loss(Fraction(1), Fraction(1)), Loss(normal_squares=Fraction(mu_of(1.0, DELTA)) ** 2)
    lines = []
    for rewards in (1, 2, 5, 10, 30, 100):
        losses = laplace.times(rewards).epsilon(), normal.times(rewards).epsilon(DELTA)
        lines.append((f"{rewards:,}", *map(rounded_up_text, losses)))
    return table(("rewards of a person", "ε with Laplace noise", f"ε with normal noise, delta {DELTA:g}"), lines)


def table(headings: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    heads = list(headings)
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, ["---"] * len(heads), *lines))


BLOCKS = {"algorithms": algorithm_table, "odds": odds_table, "persons": person_table}


def renewed(page: str) -> str:
    """The page with its tables as they should be."""
    for name, make in BLOCKS.items():
        begin = BEGIN.format(name)
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{make()}{END}{rest.partition(END)[2]}"
    return page


if __name__ == "__main__":
    path = Path(sys.argv[1])
    write(path, renewed(path.read_text(encoding="utf-8")))
