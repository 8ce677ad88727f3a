"""The table a run prints."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from coterie.privacy.statement import Promise, epsilon_text, promise
from coterie.report.numbers import data_size
from coterie.studies.rows import SummaryRow

COLOURS = {Promise.KEPT: "green", Promise.WEAK: "yellow", Promise.BROKEN: "red", Promise.NOTHING: "default"}
MARKS = {Promise.KEPT: "●", Promise.WEAK: "◐", Promise.BROKEN: "✕"}  # words would leave no room for the rows' names


def summary_table(document: dict[str, Any]) -> Table:
    """One line for each row: regret, what was found, what was said, what privacy was promised, and what holds."""
    first = document["rows"][0]
    about = f"{first['agents']} agents, {first['arms']} arms, {first['horizon']:,} rounds, {runs_text(first['replications'])}"
    found = {promise(row["privacy"]) for row in document["rows"]}
    key = ", ".join(f"{mark} {kind.value}" for kind, mark in MARKS.items() if kind in found)
    caption = "\n".join(filter(None, (f"{about}; ε: {first['privacy']['unit']}", key)))
    table = Table(title=document["study"]["title"], caption=caption, header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    judged = "\nviolated" if "procurement" in first else "best\narm"
    for heading in ("regret\nper agent", judged, "\nmessages", "data\nsent", "promised\nε", "ε that\nholds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in document["rows"]:
        said, privacy, regret = row["communication"], row["privacy"], row["regret_per_agent"]
        kind = promise(privacy)
        table.add_row(
            row["label"],
            f"{regret['mean']:,.1f} ± {regret['sem']:.1f}",
            outcome(row),
            f"{said['messages']:,.0f}",
            data_size(said["bytes"]) if said["bytes"] else "nothing",
            epsilon_text(privacy["claimed"]).partition(", delta")[0],
            f"[{COLOURS[kind]}]{epsilon_text(privacy['accounted']).partition(', delta')[0]} {MARKS.get(kind, ' ')}[/]",
        )
    return table


def runs_text(runs: int) -> str:
    return f"{runs:,} {'run' if runs == 1 else 'runs'}"


def outcome(row: SummaryRow) -> str:
    """How often the best arm was found, or how often an agent's order was not good enough."""
    if "procurement" in row:
        return f"{row['procurement']['violations']['mean']:,.1f}"
    return f"{100 * row['best_arm_rate']:.0f} %"
