"""The tables behind the pictures."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import evidence
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]
LOSSES = {"loss_basic": 4.6566, "loss_advanced": 3.2434, "loss_closed_bound": 4.97}


def plain(line: list[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in line]


def test_every_row_has_its_numbers(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a", 10.0, 0.5, claimed=0.1, accounted=5), row("b", 2.0, size=0.0)]
    table = evidence.numbers(View(summary(rows)))
    assert plain(table.lines[0]) == [
        "1 a", "10.0", "9.5–10.5", "5.0 to 20.0", "40.0 ± 2.0", "10.00 ± 0.50", "79 of 80", "0.1", "5",  # noqa: RUF001
        "broken: promised 0.1, 5 holds", "1", "2", "1 kB", "1",
    ]  # fmt: skip
    assert plain(table.lines[1])[7:10] == ["nothing", "no limit", "nothing promised"] and "sends nothing" in plain(
        table.lines[1]
    )
    assert all(len(line) == len(table.columns) for line in table.lines)


def test_one_run_has_no_margins(row: MakeRow, summary: MakeSummary) -> None:
    (line,) = evidence.numbers(View(summary([row("a", 10.0, None, replications=1)]))).lines
    assert plain(line)[1:5] == ["10.0", "-", "5.0 to 20.0", "40"] and "±" not in " ".join(line)


def test_differences_are_those_of_the_answer(row: MakeRow, summary: MakeSummary) -> None:
    one = {"row": 1, "against": 0, "mean": -0.08, "margin": 0.01, "verdict": "less", "runs": 20}
    table = evidence.differences(View(summary([row("a"), row("b", 2.0)], differences=[one])))
    assert table is not None
    assert plain(table.lines[0]) == ["2 b", "1 a", "\N{MINUS SIGN}8.0 (7.0\N{EN DASH}9.0)", "20"]
    assert evidence.differences(View(summary([row("a")]))) is None


def test_agents_are_told_one_by_one_with_what_is_best_for_each(row: MakeRow, summary: MakeSummary) -> None:
    apart = {"regret": [5.0, None], "margin": [0.5, None], "found": [1.0, None], "count": [20, 0], "of": [20, 0]}
    means = {"kind": "bernoulli", "means": [[0.9, 0.1], [0.2, 0.8]], "heterogeneity": 0.0, "instance": None}
    table = evidence.agents(View(summary([row("a", agents=2, by_agent=apart)], study={"problem": means})))
    assert table is not None
    assert plain(table.lines[0]) == ["1 a", "5.0 ± 0.5; 20 of 20", "-"]
    assert table.lines[1] == ["best by its own numbers", "arm 0", "arm 1"] and "here arm 0" in table.note
    assert evidence.agents(View(summary([row("a", faults={"liars": 0.1})]))) is None
    assert evidence.agents(View(summary([row("a")]))) is None  # all alike
    assert evidence.agents(View(summary([row("a", agents=21, by_agent=apart)]))) is None


def test_measurements_of_a_family_have_a_table_of_the_rows_that_have_any(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a", extra={**LOSSES, "active_sets": 3.5}), row("b", extra={"lambda_2": 1.0})]
    table = evidence.further(View(summary(rows)))
    assert table is not None
    assert table.columns == ["Row", "active sets"] and [plain(line) for line in table.lines] == [["1 a", "3.5"]]
    assert evidence.further(View(summary([row("b")]))) is None


def test_a_row_that_accounts_for_its_releases_has_a_line(row: MakeRow, summary: MakeSummary) -> None:
    given = {"epsilon": 0.1, "rate": 1.1}
    printed = row("printed", parameters=given, extra={**LOSSES, "pivotal_share": 0.25, "pivotal_rounds": 1.5})
    table = evidence.releases(View(summary([row("other"), printed, row("corrected", parameters=given, extra=LOSSES)])))
    assert table is not None
    assert [plain(line) for line in table.lines] == [
        ["2 printed", "0.1", "1.1", "4.66", "3.24", "4.97", "25 %", "1.5"],
        ["3 corrected", "0.1", "1.1", "4.66", "3.24", "4.97", "-", "-"],
    ]
    assert evidence.releases(View(summary([row("other")]))) is None


@pytest.mark.parametrize(
    ("bounds", "readings", "note"),
    [
        ([9000.0, None, 8000.0], ["says nothing here"] * 3, "says nothing at this horizon"),
        ([3621.0, 9000.0], ["holds", "says nothing here"], "holds where it says anything"),
        ([3621.0, 5.0], ["holds", "is broken"], "is broken in some row"),
    ],
)
def test_a_bound_is_read_beside_the_trivial_one_and_the_measured_regret(
    row: MakeRow, summary: MakeSummary, bounds: list[float | None], readings: list[str], note: str
) -> None:
    rows = [
        row(f"r{n}", extra={"lambda_2": 0.5, "bound_per_agent": bound, "trivial_bound_per_agent": 8000.0})
        for n, bound in enumerate(bounds)
    ]
    table = evidence.theory(View(summary([*rows, row("without")])))
    assert table is not None
    assert [line[-1] for line in table.lines] == readings and evidence.theory_note(table).endswith(note)
    assert evidence.theory(View(summary([row("without")]))) is None
