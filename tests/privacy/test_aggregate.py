"""Sums of noised reports: the density and the failure probability against closed forms, moments and brute force."""

from math import exp

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import laplace

from coterie.privacy.aggregate import aggregate_delta, reading_probability, sum_density

X = np.linspace(-60, 60, 120_001)
STEP = X[1] - X[0]


@pytest.mark.parametrize("count", [1, 2, 7, 50])
def test_the_density_of_a_sum_integrates_to_one_and_has_its_variance(count):
    density = sum_density(X, count, 0.7)
    assert density.sum() * STEP == pytest.approx(1, abs=1e-6)
    assert (density * X * X).sum() * STEP == pytest.approx(2 * count * 0.7**2, rel=1e-6)


def test_the_density_of_two_is_a_convolution():
    single = laplace.pdf(X, scale=1.3)
    convolved = fftconvolve(single, single, mode="same") * STEP
    assert np.abs(convolved - sum_density(X, 2, 1.3)).max() < 1e-6


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_one_laplace_report_fails_as_in_the_closed_form(epsilon):
    assert aggregate_delta(epsilon, 1, 1.0) == pytest.approx(1 - exp((epsilon - 1.0) / 2), abs=2e-4)


def test_pure_privacy_of_one_report_is_pure_privacy_of_the_sum():
    assert aggregate_delta(1.0, 1, 1.0) < 1e-12
    assert aggregate_delta(50.0, 50, 1 / 50) < 1e-12


def test_secure_aggregation_does_not_restore_the_printed_epsilon():
    assert aggregate_delta(1.0, 50, 1 / 50) > 0.95


def test_more_reports_of_the_same_noise_hide_more():
    values = [aggregate_delta(0.5, count, 1.0) for count in (1, 2, 5, 20)]
    assert values == sorted(values, reverse=True)


def test_rounding_reads_a_sum_as_often_as_the_law_says():
    noise = np.random.default_rng(0).laplace(scale=0.4, size=200_000)
    share = (np.abs(noise) < 0.5).mean()
    expected = reading_probability(0.4)
    assert abs(share - expected) < 5.5 * np.sqrt(expected * (1 - expected) / len(noise))  # false alarm below 1e-7
