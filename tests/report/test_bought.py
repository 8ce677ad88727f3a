"""Regret never without violations, and learning from others never without the echo control."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import bought
from coterie.report.view import Table, View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]
PROBLEM = {"kind": "procurement", "alpha": 0.4, "agent_names": ["Anna", "Bert", "Cleo", "Dora"]}


def plain(line: list[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in line]


def tables(rows: list[dict[str, Any]], summary: MakeSummary, **problem: Any) -> dict[str, Table]:
    found = bought.tables(View(summary(rows, study={"problem": PROBLEM | problem}, kind="procurement")))
    return {table.name.partition(":")[0]: table for table in found}


def noisy(buying_row: MakeRow, label: str, learning: str = "check", **changes: Any) -> dict[str, Any]:
    return buying_row(
        label, algorithm="p-fcb", claimed=1, accounted=1, parameters={"epsilon": 1, "learning": learning}, **changes
    )


def test_the_table_of_purchases_spans_the_agents_that_bought(buying_row: MakeRow, summary: MakeSummary) -> None:
    table = tables([buying_row("a", 10.0, after=4.0, violations=6.0)], summary)[
        "What was bought, how good it was and what it brought"
    ]
    assert plain(table.lines[0]) == [
        "1 a", "10.00 ± 0.10", "4.00 ± 0.10", "2", "1.5", "1.5 %", "0.410 to 0.600", "90 %"
    ]  # fmt: skip
    assert "takes 5 rounds" in table.note and "below 0.4" in table.note


def test_every_agent_has_its_regret_its_violations_and_its_slack(buying_row: MakeRow, summary: MakeSummary) -> None:
    table = tables([buying_row("a", after=4.0, violations=6.0)], summary)[
        "Each agent's regret after the exploration, and its violated rounds"
    ]
    assert table.columns == ["Row", "Anna", "Bert", "Cleo", "Dora"]
    assert [plain(line) for line in table.lines] == [
        ["1 a", "4; 6", "4; 0", "4; 0", "4; 0"], ["slack", "-0.020", "+0.100", "+0.150", "-"]
    ]  # fmt: skip


def test_a_row_is_held_against_its_own_echo_and_against_learning_alone(buying_row: MakeRow, summary: MakeSummary) -> None:
    rows = [
        buying_row("nf-cb", size=0.0),
        noisy(buying_row, "private", against={"nf-cb": 0.5, "echo": 0.95}),
        noisy(buying_row, "echo", "echo", against={"nf-cb": 1.5}),
    ]
    table = tables(rows, summary)["What was learned from others"]
    assert [plain(line)[0] for line in table.lines] == ["2 private", "3 echo"]
    assert plain(table.lines[0])[-2:] == ["0.50 times", "0.95 times, too close to call"]
    assert plain(table.lines[1])[-2:] == ["1.50 times", "-"]
    assert bought.echo_of(rows[1], rows) is rows[2] and bought.echo_of(rows[2], rows) is None  # type: ignore[arg-type, comparison-overlap]


def test_of_several_rows_that_learn_alone_the_one_with_the_same_parameters_counts(buying_row: MakeRow) -> None:
    rows = [
        buying_row("bold", algorithm="nf-cb", parameters={"rule": "printed"}),
        buying_row("cautious", algorithm="nf-cb", parameters={"rule": "cautious"}),
        buying_row("fcb", algorithm="fcb", parameters={"rule": "cautious", "epsilon": 1}),
    ]
    assert bought.alone_of(rows[2], rows) is rows[1]  # type: ignore[arg-type, comparison-overlap]
    assert bought.alone_of(rows[1], rows) is None  # type: ignore[arg-type]


def test_what_was_taken_in_about_each_producer_is_told_where_it_is_known(buying_row: MakeRow, summary: MakeSummary) -> None:
    row = noisy(buying_row, "private")
    row["procurement"]["learned"] = {"by_agent": [1.0] * 4, "about": [[1.0, 2.0, 3.5]] * 4}
    table = tables([row], summary, producer_names=["mill", "forge", "loom"])["1\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}private"]
    assert table.columns == ["Agent", "mill", "forge", "loom"] and table.lines[0] == ["Anna", "1", "2", "3.5"]
    assert "units it counts beside it" in table.note


def test_exact_losses_are_rounded_up(buying_row: MakeRow, summary: MakeSummary) -> None:
    losses = {f"epsilon_{kind}_at_{delta}": 1.00001 for kind in ("event", "sequential") for delta in bought.DELTAS}
    table = tables([noisy(buying_row, "private", extra=losses | {"mu_event": 1.0})], summary)[
        "What the printed noise would give if orders did not follow from outcomes"
    ]
    assert plain(table.lines[0]) == ["1 private", "1", *["1.001"] * 6]
    assert all(bought.is_shown(name) for name in (*losses, "violations")) and not bought.is_shown("delay")


@pytest.mark.parametrize("horizon", [100_000, 99_999])
def test_the_source_is_set_beside_a_run_of_its_own_setting_only(
    buying_row: MakeRow, summary: MakeSummary, horizon: int
) -> None:
    setting = {"agents": 10, "arms": 30, "horizon": horizon}
    rows = [
        buying_row("fcb", 10.0, algorithm="fcb", **setting),
        buying_row("nf-cb", 20.0, algorithm="nf-cb", size=0.0, **setting),
        noisy(buying_row, "private", per_agent=15.0, **setting),
    ]
    found = tables(rows, summary, distribution="uniform", agent_names=None)
    table = found.get("Beside the figures that the source prints")
    assert (table is not None) == (horizon == 100_000)
    if table:
        assert table.lines == [["private", "+136%", "+50%", "+50%"], ["nf-cb", "+233%", "+100%", "+100%"]]
