"""Shares of noise in whole numbers: each has its law, and those of all holders add up to discrete Laplace noise."""

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from coterie.engines.chance import System
from coterie.kernel import UNIT
from coterie.privacy import exact
from coterie.privacy.exact import geometric, laplace_share
from coterie.privacy.mechanisms import SHARES, SUMS

FALSE_ALARM = 1e-6


@pytest.fixture(autouse=True)
def keyed(monkeypatch):
    """The sampler is exact whatever whole numbers it draws from; here they come from a seed."""
    monkeypatch.setattr(exact, "randbelow", random.Random(20).randrange)


def polya(shape: float, scale: float, size: int) -> np.ndarray:
    """P(k), k < size, of a negative binomial number of this shape, written with gamma functions."""
    k, q = np.arange(size), np.exp(-1 / scale)
    return np.exp(gammaln(k + shape) - gammaln(shape) - gammaln(k + 1) + shape * np.log1p(-q) + k * np.log(q))


def check_law(drawn: list[int], law: dict[int, float]) -> None:
    """Classes with 20 expected draws or more, and one for all the rest."""
    number, counts = len(drawn), Counter(drawn)
    common = [k for k, p in law.items() if number * p >= 20]
    seen, due = [counts[k] for k in common], [number * law[k] for k in common]
    seen.append(number - sum(seen))
    due.append(number - sum(due))
    assert len(common) >= 3
    assert stats.chisquare(seen, due).pvalue > FALSE_ALARM


def test_a_geometric_number_has_its_law():
    q = np.exp(-1 / 2.5)
    check_law([geometric(Fraction(5, 2)) for _ in range(8000)], {k: (1 - q) * q**k for k in range(60)})


@pytest.mark.parametrize(("scale", "holders"), [(3, 2), (3, 5), (8, 10), (1, 50)])
def test_a_part_of_a_geometric_number_is_negative_binomial(scale, holders):
    drawn = [exact._part_of(geometric(Fraction(scale)), holders) for _ in range(15_000)]
    check_law(drawn, dict(enumerate(polya(1 / holders, scale, 40 * scale))))


@pytest.mark.parametrize(("scale", "holders"), [(2, 3), (5, 10)])
def test_a_share_is_the_difference_of_two_parts(scale, holders):
    part = polya(1 / holders, scale, 60 * scale)
    law = np.correlate(part, part, "full")
    check_law(
        [laplace_share(Fraction(scale), holders) for _ in range(10_000)],
        {k - len(part) + 1: float(p) for k, p in enumerate(law)},
    )


@pytest.mark.parametrize(("scale", "holders"), [(4, 2), (4, 6), (Fraction(7, 3), 9)])
def test_the_shares_of_all_holders_add_up_to_discrete_laplace_noise(scale, holders):
    drawn = [sum(laplace_share(Fraction(scale), holders) for _ in range(holders)) for _ in range(6000)]
    q = float(np.exp(-1 / float(scale)))
    check_law(drawn, {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-60, 61)})


def test_one_holder_has_a_whole_draw():
    drawn, q = [laplace_share(Fraction(3), 1) for _ in range(6000)], np.exp(-1 / 3)
    check_law(drawn, {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-60, 61)})


class Out:
    """One entry of one arm."""

    entries, price, sensitivity = 1, [1.0], [1.0]

    def __init__(self):
        self.value = [0]


class Secret:
    holders = 4


def test_a_deployed_agent_draws_a_share_for_its_number_of_holders_and_a_server_nothing():
    """Variance of a share: 2 scale^2 / holders. Five and a half standard errors, by the kurtosis 3 + 3 holders."""
    drawn = []
    for _ in range(3000):
        out = Out()
        System().noise(SHARES, Secret, 1, out)
        drawn.append(out.value[0] / UNIT)
    error = 0.5 * np.sqrt((2 + 3 * Secret.holders) / len(drawn))
    assert abs(np.var(drawn) - 0.5) < 5.5 * error
    out = Out()
    System().noise(SUMS, Secret, 1, out)
    assert out.value == [0]
