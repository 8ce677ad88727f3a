"""The table a run prints."""

from typing import Any

from rich.table import Table

from coterie.report.numbers import data_size


def summary_table(document: dict[str, Any]) -> Table:
    """One line for each row: regret, what was found, what was said, and what privacy was claimed and is accounted."""
    first = document["rows"][0]
    about = f"{first['agents']} agents, {first['arms']} arms, {first['horizon']:,} rounds, {first['replications']} replications"
    caption = f"{about}; epsilon: {first['privacy']['unit']}"
    table = Table(title=document["study"]["title"], caption=caption, header_style="bold")
    judged = "violated" if "procurement" in first else "best arm"
    for heading in ("", "regret per agent", judged, "rounds", "messages", "bytes", "cost", "claimed ε", "true ε"):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=bool(heading))
    for row in document["rows"]:
        said, privacy, regret = row["communication"], row["privacy"], row["regret_per_agent"]
        claimed, booked = privacy["claimed"], privacy["accounted"]["epsilon"]
        true = "none" if booked is None else f"{booked:g}"
        table.add_row(
            row["label"],
            f"{regret['mean']:,.1f} ± {regret['sem']:.1f}",
            outcome(row),
            f"{said['rounds']:.4g}",
            f"{said['messages']:,.0f}",
            data_size(said["bytes"]),
            f"{said['cost']:,.0f}",
            "-" if claimed is None else f"{claimed['epsilon']:g}",
            f"[green]{true}[/green]" if privacy["private"] else f"[red]{true}[/red]" if claimed else true,
        )
    return table


def outcome(row: dict[str, Any]) -> str:
    """How often the best arm was found, or how often an agent's order was not good enough."""
    if "procurement" in row:
        return f"{row['procurement']['violations']['mean']:,.1f}"
    return f"{100 * row['best_arm_rate']:.0f} %"
