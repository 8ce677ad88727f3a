"""Regret by the number of hops a message lives, where a study sweeps it."""

from collections.abc import Sequence

from coterie.report.groups import groups_by
from coterie.report.lines import Series
from coterie.report.rows import Row


def series(rows: Sequence[Row]) -> list[Series]:
    """Rows that differ in `life` only, by their life; where it is named (half the diameter) there is no number to draw at."""
    lines = []
    for name, group in groups_by(rows, ("life",)).items():
        lives = [(row["parameters"].get("life"), row) for row in group]
        lines.append(
            Series(name, sorted(((life, row) for life, row in lives if isinstance(life, int)), key=lambda line: line[0]))
        )
    return [line for line in lines if len(line.rows) > 1]
