"""Mean of a number over replications, how far chance may have moved it, and its range."""

import math

import numpy as np

LEVEL = 0.95  # of every interval that is shown
RUNS_LEAST = 5  # of fewer no interval is told: it would say more about chance than about the mean


def margin(values: np.ndarray) -> np.ndarray:
    """Over the first axis, half of the 95 % interval of the mean by Student's t; nan after one replication. Gaps are nan.

    >>> margin(np.array([[1.0, 2.0], [3.0, np.nan]])).round(3)
    array([12.706,    nan])
    """
    runs = (~np.isnan(values)).sum(axis=0)
    enough = np.where(runs > 1, runs, 2)
    means = np.nansum(values, axis=0) / np.maximum(runs, 1)
    sem = np.sqrt(np.nansum((values - means) ** 2, axis=0) / (enough - 1) / enough)
    return np.where(runs > 1, _student(enough - 1) * sem, np.nan)


def spread(values: np.ndarray) -> dict[str, float | None]:
    """`sem` is the standard error, `margin` half of the 95 % interval of the mean by Student's t; None after one replication.

    >>> spread(np.array([3.0]))["margin"], round(spread(np.array([1.0, 3.0]))["margin"], 3)
    (None, 12.706)
    """
    runs = len(values)
    sem = float(values.std(ddof=1) / math.sqrt(runs)) if runs > 1 else None
    half = None if sem is None else float(_student(np.array(runs - 1))) * sem
    return {
        "mean": float(values.mean()), "sem": sem, "margin": half, "min": float(values.min()), "max": float(values.max())
    }


def _student(freedom: np.ndarray) -> np.ndarray:
    """Standard errors to each side of a mean that its interval reaches."""
    from scipy.special import stdtrit

    return stdtrit(freedom, (1 + LEVEL) / 2)
