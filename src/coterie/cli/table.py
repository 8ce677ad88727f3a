"""The table a run prints."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from coterie.report.numbers import data_size


def summary_table(document: dict[str, Any]) -> Table:
    """One line for each row: regret, what was found, what was said, and what privacy was claimed and is accounted."""
    first = document["rows"][0]
    about = f"{first['agents']} agents, {first['arms']} arms, {first['horizon']:,} rounds, {first['replications']} replications"
    caption = f"{about}; epsilon: {first['privacy']['unit']}"
    table = Table(title=document["study"]["title"], caption=caption, header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    for heading in ("regret\nper agent", "best\narm", "\nmessages", "\nbytes", "claimed\nε", "true\nε"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in document["rows"]:
        said, privacy, regret = row["communication"], row["privacy"], row["regret_per_agent"]
        claimed, booked = privacy["claimed"], privacy["accounted"]["epsilon"]
        true = "none" if booked is None else f"{booked:g}"
        table.add_row(
            row["label"],
            f"{regret['mean']:,.1f} ± {regret['sem']:.1f}",
            f"{100 * row['best_arm_rate']:.0f} %",
            f"{said['messages']:,.0f}",
            data_size(said["bytes"]),
            "-" if claimed is None else f"{claimed['epsilon']:g}",
            f"[green]{true}[/green]" if privacy["private"] else f"[red]{true}[/red]" if claimed else true,
        )
    return table
