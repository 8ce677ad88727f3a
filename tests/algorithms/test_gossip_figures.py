"""What must hold in the experiments of Zhu et al. (Fig. 2), with fewer replications than theirs.

Figure 2(a) runs to its full horizon, as its limits show late only; 2(b) and 2(c) to a tenth and a fifth of theirs. Sizes are
such that every sign is beyond doubt: the runs of two rows that are compared do not even overlap.
"""

from functools import cache
from itertools import pairwise
from math import inf

import numpy as np
import pytest

from coterie.studies import load_study
from coterie.studies.case import make_case

FIGURES = {"2a": 1_000_000, "2b": 100_000, "2c-order": 200_000}
NAMES = ["2a", *(pytest.param(name, marks=pytest.mark.slow) for name in ("2b", "2c-order"))]
A = [[0.90, 0.35, 0.20, 0.75, 0.10], [0.45, 0.95, 0.40, 0.15, 0.30], [0.75, 0.20, 0.60, 0.30, 0.50]]


@cache
def figure(name):
    """The rows, in order of epsilon: 1, 2, 5 and without noise."""
    sets = [f"horizon={FIGURES[name]}", "replications=3"]
    plain, *noised = load_study(f"zhu-{name}", sets).run(workers=1).summary
    return [*noised, plain]


def at(row, share, band="mean"):
    """Regret at a share of the horizon, summed over agents."""
    curve = row["curve"]
    return curve[band][curve["round"].index(round(share * row["horizon"]))]


def study(*algorithms, horizon=200_000, replications=3, problem=None, **more):
    about = {"horizon": horizon, "replications": replications, "seed": 2, "problem": problem or {"means": A}, **more}
    return load_study({**about, "algorithm": list(algorithms)})


def cases(about):
    return [make_case(about.specification, row, 0) for row in about.specification.rows]


# --- claims 1, 2 and 5: what privacy costs, as printed --------------------------------------------------------


@pytest.mark.parametrize("share", [pytest.param(0.6, marks=pytest.mark.slow), 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_regret_falls_with_epsilon_and_no_two_runs_of_different_epsilon_overlap(name, share):
    epsilons = [row["parameters"].get("epsilon") for row in figure(name)]
    assert epsilons == [1.0, 2.0, 5.0, None]
    for more_private, less_private in pairwise(figure(name)):
        assert at(more_private, share, "low") > at(less_private, share, "high")


@pytest.mark.parametrize("name, most", [("2a", 0.15), pytest.param("2b", 0.3, marks=pytest.mark.slow)])
def test_without_noise_twice_the_rounds_add_a_small_part_of_the_regret(name, most):
    plain = figure(name)[-1]
    assert 0 < at(plain, 1.0) - at(plain, 0.5) < most * at(plain, 0.5)


def test_in_figure_2a_the_ratios_of_regret_fall_towards_those_of_epsilon():
    one, two, five, _ = figure("2a")
    for other, limit in ((two, 1 / 2), (five, 1 / 5)):
        ratios = [at(other, share) / at(one, share) for share in (0.2, 0.4, 0.6, 0.8, 1.0)]
        assert all(earlier > later for earlier, later in pairwise(ratios))
        assert limit < ratios[-1] < 1.2 * limit


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_bound_holds_and_is_told_beside_the_trivial_one(name):
    for row in figure(name):
        bounds = [row["extra"]["bound_per_agent"], row["extra"]["trivial_bound_per_agent"]]
        assert 0 < row["regret_per_agent"]["max"] < min(bounds)
    assert figure("2a")[-1]["extra"]["bound_per_agent"] < 0.02 * figure("2a")[-1]["extra"]["trivial_bound_per_agent"]


@pytest.mark.parametrize("name", NAMES)
def test_no_row_as_printed_is_called_private(name):
    assert [row["privacy"]["private"] for row in figure(name)] == [False] * 4


# --- claim 3: agents stay level -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_agents_end_with_nearly_equal_regrets(name):
    for row in figure(name):
        regrets = row["by_agent"]["regret"]
        assert max(regrets) - min(regrets) < 0.01 * min(regrets)


def apart(horizon, **algorithm):
    """The largest distance between two agents' counts of an arm."""
    made = cases(study(algorithm))[0]
    pulls = made._replace(horizon=horizon).simulate(0, 0, 5).opens["pulls"]
    return int((pulls.max(axis=1) - pulls.min(axis=1)).max())


LEVEL = [
    {"name": "gossip-ucb"},
    {"name": "gossip-ucb", "radius": "paper"},
    {"name": "fed-ucb"},
    {"name": "fed-ucb", "mode": "paper"},
]


@pytest.mark.parametrize("algorithm", LEVEL, ids=str)
@pytest.mark.parametrize("horizon", [50, 500, 5000, 50_000])
def test_counts_of_an_arm_are_never_far_apart(algorithm, horizon):
    """(3 M + 1) N = 48 is what the catch-up rule permits; in practice it is a few pulls."""
    assert apart(horizon, **algorithm) <= 12


def test_alone_counts_of_an_arm_drift_apart():
    assert apart(50_000, name="gossip-ucb", isolated=True) > 40_000


# --- claim 4: alone it cannot be learned ----------------------------------------------------------------------


def test_alone_an_agent_whose_own_best_arm_is_another_one_has_linear_regret_and_with_gossip_none_has():
    alone, together = cases(study({"name": "gossip-ucb", "isolated": True}, {"name": "gossip-ucb"}))
    half, full = (alone._replace(horizon=horizon).simulate(0, 0, 3).totals for horizon in (100_000, 200_000))
    assert (full[:, 1] > 0.99 * 0.2 * 200_000).all()  # arm 1, best for agent 1 alone, is 0.2 worse for all together
    assert full[:, 1] / half[:, 1] == pytest.approx(2.0, abs=0.01)
    assert (full[:, [0, 2]] < 0.01 * full[:, 1:2]).all()
    half, full = (together._replace(horizon=horizon).simulate(0, 0, 3).totals for horizon in (100_000, 200_000))
    assert (full < 1.2 * half).all()
    assert full.max() < 0.005 * 0.2 * 200_000


# --- claim 6: the practical radius, and blocks -----------------------------------------------------------------

PROBLEMS = {"A": {"means": A}, "diabetes": {"dataset": "diabetes"}}


@pytest.mark.parametrize("epsilon", [1, *(pytest.param(e, marks=pytest.mark.slow) for e in (2, 5)), inf])
@pytest.mark.parametrize(
    "options", [{"mode": "paper"}, pytest.param({"mechanism": "tree"}, marks=pytest.mark.slow), {}], ids=str
)
def test_the_practical_radius_has_less_regret_than_the_printed_one(options, epsilon):
    rows = [{"name": "fed-ucb", "epsilon": epsilon, "radius": radius, **options} for radius in ("tuned", "paper")]
    tuned, printed = study(*rows, problem=PROBLEMS["diabetes"]).run(workers=1).summary
    assert tuned["regret"]["max"] < 0.5 * printed["regret"]["min"]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_at_epsilon_one_blocks_have_less_regret_than_the_tree(problem):
    rows = [{"name": "fed-ucb", "epsilon": 1, "mechanism": mechanism} for mechanism in ("blocks", "tree")]
    blocks, tree = study(*rows, problem=PROBLEMS[problem]).run(workers=1).summary
    assert blocks["regret"]["max"] < 0.9 * tree["regret"]["min"]


# --- claim 7: what one-way losses do ----------------------------------------------------------------------------


def test_one_way_losses_break_the_law_of_sums_and_leave_some_runs_with_linear_regret():
    """Lost both ways or not at all, as many meetings do no harm."""
    ends = {}
    for one_way in (True, False):
        faults = {"loss": 0.3, "one_way": one_way}
        made = cases(study({"name": "gossip-ucb"}, horizon=40_000, faults=faults))[0]
        half, full = (made._replace(horizon=horizon).simulate(2, 0, 20) for horizon in (20_000, 40_000))
        off = np.abs(full.opens["estimate"].sum(axis=1) - full.opens["average"].sum(axis=1)).max(axis=1)
        ends[one_way] = (half.totals.mean(axis=1), full.totals.mean(axis=1), off)
    half, full, off = ends[True]
    linear = (full > 0.15 * 40_000) & (full > 1.9 * half)
    assert linear.sum() >= 3
    assert (off > 2**24).all()
    half, full, off = ends[False]
    assert (off == 0).all()
    assert full.max() < 0.005 * 40_000
    assert ends[True][1].mean() > 10 * full.mean()
