"""Regret of honest agents by algorithm, attack and share of liars."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import liars

MakeRow = Callable[..., dict[str, Any]]
SILENT = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def lied_to(row: MakeRow, name: str, regrets: dict[tuple[float, str | None], float], **changes: Any) -> list[dict[str, Any]]:
    rows = []
    for (share, attack), regret in regrets.items():
        faults = {"liars": share, "attack": attack} if share else {}
        label = f"{name} liars={share:g}" + (f" attack={attack}" if attack else "")
        rows.append(row(label, regret, faults=faults, algorithm=name, **changes))
    return rows


@pytest.fixture
def rows(row: MakeRow) -> list[dict[str, Any]]:
    pairs = [(0.1, "random"), (0.1, "sleeper"), (0.3, "random"), (0.3, "sleeper")]
    votes = lied_to(row, "votes", dict(zip([(0, None), *pairs], [5.0, 6.0, 9.0, 8.0, 12.0], strict=True)))
    sums = lied_to(row, "sums", dict(zip([(0, None), *pairs], [2.0, 3.0, 40.0, 90.0, 50.0], strict=True)))
    alone = lied_to(row, "alone", dict.fromkeys([(0, None), *pairs], 30.0), communication=SILENT)
    return [*votes, *sums, *alone]


def test_the_table_has_learning_alone_first_and_a_line_for_each_attack(rows: list[dict[str, Any]]) -> None:
    alone, votes, sums = liars.table(rows)
    assert [block.name for block in (alone, votes, sums)] == ["alone", "votes", "sums"]
    assert [line.attack for line in votes.lines] == ["random", "sleeper"]
    assert votes.calm is not None and votes.calm.mean == "5.00"
    assert [[cell.mean for cell in line.cells if cell] for line in sums.lines] == [["3.00", "90.00"], ["40.00", "50.00"]]


def test_who_learns_alone_hears_no_attack_and_has_one_line(rows: list[dict[str, Any]]) -> None:
    (line,) = liars.table(rows)[0].lines
    assert line.attack == "any attack"
    assert [(cell.mean, cell.worst, cell.above) for cell in line.cells if cell] == 2 * [("30.00", False, False)]


def test_the_worst_attack_of_each_algorithm_and_share_is_marked(rows: list[dict[str, Any]]) -> None:
    _, votes, sums = liars.table(rows)
    worst = {
        (block.name, line.attack): [cell.worst for cell in line.cells if cell]
        for block in (votes, sums)
        for line in block.lines
    }
    assert worst == {
        ("votes", "random"): [False, False],
        ("votes", "sleeper"): [True, True],
        ("sums", "random"): [False, True],
        ("sums", "sleeper"): [True, False],
    }


def test_what_is_worse_than_learning_alone_beyond_chance_is_marked(row: MakeRow, rows: list[dict[str, Any]]) -> None:
    marked = [
        (block.name, cell.mean)
        for block in liars.table(rows)
        for line in block.lines
        for cell in line.cells
        if cell and cell.above
    ]
    assert marked == [("sums", "90.00"), ("sums", "40.00"), ("sums", "50.00")]
    close = lied_to(row, "close", {(0, None): 1.0, (0.3, "random"): 30.1})  # an interval of the difference of 0.14
    assert not any(cell.above for line in liars.table([*rows, *close])[-1].lines for cell in line.cells if cell)


def test_a_share_that_an_algorithm_was_not_run_with_has_no_cell(row: MakeRow, rows: list[dict[str, Any]]) -> None:
    more = lied_to(row, "late", {(0.2, "random"): 7.0})
    late = liars.table([*rows, *more])[-1]
    assert late.calm is None and [cell and cell.mean for cell in late.lines[0].cells] == [None, "7.00", None]


def test_the_largest_replication_stands_beside_the_mean_unless_there_is_only_one(row: MakeRow) -> None:
    regrets = {(0, None): 1.0, (0.3, "random"): 4.0}
    assert liars.table(lied_to(row, "a", regrets))[0].lines[0].cells[0].largest == "8"  # type: ignore[union-attr]
    once = liars.table(lied_to(row, "a", regrets, replications=1, margin=None))[0].lines[0].cells[0]
    assert once is not None and (once.error, once.largest) == ("", "")


def test_the_picture_follows_the_worst_attack(rows: list[dict[str, Any]]) -> None:
    found = {one.name: [(share, entry["regret_per_agent"]["mean"]) for share, entry in one.rows] for one in liars.series(rows)}
    assert found["sums"] == [(0, 2.0), (10, 40.0), (30, 90.0)]
    assert found["votes"] == [(0, 5.0), (10, 9.0), (30, 12.0)]


def test_the_finding_tells_the_worst_attack_at_the_largest_share(rows: list[dict[str, Any]]) -> None:
    (finding,) = liars.liar_findings(rows)
    assert plain(finding.text) == (
        "Regret per honest agent where 30 % of the agents lie, under the attack that does most harm. "
        "Learning alone has 30.00 ± 0.10."
    )
    assert [plain(case) for case in finding.cases] == [
        "“votes”: 12.00 ± 0.10 (sleeper), at most 24 in one run; 5.00 ± 0.10 without liars; "
        "compared with learning alone, 0.40 times the regret",
        "“sums”: 90.00 ± 0.10 (random), at most 180 in one run; 2.00 ± 0.10 without liars; "
        "compared with learning alone, 3.00 times the regret",
    ]


def test_nothing_is_said_where_nobody_lies_or_all_are_lied_to_alike(row: MakeRow) -> None:
    for same in ([row("a"), row("b")], lied_to(row, "a", {(0.2, "random"): 1.0}) + lied_to(row, "b", {(0.2, "random"): 2.0})):
        assert liars.table(same) == liars.series(same) == liars.liar_findings(same) == []
    assert liars.lied_to(same) and not liars.lied_to([row()])
