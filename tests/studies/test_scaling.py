"""Exponents against power laws that are known, and a study whose regret is linear in the horizon."""

import numpy as np
import pytest
from scipy import stats

from coterie.errors import UsageError
from coterie.studies.scaling import exponent_of, scale, sizes


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_its_power(power):
    values = [3.0, 7.0, 20.0, 90.0]
    regret = np.array([[c * value**power for c in (1.0, 2.5)] for value in values])
    assert exponent_of(values, regret) == pytest.approx((power, 0.0), abs=1e-9)


def test_the_exponent_is_the_mean_of_each_runs_least_squares():
    rng = np.random.default_rng(5)
    values, regret = [10.0, 20.0, 50.0], rng.uniform(1, 9, (3, 7))
    slopes = [stats.linregress(np.log(values), np.log(run)).slope for run in regret.T]
    mean, margin = exponent_of(values, regret)
    low, high = stats.t.interval(0.95, 6, np.mean(slopes), stats.sem(slopes))
    assert (mean, margin) == pytest.approx((np.mean(slopes), (high - low) / 2), rel=1e-9)


def test_where_a_run_loses_nothing_there_is_no_exponent():
    assert exponent_of([1.0, 2.0], np.array([[0.0, 1.0], [1.0, 1.0]])) == (None, None)


def test_one_arm_alone_loses_in_proportion_to_the_horizon():
    """Epsilon so small that elimination never drops an arm: all arms are pulled alike, and regret is linear."""
    study = {
        "horizon": 100, "replications": 5, "problem": {"means": [0.6, 0.5], "agents": 3},
        "algorithm": [{"name": "cdp-mab", "epsilon": 1e-4}],
    }  # fmt: skip
    found = scale(study, "horizon=200,400,800")
    assert found.rows[0].regret == pytest.approx([30, 60, 120], rel=0.02)
    assert found.rows[0].exponent == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    "over",
    ["horizon", "horizon=", "horizon=5", "horizon=5,5", "horizon=9,5", "horizon=0,5", "horizon=a,b", "horizon=true,5"],
)
def test_what_is_no_list_of_sizes_is_refused(over):
    with pytest.raises(UsageError):
        sizes(over)
