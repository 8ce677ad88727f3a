"""Mean of a number over replications, how far chance may have moved it, and its range."""

import math

import numpy as np
from scipy.special import stdtrit

LEVEL = 0.95  # of every interval that is shown


def spread(values: np.ndarray) -> dict[str, float | None]:
    """`sem` is the standard error, `margin` half of the 95 % interval of the mean by Student's t; None after one replication.

    >>> spread(np.array([3.0]))["margin"], round(spread(np.array([1.0, 3.0]))["margin"], 3)
    (None, 12.706)
    """
    runs = len(values)
    sem = float(values.std(ddof=1) / math.sqrt(runs)) if runs > 1 else None
    margin = None if sem is None else float(stdtrit(runs - 1, (1 + LEVEL) / 2)) * sem
    return {
        "mean": float(values.mean()), "sem": sem, "margin": margin, "min": float(values.min()), "max": float(values.max())
    }
