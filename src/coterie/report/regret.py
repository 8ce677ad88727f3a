"""Regret of rows beside each other: what is lowest, what is highest, and what cannot be told apart.

A difference is called one only if its 95 % interval, by Welch's t over the runs, leaves out 0. Where a run tells how rows
compare on the same instances and seeds, it is that ratio whose interval decides: instances differ more than algorithms do.
"""

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from coterie.report.controls import compared
from coterie.report.procurement import with_violations
from coterie.report.rows import Row, all_named, named
from coterie.studies.numbers import measured, times


def mean_regret(row: Row) -> float:
    return row["regret_per_agent"]["mean"]


def too_close(row: Row, other: Row) -> bool:
    """Does the 95 % interval of the difference hold 0? Always false between different numbers seen once."""
    paired = compared(row, other, "whole") if "procurement" in row else None
    if paired:
        return not (paired.lower or paired.higher)
    here, there = row["regret_per_agent"], other["regret_per_agent"]
    margin = welch_margin(here["sem"] or 0.0, row["replications"], there["sem"] or 0.0, other["replications"])
    return abs(here["mean"] - there["mean"]) <= margin


def welch_margin(sem: float, runs: int, other_sem: float, other_runs: int) -> float:
    """Half of the 95 % interval of the difference of two means whose standard errors and numbers of runs are given.

    >>> round(welch_margin(3.0, 10, 4.0, 10), 3)  # 5 times t at 16.7 degrees of freedom
    10.564
    """
    parts = [(sem**2, runs - 1), (other_sem**2, other_runs - 1)]
    total = sum(square for square, _ in parts)
    if total == 0:
        return 0.0
    freedom = total**2 / sum(square**2 / max(1, left) for square, left in parts)
    return float(stdtrit(freedom, 0.975)) * math.sqrt(total)


def against(row: Row, reference: Row) -> str:
    """How the regret of a row compares with that of the reference."""
    if mean_regret(row) == mean_regret(reference):
        return "the same regret"
    if too_close(row, reference):
        return f"regret too close to call{with_violations(row)}"
    if mean_regret(reference) <= 0:
        return f"regret {measured(row['regret_per_agent'])} per agent{with_violations(row)}"
    return f"{times(mean_regret(row) / mean_regret(reference))} the regret{with_violations(row)}"


# Regret per decision, for readers to whom a sum over a whole run says nothing


def decisions_shown(rows: Sequence[Row]) -> int:
    """The power of ten, from 100 up to the horizon, in which the lowest regret above zero becomes at least 1."""
    horizon = rows[0]["horizon"]
    losses = [mean_regret(row) / horizon for row in rows if mean_regret(row) > 0]
    wanted = max(2, math.ceil(-math.log10(min(losses, default=1.0))))
    return 10 ** min(wanted, math.floor(math.log10(horizon)))


def per_decisions(row: Row, decisions: int) -> float:
    """Regret of one agent in so many of its decisions, on average over the run."""
    return mean_regret(row) * decisions / row["horizon"]


# The findings


def regret_findings(rows: Sequence[Row]) -> list[str]:
    """Lowest regret and what cannot be told from it; the highest too, if it can be told from the lowest."""
    best, worst = min(rows, key=mean_regret), max(rows, key=mean_regret)
    if len(rows) == 1:
        return [f"The regret of {named(best)} is {_regret_text(best)}."]
    lowest = f"The lowest regret is that of {named(best)}: {_regret_text(best)}.{_level_with(best, rows)}"
    if too_close(worst, best):
        return [lowest]
    ratio = f", {times(mean_regret(worst) / mean_regret(best))} the lowest" if mean_regret(best) > 0 else ""
    highest = f"The highest is that of {named(worst)}: {_regret_text(worst)}{ratio}.{_level_with(worst, rows)}"
    return [lowest, highest]


def _regret_text(row: Row) -> str:
    total, per_agent = (measured(row[key]) for key in ("regret", "regret_per_agent"))
    return f"{total} in total, {per_agent} per agent{with_violations(row)}"


def _level_with(row: Row, rows: Sequence[Row]) -> str:
    """The rows whose regret cannot be told from that of `row`, as further sentences."""
    others = [other for other in rows if other is not row]
    same = [other for other in others if mean_regret(other) == mean_regret(row)]
    close = [other for other in others if too_close(other, row) and other not in same]
    sentences = f" Exactly the same: {all_named(same)}." if same else ""
    if close:
        whom = "every other row" if len(close) == len(others) > 1 else all_named(close)
        sentences += f" Too close to call: {whom}."
    return sentences
