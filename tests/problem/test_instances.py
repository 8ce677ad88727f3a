"""Instances against their formulas, and the promises of the heterogeneous generator for any input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from coterie.errors import UsageError
from coterie.problem.instances import INSTANCES, grid, guess, heterogeneous, middle, smallest_gap, uniform

MEANS = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_grid_is_evenly_spaced_around_one_half():
    assert grid(4).tolist() == [0.125, 0.375, 0.625, 0.875]
    assert np.allclose(np.diff(grid(100)), 0.01, rtol=0, atol=1e-15)
    assert grid(101)[50] == 0.5


def test_middle_is_the_grid_between_three_and_seven_tenths():
    assert np.allclose(middle(4), [0.35, 0.45, 0.55, 0.65], rtol=0, atol=1e-15)


def test_uniform_means_are_fresh_and_uniform():
    """Kolmogorov-Smirnov, false alarm 1e-6."""
    rng = np.random.default_rng(5)
    means = uniform(5000, rng)
    assert kstest(means, "uniform").pvalue > 1e-6
    assert not np.array_equal(means, uniform(5000, rng))


def test_a_guess_has_its_best_arm_its_gap_and_the_others_below_at_any_place():
    """Kolmogorov-Smirnov, false alarm 1e-6."""
    rng = np.random.default_rng(7)
    drawn = np.array([guess(6, rng, 0.6, 0.1) for _ in range(2000)])
    ordered = np.sort(drawn, axis=1)
    assert np.allclose(ordered[:, -1], 0.6) and np.allclose(ordered[:, -2], 0.5)
    assert kstest(ordered[:, :-2].ravel(), "uniform", args=(0.2, 0.3)).pvalue > 1e-6
    assert np.bincount(drawn.argmax(axis=1), minlength=6).min() > 200


def test_a_guess_of_a_large_gap_stays_above_zero_and_one_that_is_none_is_refused():
    means = guess(50, np.random.default_rng(1), 0.3, 0.29)
    assert means.min() == 0.0 and smallest_gap(means) == pytest.approx(0.29)
    for best, gap in ((0.3, 0.3), (0.3, 0.0)):
        with pytest.raises(UsageError, match=r"problem\.gap must be a number > 0 and < problem\.best"):
            guess(3, np.random.default_rng(1), best, gap)


def test_the_page_says_what_was_guessed():
    said = INSTANCES["guess"].said
    words = "the best is 0.7, the second 0.02 below it, the others up to 0.08 below it"
    assert said({"best": 0.7, "gap": 0.02}).endswith(words)
    assert said({}) == said({"best": 0.6, "gap": 0.1})


@pytest.mark.parametrize("instance", [grid, middle, lambda arms: uniform(arms, np.random.default_rng(0))])
def test_an_instance_needs_two_arms(instance):
    assert len(instance(2)) == 2
    with pytest.raises(UsageError, match="at least 2, got 1"):
        instance(1)


@given(means=MEANS, agents=st.integers(1, 30), spread=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_heterogeneous_means_keep_their_column_means_and_stay_probabilities(means, agents, spread, seed):
    spread_out = heterogeneous(means, agents, spread, np.random.default_rng(seed))
    assert spread_out.shape == (agents, len(means))
    assert np.allclose(spread_out.mean(axis=0), means, rtol=0, atol=1e-14)
    assert spread_out.min() >= 0
    assert spread_out.max() <= 1


@given(means=MEANS, agents=st.integers(2, 30), spread=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_the_most_extreme_agent_of_an_arm_is_as_far_off_as_the_spread_says(means, agents, spread, seed):
    means = np.array(means)
    off = np.abs(heterogeneous(means, agents, spread, np.random.default_rng(seed)) - means).max(axis=0)
    assert np.allclose(off, spread * np.minimum(means, 1 - means), rtol=0, atol=1e-14)


def test_heterogeneous_follows_its_formula_draw_by_draw():
    means, agents, spread = [0.1, 0.5, 0.8], 5, 0.7
    ours = heterogeneous(means, agents, spread, np.random.default_rng(3))
    draws = np.random.default_rng(3).uniform(-1, 1, size=(agents, 3)).tolist()
    for arm, mean in enumerate(means):
        column = [row[arm] for row in draws]
        centred = [value - sum(column) / agents for value in column]
        largest = max(abs(value) for value in centred)
        room = min(mean, 1 - mean)
        expected = [mean + spread * room * value / largest for value in centred]
        assert np.allclose(ours[:, arm], expected, rtol=0, atol=1e-15)


def test_without_spread_or_company_every_agent_has_the_global_means():
    rng = np.random.default_rng(0)
    assert np.array_equal(heterogeneous(grid(6), 4, 0, rng), np.tile(grid(6), (4, 1)))
    assert np.array_equal(heterogeneous(grid(6), 1, 1, rng), grid(6)[None])


@pytest.mark.parametrize(
    ("means", "agents", "spread", "named"),
    [
        ([0.5, 1.2], 3, 1, r"means must lie in \[0, 1\], got 1.2"),
        ([0.5, float("nan")], 3, 1, r"means must lie in \[0, 1\], got nan"),
        ([[0.5, 0.2]], 3, 1, r"one number per arm, got values of shape \(1, 2\)"),
        ([0.5, 0.2], 0, 1, "agents must number at least 1, got 0"),
        ([0.5, 0.2], 3, 1.5, r"spread must lie in \[0, 1\], got 1.5"),
        ([0.5, 0.2], 3, float("nan"), "spread must lie"),
    ],
)
def test_heterogeneous_names_the_field_it_refuses(means, agents, spread, named):
    with pytest.raises(UsageError, match=named):
        heterogeneous(means, agents, spread, np.random.default_rng(0))


def test_smallest_gap_is_that_of_the_second_best_arm():
    assert smallest_gap([0.2, 0.9, 0.6]) == pytest.approx(0.3, abs=1e-15)
    assert smallest_gap([0.9, 0.9, 0.6]) == pytest.approx(0.3, abs=1e-15)
    assert smallest_gap(grid(100)) == pytest.approx(0.01, abs=1e-15)


def test_smallest_gap_of_many_agents_is_that_of_the_column_means():
    assert smallest_gap([[1.0, 0.0, 0.5], [0.0, 0.5, 0.2]]) == pytest.approx(0.15, abs=1e-15)


@given(agents=st.integers(1, 50), seed=st.integers(0, 2**32))
def test_rounding_in_column_means_is_no_gap(agents, seed):
    means = heterogeneous([0.7, 0.3, 0.7, 0.7], agents, 1, np.random.default_rng(seed))
    assert smallest_gap(means) == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("means", [[0.4, 0.4, 0.4], [[0.1, 0.3], [0.3, 0.1]]])
def test_arms_that_all_tie_have_no_smallest_gap(means):
    with pytest.raises(UsageError, match="must differ between arms"):
        smallest_gap(means)
