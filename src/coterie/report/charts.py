"""The charts of the page, each one entry: where it stands, what draws it, and what is written below it.

A place is a section of the page: "liars", "hops", "curves", "bought", "learned" or "tradeoff". The curves over time and the
trade-off itself stand in the template, as they come with buttons and shapes to explain.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.report import hops, liars
from coterie.report.labels import short_labels
from coterie.report.lines import regret_lines
from coterie.report.orders import orders_picture, producer_names, quality_picture
from coterie.report.ratio import ratio_curves
from coterie.report.rows import Row
from coterie.studies.words import Words

Study = Mapping[str, Any]  # `study` of a summary


class Chart(NamedTuple):
    place: str
    draw: Callable[[Study, Sequence[Row], Words], str]  # an SVG element as text (see `svg`); empty: nothing to show
    caption: str
    keyed: bool = False  # the rows are named above it, with their colours


def producers_of(study: Study, rows: Sequence[Row], words: Words) -> list[str]:
    return [words.in_place_of_ours(name) for name in producer_names(study["problem"], rows[0]["arms"])]


def _labels(rows: Sequence[Row]) -> list[str]:
    return short_labels(rows)


CHARTS = [
    Chart(
        "liars",
        lambda study, rows, words: regret_lines(liars.series(rows), "Agents that lie, in percent", words),
        "Regret per honest agent, by the share of agents that lie, under the attack that does most harm to each algorithm "
        "at that share.",
    ),
    Chart(
        "hops",
        lambda study, rows, words: regret_lines(hops.series(rows), "Hops a message lives", words),
        "A message reaches every agent within so many hops, one hop in a round. 0: nobody hears anybody.",
    ),
    Chart(
        "bought",
        lambda study, rows, words: quality_picture(rows, _labels(rows), study["problem"]["alpha"], words),
        "Average true quality of the units that each agent bought after the exploration. A cross marks an agent with violated "
        "rounds: an average over the run may be good enough while single orders are not.",
    ),
    Chart(
        "bought",
        lambda study, rows, words: orders_picture(rows, producers_of(study, rows, words), words),
        "Units ordered of each arm in a round, on average after the exploration, by all agents together. The frame is the best "
        "allowed order, the light bar all that could be had. Arms are sorted by their true quality, which is written beside "
        "the name and which no agent knows.",
        keyed=True,
    ),
    Chart(
        "learned",
        lambda study, rows, words: ratio_curves(rows, _labels(rows)),
        "Regret of each row, exploration and violated rounds included, divided by that of agents who learn alone.",
    ),
]


def charts_of(study: Study, rows: Sequence[Row], words: Words) -> Callable[[str], list[tuple[Chart, Markup]]]:
    """For the template: the charts of a place that have something to show."""

    def at(place: str) -> list[tuple[Chart, Markup]]:
        drawn = [(chart, Markup(chart.draw(study, rows, words))) for chart in CHARTS if chart.place == place]
        return [(chart, picture) for chart, picture in drawn if picture]

    return at
