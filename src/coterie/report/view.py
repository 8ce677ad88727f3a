"""Rows as the page shows them: in the hero's order, with the study's numbers, in one unit, each with its colour."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from coterie.report.draw.colours import Colour, hues_of, shade
from coterie.studies.names import sends_nothing
from coterie.studies.numbers import GLUE, amount, interval_ends, listed, plural
from coterie.studies.rows import Answer, Spread, Summary, SummaryRow
from coterie.studies.spread import RUNS_LEAST
from coterie.studies.words import Words

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
AGENTS_MAX = 20  # a summary tells of no more
TAGGED_MAX = 12  # with more rows, pictures tag the most telling ones


class Shown(NamedTuple):
    """A row. Its regret is in the page's unit; `margin` is half of the 95 % interval, None where runs are too few for one."""

    place: int  # in the summary
    row: SummaryRow
    name: str
    value: float
    margin: float | None
    text: str
    interval: str

    @property
    def number(self) -> int:
        """Of the row in its study, as `--row` takes it: who signs for the row that a page numbers signs for this one."""
        return self.place + 1

    @property
    def style(self) -> str:
        """The class that has its colour."""
        return f"r{self.number}"

    @property
    def broken(self) -> bool:
        return self.row["promise"]["state"] == "broken"

    @property
    def titled(self) -> str:
        return f"{self.number}{GLUE}{GLUE}{self.name}"

    @property
    def full(self) -> str:
        """The number with its interval in brackets."""
        return f"{self.text}{GLUE}({self.interval})" if self.interval else self.text


class Table(NamedTuple):
    """All cells are text; the first of a line is its heading."""

    name: str
    columns: list[str]
    lines: list[list[str]]
    note: str = ""


class View:
    """A summary, and how its numbers are shown: the one place that turns them into the page's unit."""

    def __init__(self, summary: Summary) -> None:
        self.study: dict[str, Any] = summary["study"]
        self.answer: Answer = summary["answer"]
        self.words = Words(**self.study["words"])
        self.problem: dict[str, Any] = self.study["problem"]
        self.decisions = self.answer["unit"]["decisions"]
        self.buys = self.problem["kind"] == "procurement"
        rows = summary["rows"]
        self.runs, self.agents, self.horizon = rows[0]["replications"], rows[0]["agents"], rows[0]["horizon"]
        self.decimals = self.answer["unit"]["decimals"]
        self.enough = self.runs >= RUNS_LEAST
        self.rows = [self._shown(place, rows[place]) for place in self.answer["order"]]
        self._by_place = {one.place: one for one in self.rows}

    def _shown(self, place: int, row: SummaryRow) -> Shown:
        value, margin = self.in_unit(row["per_decision"])
        name = self.answer["names"][place]
        return Shown(place, row, name, value, margin, self.amount(value), self.interval(value, margin))

    def at(self, place: int | None) -> Shown | None:
        return None if place is None else self._by_place[place]

    def in_unit(self, spread: Spread) -> tuple[float, float | None]:
        margin = spread["margin"]
        return spread["mean"] * self.decisions, margin * self.decisions if margin is not None and self.enough else None

    def amount(self, value: float) -> str:
        return amount(value, self.decimals)

    def interval(self, value: float, margin: float | None) -> str:
        """From its low to its high end, with decimals that tell them apart if any do; nothing where there is none."""
        if margin is None:
            return ""
        for decimals in (*range(self.decimals, self.decimals + 4), self.decimals):
            low, high = (amount(end, decimals) for end in interval_ends(value, margin))
            if low != high:
                break
        return f"{low}{DASH}{high}"

    @property
    def lost(self) -> str:
        """What a regret counts, in the page's unit; only rewards of 0 and 1 can be counted one by one."""
        what = "revenue" if self.buys else "rewards" if self.problem["kind"] == "bernoulli" else "reward"
        return f"{what} lost in {self.decisions:,} decisions"

    @property
    def interval_note(self) -> str:
        if self.enough:
            return f"Thin lines: 95{GLUE}% interval of the mean over {plural(self.runs, 'run')}."
        return f"{plural(self.runs, 'run').capitalize()}: too few for an interval."

    def intervals(self, text: str) -> str:
        """The text, where there are intervals to speak of."""
        return text if self.enough else ""

    @cached_property
    def tagged(self) -> list[Shown]:
        """The rows that pictures number: all, or of many the best, the worst, alone, the headline and the frontier."""
        if len(self.rows) <= TAGGED_MAX:
            return self.rows
        asked = [self.at(self.answer[key]) for key in ("alone", "together", "headline")]
        ranked = sorted(self.rows, key=lambda one: one.value)
        first = {one.place for one in (*filter(None, asked), ranked[0], ranked[-1])}
        best = [one for one in frontier(self.rows) if one.place not in first]
        chosen = first | {one.place for one in spread_out(best, TAGGED_MAX - len(first))}
        return [one for one in self.rows if one.place in chosen]

    def colours(self) -> list[Colour]:
        """Of the rows in their order: hue by method; inside a method the smaller epsilon, or the earlier line, is stronger."""
        alone, opened = self.at(self.answer["alone"]), self.at(self.answer["together"])
        hues = hues_of(map(self.method, self.rows), alone and self.method(alone), opened and self.method(opened))
        strengths = self._strengths()
        return [shade(hues[self.method(one)], strengths[one.place]) for one in self.rows]

    def method(self, one: Shown) -> str:
        """What has a hue of its own: alone, in the open and private are three ways, unless they stand on one line."""
        if one.place in self.lines:
            return one.row["method"]
        way = "alone" if one.row["alone"] else "open" if one.row["promise"]["state"] == "nothing" else "private"
        return f"{one.row['method']} {way}"

    @cached_property
    def lines(self) -> dict[int, str]:
        """The names of the lines on which rows stand that differ only in what is swept, where there is more than one line."""
        found = [group for group in self.answer["groups"] if len(group["rows"]) > 1]
        return {place: group["name"] for group in found for place in group["rows"]} if len(found) > 1 else {}

    def _strengths(self) -> dict[int, float]:
        """From 0, strong, to 1, faint: the rank of a row, or of its line, in its method."""
        ranked: dict[str, dict[str, list[Shown]]] = {}
        for one in sorted(self.rows, key=lambda one: one.row["promise"]["promised"] or float("inf")):
            ranked.setdefault(self.method(one), {}).setdefault(self.lines.get(one.place, one.style), []).append(one)
        return {
            one.place: rank / max(1, len(lines) - 1)
            for lines in ranked.values()
            for rank, members in enumerate(lines.values())
            for one in members
        }

    @property
    def producer_names(self) -> list[str]:
        """As the study names them, else numbered from 0 as in its file."""
        arms = range(self.rows[0].row["arms"])
        return list(self.problem.get("producer_names") or [f"{self.words.arm} {number}" for number in arms])

    @property
    def agent_names(self) -> list[str]:
        """As the study names them, else numbered from 0 as in its file; those of a data set from 1, as is usual."""
        if self.problem.get("agent_names"):
            return list(self.problem["agent_names"])
        first = 1 if self.problem.get("dataset") else 0
        return [f"{self.words.agent} {number}" for number in range(first, first + self.agents)]


def frontier(rows: Sequence[Shown]) -> list[Shown]:
    """The rows that no other beats both in the epsilon that holds and in regret; who sends nothing has no such epsilon."""
    limit = float("inf")

    def holds(one: Shown) -> float:
        epsilon = one.row["promise"]["holds"]
        return limit if epsilon is None or sends_nothing(one.row) else epsilon

    ranked = sorted(rows, key=lambda one: (holds(one), one.value))
    best, kept = limit, []
    for one in ranked:
        if one.value < best:
            best = one.value
            kept.append(one)
    return kept


def spread_out(rows: Sequence[Shown], most: int) -> Sequence[Shown]:
    """All, or of many both ends and what lies evenly between them."""
    return rows if len(rows) <= most else [rows[step * (len(rows) - 1) // (most - 1)] for step in range(most)]


def reach(rows: Sequence[Shown]) -> list[float]:
    """What a logarithmic scale is to show: the rows and their intervals, but no low end that would stretch it far down."""
    lows = [one.value - one.margin for one in rows if one.margin and one.value > 1.5 * one.margin]
    return [*(one.value for one in rows), *lows, *(one.value + (one.margin or 0.0) for one in rows)]


def quoted(label: str) -> str:
    return f"“{label}”"


def warnings_of(rows: Sequence[SummaryRow]) -> list[tuple[str, str]]:
    """Each warning once, after the rows it is about: all by name, or of many the first and how many more there are."""
    by_warning: dict[str, list[str]] = {}
    for row in rows:
        for warning in row["warnings"]:
            by_warning.setdefault(warning, []).append(quoted(row["label"]))
    return [
        (listed(names) if len(names) <= 6 else f"{names[0]} and {len(names) - 1} others", warning)
        for warning, names in by_warning.items()
    ]
