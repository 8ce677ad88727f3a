"""Paired differences, against scipy and by how often they are wrong."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, ttest_rel

from coterie.studies.differences import difference, runs_of


@pytest.mark.parametrize("runs", [5, 8, 30])
def test_they_are_those_of_a_paired_test(runs):
    rng = np.random.default_rng(runs)
    shared = rng.normal(size=runs)
    rows = [shared + rng.normal(scale=0.1, size=runs), shared + 0.1, shared]
    for row, against in ((0, 1), (1, 2), (0, 2)):
        found = difference(rows, row, against)
        low, high = ttest_rel(rows[row], rows[against]).confidence_interval(0.95)
        assert found["mean"] == pytest.approx((low + high) / 2) and found["margin"] == pytest.approx((high - low) / 2)
        assert found["verdict"] == ("less" if high < 0 else "more" if low > 0 else "close") and found["runs"] == runs


def test_what_instances_share_does_not_hide_a_difference():
    rng = np.random.default_rng(1)
    instances = rng.normal(scale=100, size=6)
    assert difference([instances + rng.normal(size=6) + 3, instances], 0, 1)["verdict"] == "more"


def test_under_five_runs_there_is_no_interval_and_equal_rows_are_close():
    assert difference([np.full(4, 2.0), np.ones(4)], 0, 1) == {
        "row": 0, "against": 1, "mean": 1.0, "margin": None, "verdict": "close", "runs": 4,
    }  # fmt: skip
    assert difference([np.ones(1), np.zeros(1)], 0, 1)["verdict"] == "close"
    assert difference([np.ones(5), np.ones(5)], 0, 1)["verdict"] == "close"
    assert difference([np.full(5, 2.0), np.ones(5)], 0, 1)["verdict"] == "more"  # the same in every run: no doubt


def test_equal_rows_are_told_apart_in_one_of_twenty_cases():
    """The count of false verdicts is binomial; a right program fails this with probability 1e-6."""
    rng = np.random.default_rng(2)
    cases, draws = 4000, rng.normal(size=(4000, 2, 6))
    wrong = sum(difference(list(pair), 0, 1)["verdict"] != "close" for pair in draws)
    low, high = binom(cases, 0.05).ppf([5e-7, 1 - 5e-7])
    assert low <= wrong <= high


def test_runs_are_read_from_the_last_checkpoint_in_the_order_of_replications():
    table = {"row": [1, 0, 0, 1, 0], "replication": [1, 1, 0, 0, 0], "round": [9, 9, 9, 9, 5]}
    frame = pl.DataFrame(table | {"regret_per_agent": [4.0, 2.0, 1.0, 3.0, 8.0]})
    assert [found.tolist() for found in runs_of(frame, [{"horizon": 10}] * 2)] == [[0.1, 0.2], [0.3, 0.4]]
