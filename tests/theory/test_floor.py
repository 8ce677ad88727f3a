"""Divergences and constants against known numbers, brute force over all tilts, and one another."""

from math import inf, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from coterie.errors import UsageError
from coterie.theory.floor import alike_constant, kl, private_divergence, unlike_constant

FIVE = [0.75, 0.625, 0.5, 0.375, 0.25]
inside = st.floats(0.001, 0.999)


def best_tilt(x, y, epsilon):
    """The largest of -ln(1 - y + y e^-l) - l x, over a fine grid of l."""
    tilts = np.linspace(0, min(epsilon, 60), 200_001)
    return (-np.log(1 - y + y * np.exp(-tilts)) - tilts * x).max()


# Divergences


@given(inside, inside)
def test_kl_is_the_relative_entropy_of_two_coins(p, q):
    assert kl(p, q) == pytest.approx(rel_entr(p, q) + rel_entr(1 - p, 1 - q), abs=1e-12)


def test_kl_at_its_ends():
    assert kl(0.0, 0.25) == pytest.approx(-log(0.75))
    assert kl(1.0, 0.25) == pytest.approx(-log(0.25))
    assert kl(0.5, 1.0) == kl(0.5, 0.0) == inf
    assert kl(0.0, 0.0) == kl(1.0, 1.0) == 0.0


def test_kl_of_coins_that_hardly_differ_does_not_drown_in_rounding():
    assert kl(0.5, 0.5 + 1e-10) == pytest.approx(2e-20, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "value"), [(0.05, 0.012264), (1, 0.142626), (5, 0.143841), (inf, 0.143841)])
def test_the_private_divergence_has_known_values(epsilon, value):
    assert private_divergence(0.5, 0.75, epsilon) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 20.0, inf])
@pytest.mark.parametrize(("x", "y"), [(0.5, 0.75), (0.0, 0.3), (0.1, 0.11), (0.02, 0.98), (0.6, 0.999), (0.4, 0.4)])
def test_the_private_divergence_is_the_best_tilt_that_epsilon_allows(x, y, epsilon):
    assert private_divergence(x, y, epsilon) == pytest.approx(best_tilt(x, y, epsilon), rel=1e-6, abs=1e-9)


@given(inside, inside, st.floats(1e-3, 50), st.floats(1, 10))
def test_more_epsilon_tells_more_and_never_more_than_without_privacy(a, b, epsilon, factor):
    x, y = min(a, b), max(a, b)
    less, more = private_divergence(x, y, epsilon), private_divergence(x, y, factor * epsilon)
    assert less <= more + 1e-12
    assert more <= kl(x, y) + 1e-12
    assert less <= epsilon * (y - x) + 1e-12


def test_a_best_arm_that_never_fails():
    assert private_divergence(0.4, 1.0, 2.0) == pytest.approx(2.0 * 0.6)
    assert private_divergence(0.4, 1.0, inf) == inf


@pytest.mark.parametrize(("x", "y", "epsilon"), [(0.6, 0.5, 1), (-0.1, 0.5, 1), (0.5, 1.1, 1), (0.1, 0.2, 0), (0.1, 0.2, nan)])
def test_what_is_no_divergence_is_refused(x, y, epsilon):
    with pytest.raises(UsageError, match="must be"):
        private_divergence(x, y, epsilon)


# Constants


@pytest.mark.parametrize(("epsilon", "constant"), [(inf, 7.128), (0.5, 10.405), (1.0, 7.708)])
def test_agents_that_are_alike_have_known_constants(epsilon, constant):
    assert alike_constant(FIVE, epsilon) == pytest.approx(constant, abs=5e-4)


def test_equally_good_arms_cost_nothing():
    assert alike_constant([0.5, 0.5, 0.1 + 0.4]) == 0.0
    assert alike_constant([*FIVE, 0.75], 0.5) == alike_constant(FIVE, 0.5)
    assert unlike_constant([[0.2, 0.4], [0.4, 0.2]]) == 0.0


def test_a_small_epsilon_costs_its_inverse():
    """d(x, y) is about epsilon (y - x) then, so that each of the four arms costs 1 / epsilon."""
    assert alike_constant(FIVE, 1e-5) == pytest.approx(4e5, rel=1e-4)


def test_agents_that_differ_by_hand():
    """sqrt(mu (1 - mu)) of arm 0 is 0.4 and 0.3, of arm 1 it is 0.5 and 0.3; the last arm is better by 0.2 and 0.05."""
    means = [[0.2, 0.5, 0.7], [0.9, 0.9, 0.8]]
    spread = [(0.4 + 0.3) / 2, (0.5 + 0.3) / 2]
    assert unlike_constant(means) == pytest.approx(2 * spread[0] ** 2 / 0.2 + 2 * spread[1] ** 2 / 0.05)


def test_the_two_agree_where_gaps_are_small_and_agents_alike():
    means = np.array([0.5, 0.499, 0.498])
    assert unlike_constant(np.tile(means, (7, 1))) == pytest.approx(alike_constant(means), rel=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 50.0])
def test_a_best_arm_that_always_pays_is_told_apart_at_the_rate_of_epsilon(epsilon):
    assert private_divergence(0.9, 1.0, epsilon) == pytest.approx(0.1 * epsilon)
