"""Names of rows inside pictures: short, in at most two lines, and where they cover nothing."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from coterie.report.rows import Row, settings_in
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Point, add

ROWS_MAX = 14  # with more rows there is no room for names; legend and table have them
LETTERS_MAX = 26
LETTER, LINE = 7.6, 16  # width of a letter and height of a line at the larger size used on narrow screens
ASCENT = 12  # from the top of a line to its baseline

Box = tuple[float, float, float, float]  # left, top, right, bottom
Spot = tuple[float, float, str]  # x, top and text-anchor of a name


def short_labels(rows: Sequence[Row]) -> list[str]:
    """The labels without the words all begin with, and with short settings, if still distinct."""
    labels = [row["label"] for row in rows]
    words = [label.split() for label in labels]
    shared = 0
    while len(labels) > 1 and all(len(parts) > shared + 1 and parts[shared] == words[0][shared] for parts in words):
        shared += 1
    if shared and any(parts[shared].isdigit() for parts in words):
        shared -= 1  # a bare number is no name
    short = [_short(parts[shared:], settings_in(row)) for parts, row in zip(words, rows, strict=True)]
    return short if len(set(short)) == len(labels) else list(labels)


def _short(words: Sequence[str], settings: Mapping[str, str]) -> str:
    """`epsilon=1` becomes `ε=1` and `mechanism=tree` becomes `tree`; other numbers keep their names and users their words."""
    return " ".join(_short_setting(settings[word], word) if word in settings else word for word in words)


def _short_setting(key: str, word: str) -> str:
    value = word.removeprefix(f"{key}=")
    if key == "epsilon":
        return f"ε={value.replace('inf', '∞')}"
    return value if value.isalpha() and value not in ("inf", "nan", "true", "false") else word


def in_lines(name: str, lines: int = 2) -> list[str]:
    return textwrap.wrap(name, LETTERS_MAX, max_lines=lines, placeholder="…", break_on_hyphens=False)


def width_of(lines: Sequence[str]) -> float:
    return LETTER * max(map(len, lines))


def write_name(parent: Element, lines: Sequence[str], spot: Spot, style: str = "") -> None:
    x, top, anchor = spot
    text = add(parent, "text", text_anchor=anchor, class_=f"name {style}".rstrip())
    for place, line in enumerate(lines):
        add(text, "tspan", line, x=round(x, 1), y=round(top + ASCENT + LINE * place, 1))


def stacked(middles: Sequence[float], heights: Sequence[float], bottom: float) -> list[float]:
    """The tops of boxes that are wanted around `middles` (in rising order), moved apart and kept above `bottom`."""
    tops: list[float] = []
    free = -math.inf
    for middle, height in zip(middles, heights, strict=True):
        tops.append(max(middle - height / 2, free))
        free = tops[-1] + height
    for place in reversed(range(len(tops))):
        tops[place] = min(tops[place], bottom - heights[place])
        bottom = tops[place]
    return tops


def names_in_lines(names: Sequence[str]) -> list[list[str]]:
    """None where there are too many, and one line each where two would not fit above each other."""
    if len(names) > ROWS_MAX:
        return []
    lines = [in_lines(name) for name in names]
    fits = LINE * sum(map(len, lines)) <= HEIGHT - BOTTOM - TOP
    return lines if fits else [in_lines(name, 1) for name in names]


def end_names(groups: Sequence[Element], ends: Sequence[float], lines: Sequence[Sequence[str]], left: float) -> None:
    """Write a name of one or more lines beside the end of each curve, at the height `ends` says if there is room."""
    order = sorted(range(len(groups)), key=lambda index: ends[index])
    heights = [LINE * len(lines[index]) for index in order]
    tops = stacked([ends[index] for index in order], heights, bottom=HEIGHT - BOTTOM + 2)
    for index, top in zip(order, tops, strict=True):
        write_name(groups[index], lines[index], (left, top, "start"))


class Place(NamedTuple):
    """Where a name may go: the room it takes, and the line that leads from its mark to it (none where it is near)."""

    spot: Spot
    box: Box
    leader: Box | None


def best_place(lines: Sequence[str], mark: Point, radius: float, taken: Sequence[Box]) -> Place:
    """The first of the places around a mark that cover the least."""
    boxes = [(spot, _box(spot, lines)) for spot in _spots(*mark, radius + 5, LINE * len(lines))]
    places = [Place(spot, box, _leader(mark, radius, box)) for spot, box in boxes]
    return min(places, key=lambda place: (not _fits(place.box), _covered(place, taken)))


def _covered(place: Place, taken: Sequence[Box]) -> int:
    return sum(_overlap(box, other) for box in (place.box, place.leader) if box for other in taken)


def _spots(x: float, y: float, gap: float, height: float) -> list[Spot]:
    """Above, below, right, left, at the corners, and then farther and farther above and below."""
    above, below, beside = y - gap - height, y + gap, y - height / 2
    near = [(x, above, "middle"), (x, below, "middle"), (x + gap, beside, "start"), (x - gap, beside, "end")]
    corners = [(x + gap, above, "end"), (x + gap, below, "end"), (x - gap, above, "start"), (x - gap, below, "start")]
    farther = [(x, top, "middle") for step in range(14, 78, 14) for top in (above - step, below + step)]
    return near + corners + farther


def _box(spot: Spot, lines: Sequence[str]) -> Box:
    x, top, anchor = spot
    width = width_of(lines)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, top, left + width, top + LINE * len(lines)


def _leader(mark: Point, radius: float, box: Box) -> Box | None:
    (x, y), (_, top, _, bottom) = mark, box
    if top > y + radius + 8:
        return x, y + radius, x, top
    return (x, bottom, x, y - radius) if bottom < y - radius - 8 else None


def _fits(box: Box) -> bool:
    return box[0] > LEFT and box[2] < WIDTH and box[1] > TOP - 12 and box[3] < HEIGHT - BOTTOM


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
