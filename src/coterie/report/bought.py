"""What a study of procurement is judged by beside regret: violated rounds, quality, revenue, and what was learned from others.

A violated round can cost a hundred times what a poor order does, so no regret stands here without the number of violated
rounds. Not every drop in regret after a message is learning from its sender: an algorithm that takes its own data for news
grows bolder too. Rows with `learning = "echo"` do just that, and show how much of a saving is of that kind.
"""

from collections.abc import Sequence
from typing import Any

from coterie.privacy.statement import epsilon_text
from coterie.report.view import AGENTS_MAX, Table, View
from coterie.studies.numbers import listed, measured, number, percent, times
from coterie.studies.rows import SummaryRow

BASELINE = "nf-cb"
DELTAS = ("0.01", "0.001", "1e-05")
SHOWN = ("violations", "regret_after_exploration")

# Regret in excess of FCB that the source prints for its first experiment, and the setting in which it does.
SOURCE_SETTING = {"agents": 10, "arms": 30, "horizon": 100_000}
SOURCE_EXCESS = {"uniform": {"p-fcb": 1.36, BASELINE: 2.33}, "normal": {"p-fcb": 2.35, BASELINE: 3.94}}


def is_shown(measurement: str) -> bool:
    """Has it a place of its own outside the further measurements?"""
    return measurement in SHOWN or measurement.startswith(("epsilon_event_at_", "epsilon_sequential_at_"))


def tables(view: View) -> list[Table]:
    """Those that have anything to tell."""
    made = [_bought(view), _agents(view), _learned(view), *_lessons(view), _losses(view), _source(view)]
    return [
        Table(table.name, [view.words.in_place_of_ours(text) for text in table.columns], table.lines,
                    view.words.in_place_of_ours(table.note))
        for table in made
        if table.lines
    ]  # fmt: skip


def _told(view: View, spread: Any) -> str:
    return measured(spread) if view.enough else number(spread["mean"])


def _bought(view: View) -> Table:
    lines = []
    for one in view.rows:
        told = one.row["procurement"]
        best = sum(told["by_agent"]["best_revenue"])
        qualities = sorted(value for value in told["by_agent"]["quality"] if value is not None)
        lines.append(
            [
                one.titled,
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
    return Table("What was bought, how good it was and what it brought", columns, lines, note)


def _span(texts: Sequence[str]) -> str:
    """From the first to the last, where they differ."""
    return "-" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _agents(view: View) -> Table:
    name = view.words.in_place_of_ours("Each agent's regret after the exploration, and its violated rounds")
    if view.agents > AGENTS_MAX:
        return Table(name, [], [])
    lines = []
    for one in view.rows:
        told = one.row["procurement"]["by_agent"]
        pairs = zip(told["regret_after"], told["violations"], strict=True)
        lines.append([one.titled, *(f"{number(regret)}; {number(rounds)}" for regret, rounds in pairs)])
    slack = view.rows[0].row["procurement"]["by_agent"]["slack"]
    lines.append(["slack", *("-" if value is None else f"{value:+.3f}" for value in slack)])
    note = (
        f"Slack is the average true quality of all profitable units less {view.problem['alpha']:g}, the least of all runs. "
        "Where it is below 0 the limit binds; where it is near 0 a small error of an estimate decides whether an order is good "
        "enough, and such an agent can decide any mean."
    )
    return Table(name, ["Row", *view.agent_names], lines, note)


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


def _learned(view: View) -> Table:
    rows = [one.row for one in view.rows]
    lines = []
    for one in view.rows:
        told = one.row["procurement"]
        if not one.row["alone"]:
            lines.append(
                [
                    one.titled,
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
    return Table("What was learned from others", columns, lines, note)


def _lessons(view: View) -> list[Table]:
    found = []
    for one in view.rows:
        about = one.row["procurement"]["learned"]["about"]
        if about and not one.row["alone"]:
            lines = [[name, *map(number, line)] for name, line in zip(view.agent_names, about, strict=False)]
            name = f"{one.titled}: {view.words.in_place_of_ours('what each agent took in about each arm')}"
            found.append(Table(name, ["Agent", *view.producer_names], lines))
    note = "For one unit that the agent has bought itself, the number of units it counts beside it because of messages."
    return [*found[:-1], *(table._replace(note=note) for table in found[-1:])]


def _losses(view: View) -> Table:
    """For each row with noise, exactly: what one changed order loses, and what all exchanges lose if each may change."""
    lines = []
    for one in view.rows:
        extra = one.row["extra"]
        if "mu_event" in extra and one.row["privacy"]["claimed"] is not None:
            losses = [extra[f"epsilon_{name}_at_{delta}"] for name in ("event", "sequential") for delta in DELTAS]
            cells = [epsilon_text({"epsilon": loss, "delta": 0.0}) for loss in losses]
            lines.append([one.titled, epsilon_text(one.row["privacy"]["claimed"]), *cells])
    columns = ["Row", "promised", *(f"ε of one order at delta {delta}" for delta in DELTAS),
               *(f"ε if every exchange may change, delta {delta}" for delta in DELTAS)]  # fmt: skip
    note = (
        "One order is what an agent orders of one arm in one round, and what came of it; it enters one exchange only. Later "
        "orders are held fixed here. In a run a different outcome changes them, and messages tell of them: so no row of this "
        "table is private."
    )
    return Table("What the printed noise would give if orders did not follow from outcomes", columns, lines, note)


def _source(view: View) -> Table:
    """The source's first experiment beside this run; nothing where the setting is another one."""
    rows = [one.row for one in view.rows]
    printed = SOURCE_EXCESS.get(view.problem.get("distribution") or "")
    pooled = next((row for row in rows if row["algorithm"] == "fcb"), None)
    name = "Beside the figures that the source prints"
    if printed is None or pooled is None or any(dict(pooled)[key] != value for key, value in SOURCE_SETTING.items()):
        return Table(name, [], [])
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
    return Table(name, columns, lines, note)
