"""How each agent fared: who settled on the best arm, and who would have been misled alone.

An agent whose own rewards favour another arm than the mean over all agents may settle on a wrong one when it learns alone.
It is called misled only if the shares of replications say so beyond chance.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from markupsafe import Markup

from coterie.report.controls import learns_from_itself
from coterie.report.groups import calmest, groups
from coterie.report.privacy import claims_privacy
from coterie.report.regret import against, decisions_shown
from coterie.report.rows import Finding, Row, named
from coterie.report.svg import add, source
from coterie.report.traffic import talks
from coterie.studies.numbers import listed, measured, number, percent

AGENTS_MAX = 20  # a summary tells of no more
NORMAL_95 = 1.959963984540054  # a normal number lies so many standard deviations about its mean in 95 % of cases


class Fate(NamedTuple):
    found: float  # share of replications in which the agent played the best arm most in the last tenth of the rounds
    regret: float


def fates(row: Row) -> list[Fate]:
    """One for each agent. Agents that are always alike were simulated as one and have one entry for all."""
    found = row["by_agent"]["found"]
    if len(found) == 1:
        return row["agents"] * [Fate(found[0], row["regret_per_agent"]["mean"])]
    return list(map(Fate, found, row["by_agent"]["regret"]))


def differ(rows: Sequence[Row]) -> bool:
    """Is there anything to tell of single agents? Not where some lie: who does changes with the replication."""
    if any(row["faults"].get("liars") for row in rows):
        return False
    if not 2 <= rows[0]["agents"] <= AGENTS_MAX or any(row["best_arm_rate"] is None for row in rows):
        return False
    return len({tuple(fate.found for fate in fates(row)) for row in rows}) > 1


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each row a cell for each agent: a disc, the share of replications, and the regret in so many decisions."""
    decisions = decisions_shown(rows)
    return [
        {
            "index": index,
            "label": row["label"],
            "cells": [
                (disc(fate.found), percent(fate.found), number(fate.regret * decisions / row["horizon"]))
                for fate in fates(row)
            ],
        }
        for index, row in enumerate(rows)
    ]


def disc(share: float) -> Markup:
    """A circle filled like a clock up to `share`: a thick dash along a circle of half the radius."""
    svg = Element("svg", {"viewBox": "-10 -10 20 20", "class": "disc", "aria-hidden": "true"})
    add(svg, "circle", r=9)
    if share > 0:
        around = 2 * math.pi * 4.5
        add(svg, "circle", r=4.5, class_="filled", stroke_dasharray=f"{share * around:.2f} {around:.2f}")
    return Markup(source(svg))


# Learning alone


def share_interval(share: float, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval: all q with |share - q| <= z sqrt(q (1 - q) / trials), where z = 1.96."""
    weight = NORMAL_95**2 / trials
    middle, half = share + weight / 2, math.sqrt(weight * share * (1 - share) + weight * weight / 4)
    return (middle - half) / (1 + weight), (middle + half) / (1 + weight)


def misled(alone: Row, together: Row) -> list[int]:
    """The agents that mostly miss the best arm alone and mostly find it together, beyond chance."""
    pairs = enumerate(zip(fates(alone), fates(together), strict=True))
    return [
        agent
        for agent, (here, there) in pairs
        if here.found < 0.5 < there.found and not shares_too_close(here, there, alone["replications"])
    ]


def shares_too_close(one: Fate, other: Fate, replications: int) -> bool:
    (low, high), (other_low, other_high) = (share_interval(fate.found, replications) for fate in (one, other))
    return low <= other_high and other_low <= high


def alone_row(rows: Sequence[Row]) -> Row | None:
    """The row in which agents learn alone: of several the one without noise, and none where that is not clear.

    Rows that differ only in what goes wrong between agents are one: who learns alone does not notice.
    """
    silent = [calmest(group) for group in groups([row for row in rows if not talks(row)]).values()]
    for found in ([row for row in silent if not claims_privacy(row)], silent):
        if len(found) == 1 and len(silent) < len(rows):
            return found[0]
    return None


def victims(rows: Sequence[Row]) -> list[int]:
    """The agents that are misled alone, by the measure of any row that communicates."""
    alone = alone_row(rows)
    if alone is None or not differ(rows):
        return []
    return sorted({agent for row in filter(talks, rows) for agent in misled(alone, row)})


def together_finding(rows: Sequence[Row], names: Sequence[str]) -> Finding | None:
    """Every row that communicates against learning alone; nothing where no row, or more than one, learns alone."""
    alone, lost = alone_row(rows), victims(rows)
    talking = [row for row in rows if talks(row) and not learns_from_itself(row)]
    if alone is None:
        return None
    if not lost:
        regret = measured(alone["regret_per_agent"])
        opening = f"Compared with {named(alone)} (regret {regret} per agent), learning together has:"
        return Finding(opening, tuple(f"{named(row)}: {against(row, alone)}" for row in talking))
    who, is_, it = listed([names[agent] for agent in lost]), *(("is", "it") if len(lost) == 1 else ("are", "they"))
    opening = (
        f"Alone, {who} {is_} misled: in {named(alone)} {it} settled on the best arm in {_shares(alone, lost)} of the "
        "runs. That share when learning together, and the regret of all agents compared with learning alone:"
    )
    cases = [f"{named(row)}: {_shares(row, lost)}{_doubt(row, alone, lost)}; {against(row, alone)}" for row in talking]
    return Finding(opening, tuple(cases))


def _shares(row: Row, agents: Sequence[int]) -> str:
    shares = [fates(row)[agent].found for agent in agents]
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def _doubt(row: Row, alone: Row, agents: Sequence[int]) -> str:
    pairs = [(fates(alone)[agent], fates(row)[agent]) for agent in agents]
    return ", too close to call" if any(shares_too_close(*pair, row["replications"]) for pair in pairs) else ""
