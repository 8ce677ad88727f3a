"""The built-in studies of procurement hold what the source and the pinned decisions say."""

from math import inf
from pathlib import Path

import numpy as np
import pytest

from coterie.algorithms.procurement_printed import as_printed
from coterie.problem.oracles import best_quality, slack
from coterie.studies import BUILTIN, builtin_studies, load_study
from coterie.studies.procurement import suppliers_of

NAMES = [name for name in builtin_studies() if name.startswith("solanki-")]
EXPERIMENTS = {name: load_study(name).specification for name in NAMES}


def rows_of(name):
    return [(row.name, row.options) for row in EXPERIMENTS[name].rows]


def test_every_experiment_of_the_source_has_its_studies():
    laws = ("uniform", "normal")
    wanted = {f"solanki-exp0-{kind}-{law}" for kind in ("homogeneous", "heterogeneous") for law in laws}
    wanted |= {f"solanki-{part}-{law}" for part in ("exp1", "exp2", "controls") for law in laws}
    assert set(NAMES) == wanted | {f"solanki-exp3-{agents}" for agents in (2, 5, 10, 15, 20)}


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_has_the_pinned_values(name):
    study = EXPERIMENTS[name]
    problem = study.problem
    assert (study.horizon, problem.producers, problem.alpha, problem.rho) == (100_000, 30, 0.4, 1.0)
    assert problem.instances == 5 and study.replications % 5 == 0
    assert problem.homogeneous == ("homogeneous" in name.split("-"))
    assert problem.distribution == ("normal" if name.endswith("normal") else "uniform")
    assert problem.sd == 0.1
    assert (study.network.graph, study.network.components) == ("complete", None)
    for algorithm, options in rows_of(name):
        assert (options.xi, options.kappa, options.gamma) == (0.3, 1.0, 0.0)
        if algorithm == "p-fcb" and options.mode == "paper":
            printed = as_printed(options)
            assert (printed.delta, printed.window, printed.schedule) == (0.01, (200, 40_000), "powers")
            assert (printed.omega1, printed.omega2) == (0.1, 10.0)
        elif algorithm == "p-fcb":
            assert (options.window, options.schedule, options.exploration) == (None, "powers", "common")


def test_all_experiments_meet_the_same_qualities():
    """So that figures can be set beside each other."""
    assert {study.seed for study in EXPERIMENTS.values()} == {20}
    for law in ("uniform", "normal"):
        found = [suppliers_of(s.problem, s.seed, 0) for s in EXPERIMENTS.values() if s.problem.distribution == law]
        assert all(np.array_equal(found[0].quality, other.quality) for other in found)


def test_the_algorithms_are_those_of_the_experiments():
    for name in NAMES:
        found = [algorithm for algorithm, _ in rows_of(name)]
        if "exp0" in name:
            assert found == ["nf-cb", "fcb"]
        elif "exp1" in name:
            assert found == ["nf-cb", "fcb", "fcb-periodic", "p-fcb", "p-fcb", "p-fcb"]
            modes = [(options.mode, options.learning) for _, options in rows_of(name)[3:]]
            assert modes == [("paper", None), ("paper", "echo"), ("private", None)]
        elif "exp2" in name:
            swept = [(options.mode, options.epsilon) for algorithm, options in rows_of(name) if algorithm == "p-fcb"]
            assert found[0] == "nf-cb"
            assert [epsilon for mode, epsilon in swept if mode == "private"] == [0.1, 0.3, 1, 3, 10, inf]
            assert [epsilon for mode, epsilon in swept if mode == "paper"] == [0.1, 0.3, 1, 3, inf]
        elif "exp3" in name:
            assert found == ["nf-cb", "fcb", "p-fcb"]
        if "exp3" in name:
            assert {options.mode for algorithm, options in rows_of(name) if algorithm == "p-fcb"} <= {"paper"}


def test_fewer_agents_are_some_of_the_same_agents_and_explore_as_long():
    large = suppliers_of(EXPERIMENTS["solanki-exp3-20"].problem, 20, 1)
    for agents in (2, 5, 10, 15):
        name = f"solanki-exp3-{agents}"
        small = suppliers_of(EXPERIMENTS[name].problem, 20, 1)
        assert np.array_equal(small.quality, large.quality)
        assert np.array_equal(small.cost, large.cost[:agents])
        assert np.array_equal(small.capacity, large.capacity[:agents])
        assert {options.exploration for _, options in rows_of(name)} == {24}


def test_every_row_that_may_have_learned_from_others_has_an_echo_in_the_controls():
    for law in ("uniform", "normal"):
        rows = rows_of(f"solanki-controls-{law}")
        modes = {options.mode for algorithm, options in rows if algorithm == "p-fcb"}
        echoes = {options.mode for algorithm, options in rows if algorithm == "p-fcb" and options.learning == "echo"}
        assert modes == echoes == {"paper", "private"}


def test_the_consortium_has_named_buyers_of_whom_one_cannot_buy_all_that_pays():
    problem = load_study("suppliers").specification.problem
    found = suppliers_of(problem, 0, 0)
    assert (len(found.agents), len(found.producers)) == found.cost.shape == (6, 12)
    assert not found.available.all()
    slacks = [
        slack(found.quality, cost, capacity, problem.alpha, problem.rho)
        for cost, capacity in zip(found.cost, found.capacity, strict=True)
    ]
    assert [name for name, value in zip(found.agents, slacks, strict=True) if value < 0] == ["Millstone Lifts"]
    assert all(best_quality(found.quality, capacity) > problem.alpha for capacity in found.capacity)


def test_the_papers_own_repetitions_are_told():
    for path in BUILTIN.glob("solanki-exp*.toml"):
        assert "replications = 100" in path.read_text().partition("title")[0], path.name


def test_the_readme_shows_the_beginning_of_the_table():
    readme = Path(__file__).parents[2] / "README.md"
    shown = readme.read_text().partition("```csv\n")[2].partition("```")[0]
    assert shown.count("\n") == 3
    assert (BUILTIN / "suppliers.csv").read_text().startswith(shown)
