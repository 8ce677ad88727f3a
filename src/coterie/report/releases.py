"""What releases that cover the same rewards again and again add up to, beside the epsilon they are called by."""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.report.rows import Row
from coterie.studies.numbers import number, percent

MEASUREMENTS = ("loss_basic", "loss_advanced", "loss_closed_bound", "pivotal_share", "pivotal_rounds")


class Account(NamedTuple):
    """One line of the table, as text."""

    label: str
    epsilon: str
    rate: str
    basic: str
    advanced: str
    closed_bound: str
    pivotal_share: str
    pivotal_rounds: str


def accounts(rows: Sequence[Row]) -> list[Account]:
    """Of the rows that account for their releases."""
    found = []
    for row in rows:
        if "loss_basic" in row["extra"]:
            given, extra = row["parameters"], row["extra"]
            losses = [number(extra[key]) for key in MEASUREMENTS[:3]]
            counts = "pivotal_share" in extra
            pivotal = [percent(extra["pivotal_share"]), number(extra["pivotal_rounds"])] if counts else ["-", "-"]
            found.append(Account(row["label"], f"{given['epsilon']:g}", f"{given['rate']:g}", *losses, *pivotal))
    return found
