"""How each agent fared, and when one may be called misled."""

import math
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from coterie.report import agents

MakeRow = Callable[..., dict[str, Any]]
NAMES = [f"agent {number}" for number in range(4)]
SILENT = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def shares(row: MakeRow, label: str, *found: float, **changes: Any) -> dict[str, Any]:
    return row(label, by_agent={"regret": len(found) * [10.0], "found": list(found)}, **changes)


def test_agents_that_were_simulated_as_one_fared_alike(row: MakeRow) -> None:
    folded = row("a", 12.0, by_agent={"regret": [9.0], "found": [0.65]})
    assert agents.fates(folded) == 4 * [(0.65, 12.0)]
    single = row("b", by_agent={"regret": [1.0, 2.0, 3.0, 4.0], "found": [0.0, 0.5, 1.0, 1.0]})
    assert agents.fates(single) == [(0.0, 1.0), (0.5, 2.0), (1.0, 3.0), (1.0, 4.0)]


def test_single_agents_are_told_of_where_rows_differ_and_agents_are_few(row: MakeRow) -> None:
    same, other = shares(row, "a", 1, 1, 1, 1), shares(row, "b", 1, 0.5, 1, 1)
    assert agents.differ([same, other])
    assert not agents.differ([same, shares(row, "b", 1, 1, 1, 1)])
    assert not agents.differ([shares(row, "a", 1, agents=1), shares(row, "b", 0, agents=1)])
    assert not agents.differ([shares(row, "a", *20 * [1], agents=21), shares(row, "b", *20 * [0], agents=21)])
    assert not agents.differ([same, shares(row, "b", 1, 0, 1, 1, best_arm_rate=None)])


def test_the_table_has_a_share_and_a_regret_per_decision_for_each_agent(row: MakeRow) -> None:
    rows = [row("a", 10.0, by_agent={"regret": [4.0, 5.0, 6.0, 25.0], "found": [1.0, 0.5, 0.25, 0.0]})]
    (line,) = agents.table(rows)
    assert [(plain(share), regret) for _, share, regret in line["cells"]] == [
        ("100 %", "4"),
        ("50 %", "5"),
        ("25 %", "6"),
        ("0 %", "25"),
    ]


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_disc_is_filled_in_proportion(share: float) -> None:
    svg = fromstring(agents.disc(share))
    filled = [circle for circle in svg.iter("circle") if circle.get("class") == "filled"]
    if share == 0:
        assert filled == []
    else:
        dash = float(filled[0].get("stroke-dasharray", "").split()[0])
        assert dash == pytest.approx(share * 2 * math.pi * float(filled[0].get("r", "")), abs=0.01)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("trials", [3, 20])
def test_the_ends_of_an_interval_are_as_far_as_95_percent_go_by_their_own_measure(share: float, trials: int) -> None:
    for end in agents.share_interval(share, trials):
        assert abs(share - end) == pytest.approx(1.959964 * math.sqrt(max(0.0, end * (1 - end)) / trials), abs=1e-6)


@pytest.mark.parametrize(
    ("alone", "together", "replications", "expected"),
    [
        (0.05, 1.0, 20, True),
        (0.45, 0.95, 20, True),
        (0.8, 1.0, 20, False),  # mostly found alone
        (0.05, 0.45, 20, False),  # mostly missed together
        (0.4, 0.6, 20, False),  # chance
        (0.0, 1.0, 3, False),  # chance: three replications tell little
        (0.0, 1.0, 10, True),
    ],
)
def test_an_agent_is_misled_only_beyond_chance(
    row: MakeRow, alone: float, together: float, replications: int, expected: bool
) -> None:
    one = shares(row, "alone", 1, alone, 1, 1, replications=replications)
    other = shares(row, "together", 1, together, 1, 1, replications=replications)
    assert agents.misled(one, other) == ([1] if expected else [])


def test_the_misled_are_named_and_every_row_that_talks_is_compared(row: MakeRow) -> None:
    rows = [
        shares(row, "alone", 1, 0.05, 1, 1, communication=SILENT),
        shares(row, "together", 1, 1, 1, 1, per_agent=5.0),
        shares(row, "printed", 0.3, 0.3, 0.3, 0.3, per_agent=40.0, claimed=1),
    ]
    finding = agents.together_finding(rows, NAMES)
    assert finding is not None
    assert plain(finding.text).startswith(
        "Alone, agent 1 is misled: in “alone” it settled on the best arm in 5 % of the runs."
    )
    assert list(map(plain, finding.cases)) == [
        "“together”: 100 %; 0.50 times the regret",
        "“printed”: 30 %, too close to call; 4.00 times the regret",
    ]


def test_several_misled_agents_are_spoken_of_in_the_plural(row: MakeRow) -> None:
    rows = [shares(row, "alone", 0, 0.1, 1, 1, communication=SILENT), shares(row, "together", 0.9, 1, 1, 1)]
    finding = agents.together_finding(rows, NAMES)
    assert finding is not None
    assert "agent 0 and agent 1 are misled: in “alone” they settled on the best arm in 0 % to 10 %" in plain(finding.text)
    assert plain(finding.cases[0]).startswith("“together”: 90 % to 100 %;")


def test_nobody_is_called_misled_where_the_numbers_do_not_show_it(row: MakeRow) -> None:
    rows = [
        shares(row, "alone", 1, 0.8, 1, 1, communication=SILENT),
        shares(row, "together", 1, 1, 1, 1, per_agent=5.0),
    ]
    finding = agents.together_finding(rows, NAMES)
    assert finding is not None
    assert plain(finding.text) == "Compared with “alone” (regret 10.00 ± 0.10 per agent), learning together has:"
    assert list(map(plain, finding.cases)) == ["“together”: 0.50 times the regret"]


def test_learning_alone_is_the_silent_row_without_noise(row: MakeRow) -> None:
    alone, noisy = row("alone", communication=SILENT), row("noisy", communication=SILENT, claimed=1, accounted=1)
    together = row("together")
    assert agents.alone_row([noisy, alone, together]) is alone
    assert agents.alone_row([noisy, together]) is noisy
    assert agents.alone_row([alone, row("b", communication=SILENT), together]) is None
    assert agents.alone_row([alone]) is agents.alone_row([together]) is None
    assert agents.together_finding([together], NAMES) is None
