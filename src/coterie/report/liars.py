"""What liars do: regret of honest agents by algorithm, attack and share of liars, and by the worst attack of each.

The worst attack is the one with the highest mean. Learning alone, where nobody is listened to, is what an algorithm must beat.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from coterie.engines.attacks import ATTACKS
from coterie.report.groups import groups_by
from coterie.report.lines import Series
from coterie.report.privacy import claims_privacy
from coterie.report.regret import against, mean_regret, too_close
from coterie.report.rows import Finding, Row
from coterie.report.traffic import talks
from coterie.studies.numbers import decimals_of, margin_text, measured, number, percent

Group = list[Row]


class Cell(NamedTuple):
    """Regret per honest agent, as text; `largest` is that of one replication."""

    mean: str
    error: str
    largest: str
    worst: bool  # of all attacks with this share of liars
    above: bool  # learning alone, beyond chance


class Line(NamedTuple):
    attack: str
    sentence: str  # what liars say in it
    cells: list[Cell | None]


class Block(NamedTuple):
    name: str
    calm: Cell | None  # without liars
    lines: list[Line]


def share_of(row: Row) -> float:
    return row["faults"].get("liars", 0.0)


def lied_to(rows: Sequence[Row]) -> bool:
    return any(map(share_of, rows))


def shares(rows: Sequence[Row]) -> list[float]:
    """The shares of liars there are, without 0."""
    return sorted({share_of(row) for row in rows} - {0.0})


def swept(rows: Sequence[Row]) -> bool:
    """Do rows differ in who lies how?"""
    return len({(share_of(row), row["faults"].get("attack")) for row in rows}) > 1


def blocks(rows: Sequence[Row]) -> dict[str, Group]:
    """Rows that differ in their liars only, those who learn alone first."""
    found = groups_by(rows, ("liars", "attack"))
    alone = [name for name, group in found.items() if alone_in_the_open(group)]
    return {name: found[name] for name in (*alone, *found)}


def alone_in_the_open(group: Group) -> bool:
    return not any(talks(row) or claims_privacy(row) for row in group)


def alone_rows(rows: Sequence[Row]) -> dict[float, Row]:
    """Of learning alone without noise: a row for each share of liars, who then matter by not being counted only."""
    group = next((group for group in blocks(rows).values() if alone_in_the_open(group)), [])
    return {share_of(row): row for row in group}


def worst(group: Group, share: float) -> Row | None:
    return max((row for row in group if share_of(row) == share), key=mean_regret, default=None)


# The table


def table(rows: Sequence[Row]) -> list[Block]:
    """Nothing where no row lies, or all are lied to in the same way."""
    if not swept(rows):
        return []
    alone, decimals = alone_rows(rows), decimals_of([median(row["regret_per_agent"]["margin"] or 0.0 for row in rows)])
    return [_block(name, group, shares(rows), alone, decimals) for name, group in blocks(rows).items()]


def _block(name: str, group: Group, columns: Sequence[float], alone: dict[float, Row], decimals: int) -> Block:
    by_attack: dict[str, dict[float, Row]] = {}
    for row in group:
        if share_of(row):
            by_attack.setdefault(row["faults"]["attack"], {})[share_of(row)] = row
    tops = {share: worst(group, share) for share in columns}
    # An algorithm that listens to nobody does the same whatever liars say.
    deaf = len(by_attack) > 1 and not any(map(talks, group))
    chosen = {"any attack": next(iter(by_attack.values()))} if deaf else by_attack
    lines = []
    for attack, found in chosen.items():
        cells: list[Cell | None] = []
        for share in columns:
            harmful = not deaf and found.get(share) is tops[share]
            cells.append(_cell(found[share], alone, decimals, worst=harmful) if share in found else None)
        lines.append(Line(attack, ATTACKS[attack].sentence if attack in ATTACKS else "", cells))
    calm = worst(group, 0.0)
    return Block(name, None if calm is None else _cell(calm, alone, decimals), lines)


def _cell(row: Row, alone: dict[float, Row], decimals: int, *, worst: bool = False) -> Cell:
    regret, reference = row["regret_per_agent"], alone.get(share_of(row), row)
    largest = number(regret["max"]) if row["replications"] > 1 else ""
    above = mean_regret(row) > mean_regret(reference) and not too_close(row, reference)
    return Cell(f"{regret['mean']:,.{decimals}f}", margin_text(regret, decimals), largest, worst, above)


# The picture


def series(rows: Sequence[Row]) -> list[Series]:
    """The worst attack by share of liars, in percent."""
    if not swept(rows):
        return []
    found = []
    for name, group in blocks(rows).items():
        points = [(100 * share, row) for share in (0.0, *shares(rows)) if (row := worst(group, share)) is not None]
        found.append(Series(name, points))
    return found


# The finding


def liar_findings(rows: Sequence[Row]) -> list[Finding]:
    """For every algorithm that listens: its worst attack at the largest share of liars, against learning alone."""
    if not swept(rows):
        return []
    most, alone = shares(rows)[-1], alone_rows(rows)
    cases = []
    for name, group in blocks(rows).items():
        row = worst(group, most)
        if row is not None and talks(row):
            cases.append(f"“{name}”: {_case(row, worst(group, 0.0), alone.get(most))}")
    reference = f" Learning alone has {_regret(alone[most])}." if most in alone else ""
    opening = (
        f"Regret per honest agent where {percent(most)} of the agents lie, under the attack that does most harm.{reference}"
    )
    return [Finding(opening, tuple(cases))] if cases else []


def _case(row: Row, calm: Row | None, alone: Row | None) -> str:
    text = f"{_regret(row)} ({row['faults']['attack']})"
    if row["replications"] > 1:
        text += f", at most {number(row['regret_per_agent']['max'])} in one run"
    if calm is not None:
        text += f"; {_regret(calm)} without liars"
    return text + (f"; compared with learning alone, {against(row, alone)}" if alone else "")


def _regret(row: Row) -> str:
    return measured(row["regret_per_agent"])


def context(rows: Sequence[Row]) -> dict[str, Any]:
    """What the template asks for."""
    found = table(rows)
    return {
        "lied_to": lied_to(rows),
        "liars": found,
        "liar_shares": [percent(share) for share in shares(rows)] if found else [],
    }
