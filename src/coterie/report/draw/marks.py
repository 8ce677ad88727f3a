"""Shapes that say what became of a promise, as in the terminal: a disc kept it, half a disc is weak, a cross broke it, a ring
promised nothing."""

from typing import Literal

from markupsafe import Markup

from coterie.report.draw.svg import Element, add, hidden, source

State = Literal["kept", "weak", "broken", "nothing"]
SHAPES: dict[State, str] = {
    "kept": "promise kept",
    "weak": "kept, but weak",
    "broken": "promise broken",
    "nothing": "nothing promised",
}


def mark(parent: Element, state: State) -> None:
    """Around the origin of `parent`."""
    if state == "broken":
        add(parent, "path", d="M-5-5 5 5M-5 5 5-5", class_="cross")
    else:
        add(parent, "circle", r=5.5, class_="dot" if state == "kept" else "ring")
    if state == "weak":
        add(parent, "path", d="M0-5.5a5.5 5.5 0 0 0 0 11z", class_="half")


def swatch(state: State) -> Markup:
    """The same beside a name."""
    svg = hidden(16, 16, class_="sw")
    mark(add(svg, "svg", x=8, y=8, overflow="visible"), state)
    return source(svg)


def dashes() -> Markup:
    """A piece of a dashed line, beside the name of what it stands for."""
    svg = hidden(16, 16, class_="sw")
    add(svg, "line", x1=0, x2=16, y1=8, y2=8, class_="ref")
    return source(svg)


def tag(parent: Element, text: str, right: float, down: float, half: float) -> None:
    """A number in a circle."""
    add(parent, "rect", x=right - half, y=down - 8.5, width=2 * half, height=17, rx=8.5, class_="tg")
    add(parent, "text", text, x=right, y=down + 4.2, text_anchor="middle", class_="tn")
