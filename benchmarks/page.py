"""What is printed and kept of measurements: by the processor's model and its cores, and without a name or path of a machine."""

import json
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

PAGES = Path(__file__).parent / "pages"


class Section(NamedTuple):
    """A table: what was measured, by name; ratios are to the first row."""

    title: str
    unit: str
    rows: dict[str, float]
    ratios: bool = True
    note: str = ""


def processor() -> str:
    """Model and cores."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        told = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
        model = told[1] if told else model
    return f"{' '.join(model.split())}, {os.cpu_count()} cores"


def place() -> Path:
    return PAGES / f"{re.sub(r'[^a-z0-9]+', '-', processor().lower())}.json"


def kept() -> dict | None:
    """The last page of this processor; None: there is none."""
    return json.loads(place().read_text()) if place().exists() else None


def keep(sections: list[Section]) -> str:
    """What was not measured now stays as it was; the name of the file."""
    figures = (kept() or {"figures": {}})["figures"]
    figures |= {one.title: {name: round(value, 4) for name, value in one.rows.items()} for one in sections}
    page = {"processor": processor(), "date": datetime.now(UTC).date().isoformat(), "figures": figures}
    PAGES.mkdir(exist_ok=True)
    place().write_text(json.dumps(page, indent=1) + "\n")
    return place().name


def print_section(console, section: Section, before: dict | None) -> None:
    """With a column that compares each ratio (or figure) with that of the page before."""
    old = (before or {"figures": {}})["figures"].get(section.title, {})
    console.print(section.title + (f": {section.unit}" if section.unit else ""), style="bold")
    table = Table(box=None, pad_edge=False)
    first = next(iter(section.rows))
    for heading in ("", "figure", *([f"of {first}"] if section.ratios else []), *(["before"] if old else [])):
        table.add_column(heading, justify="right" if heading else "left")
    for name, value in section.rows.items():
        cells = [name, f"{value:,.0f}" if value >= 100 else f"{value:.3g}"]
        cells += [f"{value / section.rows[first]:.2f} x"] if section.ratios else []
        cells += [compared(section, old, name, first)] if old else []
        table.add_row(*cells)
    console.print(table)
    if section.note:
        console.print(section.note)
    console.print()


def compared(section: Section, old: dict[str, float], name: str, first: str) -> str:
    """The ratio to the first row then, or, where there are no ratios, the figure."""
    if name not in old or first not in old:
        return "new"
    return f"{old[name] / old[first]:.2f} x" if section.ratios and name != first else f"{old[name]:,.4g}"
