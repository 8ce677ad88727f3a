"""What releases add up to."""

from collections.abc import Callable
from typing import Any

from coterie.report import releases, tables

MakeRow = Callable[..., dict[str, Any]]
LOSSES = {"loss_basic": 4.6566, "loss_advanced": 3.2434, "loss_closed_bound": 4.97}


def test_a_row_that_accounts_for_its_releases_has_a_line(row: MakeRow) -> None:
    given = {"epsilon": 0.1, "rate": 1.1}
    printed = row("printed", parameters=given, extra={**LOSSES, "pivotal_share": 0.25, "pivotal_rounds": 1.5})
    corrected = row("corrected", parameters=given, extra=LOSSES)
    found = releases.accounts([row("other"), printed, corrected])
    texts = [tuple(" ".join(text.split()) for text in account) for account in found]
    assert texts == [
        ("printed", "0.1", "1.1", "4.66", "3.24", "4.97", "25 %", "1.5"),
        ("corrected", "0.1", "1.1", "4.66", "3.24", "4.97", "-", "-"),
    ]


def test_what_is_in_that_table_is_not_among_the_further_measurements(row: MakeRow) -> None:
    rows = [row(extra={**LOSSES, "delay": 3.0}), row(extra=LOSSES)]
    assert tables.further_columns(rows) == ["delay"]
    assert [entry["further"] for entry in tables.table(rows)] == [["3"], []]
