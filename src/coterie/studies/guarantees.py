"""The table of docs/privacy.md: every algorithm with every one of its examples, what it claims, and what each party learns.

It is made from the code alone. When an algorithm is added or changed, make it anew:

    python -m coterie.studies.guarantees docs/privacy.md
"""

import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path

from coterie.algorithms import entries
from coterie.contract import Entry, Setting
from coterie.privacy.statement import EVERYONE, Guarantee
from coterie.studies.budget import Price, price_algorithm

BEGIN, END = "<!-- made by python -m coterie.studies.guarantees -->", "<!-- end -->"
SETTING = Setting(agents=10, arms=4, horizon=300, gap=0.1, components=(6, 4))
HEADINGS = ("algorithm", "options", "claims", "the server", "a neighbour", "everyone together", "trusting", "because")


def table() -> str:
    about = f"{SETTING.agents} agents, {SETTING.arms} arms, {SETTING.horizon:,} rounds, rewards in [0, 1]"
    lines = [f"Epsilon of one reward of one agent, by default options where none are named; {about}.", ""]
    lines += [" | ".join(HEADINGS), " | ".join(["---"] * len(HEADINGS))]
    for _, entry in sorted(entries().items()):
        lines += [" | ".join(row) for row in rows(entry)]
    return "\n".join(f"| {line} |" if "|" in line else line for line in lines) + "\n"


def rows(entry: Entry) -> Iterator[tuple[str, ...]]:
    """One for each of the entry's examples that says something else than those before it."""
    seen = set()
    for example in entry.examples:
        told = tell(price_algorithm(entry, example, SETTING))
        if told not in seen:
            seen.add(told)
            yield (f"`{entry.name}`", ", ".join(f"{key} = {value}" for key, value in example.items()) or "-", *told)


def tell(price: Price) -> tuple[str, ...]:
    claim, found = price.method.claim, price.guarantees()
    everyone = found[-1]
    neighbour = next(one for one in found if one.party == "a neighbour")
    server = next((one for one in found if one.party not in (EVERYONE, neighbour.party)), None)
    columns = [f"{claim.epsilon:.4g}" if claim.epsilon < inf else "nothing"]
    columns += ["no server" if server is None else epsilon(server), epsilon(neighbour), epsilon(everyone)]
    trusts = [one.trusts for one in found if one.epsilon < inf]
    note = everyone.why or claim.note
    return (*columns, trusts[0] if trusts else "-", note.partition(". ")[0].partition(";")[0])


def epsilon(found: Guarantee) -> str:
    if found.epsilon == inf:
        return "**none**"
    return f"{found.epsilon:.4g}" + (f" (delta {found.delta:g})" if found.delta and found.epsilon else "")


def renewed(page: str) -> str:
    """The page with the table as it should be."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(renewed(path.read_text()))
