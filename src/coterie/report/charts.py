"""Further pictures, each below a heading of its own that opens: lines of a name and a drawing on a common scale.

A picture is one function of the page's view, which has nothing to draw where it returns None, and one entry in `CHARTS`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from coterie.report.draw.bars import axis_picture, grid
from coterie.report.draw.marks import mark
from coterie.report.draw.scale import Scale, linear
from coterie.report.draw.svg import Element, add, percent, picture, place, source
from coterie.report.template import csv_text
from coterie.report.view import View
from coterie.studies.numbers import number

PRODUCERS_MAX = 30


class Line(NamedTuple):
    style: str  # the class that has its colour
    name: str
    drawing: Markup


class Chart(NamedTuple):
    name: str
    heading: str
    lines: Sequence[Line]
    axis: Markup
    caption: str
    numbers: str  # to be saved, see `csv_text`


def charts(view: View) -> list[Chart]:
    """Those that have anything to show."""
    return [found for make in CHARTS if (found := make(view))]


def quality(view: View) -> Chart | None:
    """A line for each row with a mark for each agent at the average quality of its units."""
    if not view.buys:
        return None
    alpha = view.problem["alpha"]
    bought = {one.place: one.row["procurement"]["by_agent"] for one in view.rows}
    values = [alpha, *(value for told in bought.values() for value in told["quality"] if value is not None)]
    if len(values) == 1:
        return None
    reach = 0.06 * (max(values) - min(values)) or 0.05
    scale = Scale(max(0.0, min(values) - reach), min(1.0, max(values) + reach), 2.0, 98.0)
    lines = []
    for one in view.rows:
        told = bought[one.place]
        known = [value for value in told["quality"] if value is not None]
        said = f"{one.name}: average quality {min(known):.3f} to {max(known):.3f}" if known else f"{one.name}: nothing bought"
        svg = picture(26, said, class_="bar")
        grid(svg, scale)
        for quality, rounds in zip(told["quality"], told["violations"], strict=True):
            if quality is not None:
                mark(place(svg, scale.at(quality), 13), "broken" if rounds > 0 else "nothing")
        _limit(svg, scale.at(alpha))
        lines.append(Line(one.style, one.titled, source(svg)))
    return Chart(
        "quality",
        "How good it was",
        lines,
        axis_picture(scale, (alpha, f"limit {alpha:g}")),
        view.words.in_place_of_ours(
            "Average true quality of the units that each agent bought after the exploration; the line is the limit. A cross "
            "marks an agent with violated rounds: an average over the run may be good enough while single orders are not."
        ),
        csv_text(
            ["row", "name", view.words.agent, "quality", "violated rounds"],
            [
                (one.number, one.name, name, quality, rounds)
                for one in view.rows
                for name, quality, rounds in zip(
                    view.agent_names, bought[one.place]["quality"], bought[one.place]["violations"], strict=False
                )
            ],
        ),
    )


def _limit(svg: Element, across: float) -> None:
    add(svg, "line", x1=percent(across), x2=percent(across), y1=0, y2="100%", class_="ref")


def orders(view: View) -> Chart | None:
    """Units of each producer that all agents together order in a round, on average, the best producer on top.

    Nothing where every replication has an instance of its own: then producers have nothing in common but their number.
    """
    if not view.buys:
        return None
    bought = [order for one in view.rows if (order := one.row["procurement"]["orders"]) is not None]
    names = view.producer_names
    if len(bought) < len(view.rows) or len(names) > PRODUCERS_MAX:
        return None
    truth = bought[0]
    ranked = sorted(range(len(names)), key=lambda producer: -truth["quality"][producer])
    means, best, capacity = [_total(order["mean"]) for order in bought], _total(truth["best"]), _total(truth["capacity"])
    scale = linear(capacity, 0.0, 98.0, room=1.0)
    lines = []
    for producer in ranked:
        told = "; ".join(f"{one.name} {number(mean[producer])}" for one, mean in zip(view.rows, means, strict=True))
        svg = picture(30, f"{names[producer]}: best {number(best[producer])}; {told}", class_="bar")
        grid(svg, scale)
        add(svg, "rect", x=0, y=4, width=percent(scale.at(capacity[producer])), height=22, class_="lane")
        add(svg, "rect", x=0, y=4, width=percent(scale.at(best[producer])), height=22, class_="frame")
        for one, mean in zip(view.rows, means, strict=True):
            group = add(svg, "g", class_=one.style)
            y = 4 + 22 * one.number / (len(view.rows) + 1)
            add(group, "circle", cx=percent(scale.at(mean[producer])), cy=round(y, 1), r=4, class_="dot")
        lines.append(Line("", f"{names[producer]} ({truth['quality'][producer]:.2f})", source(svg)))
    return Chart(
        "orders",
        "From whom it was bought",
        lines,
        axis_picture(scale),
        view.words.in_place_of_ours(
            "Units ordered of each arm in a round, on average after the exploration, by all agents together; colours are those "
            "of the rows above. The frame is the best allowed order, the light bar all that could be had. Arms are sorted by "
            "their true quality, which is written beside the name and which no agent knows."
        ),
        csv_text(
            ["row", "name", view.words.arm, "quality", "units per round", "best", "capacity"],
            [
                (one.number, one.name, names[at], truth["quality"][at], mean[at], best[at], capacity[at])
                for one, mean in zip(view.rows, means, strict=True)
                for at in ranked
            ],
        ),
    )


def _total(units: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*units, strict=True)]


CHARTS: list[Callable[[View], Chart | None]] = [quality, orders]
