"""The first picture of the page, by the kind of answer: bars, dots in the order of what is swept, or panels of attacks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.report.draw.bars import Bar, arrow_picture, axis_picture, bar_picture, bar_scale
from coterie.report.draw.tally import tally
from coterie.report.template import csv_text
from coterie.report.view import MINUS, Shown, View
from coterie.studies.numbers import GLUE, percent
from coterie.studies.rows import Difference

THICK_MAX = 8  # bars of a study in which none stands out
THIN_MAX = 12  # bars below them; all others are in the table
SINGLE_AGENTS_MAX = 4  # of whom the hero tells one by one


class Count(NamedTuple):
    """A cell beside a bar: a small drawing, its number, and of whom it is where there is no column's heading."""

    picture: Markup
    text: str
    who: str


class Line(NamedTuple):
    """A bar, or an arrow between two."""

    shown: Shown | None
    picture: Markup
    counts: Sequence[Count] = ()


class Bars(NamedTuple):
    heading: str
    title: str
    whose: str
    columns: tuple[str, list[str]]  # what is counted beside the bars, and for whom
    thick: list[Line]
    thin: list[Line]
    axis: Markup
    caption: str
    numbers: str
    left_out: int


def bars(view: View) -> Bars:
    """Alone, together and private, with arrows between them, and all others thin below; or simply all."""
    asked = [view.answer[key] for key in ("alone", "together", "headline")]
    big = [one for one in view.rows if one.place in asked]
    few = view.rows if len(view.rows) <= THICK_MAX else []
    thick = big if len(big) > 1 else few
    rest = [one for one in view.rows if one not in thick]
    drawn = [*thick, *rest[:THIN_MAX]]
    made = {one.place: _bar(view, one, asked) for one in drawn}
    scale, limit = bar_scale(list(made.values()))
    columns, counts = _columns(view)

    def line(one: Shown, thick: bool) -> Line:
        return Line(one, bar_picture(made[one.place], scale, limit, thick=thick), counts(one))

    lines = []
    for one in thick:
        found = _arrow(view, one, asked) if one in big else None
        start = view.at(found["against"]) if found else None
        if found and start and max(one.value, start.value) < limit:
            text = _arrow_text(view, found, one)
            lines.append(Line(None, arrow_picture(start.value, one.value, scale, text, text)))
        lines.append(line(one, True))
    torn = "Torn bars run beyond the scale." if limit < float("inf") else ""
    marks = any(bar.marks for bar in made.values())
    notes = ["Shorter is better." if len(drawn) > 1 else "", torn, view.interval_note, _marks_note(view, marks)]
    notes.append("✕: promise broken." if any(one.broken for one in drawn) else "")
    return Bars(
        "What each way loses" if len(view.rows) > 1 else "What it loses",
        f"Regret: {view.lost}",
        _whose(view),
        columns,
        lines,
        [line(one, False) for one in rest[:THIN_MAX]],
        axis_picture(scale),
        " ".join(filter(None, notes)),
        csv_text(
            ["row", "name", f"regret {view.answer['unit']['text']}", "95 % interval, half"],
            [(one.number, one.name, one.value, one.margin) for one in view.rows],
        ),
        len(rest) - len(rest[:THIN_MAX]),
    )


def _whose(view: View) -> str:
    if view.agents == 1:
        return ""
    honest = "honest " if any(one.row["faults"].get("liars") for one in view.rows) else ""
    return f"mean of {honest}{view.words.in_place_of_ours(f'{view.agents:,} agents')}"


def _bar(view: View, one: Shown, asked: Sequence[int | None]) -> Bar:
    said = f"{one.name}: {one.text} {view.lost}" + (f", 95 % interval {one.interval}" if one.interval else "")
    marks = _agents(view, one) if one.place == view.answer["alone"] else ()
    return Bar(one.value, one.margin, one.text, said, one.place in asked, marks)


def _agents(view: View, one: Shown) -> list[tuple[float, str]]:
    """The regret of single agents, where they are few and differ."""
    regrets = one.row["by_agent"]["regret"]
    if not 2 <= len(regrets) <= SINGLE_AGENTS_MAX or None in regrets or len(set(regrets)) == 1:
        return []
    letter = view.words.agent[0].upper()
    values = [regret / view.horizon * view.decisions for regret in regrets]
    return [(value, f"{letter}{number}") for number, value in enumerate(values, 1)]


def _marks_note(view: View, marked: bool) -> str:
    if not marked:
        return ""
    return view.words.in_place_of_ours(
        f"Rings: what each agent loses when alone ({view.words.agent[0].upper()}1 is {view.agent_names[0]})."
    )


def _arrow(view: View, one: Shown, asked: Sequence[int | None]) -> Difference | None:
    """What makes the step to this row: together against alone, private against together."""
    alone, together, headline = asked
    wanted = {together: alone, headline: together if together is not None else alone}.get(one.place)
    for found in view.answer["differences"]:
        if (found["row"], found["against"]) == (one.place, wanted):
            return found
    return None


def _arrow_text(view: View, found: Difference, one: Shown) -> str:
    epsilon = one.row["promise"]["holds"]
    what = "together" if one.place == view.answer["together"] else f"privacy at ε{GLUE}={GLUE}{epsilon:g}"
    return f"{what}: {difference_text(view, found)}"


def difference_text(view: View, found: Difference) -> str:
    """How much less or more, with its interval, or that it is too close to call."""
    mean, margin = found["mean"] * view.decisions, found["margin"]
    if margin is None:
        return "too few runs to tell"
    size, half = abs(mean), margin * view.decisions
    sign = "+" if mean > 0 else MINUS
    if found["verdict"] == "close":
        return f"too close to call ({sign}{view.amount(size)} ± {view.amount(half)})"
    return f"{sign}{view.amount(size)} ({view.interval(size, half)})"


def _columns(view: View) -> tuple[tuple[str, list[str]], Any]:
    """What is counted beside each bar: rounds below the limit, or runs and agents that found the best arm."""
    worded = view.words.in_place_of_ours
    if view.buys:
        alpha = view.problem["alpha"]

        def below(one: Shown) -> list[Count]:
            share = one.row["procurement"]["below"]["mean"]
            return [Count(tally(share), percent(share), "rounds below the limit")]

        return (f"Rounds below the limit of {alpha:g}", []), below
    if all(one.row["found"] is None for one in view.rows):
        return ("", []), lambda one: []
    single = 2 <= view.agents <= SINGLE_AGENTS_MAX and any(len(set(one.row["by_agent"]["count"])) > 1 for one in view.rows)
    if single:
        names = [worded(name) for name in view.agent_names]

        def each(one: Shown) -> list[Count]:
            counts, runs = (list(one.row["by_agent"][key]) for key in ("count", "of"))
            if len(counts) == 1:
                counts, runs = counts * view.agents, runs * view.agents
            shorts = [f"{view.words.agent[0].upper()}{n}" for n in range(1, view.agents + 1)]
            return [Count(tally(c / n, n), f"{c}", who) for c, n, who in zip(counts, runs, shorts, strict=True)]

        return (worded(f"Runs of {view.runs} ending on the best arm"), names), each
    key, what = ("found", "runs") if view.agents <= SINGLE_AGENTS_MAX else ("found_by", "agents")

    def together(one: Shown) -> list[Count]:
        found = one.row[key]  # type: ignore[literal-required]
        if found is None:
            return []
        text = f"{found['count']:,} of {found['of']:,}"
        return [Count(tally(found["count"] / max(1, found["of"]), found["of"]), text, worded(f"{what} on the best arm"))]

    whose = "Agents, over all runs," if what == "agents" else "Runs"
    return (worded(f"{whose} ending on the best arm"), []), together
