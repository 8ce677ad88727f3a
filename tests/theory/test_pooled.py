"""The closed form against brute force over tilts, and against what must be true of it."""

from math import exp, inf, log

import numpy as np
import pytest

from coterie.theory.floor import kl, private_divergence
from coterie.theory.pooled import Climb, pulls_needed


def enough(n, draws, mean, best, climb):
    """The inequality as it is printed, with a fine grid of l."""
    tilts = np.linspace(1e-5, min(climb.epsilon, 40), 60_000, endpoint=False)
    noise = draws * np.log(1 - (tilts / climb.epsilon) ** 2) if climb.epsilon < inf else 0.0
    told = n * (-tilts * mean - np.log(1 - best + best * np.exp(-tilts))) + noise
    return told.max() >= log(climb.pulls) - climb.thrift * log(n)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 8.0, inf])
@pytest.mark.parametrize(("mean", "best"), [(0.5, 0.6), (0.59, 0.6), (0.2, 0.9)])
def test_it_is_the_first_step_of_the_climb_at_which_the_index_has_fallen(mean, best, epsilon):
    climb = Climb(1e7, epsilon, 8.0, 3.0, 3.0 if epsilon < inf else 0.0, 1.5, 0.5)
    n, draws = 24.0, climb.draws
    while not enough(n, draws, mean, best, climb):
        n, draws = n + max(8.0, n / 2), draws + 1
    assert pulls_needed(mean, best, climb) == n


def test_nobody_pulls_more_than_there_are_pulls():
    assert pulls_needed(0.5999, 0.6, Climb(500.0, 0.1, 8.0, 1.0, 1.0, 1.5, 0.5)) == 500.0
    assert pulls_needed(0.1, 0.6, Climb(500.0, 0.1, 1000.0, 1.0, 1.0, 1.5, 0.5)) == 500.0


@pytest.mark.parametrize("epsilon", [0.3, inf])
def test_in_the_long_run_it_costs_what_the_floor_says_but_for_a_batch(epsilon):
    """Without thrift n is between ln(pulls) / d and growth times that, as the noise of a few draws hardly counts."""
    pulls = exp(700.0)
    least = 700.0 / private_divergence(0.5, 0.75, epsilon)
    n = pulls_needed(0.5, 0.75, Climb(pulls, epsilon, 1.0, 1.0, 0.0, 1.5, 0.0))
    assert 700.0 / kl(0.5, 0.75) <= least <= n <= (1.5 if epsilon == inf else 1.7) * least


def test_more_privacy_and_more_draws_cost_more():
    costs = [pulls_needed(0.5, 0.6, Climb(1e6, epsilon, 4.0, 1.0, 1.0, 1.1, 0.5)) for epsilon in (0.05, 0.2, 1.0, 5.0)]
    assert costs == sorted(costs, reverse=True)
    few, many = (pulls_needed(0.5, 0.6, Climb(1e6, 0.3, 1.0, 100.0, draws, 1.1, 0.5)) for draws in (1.0, 100.0))
    assert few < many
