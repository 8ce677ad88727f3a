"""Limits of probabilities and the epsilon that follows: against scipy's intervals, and against every possible outcome."""

from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from coterie.audit.bounds import at_least, at_most, epsilon_at_least


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (250, 1000), (999, 1000)])
def test_limits_are_the_two_ends_of_the_exact_interval(hits, trials):
    interval = binomtest(hits, trials).proportion_ci(0.98, "exact")
    assert at_least(hits, trials, 0.01) == pytest.approx(interval.low, rel=1e-9)
    assert at_most(hits, trials, 0.01) == pytest.approx(interval.high, rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.9])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (2.0, 0.0), (1.0, 0.05)])
def test_of_all_outcomes_those_that_prove_too_much_have_at_most_the_stated_probability(p, epsilon, delta):
    trials, error = 40, 0.1
    q = (p - delta) / exp(epsilon)  # as unlike as (epsilon, delta) allows
    hits, misses = np.meshgrid(np.arange(trials + 1), np.arange(trials + 1), indexing="ij")
    chance = binom.pmf(hits, trials, p) * binom.pmf(misses, trials, q)
    wrong = chance[epsilon_at_least(hits, misses, trials, delta, error) > epsilon].sum()
    assert 0 < wrong <= error


def test_a_certain_event_proves_about_the_logarithm_of_the_number_of_trials():
    """With no misses q_high = 1 - (error / 2)^(1 / n)."""
    n, error = 1000, 0.01
    low, high = (error / 2) ** (1 / n), 1 - (error / 2) ** (1 / n)
    assert epsilon_at_least(n, 0, n, 0.0, error) == pytest.approx(log(low / high))


def test_more_misses_than_hits_prove_nothing():
    proven = epsilon_at_least([0, 10, 10], [0, 10, 90], 100, 0.0, 0.01)
    assert (proven == 0).all() and epsilon_at_least(100, 0, 100, 1.0, 0.01) == 0 < inf
