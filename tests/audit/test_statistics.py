"""Statistics learn what differs, and nothing else; their parts agree with scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ks_2samp

from coterie.audit.couples import couples
from coterie.audit.statistics import Sample, distance, gap, grain, regress, statistics, table
from coterie.audit.views import Place

INTEGER, FLOAT = Place(0, 1, "message", "total", True), Place(0, 1, "message", "value", False)
RNG = np.random.default_rng(5)


def integers(*columns):
    return Sample(np.column_stack(columns).astype(np.int64), [INTEGER] * len(columns))


def floats(column):
    return Sample(np.asarray(column, float).view(np.int64)[:, None], [FLOAT])


@pytest.mark.parametrize("draw", [lambda: RNG.normal(size=300), lambda: RNG.integers(0, 4, 300).astype(float)])
def test_the_gap_is_that_of_kolmogorov_and_smirnov(draw):
    zero, one = draw(), draw() + 0.3
    assert gap(zero, one) == pytest.approx(ks_2samp(zero, one).statistic, abs=1e-12)


def test_values_that_occur_now_and_then_do_not_count_as_a_difference():
    assert distance(np.arange(100), np.arange(100, 200)) == 0
    assert distance(np.zeros(100), np.repeat([0, 1], 50)) == pytest.approx(0.5)


def test_the_grain_of_a_number_is_the_place_of_its_lowest_set_bit():
    assert grain(integers([8, 24, 1, -6, 0]), 0).tolist() == [3, 3, 0, 1, 64]
    assert grain(floats([8.0, 2.5, -0.375, 2.0**-60, 3 * 2.0**40]), 0).tolist() == [3, -1, -3, -60, 40]
    assert len(set(grain(floats([0.0, np.nan, np.inf]), 0).tolist())) == 1


def test_a_table_scores_by_the_log_odds_of_what_it_has_seen():
    zero, one = integers(np.repeat([1, 2], [30, 70])), integers(np.repeat([1, 2], [60, 40]))
    score = table(zero, one, lambda sample: sample.word(0))
    odds = np.log(np.array([60.5 / 30.5, 40.5 / 70.5]))
    assert score(integers([1, 2, 3])) == pytest.approx([*odds, 0.0])


def test_the_regression_finds_the_weights_that_a_general_optimiser_finds():
    features = RNG.normal(size=(400, 3))
    side = (features @ [1.0, -2.0, 0.0] + RNG.logistic(size=400) > 0).astype(float)

    def loss(weights):
        lines = features @ weights
        return np.logaddexp(0, lines).sum() - side @ lines + 0.5 * weights @ weights

    assert regress(features, side) == pytest.approx(minimize(loss, np.zeros(3), tol=1e-12).x, abs=1e-4)


def test_words_that_do_not_differ_give_no_statistic():
    same = integers(np.full(50, 7))
    assert list(statistics(same, same)) == []


def test_each_statistic_finds_the_difference_it_is_for():
    n = 2000
    hidden, fine = RNG.laplace(0, 1000, (2, n)), RNG.normal(0, 0.1, (2, n))
    sides = {
        "equality": (integers(np.zeros(n)), integers(np.where(np.arange(n) % 2, 5, 0))),
        "threshold": (integers(hidden[0]), integers(hidden[1] + 1000)),
        "low bits": (floats(fine[0]), floats(1.0 + fine[1] - 1.0)),
    }
    for name, (zero, one) in sides.items():
        found = [statistic for statistic in statistics(zero, one) if statistic.name == name]
        assert max(gap(statistic.score(zero), statistic.score(one)) for statistic in found) > 0.3, name


def test_two_words_that_say_nothing_by_themselves_are_found_together():
    """A number under a mask, and the mask. Alone both sides are alike: 2,000 trials differ by 0.13 with probability 1e-14."""
    n = 2000
    mask, secret = RNG.integers(0, 1 << 40, (2, n)), np.array([[3], [4]]) + RNG.integers(0, 2, (2, n)) * 8
    places = [INTEGER._replace(word="hint"), INTEGER._replace(word="mask"), INTEGER._replace(word="words")]
    for kind, hidden in (("bits", mask ^ secret), ("difference", mask + secret), ("sum", secret - mask)):
        sides = [np.column_stack([hidden[side], mask[side], mask[side]]) for side in (0, 1)]
        found = {couple.kind: couple for couple in couples(places, [0, 1, 2])}
        assert set(found) == {"sum", "difference", "bits"}
        assert all(gap(sides[0][:, j], sides[1][:, j]) < 0.13 for j in (0, 1))
        zero, one = (Sample(found[kind].of(side)[:, None], [found[kind].place]) for side in sides)
        assert max(gap(s.score(zero), s.score(one)) for s in statistics(zero, one) if s.name == "equality") > 0.9


def test_the_same_word_of_two_messages_is_coupled_and_words_of_two_senders_are_not():
    places = [INTEGER, INTEGER._replace(turn=4), INTEGER._replace(who=1)]
    made = list(couples(places, [0, 1, 2]))
    assert {(couple.one, couple.other, couple.kind) for couple in made} == {(0, 1, "sum"), (0, 1, "bits")}
    left, right = np.array([1.5, -2.0]), np.array([0.25, 8.0])
    real = [FLOAT, FLOAT._replace(word="other")]
    together = {couple.kind: couple.of(np.column_stack([left, right]).view(np.int64)) for couple in couples(real, [0, 1])}
    assert together["sum"].view(float).tolist() == [1.75, 6.0] and together["difference"].view(float).tolist() == [1.25, -10.0]
