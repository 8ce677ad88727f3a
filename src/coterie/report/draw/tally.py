"""A share as a row of ticks, one for each of a few cases, or as a bar for many."""

from markupsafe import Markup

from coterie.report.draw.svg import add, hidden, source

WIDTH, TICK = 60, 3
CASES_MAX = WIDTH // TICK


def tally(share: float, cases: int = 0) -> Markup:
    """Ticks where the cases are few: then each can be counted."""
    few = 1 < cases <= CASES_MAX
    width = cases * TICK if few else WIDTH
    svg = hidden(width, 12, class_="tally")
    dashes = {"stroke_dasharray": f"{TICK - 1} 1"} if few else {}
    add(svg, "path", d=f"M0 6H{width}", class_="no", **dashes)
    if share > 0:
        add(svg, "path", d=f"M0 6H{share * width:g}", class_="yes", **dashes)
    return source(svg)
