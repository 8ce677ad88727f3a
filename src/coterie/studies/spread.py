"""Mean, standard error and range of a number over replications."""

import math

import numpy as np


def spread(values: np.ndarray) -> dict[str, float]:
    sem = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "sem": sem, "min": float(values.min()), "max": float(values.max())}
