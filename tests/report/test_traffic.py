"""How much is said, and to whom, on numbers that can be divided by hand."""

from collections.abc import Callable
from typing import Any

from coterie.report import traffic

MakeRow = Callable[..., dict[str, Any]]


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def talking(row: MakeRow, label: str, messages: float, size: float = 1000.0, **changes: Any) -> dict[str, Any]:
    communication = {"rounds": 5, "messages": messages, "bytes": size, "cost": 1.0}
    return row(label, communication=communication, **changes)


def test_messages_and_data_are_those_of_one_agent_and_of_one_decision(row: MakeRow) -> None:
    finding = traffic.traffic_finding([talking(row, "fed-ucb", 1600, 80_000)])  # 4 agents, 100 decisions each
    assert finding.text == "What each agent exchanges over the whole run:"
    said = "400 messages, 20 kB, in 5 rounds of communication (4 messages and 200 bytes per decision)"
    assert list(map(plain, finding.cases)) == [f"“fed-ucb”, with its neighbours in the network: {said}"]


def test_rare_messages_are_counted_the_other_way_round(row: MakeRow) -> None:
    (case,) = traffic.traffic_finding([talking(row, "cdp-mab", 8)]).cases
    assert plain(case).startswith("“cdp-mab”, with a server: 2 messages, 250 bytes,")
    assert case.endswith("(one message in 50 decisions)")


def test_rows_that_talk_to_the_same_others_share_a_line(row: MakeRow) -> None:
    rows = [
        talking(row, "fed-ucb", 1600, 4000),
        talking(row, "gossip-ucb", 1606, 80_000),
        talking(row, "mine.py", 1600),
        talking(row, "alone", 0),
    ]
    silent, neighbours, own = map(plain, traffic.traffic_finding(rows).cases)
    assert silent == "“alone”: sends nothing"
    assert neighbours.startswith(
        "“fed-ucb” and “gossip-ucb”, with its neighbours in the network: 400 messages, 1 to 20 kB,"
    )
    assert own.startswith("“mine.py”, with others: 400 messages")


def test_a_range_names_its_unit_twice_only_if_it_changes(row: MakeRow) -> None:
    (case,) = traffic.traffic_finding(
        [talking(row, "fed-ucb a", 1600, 2000), talking(row, "fed-ucb b", 3200, 8000)]
    ).cases
    assert "every row, with its neighbours in the network: 400 to 800 messages, 500 bytes to 2 kB" in plain(case)


def test_a_crowd_of_rows_is_not_listed(row: MakeRow) -> None:
    rows = [*(talking(row, f"fed-ucb {index}", 1600) for index in range(7)), talking(row, "alone", 0)]
    assert traffic.traffic_finding(rows).cases[1].startswith("“fed-ucb 0” and 6 others, with")


def test_where_nobody_talks_nothing_is_said(row: MakeRow) -> None:
    finding = traffic.traffic_finding([talking(row, "a", 0), talking(row, "b", 0)])
    assert finding == ("In every row an agent sends nothing.", ())
