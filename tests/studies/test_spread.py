"""Means over replications and their intervals, against scipy's own statistics."""

import numpy as np
import pytest
from scipy import stats

from coterie.studies.running import found_best, mean_of_known
from coterie.studies.spread import margin, spread

NUMBERS = np.array([3.1, 4.7, 2.2, 9.4, 5.0])


def test_an_interval_is_that_of_students_t_at_95_percent():
    low, high = stats.t.interval(0.95, len(NUMBERS) - 1, NUMBERS.mean(), stats.sem(NUMBERS))
    found = spread(NUMBERS)
    assert (found["mean"] - found["margin"], found["mean"] + found["margin"]) == pytest.approx((low, high))
    assert found["sem"] == pytest.approx(stats.sem(NUMBERS))


def test_a_number_seen_once_has_no_error_and_no_interval():
    assert spread(NUMBERS[:1]) == {"mean": 3.1, "sem": None, "margin": None, "min": 3.1, "max": 3.1}


def test_margins_of_columns_are_those_of_each_by_itself_without_its_gaps():
    values = np.random.default_rng(3).normal(size=(9, 4))
    values[2:4, 1], values[1:, 2], values[:, 3] = np.nan, np.nan, np.nan
    found = margin(values)
    assert found[0] == pytest.approx(spread(values[:, 0])["margin"])
    assert found[1] == pytest.approx(spread(np.delete(values[:, 1], [2, 3]))["margin"])
    assert np.isnan(found[2:]).all()


# --- the best arm -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late", "best", "found"),
    [
        ([0, 5, 3], [1], 1.0),
        ([5, 4, 3], [1], 0.0),
        ([5, 5, 0], [1], 0.5),  # arms that were played equally often count in part, wherever the best stands
        ([5, 5, 0], [0], 0.5),
        ([5, 5, 5], [0, 2], 2 / 3),  # two arms are best
        ([0, 0, 0], [1], np.nan),  # it never played
    ],
)
def test_an_agent_has_found_the_best_arm_if_it_played_it_most(late, best, found):
    shares = found_best(np.array([[late]], np.int32), np.array(best))
    assert shares == pytest.approx(np.array([[found]]), nan_ok=True)


def test_who_never_played_does_not_count():
    assert mean_of_known(np.array([1.0, np.nan, 0.0])) == 0.5
    assert np.isnan(mean_of_known(np.array([np.nan])))
