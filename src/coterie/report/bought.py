"""What a study of procurement is judged by beside regret: violated rounds, quality, revenue, and what was learned from others.

A violated round can cost a hundred times what a poor order does, so no regret stands here without the number of violated
rounds. Not every drop in regret after a message is learning from its sender: an algorithm that takes its own data for news
grows bolder too. Rows with `learning = "echo"` do just that, and show how much of a saving is of that kind.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.privacy.statement import epsilon_text
from coterie.report.draw.bars import grid
from coterie.report.draw.marks import mark
from coterie.report.draw.scale import Scale, fitting, linear
from coterie.report.draw.svg import Element, add, picture, place, source
from coterie.report.draw.svg import percent as across_percent
from coterie.report.template import csv_text
from coterie.report.view import AGENTS_MAX, Shown, View
from coterie.studies.numbers import compact, listed, measured, number, percent, times
from coterie.studies.rows import SummaryRow

BASELINE = "nf-cb"
DELTAS = ("0.01", "0.001", "1e-05")
SHOWN = ("violations", "regret_after_exploration")
PRODUCERS_MAX = 30

# Regret in excess of FCB that the source prints for its first experiment, and the setting in which it does.
SOURCE_SETTING = {"agents": 10, "arms": 30, "horizon": 100_000}
SOURCE_EXCESS = {"uniform": {"p-fcb": 1.36, BASELINE: 2.33}, "normal": {"p-fcb": 2.35, BASELINE: 3.94}}


class BoughtTable(NamedTuple):
    name: str
    columns: list[str]
    lines: list[list[str]]
    note: str = ""


class Picture(NamedTuple):
    """Lines of a name and a drawing, with the numbers below them."""

    name: str
    heading: str
    lines: list[tuple[str, str, Markup]]  # class of colour, name, drawing
    axis: Markup
    caption: str
    numbers: Markup


def is_shown(measurement: str) -> bool:
    """Has it a place of its own outside the further measurements?"""
    return measurement in SHOWN or measurement.startswith(("epsilon_event_at_", "epsilon_sequential_at_"))


def titled(one: Shown) -> str:
    return f"{one.number}\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{one.name}"


def tables(view: View) -> list[BoughtTable]:
    """Those that have anything to tell."""
    made = [_bought(view), _agents(view), _learned(view), *_lessons(view), _losses(view), _source(view)]
    return [
        BoughtTable(table.name, [view.words.in_place_of_ours(text) for text in table.columns], table.lines,
                    view.words.in_place_of_ours(table.note))
        for table in made
        if table.lines
    ]  # fmt: skip


def _told(view: View, spread: Any) -> str:
    return measured(spread) if view.enough else number(spread["mean"])


def _bought(view: View) -> BoughtTable:
    lines = []
    for one in view.rows:
        told = one.row["procurement"]
        best = sum(told["by_agent"]["best_revenue"])
        qualities = sorted(value for value in told["by_agent"]["quality"] if value is not None)
        lines.append(
            [
                titled(one),
                _told(view, one.row["regret_per_agent"]),
                _told(view, told["regret_after"]),
                number(told["median_after"]),
                number(told["violations"]["mean"]),
                percent(told["below"]["mean"]),
                _span([f"{value:.3f}" for value in qualities]),
                percent(sum(told["by_agent"]["revenue"]) / best) if best > 0 else "-",
            ]
        )
    columns = ["Row", "regret per agent, whole run", "after exploration", "its median", "violated rounds per agent",
               "their share", "average quality bought", "share of the best revenue"]  # fmt: skip
    lengths = sorted({one.row["procurement"]["exploration"] for one in view.rows})
    rounds = f"{listed([number(length) for length in lengths])} {'round' if lengths == [1] else 'rounds'}"
    note = (
        f"The exploration, in which every agent orders of each producer whatever it knows of it, takes {rounds}. A round whose "
        f"order has a true average quality below {view.problem['alpha']:g} is violated and costs as much regret as the worst "
        "order possible: read regret and violated rounds together. The median is that of all agents and runs. Quality and "
        "revenue are true expectations over the rounds after the exploration; quality is given from the agent with the lowest "
        "to the one with the highest."
    )
    return BoughtTable("What was bought, how good it was and what it brought", columns, lines, note)


def _span(texts: Sequence[str]) -> str:
    """From the first to the last, where they differ."""
    return "-" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _agents(view: View) -> BoughtTable:
    name = view.words.in_place_of_ours("Each agent's regret after the exploration, and its violated rounds")
    if view.agents > AGENTS_MAX:
        return BoughtTable(name, [], [])
    lines = []
    for one in view.rows:
        told = one.row["procurement"]["by_agent"]
        pairs = zip(told["regret_after"], told["violations"], strict=True)
        lines.append([titled(one), *(f"{number(regret)}; {number(rounds)}" for regret, rounds in pairs)])
    slack = view.rows[0].row["procurement"]["by_agent"]["slack"]
    lines.append(["slack", *("-" if value is None else f"{value:+.3f}" for value in slack)])
    note = (
        f"Slack is the average true quality of all profitable units less {view.problem['alpha']:g}, the least of all runs. "
        "Where it is below 0 the limit binds; where it is near 0 a small error of an estimate decides whether an order is good "
        "enough, and such an agent can decide any mean."
    )
    return BoughtTable(name, ["Row", *view.agent_names], lines, note)


def learns_from_itself(row: SummaryRow) -> bool:
    return row["parameters"].get("learning") == "echo"


def alone_of(row: SummaryRow, rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The row in which agents learn alone by the same rule: where there is more than one, that with the same parameters."""
    found = [other for other in rows if other["algorithm"] == BASELINE]
    if len(found) > 1:
        found = [other for other in found if other["parameters"].items() <= row["parameters"].items()]
    return found[0] if found and found[0] is not row else None


def echo_of(row: SummaryRow, rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The row that differs from this one in nothing but that it learns from itself."""
    echoes = [other for other in rows if learns_from_itself(other) and other["algorithm"] == row["algorithm"]]
    alike = [other for other in echoes if other["parameters"] == row["parameters"] | {"learning": "echo"}]
    return alike[0] if alike and alike[0] is not row else None


def against(row: SummaryRow, other: SummaryRow | None) -> str:
    """Regret after the exploration relative to another row; a dash where that has none."""
    told = row["procurement"]["against"].get(other["label"]) if other else None
    ratio = told["after"] if told else None
    if ratio is None:
        return "-"
    close = ratio["margin"] is None or abs(ratio["mean"] - 1) <= ratio["margin"]
    return f"{times(ratio['of_means'])}{', too close to call' if close else ''}"


def _learned(view: View) -> BoughtTable:
    rows = [one.row for one in view.rows]
    lines = []
    for one in view.rows:
        told = one.row["procurement"]
        if not one.row["alone"]:
            lines.append(
                [
                    titled(one),
                    epsilon_text(one.row["privacy"]["claimed"]),
                    epsilon_text(one.row["privacy"]["accounted"]),
                    _span([number(weight) for weight in sorted(told["learned"]["by_agent"])]),
                    _told(view, told["regret_after"]),
                    number(told["violations"]["mean"]),
                    against(one.row, alone_of(one.row, rows)),
                    against(one.row, echo_of(one.row, rows)),
                ]
            )
    columns = ["Row", "promised", "holds", "units taken in for one of its own", "regret after exploration, per agent",
               "violated rounds", "regret against alone", "regret against echo"]  # fmt: skip
    note = (
        "Whatever an agent takes for news makes it bolder, whether there is anything new in it or not. What is taken in is "
        "counted by the weight it gets, from the agent with the least to the one with the most. The echo control shows how "
        "much of the saving is of that kind: its messages are made of the agent's own data and fresh noise. Only what a row "
        "saves beyond it was learned from others. Ratios are of means over the same instances."
    )
    return BoughtTable("What was learned from others", columns, lines, note)


def _lessons(view: View) -> list[BoughtTable]:
    found = []
    for one in view.rows:
        about = one.row["procurement"]["learned"]["about"]
        if about and not one.row["alone"]:
            lines = [[name, *map(number, line)] for name, line in zip(view.agent_names, about, strict=False)]
            name = f"{titled(one)}: {view.words.in_place_of_ours('what each agent took in about each arm')}"
            note = "For one unit that the agent has bought itself, the number of units it counts beside it because of messages."
            found.append(BoughtTable(name, ["Agent", *producer_names(view)], lines, note))
    return found


def _losses(view: View) -> BoughtTable:
    """For each row with noise, exactly: what one changed order loses, and what all exchanges lose if each may change."""
    lines = []
    for one in view.rows:
        extra = one.row["extra"]
        if "mu_event" in extra and one.row["privacy"]["claimed"] is not None:
            losses = [extra[f"epsilon_{name}_at_{delta}"] for name in ("event", "sequential") for delta in DELTAS]
            cells = [epsilon_text({"epsilon": loss, "delta": 0.0}) for loss in losses]
            lines.append([titled(one), epsilon_text(one.row["privacy"]["claimed"]), *cells])
    columns = ["Row", "promised", *(f"ε of one order at delta {delta}" for delta in DELTAS),
               *(f"ε if every exchange may change, delta {delta}" for delta in DELTAS)]  # fmt: skip
    note = (
        "One order is what an agent orders of one arm in one round, and what came of it; it enters one exchange only. Later "
        "orders are held fixed here. In a run a different outcome changes them, and messages tell of them: so no row of this "
        "table is private."
    )
    return BoughtTable("What the printed noise would give if orders did not follow from outcomes", columns, lines, note)


def _source(view: View) -> BoughtTable:
    """The source's first experiment beside this run; nothing where the setting is another one."""
    rows = [one.row for one in view.rows]
    printed = SOURCE_EXCESS.get(view.problem.get("distribution") or "")
    pooled = next((row for row in rows if row["algorithm"] == "fcb"), None)
    name = "Beside the figures that the source prints"
    if printed is None or pooled is None or any(dict(pooled)[key] != value for key, value in SOURCE_SETTING.items()):
        return BoughtTable(name, [], [])
    lines = []
    for algorithm, excess in printed.items():
        found = [row for row in rows if row["algorithm"] == algorithm and not learns_from_itself(row)]
        found = [row for row in found if algorithm == BASELINE or row["parameters"]["epsilon"] == 1]
        after = [row["procurement"]["regret_after"]["mean"] for row in (*found, pooled)]
        if len(found) == 1 and after[1] > 0:
            whole = found[0]["regret_per_agent"]["mean"] / pooled["regret_per_agent"]["mean"] - 1
            lines.append([found[0]["label"], f"{excess:+.0%}", f"{whole:+.0%}", f"{after[0] / after[1] - 1:+.0%}"])
    columns = ["Regret in excess of fcb", "source", "here, whole run", "here, after the exploration"]
    note = (
        "The source leaves open what it counts, on which instances and with how long an exploration, so its figures are for "
        "comparison only."
    )
    return BoughtTable(name, columns, lines, note)


# --- pictures -----------------------------------------------------------------------------------------


def producer_names(view: View) -> list[str]:
    """As the study names them, else numbered from 0 as in its file."""
    named = view.problem.get("producer_names")
    return list(named or [f"{view.words.arm} {number}" for number in range(view.rows[0].row["arms"])])


def pictures(view: View) -> list[Picture]:
    return [found for found in (_quality(view), _orders(view)) if found]


def _quality(view: View) -> Picture | None:
    """A line for each row with a mark for each agent at the average quality of its units."""
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
        lines.append((one.style, titled(one), source(svg)))
    return Picture(
        "quality",
        "How good it was",
        lines,
        _axis(scale, extra=(alpha, f"limit {alpha:g}")),
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
    add(svg, "line", x1=across_percent(across), x2=across_percent(across), y1=0, y2="100%", class_="ref")


def _axis(scale: Scale, extra: tuple[float, str] | None = None) -> Markup:
    svg = picture(22, "", aria_hidden="true")
    marks = [(scale.at(tick), compact(tick)) for tick in scale.ticks(5)]
    if extra:
        own = (scale.at(extra[0]), extra[1])
        marks = [own, *(one for one in marks if len(fitting(sorted([own, one]))) == 2)]
    for at, text in fitting(sorted(marks)):
        add(svg, "text", text, x=across_percent(at), y=14, text_anchor="start" if at < 5 else "end" if at > 95 else "middle")
    return source(svg)


def _orders(view: View) -> Picture | None:
    """Units of each producer that all agents together order in a round, on average, the best producer on top.

    Nothing where every replication has an instance of its own: then producers have nothing in common but their number.
    """
    orders = [order for one in view.rows if (order := one.row["procurement"]["orders"]) is not None]
    names = producer_names(view)
    if len(orders) < len(view.rows) or len(names) > PRODUCERS_MAX:
        return None
    truth = orders[0]
    ranked = sorted(range(len(names)), key=lambda producer: -truth["quality"][producer])
    means, best, capacity = [_total(order["mean"]) for order in orders], _total(truth["best"]), _total(truth["capacity"])
    scale = linear(capacity, 0.0, 98.0, room=1.0)
    lines = []
    for producer in ranked:
        told = "; ".join(f"{one.name} {number(mean[producer])}" for one, mean in zip(view.rows, means, strict=True))
        svg = picture(30, f"{names[producer]}: best {number(best[producer])}; {told}", class_="bar")
        grid(svg, scale)
        add(svg, "rect", x=0, y=4, width=across_percent(scale.at(capacity[producer])), height=22, class_="lane")
        add(svg, "rect", x=0, y=4, width=across_percent(scale.at(best[producer])), height=22, class_="frame")
        for one, mean in zip(view.rows, means, strict=True):
            group = add(svg, "g", class_=one.style)
            y = 4 + 22 * one.number / (len(view.rows) + 1)
            add(group, "circle", cx=across_percent(scale.at(mean[producer])), cy=round(y, 1), r=4, class_="dot")
        lines.append(("", f"{names[producer]} ({truth['quality'][producer]:.2f})", source(svg)))
    return Picture(
        "orders",
        "From whom it was bought",
        lines,
        _axis(scale),
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
