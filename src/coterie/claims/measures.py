"""The ways of judging a claim. Each looks at rows of studies and returns a number, its interval where there is one, and whether
it is as the claim says.

Replication r of all rows of a study meets the same instance with the same seeds, so rows are compared run by run. "Surely" is a
mean difference beyond SURE of its standard errors: 1 false alarm in 270 for one comparison of twenty runs.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import copysign, inf, sqrt
from typing import NamedTuple

import numpy as np

from coterie.claims.claim import Check
from coterie.claims.lab import Lab
from coterie.studies.numbers import number
from coterie.studies.spread import margin

SURE = 3.0


class Finding(NamedTuple):
    holds: bool
    value: float | None
    low: float | None  # of the 95 % interval
    high: float | None
    text: str


def falling(lab: Lab, check: Check) -> Finding:
    """Each row surely has less than the one before it."""
    return _ordered(_all_runs(lab, check), -1, ">")


def rising(lab: Lab, check: Check) -> Finding:
    return _ordered(_all_runs(lab, check), 1, "<")


def ratio(lab: Lab, check: Check) -> Finding:
    """Of the mean of the first row to that of the second, which must lie in low .. high."""
    first, second = _two(_all_runs(lab, check))
    value = float(first.mean() / second.mean())
    half = _half(first / second.mean() - value * second / second.mean()) if len(first) == len(second) else None
    return _within(value, half, check, f"{number(float(first.mean()))} : {number(float(second.mean()))} = {value:.3g}")


def growth(lab: Lab, check: Check) -> Finding:
    """What a row has at the end, over what it had at the share `since` of the horizon."""
    (pick,) = check.of
    late, early = lab.runs(pick, check.quantity, check.at)[0], lab.runs(pick, check.quantity, check.since)[0]
    value = float(late.mean() / early.mean())
    half = _half(late / early.mean() - value * early / early.mean())
    moments = ((early, check.since), (late, check.at))
    told = " and ".join(f"{number(float(runs.mean()))} at {share:g} of the horizon" for runs, share in moments)
    return _within(value, half, check, f"{told}: {value:.3g} times")


def same(lab: Lab, check: Check) -> Finding:
    """All rows have the same number in every run, but for rounding."""
    runs = _all_runs(lab, check)
    apart = max(float(np.abs(one - runs[0]).max()) for one in runs)
    holds = apart <= 1e-9 * max(1.0, float(np.abs(runs[0]).max()))
    return Finding(holds, apart, None, None, f"largest difference in a run {number(apart)}")


def extra(lab: Lab, check: Check) -> Finding:
    """Rows come in pairs: the difference of each pair, second minus first, surely exceeds that of the pair before."""
    runs = _all_runs(lab, check)
    pairs = [second - first for first, second in zip(runs[::2], runs[1::2], strict=True)]
    return _ordered(pairs, 1, "<")


def fact(lab: Lab, check: Check) -> Finding:
    """What every row's summary says must lie in low .. high; null is no finite number."""
    values = _all_facts(lab, check)
    holds = all(check.low <= value <= check.high for value in values)
    return Finding(holds, values[0], None, None, ", ".join(_amount(value) for value in values))


def ratio_of_facts(lab: Lab, check: Check) -> Finding:
    """Of what the first row's summary says to what the second's does, such as medians; it must lie in low .. high."""
    first, second = _all_facts(lab, check)
    value = first / second if 0 < second < inf else inf
    return _within(value, None, check, f"{_amount(first)} : {_amount(second)} = {value:.3g}")


def proportion(lab: Lab, check: Check) -> Finding:
    """The share of runs in which the first row has less than the second."""
    first, second = _two(_all_runs(lab, check))
    wins = int((first < second).sum())
    value = wins / len(first)
    return Finding(check.low <= value <= check.high, value, None, None, f"{wins} of {len(first)} runs")


def exponent(lab: Lab, check: Check) -> Finding:
    """The power of `since`..`at` by which regret grows: the slope of logarithms between the two moments."""
    (pick,) = check.of
    late, early = lab.runs(pick, check.quantity, check.at)[0], lab.runs(pick, check.quantity, check.since)[0]
    slopes = np.log(late / early) / np.log(check.at / check.since)
    return _within(float(slopes.mean()), _half(slopes), check, f"exponent {slopes.mean():.2f}")


MEASURES: dict[str, Callable[[Lab, Check], Finding]] = {
    "falling": falling,
    "rising": rising,
    "ratio": ratio,
    "growth": growth,
    "same": same,
    "extra": extra,
    "fact": fact,
    "ratio of facts": ratio_of_facts,
    "proportion": proportion,
    "exponent": exponent,
}


def _all_runs(lab: Lab, check: Check) -> list[np.ndarray]:
    return [row for pick in check.of for row in lab.runs(pick, check.quantity, check.at)]


def _all_facts(lab: Lab, check: Check) -> list[float]:
    """What is no finite number is infinite."""
    told = [value for pick in check.of for value in lab.told(pick, check.quantity)]
    return [inf if value is None else value for value in told]


def _two(runs: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    first, second = runs
    return first, second


def _ordered(runs: Sequence[np.ndarray], sign: int, mark: str) -> Finding:
    steps = [sign * (later - earlier) for earlier, later in pairwise(runs)]
    in_errors = [_in_standard_errors(step) for step in steps]
    least = min(in_errors)
    text = f" {mark} ".join(number(float(run.mean())) for run in runs)
    sure = "all steps are the same in every run" if least == inf else f"the least step is {least:.1f} standard errors"
    return Finding(least > SURE, least, None, None, f"{text}; {sure}")


def _in_standard_errors(step: np.ndarray) -> float:
    mean, error = float(step.mean()), float(step.std(ddof=1)) / sqrt(len(step))
    return mean / error if error > 0 else copysign(inf, mean) if mean else 0.0


def _half(values: np.ndarray) -> float:
    return float(margin(values))


def _within(value: float, half: float | None, check: Check, text: str) -> Finding:
    holds = check.low <= value <= check.high
    if half is None or half != half:
        return Finding(holds, value, None, None, text)
    low, high = value - half, value + half
    return Finding(holds, value, low, high, f"{text} (95 % interval {number(low)} to {number(high)})")


def _amount(value: float) -> str:
    return "no limit" if value == inf else number(value)
