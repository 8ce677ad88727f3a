"""Which rows a row of a procurement is measured by, and how it compares with them.

Not every drop in regret after a message is learning from its sender: an algorithm that takes its own data for news grows bolder
too. Rows with `learning = "echo"` do just that, and show how much of a saving is of that kind.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from coterie.report.rows import Row

BASELINE = "nf-cb"


def learns_from_itself(row: Row) -> bool:
    return row["parameters"].get("learning") == "echo"


def alone_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The row in which agents learn alone by the same rule: where there is more than one, that with the same parameters."""
    found = [other for other in rows if other["algorithm"] == BASELINE]
    if len(found) > 1:
        found = [other for other in found if other["parameters"].items() <= row["parameters"].items()]
    return found[0] if found and found[0] is not row else None


def echo_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The row that differs from this one in nothing but that it learns from itself."""
    echoes = [other for other in rows if learns_from_itself(other) and other["algorithm"] == row["algorithm"]]
    alike = [other for other in echoes if other["parameters"] == row["parameters"] | {"learning": "echo"}]
    return alike[0] if alike and alike[0] is not row else None


class Comparison(NamedTuple):
    """Regret relative to another row on the same instances and with the same seeds."""

    of_means: float
    mean: float  # of the ratios of single replications
    sem: float | None
    margin: float | None  # half of the 95 % interval of that mean; None after one replication

    @property
    def lower(self) -> bool:
        """Beyond chance: by the 95 % interval of the paired ratios."""
        return self.mean + (self.margin or 0.0) < 1

    @property
    def higher(self) -> bool:
        return self.mean - (self.margin or 0.0) > 1


def compared(row: Row, other: Row | None, key: Literal["after", "whole"] = "after") -> Comparison | None:
    """None where the other row has nothing to divide by. `key` is `after` (the exploration) or `whole` (run)."""
    against = row["procurement"]["against"].get(other["label"]) if other else None
    ratio = against[key] if against else None
    return Comparison(**ratio) if ratio else None
