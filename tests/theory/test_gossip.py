"""Constants and bounds against the formulas as they are printed, brute force and hand-computed numbers."""

from decimal import Decimal, localcontext
from itertools import pairwise
from math import e, inf, log, nan, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import UsageError
from coterie.theory.gossip import (
    alpha_1,
    alpha_2,
    alpha_3,
    fed_ucb_bound,
    gossip_ucb_bound,
    mixing_round,
    trivial_bound,
)

STEADY = settings(derandomize=True, deadline=None)
FIGURE_GAPS = [0.0, 0.2, 0.3, 0.3, 0.4]


def complies(t, agents, lambda_2):
    """The inequality of L as it is printed."""
    return lambda_2 ** (t / 6) / (1 - lambda_2 ** (1 / 3)) < 1 / (agents * t)


def printed_bound(gaps, agents, horizon, lambda_2, epsilon=None):
    """Theorem 1, or Theorem 2 where epsilon is given, term by term."""
    arms, log_t = len(gaps), log(horizon)
    twelfth, third = lambda_2 ** (1 / 12), lambda_2 ** (1 / 3)
    rest = (3 * arms - 1) * agents + 2 * pi**2 / 3 + 2 * twelfth / ((1 - third) * (1 - twelfth))
    total = 0.0
    for gap in (gap for gap in gaps if gap > 0):
        margin = gap / 2 - 64 / agents**17
        pulls = 2 * agents * log_t / margin**2
        tail = rest
        if epsilon is not None:
            pulls = agents * log_t * (1 + sqrt(1 + (16 * margin / epsilon) ** 2 * log_t**3)) / margin**2
            tail = rest + 4 * agents + 4 * agents * log_t
        total += gap * (max(pulls, mixing_round(agents, lambda_2), (3 * arms + 1) * agents) + tail)
    return total


# Constants


def test_alpha_1_has_known_values():
    assert alpha_1(2) == 1 / 2048
    assert alpha_1(4) == 2.0**-28
    assert alpha_1(10) == pytest.approx(6.4e-16, rel=1e-15)


def test_alpha_2_and_3_have_hand_computed_values():
    """lambda_2 = 2^-12 makes q = 1/2: 2 q / ((1 - q^4)(1 - q)) = 1 / (15/16 * 1/2) = 32/15."""
    assert alpha_2(3, 5, 2.0**-12) == pytest.approx(42 + 2 * pi**2 / 3 + 32 / 15, rel=1e-15)
    assert alpha_3(3, 5, 2.0**-12) == pytest.approx(54 + 2 * pi**2 / 3 + 32 / 15, rel=1e-15)


def test_without_anything_left_to_mix_alpha_2_has_no_such_term():
    assert alpha_2(2, 2, 0.0) == pytest.approx(10 + 2 * pi**2 / 3, rel=1e-15)


def test_alpha_2_stays_exact_where_lambda_2_is_next_to_one():
    """With d = 1 - lambda_2 the last term is 2 / ((d/3) (d/12)) = 72 / d^2, up to a factor 1 + O(d)."""
    assert alpha_2(2, 2, 1 - 2.0**-40) == pytest.approx(72 * 2.0**80, rel=1e-11)


# The round from which gossip is fast enough


@pytest.mark.parametrize("agents", [2, 3, 10, 100])
@pytest.mark.parametrize("lambda_2", [1e-9, 1e-3, 0.005, 0.0051, 0.01, 0.1, 0.3, 0.5, 0.75, 0.9, 0.99, 0.9999])
def test_the_mixing_round_follows_the_last_violation(agents, lambda_2):
    """From 6 / log(1 / lambda_2) on the inequality is monotone, so looking beyond is looking at all rounds."""
    found = mixing_round(agents, lambda_2)
    rounds = np.arange(1, 2 * found + int(12 / -log(lambda_2)) + 10)
    violations = rounds[~complies(rounds, agents, lambda_2)]
    assert found == max(violations, default=0) + 1


def test_the_mixing_round_of_a_long_path_is_the_crossing_past_the_peak():
    """One round changes the inequality in its tenth digit, so it is evaluated with 40."""
    lambda_2 = 1 - (pi / 1000) ** 2 / 2000
    found = mixing_round(1000, lambda_2)
    assert found > 6 / -log(lambda_2)
    with localcontext(prec=40):
        third = (Decimal(lambda_2).ln() / 3).exp()
        sides = [(Decimal(lambda_2).ln() * t / 6).exp() * 1000 * t / (1 - third) for t in (found - 1, found)]
    assert sides[0] >= 1 > sides[1]


def test_the_mixing_round_is_one_where_the_inequality_always_holds():
    assert mixing_round(2, 0.0) == mixing_round(1000, 0.0) == 1
    assert mixing_round(2, 1e-3) == 1
    assert mixing_round(100, 1e-3) > 1


# Bounds


@pytest.mark.parametrize(
    ("gaps", "agents", "horizon", "lambda_2"),
    [
        (FIGURE_GAPS, 3, 10**6, 0.5),
        ([0.1, 0.0], 2, 100, 0.25),
        ([0.9, 0.0, 1.0], 10, 10, 0.994562),
        ([0.0, 0.0, 0.5], 4, 1, 0.6),
    ],
)
def test_both_bounds_are_the_printed_sums(gaps, agents, horizon, lambda_2):
    theorem_1 = printed_bound(gaps, agents, horizon, lambda_2)
    assert gossip_ucb_bound(gaps, agents, horizon, lambda_2) == pytest.approx(theorem_1, rel=1e-11)
    for epsilon in (0.01, 1.0, 5.0, 1e6):
        theorem_2 = printed_bound(gaps, agents, horizon, lambda_2, epsilon)
        assert fed_ucb_bound(gaps, agents, horizon, lambda_2, epsilon) == pytest.approx(theorem_2, rel=1e-11)


def test_theorem_1_by_hand_for_two_agents_where_gossip_mixes_at_once():
    """With N = 2, M = 2, T = e^2, lambda_2 = 0 and gap 1/2: 8 / (1/4 - 1/2048)^2 pulls, rest 10 + 2 pi^2 / 3."""
    by_hand = 0.5 * (8 / (0.25 - 1 / 2048) ** 2 + 10 + 2 * pi**2 / 3)
    assert gossip_ucb_bound([0.5, 0], 2, e**2, 0.0) == pytest.approx(by_hand, rel=1e-14)


def test_slow_gossip_makes_the_mixing_round_the_largest_entry():
    lambda_2, horizon = 0.9999, 1000
    expected = mixing_round(3, lambda_2) + alpha_2(3, 2, lambda_2)
    assert gossip_ucb_bound([0.0, 1.0], 3, horizon, lambda_2) == pytest.approx(expected, rel=1e-14)


def test_many_agents_and_arms_make_the_lag_of_catching_up_the_largest_entry():
    gaps = [0.0] + [1.0] * 99
    expected = 99 * (301 * 50 + alpha_2(50, 100, 0.5))
    assert gossip_ucb_bound(gaps, 50, 2, 0.5) == pytest.approx(expected, rel=1e-14)


@STEADY
@given(
    gap=st.floats(0.01, 1),
    agents=st.integers(2, 50),
    horizon=st.integers(2, 10**7),
    lambda_2=st.floats(0, 0.999),
    epsilon=st.floats(1e-3, 1e3),
)
def test_more_privacy_never_lowers_the_bound_and_none_leaves_that_of_theorem_1_and_its_rest(
    gap, agents, horizon, lambda_2, epsilon
):
    gaps = [gap, 0.0]
    bounds = [fed_ucb_bound(gaps, agents, horizon, lambda_2, factor * epsilon) for factor in (1, 2, 1e9, inf)]
    rest = gap * 4 * agents * (1 + log(horizon))
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[3] == pytest.approx(gossip_ucb_bound(gaps, agents, horizon, lambda_2) + rest, rel=1e-12)
    assert bounds[2] == pytest.approx(bounds[3], rel=1e-6)


def test_privacy_raises_the_bound_strictly_where_learning_is_what_takes_long():
    bounds = [fed_ucb_bound(FIGURE_GAPS, 3, 10**6, 0.5, epsilon) for epsilon in (1, 2, 5, inf)]
    assert all(more > less for more, less in pairwise(bounds))


def test_a_gap_the_theorems_do_not_cover_has_no_finite_bound():
    uncovered = 2 * alpha_1(2)
    for gap, finite in ((uncovered, False), (uncovered / 2, False), (1.001 * uncovered, True)):
        assert (gossip_ucb_bound([0, gap, 0.5], 2, 100, 0.0) < inf) is finite
        assert (fed_ucb_bound([0, gap, 0.5], 2, 100, 0.0, 1.0) < inf) is finite


def test_arms_that_tie_up_to_rounding_cost_nothing():
    assert gossip_ucb_bound([0.0, 1e-17], 2, 100, 0.5) == 0
    assert gossip_ucb_bound([0.0, 1e-17, 0.5], 3, 100, 0.5) == gossip_ucb_bound([0.0, 0.0, 0.5], 3, 100, 0.5)


def test_the_trivial_bound_is_the_worst_arm_all_the_time():
    assert trivial_bound([0.0, 0.25, 0.5], 1000) == 500


# What is refused


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"gaps": [0.1, 0.2]}, "smallest value 0, that of the best arm, got 0.1"),
        ({"gaps": [0.0, -0.2]}, "smallest value 0, that of the best arm, got -0.2"),
        ({"gaps": [0.0, nan]}, "gaps must be finite"),
        ({"gaps": [0.0]}, r"at least 2 arms, got values of shape \(1,\)"),
        ({"gaps": [[0.0, 0.1]]}, r"got values of shape \(1, 2\)"),
        ({"agents": 1}, "agents must number at least 2, got 1"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"lambda_2": 1.0}, r"lambda_2 must lie in \[0, 1\), got 1.0"),
        ({"lambda_2": -0.1}, r"lambda_2 must lie in \[0, 1\), got -0.1"),
        ({"lambda_2": nan}, r"lambda_2 must lie in \[0, 1\), got nan"),
        ({"epsilon": 0.0}, "epsilon must be a number > 0, got 0.0"),
        ({"epsilon": nan}, "epsilon must be a number > 0, got nan"),
    ],
)
def test_a_bound_names_what_it_refuses(change, named):
    arguments = {"gaps": [0.0, 0.5], "agents": 2, "horizon": 10, "lambda_2": 0.5, "epsilon": 1.0} | change
    with pytest.raises(UsageError, match=named):
        fed_ucb_bound(**arguments)
    if "epsilon" not in change:
        del arguments["epsilon"]
        with pytest.raises(UsageError, match=named):
            gossip_ucb_bound(**arguments)
