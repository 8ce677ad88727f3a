"""What is printed and kept of measurements: by the processor's model and its cores, and without a name or path of a machine.

`python -m benchmarks.page docs/benchmarks.md` writes down for reading what is kept.
"""

import json
import os
import platform
import re
import sys
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
    before = kept() or {"figures": {}}
    figures = before["figures"] | {one.title: {name: round(value, 4) for name, value in one.rows.items()} for one in sections}
    units = before.get("units", {}) | {one.title: one.unit for one in sections}
    page = {"processor": processor(), "date": datetime.now(UTC).date().isoformat(), "figures": figures, "units": units}
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
        cells = [name, shown(value)]
        cells += [f"{value / section.rows[first]:.2f} x"] if section.ratios else []
        cells += [compared(section, old, name, first)] if old else []
        table.add_row(*cells)
    console.print(table)
    if section.note:
        console.print(section.note)
    console.print()


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def compared(section: Section, old: dict[str, float], name: str, first: str) -> str:
    """The ratio to the first row then, or, where there are no ratios, the figure."""
    if name not in old or first not in old:
        return "new"
    return f"{old[name] / old[first]:.2f} x" if section.ratios and name != first else f"{old[name]:,.4g}"


def written() -> str:
    """What is kept of all processors, as a page of the docs."""
    lines = [ABOUT]
    for page in (json.loads(path.read_text()) for path in sorted(PAGES.glob("*.json"))):
        lines += ["", f"## {page['processor']}", "", f"Measured by {page['date']}."]
        for title, rows in page["figures"].items():
            unit = page.get("units", {}).get(title) or "figure"
            lines += ["", f"### {title}", "", f"| | {unit} |", "|---|---:|"]
            lines += [f"| {name} | {shown(value)} |" for name, value in rows.items()]
    return "\n".join([*lines, ""])


ABOUT = """# Benchmarks

What was kept of `python -m benchmarks --keep`, made into a page by `python -m benchmarks.page docs/benchmarks.md`. Absolute
figures move with the machine; compare those of one table, which come from one run. Each algorithm is measured beside a direct
translation of its pseudocode into compiled code, and beside the loop that a researcher would write with numpy. Waiting times
of the deployed system are those of a disk that others use, too: of two rows the later one may be quicker for that alone.

What single pages measure: [pooled UCB](pooled-ucb.md#measured), [PR-UCB](pr-ucb.md#committing-to-batches), [a
cluster](cluster.md#what-scales-how), [audits](audit.md#what-is-proven-about-the-algorithms-here)."""

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(written())
