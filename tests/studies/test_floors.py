"""Which rows have a floor, and of which epsilon: by what a run has booked, not by what was promised. And that it is one."""

from functools import partial
from math import inf, log

import numpy as np
import polars as pl
import pytest

from coterie.engines.simulate import simulate_star
from coterie.privacy.statement import SEES_ALL, SEES_NO_CHOICES
from coterie.studies import case, load_study
from coterie.studies.floors import epsilon_of, floor_of
from coterie.theory.floor import alike_constant, unlike_constant

FIVE = [0.75, 0.625, 0.5, 0.375, 0.25]
ALIKE = {"means": FIVE, "agents": 3}
UNLIKE = {"means": [[0.2, 0.5, 0.7], [0.9, 0.9, 0.8]]}


def said(epsilon, delta=0.0, adversary=SEES_ALL):
    return {"accounted": {"epsilon": epsilon, "delta": delta}, "adversary": adversary}


def floor(problem, privacy, replications=1, **more):
    study = load_study({
        "horizon": 50, "replications": replications, "problem": problem, "algorithm": [{"name": "cdp-mab"}], **more,
    }).specification  # fmt: skip
    return floor_of(study, study.rows[0], privacy)


@pytest.mark.parametrize(
    ("privacy", "epsilon"),
    [
        (said(0.5), 0.5),
        (said(None), inf),
        (said(0.0), inf),
        (said(0.5, delta=1e-6), inf),
        (said(0.5, adversary=SEES_NO_CHOICES), inf),
    ],
)
def test_the_epsilon_is_what_holds_without_delta_against_those_who_see_choices(privacy, epsilon):
    assert epsilon_of(privacy) == epsilon


def test_agents_that_are_alike_have_a_floor_with_and_without_an_epsilon():
    assert floor(ALIKE, said(None)) == {"constant": alike_constant(FIVE), "kind": "alike", "label": "asymptotic"}
    assert floor(ALIKE, said(0.5)) == {"constant": alike_constant(FIVE, 0.5), "kind": "private", "label": "asymptotic"}


def test_agents_that_differ_have_one_without_an_epsilon_only():
    assert floor(UNLIKE, said(None)) == {
        "constant": unlike_constant(UNLIKE["means"]), "kind": "unlike", "label": "asymptotic",
    }  # fmt: skip
    assert floor(UNLIKE, said(1.0)) is None
    assert floor(UNLIKE | {"weights": [0.25, 0.75]}, said(None)) is None


def test_weights_of_agents_that_are_alike_change_nothing():
    assert floor(ALIKE | {"weights": [0.5, 0.25, 0.25]}, said(None)) == floor(ALIKE, said(None))


def test_rewards_that_are_not_coins_purchases_and_liars_have_none():
    assert floor(ALIKE | {"kind": "gaussian", "clip": [0, 1]}, said(1.0)) is None
    assert floor(ALIKE | {"agents": 10}, said(1.0), faults={"liars": 0.2}) is None
    study = load_study({"horizon": 50, "problem": {"kind": "procurement", "agents": 2, "producers": 3},
                        "algorithm": [{"name": "nf-cb"}]}).specification  # fmt: skip
    assert floor_of(study, study.rows[0], said(None)) is None


def test_of_drawn_instances_it_is_the_mean_over_those_that_are_played():
    drawn = {"instance": "uniform", "agents": 2, "arms": 4}
    study = load_study({"horizon": 50, "replications": 3, "problem": drawn, "algorithm": [{"name": "cdp-mab"}]}).specification
    played = [case.make_case(study, study.rows[0], run).quality for run in range(3)]
    found = floor_of(study, study.rows[0], said(1.0))
    assert len({tuple(means) for means in played}) == 3
    assert found["constant"] == pytest.approx(np.mean([alike_constant(means, 1.0) for means in played]), rel=1e-12)


def test_a_run_tells_the_floor_of_the_epsilon_that_holds_whatever_was_promised(monkeypatch):
    """As printed, cdp-mab books more than it promises: its floor is that of what is booked, and lies below."""
    monkeypatch.setattr(case, "simulate_star", partial(simulate_star, compiled=False))
    ways = ({"epsilon": 0.3}, {"epsilon": 0.3, "mode": "paper"}, {"epsilon": inf})
    table = {"horizon": 300, "replications": 1, "problem": ALIKE, "algorithm": [{"name": "cdp-mab"} | way for way in ways]}
    private, printed, bare = load_study(table).run(1).summary
    for row in (private, printed):
        assert row["floor"]["constant"] == alike_constant(FIVE, row["privacy"]["accounted"]["epsilon"])
    assert private["privacy"]["accounted"]["epsilon"] < printed["privacy"]["accounted"]["epsilon"]
    assert bare["floor"] == {"constant": alike_constant(FIVE), "kind": "alike", "label": "asymptotic"}


@pytest.mark.slow
def test_the_regret_of_three_decades_does_not_stay_below_the_floor():
    """Levels say nothing at usual horizons; from a million rounds to a billion the increase must be c ln 1000, nearly.

    It is 1.3 to 1.8 times that, and its standard error 0.06 to 0.1: false alarm below 1e-6.
    """
    table = {"horizon": 10**9, "replications": 60, "checkpoints": 20, "problem": {"means": FIVE, "agents": 20}}
    result = load_study(table | {"algorithm": [{"name": "pooled-ucb", "sweep": {"epsilon": [0.5, 1, inf]}}]}).run()
    marks = result.frame().filter(pl.col("round").is_in([10**6, 10**9]))
    regret = marks.group_by("row", "round").agg(pl.col("regret").mean()).sort("row", "round")["regret"].to_numpy()
    for row, (early, late) in zip(result.summary, regret.reshape(3, 2), strict=True):
        assert late - early >= 0.85 * row["floor"]["constant"] * log(1000)
    assert [row["floor"]["kind"] for row in result.summary] == ["private", "private", "alike"]
