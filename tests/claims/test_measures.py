"""Measures against numbers that are known, and verdicts against the files."""

import numpy as np
import pytest
from scipy import stats

from coterie.claims.claim import Check, Claim, Pick
from coterie.claims.judging import judge
from coterie.claims.measures import MEASURES, SURE

RNG = np.random.default_rng(3)
NOISE = RNG.normal(size=20)


class FakeLab:
    """Rows are arrays by name; `late` ones are asked for at the end, `early` ones before."""

    def __init__(self, told=None, **rows):
        self.rows, self.facts = rows, told or {}

    def runs(self, pick, quantity, at=1.0):
        return np.array([self.rows[f"{name}{'' if at == 1.0 else ' early'}"] for name in pick.rows])

    def told(self, pick, path):
        return [self.facts[name] for name in pick.rows]


def measure(kind, lab, *rows, **named):
    return MEASURES[kind](lab, Check(measure=kind, of=(Pick(study="s", rows=rows),), **named))


def test_an_order_must_be_sure():
    lab = FakeLab(a=10 + NOISE, b=8 + NOISE + 0.1 * RNG.normal(size=20), c=7.999 + NOISE + RNG.normal(size=20))
    assert measure("falling", lab, "a", "b").holds and not measure("rising", lab, "a", "b").holds
    assert not measure("falling", lab, "a", "b", "c").holds
    found = measure("falling", lab, "a", "b")
    step = lab.rows["a"] - lab.rows["b"]
    assert found.value == pytest.approx(stats.ttest_1samp(step, 0).statistic) and found.value > SURE


def test_equal_rows_are_in_no_order_and_constant_steps_are_sure():
    lab = FakeLab(a=NOISE, b=NOISE, c=NOISE + 1)
    assert not measure("rising", lab, "a", "b").holds and measure("rising", lab, "a", "c").holds
    assert measure("same", lab, "a", "b").holds and not measure("same", lab, "a", "c").holds


def test_a_ratio_has_an_interval_that_covers_it():
    """The true ratio is 2; of 400 intervals at 95 %, between 360 and 398 hold it but for a chance of 1 in 10,000."""
    held = 0
    for _ in range(400):
        base = 10 + RNG.normal(size=30)
        lab = FakeLab(a=2 * base + RNG.normal(size=30), b=base)
        found = measure("ratio", lab, "a", "b", low=1.5, high=2.5)
        held += found.low <= 2 <= found.high
    assert 360 <= held <= 398


def test_growth_and_exponent():
    lab = FakeLab(**{"a": np.full(5, 8.0), "a early": np.full(5, 2.0)})
    assert measure("growth", lab, "a", since=0.25, low=3.9, high=4.1).value == 4.0
    assert measure("exponent", lab, "a", since=0.25, low=0.99, high=1.01).holds


def test_pairs_are_compared_by_their_differences():
    lab = FakeLab(a=NOISE, b=NOISE + 1, c=5 * NOISE, d=5 * NOISE + 2)
    assert measure("extra", lab, "a", "b", "c", "d").holds and not measure("extra", lab, "c", "d", "a", "b").holds


def test_a_fact_without_limit_is_infinite():
    lab = FakeLab(told={"a": 0.5, "b": None})
    assert measure("fact", lab, "a", high=1.0).holds and not measure("fact", lab, "a", "b", high=1e9).holds


def test_a_ratio_of_facts_is_of_what_two_summaries_say():
    lab = FakeLab(told={"a": 1184.0, "b": 6852.0, "c": None})
    found = measure("ratio of facts", lab, "a", "b", high=0.5)
    assert found.holds and found.value == pytest.approx(1184 / 6852) and found.low is found.high is None
    assert not measure("ratio of facts", lab, "b", "a", high=0.5).holds
    assert not measure("ratio of facts", lab, "a", "c", high=0.5).holds
    assert not measure("ratio of facts", lab, "c", "a", high=0.5).holds


def test_the_share_of_runs_is_counted():
    lab = FakeLab(a=np.array([1.0, 1, 3, 1]), b=np.array([2.0, 2, 2, 2]))
    found = measure("proportion", lab, "a", "b", low=0.7)
    assert (found.value, found.text, found.holds) == (0.75, "3 of 4 runs", True)


def test_numbers_say_what_they_are_of_where_it_is_not_all_regret():
    """Totals of ten agents once stood beside medians of one agent, with nothing to tell them apart."""
    lab = FakeLab(told={"a": 1.0, "b": 4.0}, a=np.array([1.0, 2]), b=np.array([2.0, 4]))
    checks = [("ratio of facts", "procurement.median_after"), ("ratio", "extra_regret_after_exploration"), ("ratio", "regret")]
    texts = []
    for kind, quantity in checks:
        check = Check(measure=kind, quantity=quantity, of=(Pick(study="s", rows=("a", "b")),))
        texts.append(judge(Claim(id="x", where="w", says="s", verdict="holds", check=(check,)), lab).text.partition(":")[0])
    assert texts == ["of the median agent, after the exploration", "of all agents, after the exploration", "1.5 "]


@pytest.mark.parametrize(("fails", "confirmed"), [(False, True), (True, False)])
def test_a_check_that_must_fail_must_not_come_out(fails, confirmed):
    lab, check = FakeLab(told={"a": 0.5}), Check(measure="fact", of=(Pick(study="s", rows=("a",)),), high=1.0, fails=fails)
    claim = Claim(id="x", where="w", says="s", verdict="does not hold", why="y", check=(check,))
    assert judge(claim, lab).confirmed is confirmed
