"""Deployed noise. A seeded generator takes the place of the operating system's entropy: the same numbers every time."""

import secrets
from fractions import Fraction
from math import inf
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import dlaplace

from coterie.contract import offer, out_record
from coterie.kernel import UNIT, one
from coterie.privacy import exact
from coterie.privacy.ledger import ledger_record

P = SimpleNamespace(arms=4)


@pytest.fixture
def seeded(monkeypatch):
    monkeypatch.setattr(exact, "randbelow", Random(31).randrange)


def pass_door(*offers):
    """The deployed door with offers (arm, value, sensitivity, price), each of a stretch of its own."""
    out, ledger = one(out_record(P)), one(ledger_record(P.arms, 1))
    for n, (arm, value, sensitivity, price) in enumerate(offers):
        offer(out, arm, value, sensitivity, price, 0, n + 1, n + 1)
    exact.pass_laplace(out, ledger)
    return out, ledger


def test_entropy_is_the_operating_systems():
    assert exact.randbelow is secrets.randbelow


@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(1, 3), Fraction(40)])
def test_exact_noise_has_the_discrete_laplace_law(scale, seeded, chance_of_fit):
    """Chi-squared at 1e-7: false alarm below 1e-6."""
    draws = np.array([exact.discrete_laplace(scale) for _ in range(20_000)])
    assert chance_of_fit(draws, dlaplace(float(1 / scale))) > 1e-7


def test_the_test_of_the_law_would_notice_a_scale_a_tenth_too_small(seeded, chance_of_fit):
    draws = np.array([exact.discrete_laplace(Fraction(40)) for _ in range(20_000)])
    assert chance_of_fit(draws, dlaplace(1 / 44)) < 1e-7


@pytest.mark.parametrize(
    ("sensitivity", "price"), [(1.0, 1.0), (1.0, 0.1), (0.3, 0.7), (4.0, 1e-6), (1.0, 1e9), (1e-9, 3.0), (1.0, 65536.0)]
)
def test_the_scale_is_rounded_up_never_down_and_by_little(sensitivity, price, monkeypatch):
    scales = []
    monkeypatch.setattr(exact, "discrete_laplace", lambda scale: scales.append(scale) or 0)
    pass_door((0, 0, sensitivity, price))
    wanted = UNIT * Fraction(sensitivity) / Fraction(price)
    assert wanted < scales[0] <= wanted + Fraction(1, 1024)


def test_no_floating_point_number_takes_part_in_a_draw(monkeypatch):
    random, bounds = Random(32), []
    monkeypatch.setattr(exact, "randbelow", lambda bound: bounds.append(bound) or random.randrange(bound))
    out, _ = pass_door((0, 5, 1.0, 0.3), (1, 5, 1.0, 1e-9))
    assert {type(bound) for bound in bounds} == {int}
    assert out.value.dtype == np.int64
    assert min(abs(out.value[:2] - 5)) > 0


def test_an_infinite_price_adds_nothing_and_is_booked(seeded):
    out, ledger = pass_door((0, 123, 1.0, inf), (1, 123, 1.0, 0.5))
    assert out.value[0] == 123 != out.value[1]
    assert ledger.loss[:2, 0].tolist() == [inf, 0.5]


def test_the_deployed_door_books_before_it_draws(monkeypatch):
    def broken(bound):
        raise OSError("no entropy")

    out, ledger = one(out_record(P)), one(ledger_record(P.arms, 1))
    offer(out, 2, 9, 1.0, 0.5, 0, 1, 1)
    monkeypatch.setattr(exact, "randbelow", broken)
    with pytest.raises(OSError, match="no entropy"):
        exact.pass_laplace(out, ledger)
    assert ledger.loss[2, 0] == 0.5
    assert out.value[0] == 9


def test_every_number_gets_noise_of_its_own(monkeypatch):
    scripted = iter([11, -22, 33])
    monkeypatch.setattr(exact, "discrete_laplace", lambda scale: next(scripted))
    out, _ = pass_door((0, 100, 1.0, 1.0), (1, 100, 1.0, 1.0), (0, 100, 1.0, 1.0))
    assert out.value[:3].tolist() == [111, 78, 133]
