"""What noise costs, and against which row that is measured."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import price

MakeRow = Callable[..., dict[str, Any]]
PRIVATE = {"claimed": 1, "accounted": 1}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def test_the_price_is_measured_against_the_row_without_noise(row: MakeRow) -> None:
    rows = [
        row("cdp-mab epsilon=0.1", 15.0, claimed=0.1, accounted=0.1, parameters={"epsilon": 0.1, "mode": "private"}),
        row("cdp-mab epsilon=1", 10.1, **PRIVATE, parameters={"epsilon": 1, "mode": "private"}),
        row("cdp-mab epsilon=2", 9.0, claimed=2, accounted=2, parameters={"epsilon": 2, "mode": "private"}),
        row("cdp-mab epsilon=inf", 10.0, parameters={"epsilon": None, "mode": "private"}),
    ]
    (cost,) = price.price_findings(rows)
    start = "Without privacy, “cdp-mab epsilon=inf” has a regret of 10 per 100 decisions of an agent."
    assert plain(cost.text) == f"{start} With noise, in the same unit:"
    assert tuple(map(plain, cost.cases)) == (
        "“cdp-mab epsilon=0.1”: 15, which is 5 more (1.50 times as much); private at epsilon 0.1",
        "“cdp-mab epsilon=1”: 10.1, too close to call; private at epsilon 1",
        "“cdp-mab epsilon=2”: 9, which is 1 less (0.90 times as much); private at epsilon 2",
    )


def test_a_row_without_guarantee_has_no_price_of_privacy(row: MakeRow) -> None:
    rows = [row("fed-ucb", 15.0, claimed=1), row("gossip-ucb", 10.0)]
    (cost,) = price.price_findings(rows)
    assert cost.text.startswith("None of the rows with noise is private, so the noise buys no privacy.")
    assert plain(cost.cases[0]) == "“fed-ucb”: 15, which is 5 more (1.50 times as much); not private"


@pytest.mark.parametrize(("other", "close"), [(15.1, True), (16.0, False)])
def test_a_larger_epsilon_without_gain_is_said_to_be_one(row: MakeRow, other: float, close: bool) -> None:
    rows = [
        row("cdp-mab 1", 15.0, **PRIVATE),
        row("cdp-mab 2", other, claimed=2, accounted=2),
        row("cdp-mab printed", 15.0, claimed=3),
        row("cdp-mab inf", 10.0),
    ]
    _, *gains = price.price_findings(rows)
    text = "Between “cdp-mab 1” and “cdp-mab 2” the regret is too close to call: here a larger epsilon shows no gain."
    assert [gain.text for gain in gains] == ([text] if close else [])


def test_the_row_with_the_same_settings_is_the_reference(row: MakeRow) -> None:
    noisy = row("a", algorithm="cdp-mab", parameters={"epsilon": 1, "rounds": 4}, **PRIVATE)
    plain_rows = [
        row(f"plain {rounds}", algorithm="cdp-mab", parameters={"epsilon": None, "rounds": rounds}) for rounds in (2, 4)
    ]
    assert price.reference_of(noisy, [noisy, *plain_rows]) is plain_rows[1]


def test_a_counterpart_with_the_same_settings_goes_before_others(row: MakeRow) -> None:
    noisy = row("fed-ucb", parameters={"epsilon": 1, "isolated": False, "mechanism": None}, **PRIVATE)
    alone, together = (row(f"gossip-ucb {it}", parameters={"isolated": it}) for it in (True, False))
    assert price.reference_of(noisy, [noisy, alone, together]) is together


def test_without_a_clear_reference_no_price_is_named(row: MakeRow) -> None:
    noisy = row("cdp-mab x", parameters={"rounds": 9}, **PRIVATE)
    plain_rows = [row(f"cdp-mab {rounds}", parameters={"rounds": rounds}) for rounds in (2, 4)]
    assert price.price_findings([noisy, *plain_rows]) == []
    silent = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}
    assert price.price_findings([noisy, row("ucb1", communication=silent)]) == []


def test_another_algorithm_without_privacy_is_a_reference_if_it_is_the_only_one(row: MakeRow) -> None:
    noisy, alone = row("cdp-mab", 15.0, **PRIVATE), row("ucb1", communication=dict.fromkeys(row()["communication"], 0))
    (cost,) = price.price_findings([noisy, alone, row("gossip-ucb")])
    assert "“gossip-ucb” has a regret" in cost.text
    assert cost.cases[0].endswith("; private at epsilon 1, by another algorithm")
    assert price.price_findings([noisy, row("coop-ucb"), row("gossip-ucb")]) == []


def test_a_reference_without_regret_gives_a_number_instead_of_a_ratio(row: MakeRow) -> None:
    rows = [row("fed-ucb", 3.0, **PRIVATE), row("gossip-ucb", 0.0, margin=0.0)]
    (case,) = price.price_findings(rows)[0].cases
    assert plain(case) == "“fed-ucb”: 3, which is 3 more; private at epsilon 1"
