"""The built-in studies of Dubey and Pentland and of liars: pinned values, and all of them run at tiny size."""

from functools import cache, partial
from math import inf

import pytest

from coterie.engines.simulate import simulate_mesh
from coterie.report import render
from coterie.studies import builtin_studies, case, load_study
from coterie.studies.results import manifest
from coterie.studies.running import check_rows
from coterie.theory.cooperative import losses

NAMES = [name for name in builtin_studies() if name.startswith("dubey-")]
LIARS = [name for name in NAMES if name.startswith("dubey-a")]
ALL_ATTACKS = ["random", "promote-worst", "promote-second", "sign-flip", "inside-window", "sleeper"]
BETWEEN = {"dubey-1a": None, "dubey-1b": (0.3, 0.7), "dubey-1c": None, "dubey-1c-byzantine": (0.3, 0.7), "dubey-p": None}
TINY = ["horizon=60", "replications=2", "problem.agents=12", "network.probability=0.4"]


def specification(name, *sets):
    return load_study(name, sets).specification


def options(study, algorithm, key):
    return [getattr(row.options, key) for row in study.rows if row.name == algorithm]


@pytest.mark.parametrize("name", NAMES)
def test_a_study_has_the_common_setting_of_the_paper(name):
    study = specification(name)
    check_rows(study)
    assert (study.problem.kind, study.problem.instance) == ("bernoulli", "uniform")
    assert (study.problem.agents, study.problem.arms) == (200, 5)
    assert (study.network.graph, study.network.probability) == ("erdos-renyi", 0.1)
    assert study.network.life == (1 if name == "dubey-a-near" else "half-diameter")
    assert study.problem.between == BETWEEN.get(name, (0.1, 0.9) if name in LIARS else None)
    long = {"dubey-1a-long": 10_000, "dubey-p-10000": 10_000, "dubey-p-100000": 100_000}
    assert study.horizon == long.get(name, 1000)


def test_figure_1a_compares_alone_and_together_with_and_without_noise():
    for name in ("dubey-1a", "dubey-1a-long"):
        study = specification(name)
        assert {row.name for row in study.rows} == {"ucb1", "dp-ucb-int", "coop-ucb", "private-ucb"}
        assert options(study, "dp-ucb-int", "epsilon") == [0.1, 1]
        assert set(options(study, "coop-ucb", "life")) == {"half-diameter", "half-diameter-down"}
        printed = [row.options for row in study.rows if row.name == "private-ucb" and row.options.mode == "paper"]
        assert {(each.epsilon, each.life) for each in printed} == {
            (epsilon, life) for epsilon in (0.1, 1) for life in ("half-diameter", "half-diameter-down")
        }
        assert "corrected" in options(study, "private-ucb", "mode")
        assert set(options(study, "private-ucb", "rate")) == {1.1}


def test_the_readings_are_all_there():
    study = specification("dubey-1a-readings")
    assert set(options(study, "dp-ucb-int", "reading")) == {"live", "frozen", "fresh"}
    kinds = {(row.options.mode, row.options.noise) for row in study.rows if row.name == "private-ucb"}
    assert kinds == {(mode, noise) for mode in ("paper", "corrected") for noise in ("fresh", "kept")}


def test_figure_1b_has_clean_messages_and_three_contaminants():
    study = specification("dubey-1b")
    for algorithm in ("ucb1", "byzantine-ucb"):
        faults = [row.faults for row in study.rows if row.name == algorithm]
        found = {(each.contamination, each.contaminant) for each in faults}
        assert found == {(0, None), (0.001, 1), (0.001, 0), (0.001, 10)}
    assert set(options(study, "byzantine-ucb", "estimator")) == {"trimmed", "clipped"}
    assert set(options(study, "byzantine-ucb", "liars_assumed")) == {None}  # what the faults say: 0 on clean messages


@pytest.mark.parametrize("name", ["dubey-1c", "dubey-1c-byzantine"])
def test_figure_1c_has_every_life_up_to_the_diameter(name):
    study = specification(name)
    lives = {}
    for row in study.rows:
        kind = (row.name, getattr(row.options, "epsilon", None), getattr(row.options, "estimator", None))
        lives.setdefault(kind, []).append(row.options.life)
    assert len(lives) >= 2 and all(found == [0, 1, 2, 3] for found in lives.values())


@pytest.mark.parametrize("name", ["dubey-p", "dubey-p-10000", "dubey-p-100000"])
def test_the_accounts_are_asked_for_all_printed_parameters(name):
    study = specification(name)
    found = {(row.options.mode, row.options.epsilon, row.options.rate) for row in study.rows}
    assert found == {(mode, eps, rate) for mode in ("paper", "corrected") for eps in (0.1, 0.5, 1) for rate in (1.1, 1.4)}


def test_every_attack_meets_every_algorithm_at_every_share():
    study = specification("dubey-a")
    wanted = {(0.0, None), *((share, attack) for share in (0.1, 0.2, 0.3) for attack in ALL_ATTACKS)}
    names = ["ucb1", "dp-ucb-int", "private-ucb", "byzantine-ucb", "pr-ucb"]
    assert list(dict.fromkeys(row.name for row in study.rows)) == names
    for name in names:
        faults = [(row.faults.liars, row.faults.attack) for row in study.rows if row.name == name]
        assert len(faults) == len(wanted) == 19 and set(faults) == wanted
    (vote,) = {row.options for row in study.rows if row.name == "pr-ucb"}
    assert (vote.votes, vote.own_clip, vote.epsilon, vote.liars_assumed) == ("median", True, 1.0, 0.3)


def test_the_ablations_take_every_part_of_the_votes_away():
    study = specification("dubey-a-ablations")
    kinds = {(row.options.votes, row.options.own_clip) for row in study.rows if row.name == "pr-ucb"}
    assert kinds == {(votes, clip) for votes in ("median", "mean", "scouts") for clip in (True, False)}
    near = specification("dubey-a-near")
    assert set(options(near, "pr-ucb", "own_clip")) == {True, False}


def test_privacy_and_lies_meet_at_several_epsilons():
    study = specification("dubey-a-epsilon")
    assert set(options(study, "pr-ucb", "epsilon")) == {0.1, 0.3, 1, 3}
    assert {(row.faults.liars, row.faults.attack) for row in study.rows} == {(0, None), (0.2, "promote-second")}


QUICK = ("dubey-p",)


@cache
def tiny(name):
    """Interpreted where there are few rows."""
    with pytest.MonkeyPatch.context() as patch:
        if name in QUICK:
            patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        return load_study(name, TINY).run()


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES])
def test_a_study_runs_at_tiny_size_and_has_a_page(name):
    study, result = load_study(name, TINY), tiny(name)
    assert [row["label"] for row in result.summary] == [row.label for row in study.specification.rows]
    for row in result.summary:
        assert 0 < row["regret_per_agent"]["mean"] < 60
        claimed = row["privacy"]["claimed"]
        assert not row["privacy"]["private"] or claimed["epsilon"] < inf
    page = render(result.document(), manifest(study.specification))
    assert len(page.encode()) < 500_000
    assert ("All attacks" in page) == (name in LIARS or name == "dubey-1b")
    assert ("by hops" in page) == name.startswith("dubey-1c")
    assert ("What the releases add up to" in page) == any(row.name == "private-ucb" for row in study.specification.rows)


def test_the_accounts_of_a_run_are_those_of_its_horizon():
    study = load_study("dubey-p", TINY)
    for row, done in zip(study.specification.rows, tiny("dubey-p").summary, strict=True):
        found = losses(row.options.epsilon, row.options.rate, 60, 1e-5)
        assert [done["extra"][f"loss_{key}"] for key in ("basic", "advanced", "closed_bound")] == pytest.approx(list(found))
        assert ("pivotal_share" in done["extra"]) == (row.options.mode == "paper")
        if row.options.mode == "corrected":
            assert done["privacy"]["accounted"]["epsilon"] <= found.basic * (1 + 1e-9)
