"""Our pictures of figures: the numbers of the runs, in the order of the paper, with intervals that are named."""

import csv
import io

import numpy as np
import pytest
from scipy import stats

from coterie.claims.claim import Curve, Panel, Pick
from coterie.plots.panels import draw, lines_of, numbers_of
from coterie.plots.picture import Picture

RNG = np.random.default_rng(5)
ROUNDS = np.array([10, 100, 1000])


class FakeLab:
    """Rows are arrays [replication, round] by name; the study of all has two agents."""

    def __init__(self, **rows):
        self.rows = rows

    def result(self, study):
        problem = type("Problem", (), {"agents": 2})
        return type("Result", (), {"study": type("Study", (), {"problem": problem})})

    def course(self, pick):
        return ROUNDS, self.rows[pick.rows[0]]

    def runs(self, pick, quantity):
        return np.array([self.rows[name][:, -1] * (7.0 if quantity == "cost" else 1.0) for name in pick.rows])


def grown(runs=6, level=100.0):
    return level * np.array([0.1, 0.5, 1.0]) + RNG.normal(size=(runs, 3))


def curve(name, *rows, beside=()):
    return Curve(name=name, of=(Pick(study="s", rows=rows),), beside=(Pick(study="s", rows=beside),) if beside else ())


def panel(kind, *curves, **more):
    return Panel(title="t", kind=kind, across="round t", up="regret, in rewards", curves=curves, **more)


def axes_of(shown, lines):
    axes = Picture().subplots()
    draw(shown, lines, axes)
    return axes


def test_curves_over_time_are_means_of_runs_in_the_order_of_the_paper():
    lab = FakeLab(a=grown(), b=grown(level=50.0))
    shown = panel("over time", curve("second", "b"), curve("first", "a"), each=True)
    lines = lines_of(lab, shown)
    axes = axes_of(shown, lines)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["second", "first"]
    assert list(axes.lines[1].get_ydata()) == pytest.approx(lab.rows["a"].mean(axis=0) / 2)
    assert axes.get_xlabel() == "round t" and axes.get_ylabel() == "regret, in rewards\n95 % interval"
    test = stats.ttest_1samp(lab.rows["a"][:, -1] / 2, 0).confidence_interval(0.95)
    assert lines[1].half[-1] == pytest.approx((test.high - test.low) / 2)


def test_few_runs_have_no_interval():
    lab = FakeLab(a=grown(runs=4))
    shown = panel("over time", curve("a", "a"))
    assert lines_of(lab, shown)[0].half is None
    assert axes_of(shown, lines_of(lab, shown)).get_ylabel() == "regret, in rewards"


def test_what_is_held_against_others_is_held_run_by_run():
    common = grown(level=1000.0)
    lab = FakeLab(a=common + 3.0, b=common)
    apart = panel("bars", curve("a", "a", beside=("b",)), places=("here",), held="as a difference")
    (line,) = lines_of(lab, apart)
    assert line.mean == pytest.approx([3.0]) and line.half == pytest.approx([0.0], abs=1e-9)
    assert len(axes_of(apart, [line]).patches) == 1
    share = panel("over time", curve("a", "a", beside=("b",)), held="as a ratio")
    assert lines_of(lab, share)[0].mean == pytest.approx(lab.rows["a"].mean(axis=0) / common.mean(axis=0))


def test_points_stand_at_their_places_or_at_what_they_cost():
    lab = FakeLab(a=grown(), b=grown(level=50.0))
    placed = panel("lines", curve("x", "a", "b"), places=(0.2, 1.0), log="xy")
    (line,) = lines_of(lab, placed)
    assert line.across == [0.2, 1.0] and axes_of(placed, [line]).get_xscale() == "log"
    costed = panel("lines", curve("x", "a", "b"), quantity_across="cost")
    (line,) = lines_of(lab, costed)
    assert line.across == pytest.approx([7 * lab.rows["a"][:, -1].mean(), 7 * lab.rows["b"][:, -1].mean()])
    axes_of(costed, [line])


def test_points_may_have_other_numbers_of_runs():
    lab = FakeLab(a=grown(runs=9), b=grown(runs=6))
    picks = tuple(Pick(study=name, rows=(name,)) for name in "ab")
    shown = panel("lines", Curve(name="x", of=picks), places=(1.0, 2.0))
    (line,) = lines_of(lab, shown)
    assert line.mean == pytest.approx([lab.rows[name][:, -1].mean() for name in "ab"])
    alone = [lines_of(lab, panel("lines", curve("x", name), places=(1.0,)))[0].half[0] for name in "ab"]
    assert line.half == pytest.approx(alone)


def test_every_number_of_a_picture_is_in_its_table():
    lab = FakeLab(a=grown(), b=grown(runs=4))
    lines = lines_of(lab, shown := panel("over time", curve("a", "a"), curve("b", "b"), ordered=True))
    told = list(csv.DictReader(io.StringIO(numbers_of(shown, lines))))
    assert len(told) == 6 and told[2]["round t"] == "1000"
    assert float(told[2]["regret, in rewards"]) == pytest.approx(lab.rows["a"][:, -1].mean(), rel=1e-5)
    assert told[5]["95 % interval, half"] == "" != told[2]["95 % interval, half"]
