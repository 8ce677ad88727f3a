"""Two pictures of what agents bought: how good it was against the limit, and from whom it came against the best orders."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from coterie.report.axes import Scale, linear_scale
from coterie.report.labels import in_lines, width_of, write_name
from coterie.report.rows import Row
from coterie.report.svg import WIDTH, add, colour, picture, source
from coterie.studies.numbers import compact, number
from coterie.studies.words import Words

TOP, LANE, FOOT = 30, 40, 44
PRODUCER, RADIUS = 26, 5.0
PRODUCERS_MAX = 30


def quality_picture(rows: Sequence[Row], names: Sequence[str], alpha: float, words: Words) -> str:
    """A lane for each row with a mark for each agent at the average quality of its units; empty where none was bought."""
    bought = [[value for value in row["procurement"]["by_agent"]["quality"] if value is not None] for row in rows]
    values = [alpha, *(value for line in bought for value in line)]
    if len(values) == 1:
        return ""
    lines, height = [in_lines(name) for name in names], TOP + LANE * len(rows) + FOOT
    reach = 0.06 * (max(values) - min(values)) or 0.05
    left = 16 + max(map(width_of, lines))
    across = Scale(max(0.0, min(values) - reach), min(1.0, max(values) + reach), left, WIDTH - 16)
    svg = picture("qualities", _quality_text(rows, bought, alpha), height)
    _draw_scale(svg, across, TOP - 6, height - FOOT, words.in_place_of_ours("Average true quality of what an agent bought"))
    for index, row in enumerate(rows):
        middle = TOP + LANE * (index + 0.5)
        group = add(svg, "g", class_=f"mark {colour(index)}")
        write_name(group, lines[index], (0, middle - 8 * len(lines[index]), "start"))
        by_agent = row["procurement"]["by_agent"]
        for quality, rounds in zip(by_agent["quality"], by_agent["violations"], strict=True):
            if quality is not None:
                _agent_mark(group, across.at(quality), middle, broke=rounds > 0)
    add(svg, "line", x1=across.at(alpha), x2=across.at(alpha), y1=TOP - 6, y2=height - FOOT, class_="limit")
    add(svg, "text", f"limit {alpha:g}", x=across.at(alpha), y=TOP - 12, text_anchor="middle", class_="title")
    return source(svg)


def _quality_text(rows: Sequence[Row], bought: Sequence[Sequence[float]], alpha: float) -> str:
    ranges = [
        f"{row['label']}: {min(line):.3f} to {max(line):.3f}" for row, line in zip(rows, bought, strict=True) if line
    ]
    return f"Average true quality of what was bought, against a limit of {alpha:g}. {'; '.join(ranges)}."


def _agent_mark(group: Element, x: float, y: float, *, broke: bool) -> None:
    """A disc, or a cross for an agent some of whose orders were not good enough."""
    if broke:
        half = RADIUS - 0.5
        cross = f"M{x - half:g},{y - half:g}L{x + half:g},{y + half:g}M{x - half:g},{y + half:g}L{x + half:g},{y - half:g}"
        add(group, "path", d=cross)
    else:
        add(group, "circle", cx=x, cy=y, r=RADIUS)


def orders_picture(rows: Sequence[Row], producers: Sequence[str], words: Words) -> str:
    """Units of each producer that all agents together order in a round, on average, the best producer on top.

    Empty where every replication has an instance of its own: then producers have nothing in common but their number.
    """
    orders = [order for row in rows if (order := row["procurement"]["orders"]) is not None]
    if len(orders) < len(rows) or len(producers) > PRODUCERS_MAX:
        return ""
    truth = orders[0]
    ranked = sorted(range(len(producers)), key=lambda producer: -truth["quality"][producer])
    means, best, capacity = [_total(order["mean"]) for order in orders], _total(truth["best"]), _total(truth["capacity"])
    height = TOP + PRODUCER * len(ranked) + FOOT
    labels = {producer: f"{producers[producer]} ({truth['quality'][producer]:.2f})" for producer in ranked}
    left = 16 + width_of(list(labels.values()))
    across = linear_scale(capacity, left, WIDTH - 16)
    svg = picture("orders", _orders_text(rows, means, best, producers), height)
    _draw_scale(svg, across, TOP - 6, height - FOOT, words.in_place_of_ours("Units ordered per round, all agents together"))
    for place, producer in enumerate(ranked):
        top = TOP + PRODUCER * place
        add(svg, "text", labels[producer], x=left - 8, y=top + PRODUCER / 2 + 4, text_anchor="end")
        _bar(svg, across, top, capacity[producer], "room")
        _bar(svg, across, top, best[producer], "best")
        for index, mean in enumerate(means):
            offset = PRODUCER * (index + 1) / (len(rows) + 1)
            mark = add(svg, "g", class_=f"mark {colour(index)}")
            add(mark, "circle", cx=across.at(mean[producer]), cy=round(top + offset, 1), r=3.4)
            add(mark, "title", f"{rows[index]['label']}: {number(mean[producer])} from {producers[producer]}")
    return source(svg)


def _total(units: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*units, strict=True)]


def _orders_text(rows: Sequence[Row], means: Sequence[Sequence[float]], best: Sequence[float], names: Sequence[str]) -> str:
    cells = []
    for producer, name in enumerate(names):
        found = ", ".join(f"{row['label']} {number(mean[producer])}" for row, mean in zip(rows, means, strict=True))
        cells.append(f"{name}: best {number(best[producer])}, {found}")
    return f"Units ordered per round. {'; '.join(cells)}."


def _bar(svg: Element, across: Scale, top: float, value: float, kind: str) -> None:
    if value > 0:
        width = round(across.at(value) - across.start, 1)
        add(svg, "rect", x=across.start, y=top + 3, width=width, height=PRODUCER - 6, class_=kind)


def _draw_scale(svg: Element, across: Scale, top: float, bottom: float, title: str) -> None:
    axes = add(svg, "g", class_="axes")
    for tick in across.ticks():
        add(axes, "line", x1=across.at(tick), x2=across.at(tick), y1=top, y2=bottom)
        add(axes, "text", compact(tick), x=across.at(tick), y=bottom + 17, text_anchor="middle")
    add(axes, "line", x1=across.start, x2=across.end, y1=bottom, y2=bottom, class_="base")
    add(axes, "text", title, x=across.end, y=bottom + 37, text_anchor="end", class_="title")


def producer_names(problem: Mapping[str, Any], producers: int) -> list[str]:
    """As the study names them, else numbered from 0 as in its file."""
    return list(problem.get("producer_names") or [f"arm {number}" for number in range(producers)])
