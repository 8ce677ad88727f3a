"""Deployed noise. A seeded generator takes the place of the operating system's entropy: the same numbers every time."""

import secrets
from fractions import Fraction
from math import floor, inf, nan
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, dlaplace, laplace, norm

from coterie.contract import Algorithm, offer, out_record
from coterie.engines.agent import Agent
from coterie.engines.chance import System
from coterie.errors import UsageError
from coterie.kernel import UNIT, node, one
from coterie.privacy import exact
from coterie.privacy.mechanisms import GAUSS, LAPLACE, MECHANISMS

P = SimpleNamespace(arms=4)


@pytest.fixture
def seeded(monkeypatch):
    monkeypatch.setattr(exact, "randbelow", Random(31).randrange)


def looked_up(*entries):
    """Entries (value, sensitivity, price) as the door has filled them in."""
    out = one(out_record(Algorithm("any"), P))
    for e, (value, sensitivity, price) in enumerate(entries):
        out.value[e], out.sensitivity[e], out.price[e] = value, sensitivity, price
    out.entries = len(entries)
    return out


def noised(*entries, mechanism=LAPLACE):
    out = looked_up(*entries)
    exact.add_exact(out, mechanism.name, mechanism.exact)
    return out


def test_entropy_is_the_operating_systems():
    assert exact.randbelow is secrets.randbelow


@pytest.mark.parametrize("scale", list(map(Fraction, ["1/5", "1/3", "5/2", 40, 2**16, 2**40])), ids=str)
def test_exact_noise_has_the_discrete_laplace_law(scale, seeded, chance_of_fit):
    """Chi-squared at 1e-7: false alarm below 1e-6."""
    draws = np.array([exact.discrete_laplace(scale) for _ in range(20_000)])
    law = dlaplace(float(1 / scale)) if scale < 2**20 else laplace(scale=float(scale))  # whose steps do not show
    assert chance_of_fit(draws, law) > 1e-7


def test_at_an_extreme_price_there_is_no_noise_to_speak_of(seeded):
    """Scale 1/60: a draw other than 0 has probability 2e-26."""
    assert {exact.discrete_laplace(Fraction(1, 60)) for _ in range(1000)} == {0}


def rounded_law(sigma):
    """P(z <= k) = Phi((k + 1/2) / sigma)."""
    return SimpleNamespace(ppf=lambda q: sigma * norm.ppf(q) - 0.5, cdf=lambda k: norm.cdf((k + 0.5) / sigma))


@pytest.mark.parametrize("sigma", list(map(Fraction, ["1/3", "7/5", 40, 2**16, "1099511627777/3"])), ids=str)
def test_exact_normal_noise_is_a_rounded_normal_number(sigma, seeded, chance_of_fit):
    """Chi-squared at 1e-7: false alarm below 1e-6."""
    draws = np.array([exact.rounded_normal(sigma) for _ in range(10_000)])
    assert chance_of_fit(draws, rounded_law(float(sigma))) > 1e-7


def test_the_test_of_the_normal_law_would_notice_a_deviation_a_tenth_too_small(seeded, chance_of_fit):
    draws = np.array([exact.rounded_normal(Fraction(40)) for _ in range(10_000)])
    assert chance_of_fit(draws, rounded_law(44.0)) < 1e-7


def test_digits_of_a_deviate_are_drawn_as_they_are_needed_and_kept(monkeypatch):
    scripted = iter([5, 5, 1, 2, 9])
    monkeypatch.setattr(exact, "randbelow", lambda bound: next(scripted))
    one, other = exact._Deviate(), exact._Deviate()
    assert one < other and not other < one
    assert (one.digits, other.digits) == ([5, 1], [5, 2])
    assert one.prefix(2) == (5 << 32) + 1


def opendp_draws(kind, scale, count):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "laplace":
        return dp.m.make_laplace(space, dp.l1_distance(T="i64"), scale=scale)([0] * count)
    return dp.m.make_gaussian(space, dp.l2_distance(T="i64"), scale=scale)([0] * count)


WIDE = pytest.param("laplace", "discrete_laplace", 300.0, marks=pytest.mark.slow)
NOISES = [("laplace", "discrete_laplace", 2.5), WIDE, ("gauss", "rounded_normal", 50.0)]


@pytest.mark.parametrize(("kind", "draw", "scale"), NOISES)
def test_noise_of_the_operating_systems_entropy_has_the_law_of_another_library(kind, draw, scale):
    """Two samples that no seed can fix: chi-squared at 1e-10, so that a false alarm has a chance below 1e-9.

    That library's normal noise is the discrete Gaussian, which differs from a rounded one by 1 / (24 sigma^2), far below what
    as many draws can tell.
    """
    count = 25_000
    ours = np.array([getattr(exact, draw)(Fraction(scale)) for _ in range(count)])
    theirs = np.array(opendp_draws(kind, scale, count))
    ends = np.unique(np.quantile(np.concatenate([ours, theirs]), np.linspace(0.005, 0.995, 60), method="inverted_cdf"))
    table = [np.bincount(np.searchsorted(ends, sample), minlength=len(ends) + 1) for sample in (ours, theirs)]
    assert np.sum(table, axis=0).min() >= 40
    assert chi2_contingency(table).pvalue > 1e-10
    assert chi2_contingency([table[0], np.roll(table[1], 1)]).pvalue < 1e-10


RANGES = st.tuples(st.floats(-10, 10), st.floats(1e-3, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(RANGES, st.floats(-20, 20) | st.sampled_from([inf, -inf]), st.floats(-20, 20) | st.sampled_from([inf, -inf]))
def test_rewards_on_the_grid_are_no_further_apart_than_the_whole_steps_of_their_range(span, one_reward, other_reward):
    low, high = span
    steps = exact.on_grid(one_reward, low, high), exact.on_grid(other_reward, low, high)
    assert all(UNIT * Fraction(low) <= step <= UNIT * Fraction(high) for step in steps)
    assert abs(steps[0] - steps[1]) <= floor(UNIT * (Fraction(high) - Fraction(low)))
    if low <= one_reward <= high:
        assert abs(steps[0] - UNIT * Fraction(one_reward)) <= 1


def test_rounding_outwards_would_cost_a_step_more_than_was_paid_for():
    low, high = 0.3 / UNIT, 1.7 / UNIT
    assert round(UNIT * high) - round(UNIT * low) == 2 > UNIT * (high - low)
    assert exact.on_grid(1.0, low, high) - exact.on_grid(0.0, low, high) == 0


def test_a_reward_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match="a reward must be a number, got nan"):
        exact.on_grid(float("nan"))


def test_the_test_of_the_law_would_notice_a_scale_a_tenth_too_small(seeded, chance_of_fit):
    draws = np.array([exact.discrete_laplace(Fraction(40)) for _ in range(20_000)])
    assert chance_of_fit(draws, dlaplace(1 / 44)) < 1e-7


@pytest.mark.parametrize(
    ("sensitivity", "price"), [(1.0, 1.0), (1.0, 0.1), (0.3, 0.7), (4.0, 1e-6), (1.0, 1e9), (1e-9, 3.0), (1.0, 65536.0)]
)
def test_the_scale_is_rounded_up_never_down_and_by_little(sensitivity, price):
    scales = []
    exact.add_exact(looked_up((0, sensitivity, price)), "laplace", lambda scale: scales.append(scale) or 0)
    wanted = UNIT * Fraction(sensitivity) / Fraction(price)
    assert wanted < scales[0] <= wanted + Fraction(1, 1024)


def test_no_floating_point_number_takes_part_in_a_draw(monkeypatch):
    random, bounds = Random(32), []
    monkeypatch.setattr(exact, "randbelow", lambda bound: bounds.append(bound) or random.randrange(bound))
    out = noised((5, 1.0, 0.3), (5, 1.0, 1e-9))
    assert {type(bound) for bound in bounds} == {int}
    assert out.value.dtype == np.int64
    assert min(abs(out.value[:2] - 5)) > 0


@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSS], ids=lambda mechanism: mechanism.name)
def test_an_infinite_price_adds_nothing(seeded, mechanism):
    out = noised((123, 1.0, inf), (123, 1.0, 0.5), mechanism=mechanism)
    assert out.value[0] == 123 != out.value[1]


@pytest.mark.parametrize("price", [nan, 0.0, -0.0, -1.0, -inf])
def test_a_price_that_buys_no_noise_is_refused(price):
    with pytest.raises(UsageError, match="price of a release by laplace must be a number > 0, got") as refused:
        noised((9, 1.0, price))
    assert "\n" not in str(refused.value)


def test_every_number_gets_noise_of_its_own():
    scripted, out = iter([11, -22, 33]), looked_up((100, 1.0, 1.0), (100, 1.0, 1.0), (100, 1.0, 1.0))
    exact.add_exact(out, "laplace", lambda scale: next(scripted))
    assert out.value[:3].tolist() == [111, 78, 133]


def test_what_is_deployed_draws_its_noise_here():
    drawn = {mechanism.name: mechanism.exact for mechanism in MECHANISMS.values() if mechanism.exact}
    alone = {"laplace": exact.discrete_laplace, "gauss": exact.rounded_normal}
    assert drawn == alone | {"shares": exact.laplace_share, "sums": exact.no_noise}  # the noise of a sum came with its shares


@node
def offer_two_arms(open, p, t, plan, out):
    offer(out, 2, 0.5)
    offer(out, 1, inf)


def deployed():
    agent = Agent(Algorithm("two", release=offer_two_arms), P, System())
    agent.secret.count[:], agent.secret.total[:] = 9, 9
    return agent


def test_the_deployed_door_books_before_it_draws(monkeypatch):
    def broken(bound):
        raise OSError("no entropy")

    agent = deployed()
    monkeypatch.setattr(exact, "randbelow", broken)
    with pytest.raises(OSError, match="no entropy"):
        agent.pass_door()
    assert agent.ledger.loss[:, 0].tolist() == [0.0, inf, 0.5, 0.0]


def test_a_deployed_release_without_noise_is_booked(seeded):
    agent = deployed()
    agent.pass_door()
    assert agent.out.value[1] == 9 != agent.out.value[0]
    assert agent.ledger.loss[:, 0].tolist() == [0.0, inf, 0.5, 0.0]
