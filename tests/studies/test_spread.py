"""Mean, standard error and range."""

import statistics

import numpy as np
import pytest

from coterie.studies.spread import spread


def test_the_standard_error_is_that_of_the_standard_library():
    values = [3.0, 1.0, 4.0, 1.0, 5.0]
    found = spread(np.array(values))
    assert (found["mean"], found["min"], found["max"]) == (pytest.approx(2.8), 1.0, 5.0)
    assert found["sem"] == pytest.approx(statistics.stdev(values) / 5**0.5)


def test_of_one_value_no_error_is_known():
    assert spread(np.array([2.5])) == {"mean": 2.5, "sem": 0.0, "min": 2.5, "max": 2.5}
