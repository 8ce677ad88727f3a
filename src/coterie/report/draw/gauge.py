"""How far an observer's best guess gets: empty is a blind guess, full is certainty."""

from markupsafe import Markup

from coterie.report.draw.svg import add, hidden, percent, source


def gauge(guess: float | None) -> Markup:
    """`guess` is a share from a half to 1; None is no limit."""
    share = 1.0 if guess is None else 2 * guess - 1
    svg = hidden(0, 14, class_="gauge")
    svg.set("width", "100%")
    add(svg, "rect", y=4, width="100%", height=6, class_="rail")
    add(svg, "rect", y=4, width=percent(100 * share), height=6, class_="gf")
    return source(svg)
