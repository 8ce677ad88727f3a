"""Differences between rows, run by run: replication r of every row meets the same instance with the same seeds."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from coterie.studies.rows import Beside, Difference, SummaryRow
from coterie.studies.spread import RUNS_LEAST, spread

Runs = Sequence[np.ndarray]  # of each row: a number for each run


def runs_of(frame: pl.DataFrame, rows: Sequence[SummaryRow]) -> list[np.ndarray]:
    """Regret of one decision of an honest agent at the horizon, from `results.parquet`."""
    last = frame.filter(pl.col("round") == pl.col("round").max()).sort("row", "replication")
    return [
        last.filter(pl.col("row") == place)["regret_per_agent"].to_numpy() / row["horizon"] for place, row in enumerate(rows)
    ]


def difference(runs: Runs, row: int, against: int) -> Difference:
    """Called one only if its 95 % interval leaves out 0, and there are runs enough for an interval."""
    found = spread(runs[row] - runs[against])
    mean, margin = found["mean"], found["margin"] if len(runs[row]) >= RUNS_LEAST else None
    assert mean is not None
    beyond = margin is not None and abs(mean) > margin
    verdict: Beside = ("less" if mean < 0 else "more") if beyond else "close"
    return {"row": row, "against": against, "mean": mean, "margin": margin, "verdict": verdict, "runs": len(runs[row])}
