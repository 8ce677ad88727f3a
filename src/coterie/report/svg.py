"""The parts all pictures are made of: SVG elements, and the colour and dash that stand for a row.

Everything is drawn here and not by the page's script, so a page looks the same without scripts and on paper; the script
only shows one view or another and reads values off. Colours are classes `c0`..`c5`, because their values depend on
light or dark and belong to the style sheet; dashes, shapes and names say the same without colour.
"""

from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

WIDTH, HEIGHT = 860, 430
TOP, BOTTOM, LEFT = 34, 52, 62  # margins around what the axes span
COLOURS = 6
DASHES = ("", "9 4", "3 3", "12 3 3 3", "6 2 2 2 2 2")  # 5 and 6 have no common factor: 30 rows look different

Point = tuple[float, float]


def picture(key: str, description: str, height: float = HEIGHT) -> Element:
    return Element("svg", {"viewBox": f"0 0 {WIDTH} {height}", "role": "img", "aria-label": description, "class": key})


def add(parent: Element, tag: str, text: str = "", **attributes: Any) -> Element:
    """A new element inside `parent`; `class_` and `text_anchor` become `class` and `text-anchor`."""
    names = {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items()}
    element = SubElement(parent, tag, names)
    element.text = text or None
    return element


def source(svg: Element) -> str:
    return tostring(svg, encoding="unicode")


def path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{round(x, 1):g},{round(y, 1):g}" for x, y in points)


def colour(index: int) -> str:
    return f"c{index % COLOURS}"


def dash(index: int) -> str:
    return DASHES[index % len(DASHES)]


def swatch(index: int) -> str:
    """A short piece of a row's line, for legend and table."""
    svg = Element("svg", {"viewBox": "0 0 34 10", "class": f"swatch {colour(index)}", "aria-hidden": "true"})
    add(svg, "line", x1=1, y1=5, x2=33, y2=5, stroke_dasharray=dash(index))
    return source(svg)
