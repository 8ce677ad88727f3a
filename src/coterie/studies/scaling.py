"""How regret grows with the size of a problem: a study for each value of one key, and the power by which it grows.

Run r of all studies has the same seed, so an exponent is fitted to each run, by least squares of logarithms, and its interval
is that of their mean.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from coterie.errors import UsageError
from coterie.studies import Study, load_study
from coterie.studies.ahead import Progress
from coterie.studies.reading import parse_value
from coterie.studies.spread import RUNS_LEAST, spread

VALUES_LEAST = 2


class Growth(NamedTuple):
    """Of one row: regret of all agents at the horizon for each value, and its exponent with half of its 95 % interval."""

    label: str
    regret: list[float]
    margin: list[float | None]
    exponent: float | None  # null where some run has no regret at all
    exponent_margin: float | None


class Scaling(NamedTuple):
    key: str
    values: list[float]
    rows: list[Growth]


def sizes(over: str) -> tuple[str, list[float]]:
    """The key and its values.

    >>> sizes("problem.agents=10,20,40")
    ('problem.agents', [10, 20, 40])
    """
    key, _, text = over.partition("=")
    key = key.strip()
    values = [parse_value(part.strip()) for part in text.split(",")]
    if len(values) < VALUES_LEAST or not all(type(value) in (int, float) and value > 0 for value in values):
        raise UsageError(f"--over must be KEY=A,B,... with at least {VALUES_LEAST} numbers > 0, got {over!r}")
    if sorted(set(values)) != values:
        raise UsageError(f"--over must have its values in rising order, each once, got {over!r}")
    return key, values


def studies_of(study: str, sets: Sequence[str], over: str) -> list[Study]:
    key, values = sizes(over)
    try:
        return [load_study(study, [*sets, f"{key}={value}"]) for value in values]
    except UsageError as error:  # the last setting is ours: a user has given it as --over
        raise UsageError(re.sub(rf"^--set {re.escape(key)}=[^:]*:", f"--over {over}:", str(error))) from None


def scale(
    study: str, over: str, sets: Sequence[str] = (), folder: Callable[[Study], Path | None] = lambda study: None,
    workers: int | None = None, progress: Progress | None = None,
) -> Scaling:  # fmt: skip
    """Run them all, each in its own folder, where one is named."""
    key, values = sizes(over)
    results = [one.run(workers, folder(one), progress) for one in studies_of(study, sets, over)]
    ends = [_at_the_end(result.frame()) for result in results]
    labels = [[row["label"] for row in result.summary] for result in results]
    if any(len(found) != len(labels[0]) for found in labels):
        raise UsageError("every value must give the same rows, got others: a sweep may depend on what is scaled")
    rows = [_growth(label, values, [end[place] for end in ends]) for place, label in enumerate(labels[0])]
    return Scaling(key, values, rows)


def _at_the_end(frame: pl.DataFrame) -> list[np.ndarray]:
    last = frame.filter(pl.col("round") == pl.col("round").max()).sort("row", "replication")
    return [part["regret"].to_numpy() for part in last.partition_by("row", maintain_order=True)]


def _growth(label: str, values: Sequence[float], runs: Sequence[np.ndarray]) -> Growth:
    spreads = [spread(run) for run in runs]
    few = len(runs[0]) < RUNS_LEAST
    exponent, margin = exponent_of(values, np.array(runs))
    return Growth(label, [float(run.mean()) for run in runs], [None if few else one["margin"] for one in spreads], exponent,
                  None if few else margin)  # fmt: skip


def exponent_of(values: Sequence[float], regret: np.ndarray) -> tuple[float | None, float | None]:
    """Of regret [value, run] as a power of the value: the mean of the runs' slopes, and half of its 95 % interval.

    >>> exponent_of([1, 10, 100], np.array([[2.0, 3.0], [20.0, 30.0], [200.0, 300.0]]))
    (1.0, 0.0)
    """
    if not (regret > 0).all():
        return None, None
    across = np.log(np.asarray(values, float))
    across -= across.mean()
    slopes = across @ np.log(regret) / (across @ across)
    found = spread(np.round(slopes, 12))
    return found["mean"], found["margin"]
