"""Normal noise: the exact trade-off of epsilon and delta, its inverses, and the side to which they are rounded."""

from math import exp, inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from coterie.privacy.gauss import delta_of, epsilon_of, mu_of

STEADY = settings(derandomize=True, deadline=None)
MUS, EPSILONS, DELTAS = [0.05, 0.3, 1.0, 2.5, 6.0], [0.0, 0.1, 1.0, 3.0, 8.0], [1e-12, 1e-6, 1e-3, 0.2]


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta_is_that_of_balle_and_wang(mu, epsilon):
    closed_form = norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert delta_of(mu, epsilon) == pytest.approx(closed_form, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_delta_is_what_two_normal_laws_differ_by_beyond_epsilon(mu, epsilon):
    """By integration: the positive part of N(mu, 1) - exp(epsilon) N(0, 1), which starts at epsilon / mu + mu / 2."""
    start = epsilon / mu + mu / 2
    surplus, _ = quad(lambda x: norm.pdf(x - mu) - exp(epsilon) * norm.pdf(x), start, start + 40, epsabs=1e-13)
    assert delta_of(mu, epsilon) == pytest.approx(surplus, rel=1e-6)


def test_no_loss_is_private_at_delta_zero():
    assert [delta_of(0.0, epsilon) for epsilon in EPSILONS] == [0.0] * len(EPSILONS)
    assert epsilon_of(0.0, 1e-6) == 0.0


def test_an_infinite_epsilon_needs_no_noise_and_no_noise_has_an_infinite_epsilon():
    assert mu_of(inf, 1e-6) == inf
    assert epsilon_of(inf, 1e-6) == inf


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 8.0, 50.0])
def test_loss_and_epsilon_are_inverses_of_each_other(epsilon, delta):
    assert epsilon_of(mu_of(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu", MUS)
def test_epsilon_and_loss_are_inverses_of_each_other(mu, delta):
    if epsilon_of(mu, delta) > 0:
        assert mu_of(epsilon_of(mu, delta), delta) == pytest.approx(mu, rel=1e-9)
    else:
        assert delta_of(mu, 0.0) <= delta


@STEADY
@given(st.floats(1e-3, 100), st.floats(1e-12, 0.5))
def test_the_loss_is_rounded_down_and_the_epsilon_up(epsilon, delta):
    """The numbers found keep the promise; those just on the other side do not."""
    mu = mu_of(epsilon, delta)
    assert delta_of(mu, epsilon) <= delta < delta_of(mu * (1 + 1e-12), epsilon)
    found = epsilon_of(mu, delta)
    assert delta_of(mu, found) <= delta
    assert found == 0.0 or delta_of(mu, nextafter(found, 0.0)) > delta
    assert found <= epsilon


def test_a_delta_large_enough_needs_no_epsilon():
    """At epsilon 0 the two laws differ by 2 Phi(mu / 2) - 1."""
    at_zero = 2 * norm.cdf(0.25) - 1
    assert epsilon_of(0.5, at_zero * (1 + 1e-9)) == 0.0
    assert epsilon_of(0.5, at_zero * (1 - 1e-6)) > 0.0


@pytest.mark.parametrize("epsilon", [600.0, 705.0, 715.0, 720.0, 730.0, 750.0, 1e4, 1e6])
def test_a_large_epsilon_has_a_loss(epsilon):
    """Where exp(epsilon) is beyond floating point numbers. For large epsilon mu is about sqrt(2 epsilon)."""
    mu = mu_of(epsilon, 1e-6)
    assert mu == pytest.approx(np.sqrt(2 * epsilon), rel=0.2)
    assert epsilon_of(mu, 1e-6) == pytest.approx(epsilon, rel=1e-9)


@STEADY
@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0.01, 10))
def test_delta_falls_with_epsilon_and_grows_with_the_loss(mu, epsilon, more):
    assert delta_of(mu, epsilon + more) <= delta_of(mu, epsilon) * (1 + 1e-9) + 1e-16
    assert delta_of(mu + more, epsilon) >= delta_of(mu, epsilon) * (1 - 1e-9) - 1e-16
