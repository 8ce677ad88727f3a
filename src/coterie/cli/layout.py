"""Tables that fit the terminal: a line for each entry, else two, else a small block. No label is ever cut."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from coterie.cli.console import one_line, visible

GAP, INDENT = 2, 2


class Entry(NamedTuple):
    label: str
    cells: Sequence[Text | str]
    remark: str = ""  # below the cells, in lines


def lines(headings: Sequence[str], entries: Sequence[Entry], width: int, name: str = "") -> list[Text]:
    """`headings` may have several lines; `name` heads the labels."""
    entries = [entry._replace(label=one_line(entry.label), remark=visible(entry.remark)) for entry in entries]
    headings = [visible(heading) for heading in headings]
    widths = [
        max(map(cell_len, [*heading.split("\n"), *(str(entry.cells[place]) for entry in entries)]))
        for place, heading in enumerate(headings)
    ]
    labels = max(map(cell_len, [name, *(entry.label for entry in entries)]))
    cells = sum(widths) + GAP * (len(widths) - 1)
    if INDENT + cells > width:
        return [line for entry in entries for line in _block(headings, entry, width)]
    beside = labels + GAP + cells <= width
    start = labels + GAP if beside else INDENT
    found = [*_head(headings, widths, start, name), Text("─" * (start + cells), "dim")]
    for entry in entries:
        row = _across(entry.cells, widths)
        if beside:
            found.append(Text(entry.label.ljust(start)) + row)
        else:
            found += [*wrapped(entry.label, width, style="bold"), Text(" " * start) + row]
        found += wrapped(entry.remark, width, INDENT, "dim")
    return found


def _head(headings: Sequence[str], widths: Sequence[int], start: int, name: str) -> list[Text]:
    height = max(heading.count("\n") for heading in headings) + 1
    stacked = [[""] * (height - 1 - heading.count("\n")) + heading.split("\n") for heading in headings]
    found = []
    for level in range(height):
        own = name if level == height - 1 and cell_len(name) + GAP <= start else ""
        found.append(Text(own.ljust(start), "bold") + _across([Text(parts[level], "bold") for parts in stacked], widths))
    return found


def _across(cells: Sequence[Text | str], widths: Sequence[int]) -> Text:
    row = Text()
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        row.append(" " * ((GAP if place else 0) + width - cell_len(str(cell))))
        row.append(cell)
    return row


def _block(headings: Sequence[str], entry: Entry, width: int) -> list[Text]:
    found = wrapped(entry.label, width, 0, "bold")
    for heading, cell in zip(headings, entry.cells, strict=True):
        text = Text(f"{' '.join(heading.split())}: ")
        text.append(cell)
        found += wrapped(text, width, INDENT)
    return found + wrapped(entry.remark, width, INDENT, "dim")


def wrapped(text: Text | str, width: int, indent: int = 0, style: str = "") -> list[Text]:
    if not str(text):
        return []
    whole = Text(visible(text), style) if isinstance(text, str) else text
    found = whole.wrap(Console(width=width), max(1, width - indent))
    return [Text(" " * indent) + line for line in found]
