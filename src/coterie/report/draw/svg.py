"""SVG elements that keep their text size at any width."""

from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

Point = tuple[float, float]
LETTER = 0.62  # width of a letter for one pixel of its size, taken on the safe side
STRETCH = 1000  # the width of what is stretched, in its own units


def picture(height: float, said: str, **attributes: Any) -> Element:
    """A picture as wide as its place on the page; `said` tells its numbers to those who do not see it."""
    svg = Element("svg", {"width": "100%", "height": f"{height:g}", "role": "img", "aria-label": said})
    svg.attrib |= _names(attributes)
    return svg


def hidden(width: float, height: float, **attributes: Any) -> Element:
    """A small drawing that says nothing which the text beside it does not say."""
    box = {"width": f"{width:g}", "height": f"{height:g}", "aria-hidden": "true"}
    return Element("svg", box | _names(attributes))


def add(parent: Element, tag: str, text: str = "", **attributes: Any) -> Element:
    """A new element inside `parent`; `class_` and `text_anchor` become `class` and `text-anchor`."""
    element = SubElement(parent, tag, _names(attributes))
    element.text = text or None
    return element


def place(parent: Element, across: float, y: float) -> Element:
    """A part whose origin lies at `across` percent and `y` pixels; inside it all is in pixels."""
    return add(parent, "svg", x=percent(across), y=round(y, 1), overflow="visible")


def stretched(parent: Element, height: float) -> Element:
    """A part of `STRETCH` units of width, drawn as wide as the picture; lines keep their width."""
    box = f"0 0 {STRETCH} {height:g}"
    return add(parent, "svg", viewBox=box, preserveAspectRatio="none", width="100%", height=height, class_="curves")


def percent(value: float) -> str:
    return f"{round(value, 2):g}%"


def points(corners: Iterable[Point]) -> str:
    return " ".join(f"{round(x, 1):g},{round(y, 1):g}" for x, y in corners)


def text_width(text: str, size: float = 13) -> float:
    """In pixels, on the safe side: which letters a reader has is not known."""
    return LETTER * size * len(text)


def source(svg: Element) -> Markup:
    return Markup(tostring(svg, encoding="unicode"))


def _names(attributes: dict[str, Any]) -> dict[str, str]:
    return {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items()}
