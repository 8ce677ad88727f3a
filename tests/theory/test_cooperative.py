"""The schedule of releases and what it costs, against the definition evaluated term by term."""

from math import ceil, fsum, log, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import UsageError
from coterie.theory.cooperative import PULLS_MOST, losses, multiples, release_counts

RATES = st.floats(1.01, 1.49)
NOMINAL = st.floats(0.02, 0.999)  # 1 has tests of its own


SOME = settings(max_examples=30)


def price(n, rate):
    return n ** (-rate / 2)


def schedule(epsilon, rate, pulls):
    """W_0 = 0, and W_{i+1} is the least x > W_i with sum_{l = W_i + 1}^{x} l^(-v/2) >= x^(-v/2) / epsilon."""
    found, total = [], 0.0
    for x in range(1, pulls + 1):
        total += price(x, rate)
        if total >= price(x, rate) / epsilon * (1 - 1e-12):
            found.append(x)
            total = 0.0
    return found


def zeta(s, terms=1000):
    """Its first terms, and the rest by the formula of Euler and Maclaurin: the next term of that is below 1e-11."""
    tail = terms ** (1 - s) / (s - 1) + terms**-s / 2 + s * terms ** (-s - 1) / 12
    return fsum(n**-s for n in range(1, terms)) + tail


# --- the schedule -----------------------------------------------------------------------------------------


def test_the_first_releases_are_those_worked_out_by_hand():
    assert release_counts(0.1, 1.1, 45).pulls.tolist() == [7, 16, 26, 36]


@SOME
@given(NOMINAL, RATES)
def test_releases_are_where_the_definition_puts_them(epsilon, rate):
    made = release_counts(epsilon, rate, 300)
    assert made.pulls.tolist() == schedule(epsilon, rate, 300)
    assert made.prices == pytest.approx([price(n, rate) for n in made.pulls.tolist()], rel=1e-12)


@SOME
@given(RATES)
def test_with_epsilon_one_every_pull_is_released(rate):
    assert release_counts(1.0, rate, 500).pulls.tolist() == list(range(1, 501))


@SOME
@given(NOMINAL, RATES)
def test_no_interval_is_longer_than_one_over_epsilon(epsilon, rate):
    lengths = np.diff(release_counts(epsilon, rate, 2000).pulls, prepend=0)
    assert lengths.max() <= ceil(1 / epsilon)


@pytest.mark.parametrize("rate", [1.1, 1.4])
@pytest.mark.parametrize("epsilon", [1.0, 0.7, 0.5, 0.3, 0.1, 0.03])
def test_intervals_tend_to_one_over_epsilon_from_below(epsilon, rate):
    lengths = np.diff(release_counts(epsilon, rate, 20_000).pulls, prepend=0)
    assert (np.diff(lengths) >= 0).all()
    assert lengths[-1] == ceil(1 / epsilon)
    assert epsilon >= 0.5 or lengths[0] < ceil(1 / epsilon)


@SOME
@given(NOMINAL, RATES)
def test_releases_spend_at_most_the_share_epsilon_of_what_all_pulls_would(epsilon, rate):
    """After every number of pulls, and not only at the last one."""
    made, allowance = release_counts(epsilon, rate, 1000), np.cumsum(price(np.arange(1.0, 1001), rate))
    assert (np.cumsum(made.prices) <= epsilon * allowance[made.pulls - 1] * (1 + 1e-12)).all()


def test_a_horizon_before_the_first_release_costs_nothing():
    assert release_counts(0.1, 1.1, 6).cost == 0.0
    assert release_counts(0.1, 1.1, 7).cost == pytest.approx(7**-0.55, rel=1e-12)


def test_a_longer_schedule_begins_like_a_shorter_one():
    long, short = release_counts(0.1, 1.1, 5000).pulls, release_counts(0.1, 1.1, 777).pulls
    assert long[: len(short)].tolist() == short.tolist()
    assert long[len(short)] > 777


@pytest.mark.parametrize("every", [1, 3, 10])
def test_a_single_agent_looks_at_multiples(every):
    looks = multiples(every, 1.3, 100)
    assert looks.pulls.tolist() == [n for n in range(1, 101) if n % every == 0]
    assert looks.cost == pytest.approx(fsum(price(n, 1.3) for n in looks.pulls.tolist()), rel=1e-12)


def test_a_schedule_that_would_fill_the_memory_is_refused():
    with pytest.raises(UsageError, match=f"horizon must be <= {PULLS_MOST} where releases add up, got {PULLS_MOST + 1}"):
        release_counts(0.1, 1.1, PULLS_MOST + 1)


# --- the accountant ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pulls", [1, 10, 1000])
@pytest.mark.parametrize("rate", [1.1, 1.4])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_losses_are_their_formulas_summed_term_by_term(epsilon, rate, pulls):
    delta = 1e-5
    spent = [price(n, rate) for n in schedule(epsilon, rate, pulls)]
    basic = fsum(spent)
    advanced = fsum(e * tanh(e / 2) for e in spent) + sqrt(2 * log(1 / delta) * fsum(e * e for e in spent))
    pure, mixed = closed(epsilon, rate, pulls, delta)
    assert losses(epsilon, rate, pulls, delta) == pytest.approx((basic, advanced, min(pure, mixed)), rel=1e-9)


def closed(epsilon, rate, pulls, delta):
    """The paper's two bounds: of pure and of advanced composition."""
    squares = epsilon * zeta(rate)
    return epsilon * pulls ** (1 - rate / 2) / (1 - rate / 2), 2 * squares + sqrt(2 * squares * log(1 / delta))


def test_zeta_is_known_at_two():
    assert zeta(2) == pytest.approx(np.pi**2 / 6, rel=1e-12)


@SOME
@given(NOMINAL, RATES, st.integers(1, 3000), st.floats(1e-9, 0.1))
def test_the_closed_bounds_are_bounds(epsilon, rate, pulls, delta):
    found, (pure, mixed) = losses(epsilon, rate, pulls, delta), closed(epsilon, rate, pulls, delta)
    assert found.basic <= pure
    assert found.advanced <= mixed


def test_the_epsilon_in_the_name_is_not_the_loss():
    """What is called 0.1 is 13.7 after ten thousand pulls, and grows without bound; advanced composition gives 3.66 at 1e-5."""
    found = losses(0.1, 1.1, 10_000, 1e-5)
    assert found == pytest.approx((13.706, 3.657, 7.054), abs=1e-3)
    assert losses(0.1, 1.1, 100_000, 1e-5).basic > 2.5 * found.basic
