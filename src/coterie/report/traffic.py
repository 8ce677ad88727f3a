"""How much is said, and to whom."""

from collections.abc import Callable, Sequence

from coterie.privacy.statement import SENDS_NOTHING
from coterie.report.rows import Finding, Row, some_named
from coterie.studies.numbers import GLUE, data_size, number, plural

# With whom an agent exchanges messages. Of a user's own algorithm nothing more is known than that there are others.
HEARERS = {
    "cdp-mab": "a server",
    "ddp-mab": "all other agents, from neighbour to neighbour",
    "hdp-mab": "the collector of its group, which talks to a server",
    "gossip-ucb": "its neighbours in the network",
    "fed-ucb": "its neighbours in the network",
    "coop-ucb": "agents nearby",
    "private-ucb": "agents nearby",
    "byzantine-ucb": "agents nearby",
    "pr-ucb": "agents nearby",
    "fcb": "agents nearby, in every round",
    "fcb-periodic": "agents nearby, in a few rounds",
    "p-fcb": "agents nearby, in a few rounds",
}


def talks(row: Row) -> bool:
    return row["communication"]["messages"] > 0


def traffic_finding(rows: Sequence[Row]) -> Finding:
    """Messages and data of one agent, over the run and per decision; rows that talk to the same others share a line."""
    groups: dict[str, list[Row]] = {}
    for row in filter(talks, rows):
        groups.setdefault(HEARERS.get(row["algorithm"], "others"), []).append(row)
    if not groups:
        return Finding(f"In every row an agent {SENDS_NOTHING}.")
    cases = [f"{_whose(group, rows)}, with {hearer}: {_said(group)}" for hearer, group in groups.items()]
    silent = [row for row in rows if not talks(row)]
    if silent:
        cases.insert(0, f"{_whose(silent, rows)}: {SENDS_NOTHING}")
    return Finding("What each agent exchanges over the whole run:", tuple(cases))


def _whose(group: Sequence[Row], rows: Sequence[Row]) -> str:
    if len(group) == len(rows) > 1:
        return "every row"
    return some_named(group)


def _said(group: Sequence[Row]) -> str:
    rounds = _range([row["communication"]["rounds"] for row in group], lambda count: plural(count, "round"))
    messages = _range([row["communication"]["messages"] / row["agents"] for row in group], _messages)
    sizes = _range([row["communication"]["bytes"] / row["agents"] for row in group], data_size)
    return f"{messages}, {sizes}, in {rounds} of communication ({_rate(group)})"


def _rate(group: Sequence[Row]) -> str:
    """Per decision, or the other way round where messages are rare."""
    decisions = [row["agents"] * row["horizon"] for row in group]
    rates = [row["communication"]["messages"] / count for row, count in zip(group, decisions, strict=True)]
    if min(rates) < 0.1:
        return f"one message in {_range([1 / rate for rate in rates], number)} decisions"
    sizes = [row["communication"]["bytes"] / count for row, count in zip(group, decisions, strict=True)]
    return f"{_range(rates, _messages)} and {_range(sizes, data_size)} per decision"


def _messages(count: float) -> str:
    return plural(count, "message")


def _range(values: Sequence[float], text: Callable[[float], str]) -> str:
    """One text where they differ by a hundredth at most, else from the lowest to the highest."""
    low, high = min(values), max(values)
    if high <= 1.01 * low:
        return text(low)
    start, unit = text(low).partition(GLUE)[::2]
    same_unit = unit == text(high).partition(GLUE)[2]
    return f"{start if same_unit else text(low)} to {text(high)}"
