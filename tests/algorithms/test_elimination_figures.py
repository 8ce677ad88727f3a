"""What the figures of Li and Song show, on the built-in studies with their pinned values.

Directions of effects are asserted, and sizes only where theory gives them. Settings of a figure share their seed, so
replication i of one meets the rewards and the noise of replication i of the other, and differences are taken pair by
pair. "Surely" means that the mean difference is more than 5 of its standard errors (a wrong sign by chance: 3e-7).
REPLICATIONS are enough for that: the weakest effects are those of neighbouring values of epsilon (8 standard errors
at 100) and of random graphs with and without a server (9 at 40).
"""

import functools
import itertools

import numpy as np
import polars as pl
import pytest

from coterie.studies import builtin_studies, load_study
from coterie.studies.case import make_case

REPLICATIONS = {"li-song-4": 100, "li-song-7": 20}  # all others: 40
FIGURES = sorted(name for name in builtin_studies() if name.startswith("li-song-"))


@functools.cache
def result(name):
    return load_study(name, [f"replications={REPLICATIONS.get(name, 40)}"]).run()


def regrets(name):
    """Total regret at the horizon, [row, replication]."""
    study = result(name).study
    ends = result(name).frame().filter(pl.col("round") == study.horizon).sort("row", "replication")
    return ends["regret"].to_numpy().reshape(len(study.rows), study.replications)


def surely_less(smaller, larger):
    difference = larger - smaller
    return difference.mean() > 5 * difference.std(ddof=1) / np.sqrt(len(difference)) > 0


def surely_falling(rows):
    return all(surely_less(later, earlier) for earlier, later in itertools.pairwise(rows))


def costs(name):
    return [row["communication"]["cost"] for row in result(name).summary]


def test_figure_4_regret_falls_with_epsilon_and_is_smallest_without_noise():
    rows = regrets("li-song-4")
    assert surely_falling(rows)
    assert rows[0].mean() < 1.3 * rows[-1].mean()  # the effect is modest


def test_figure_5_regret_falls_with_participation_about_like_its_inverse_and_cost_is_proportional():
    rows, shares = regrets("li-song-5"), np.array([0.2, 0.4, 0.6, 0.8, 1.0])
    assert surely_falling(rows)
    np.testing.assert_allclose(rows.mean(axis=1) * shares / rows[-1].mean(), 1, atol=0.1)
    rounds = [row["communication"]["rounds"] for row in result("li-song-5").summary]
    np.testing.assert_allclose(costs("li-song-5"), 25 * 50 * shares * rounds)


def test_figure_6_regret_falls_with_the_rounds_and_cost_is_that_of_the_rounds_held():
    rows, summary = regrets("li-song-6")[:-1], result("li-song-6").summary
    assert surely_falling(rows)
    limits = [2, 3, 4, 5, 6, 8, 12]
    for row, limit in zip(summary, limits, strict=False):
        assert row["communication"]["cost"] == 25 * 50 * row["communication"]["rounds"]
        assert row["communication"]["rounds"] <= limit
    assert np.all(np.diff(costs("li-song-6")[:-1]) > 0)


def test_figure_7_regret_falls_with_participation_and_with_rounds_and_cost_moves_the_other_way():
    rows, paid = regrets("li-song-7").reshape(8, 5, -1), np.array(costs("li-song-7")).reshape(8, 5)
    for limited in range(7):
        assert surely_falling(rows[limited])
    for share in range(5):
        assert surely_falling(rows[:7, share])
    assert surely_falling(rows[7])
    assert (np.diff(paid, axis=1) > 0).all() and (np.diff(paid[:7], axis=0) > 0).all()


@pytest.mark.slow
def test_figure_8_together_both_kinds_of_rewards_cost_the_same_and_alone_only_equal_ones_can_be_learned():
    (together, alone), (together_apart, alone_apart) = (
        regrets("li-song-8-homogeneous"),
        regrets("li-song-8-heterogeneous"),
    )
    assert together.mean() == pytest.approx(together_apart.mean(), rel=0.03)
    assert alone.mean() / together.mean() == pytest.approx(5, rel=0.15)
    assert surely_less(5 * together, alone_apart)
    half, end = slopes("li-song-8-heterogeneous")
    assert end == pytest.approx(half, rel=0.25) and end > 0
    assert max(slopes("li-song-8-homogeneous")) < 1e-6


def slopes(name):
    """Mean regret per slot of the agents alone in the third and in the last quarter."""
    curve, horizon = result(name).summary[1]["curve"], result(name).study.horizon
    at = [np.interp(share * horizon, curve["round"], curve["mean"]) for share in (0.5, 0.75, 1.0)]
    return np.diff(at) / (0.25 * horizon)


def test_figure_10_a_complete_graph_is_the_server_and_longer_ways_cost_a_little_more():
    more = {graph: np.subtract(*regrets(f"li-song-10-{graph}")) for graph in ("complete", "star", "random", "ring")}
    assert (more["complete"] == 0).all()
    assert surely_less(0 * more["star"], more["star"])
    assert surely_less(more["star"], more["random"])
    assert surely_less(more["random"], more["ring"])
    paid = {graph: costs(f"li-song-10-{graph}")[0] for graph in more}
    assert min(paid, key=paid.get) == "star"
    spread = regrets("li-song-10-ring")[1].std(ddof=1)
    assert more["ring"].mean() < spread / 5  # without pairing it could not be seen


def test_figure_11_regret_is_practically_equal_in_all_cases():
    cases = [regrets(f"li-song-11-{case}")[0] for case in ("1", "2", "3", "4", "5", "6")]
    for one in cases:
        assert np.abs(one / cases[0] - 1).max() < 0.01


def test_figure_11_kept_links_cost_more_the_larger_the_components_and_least_in_stars():
    maintain = {case: result(f"li-song-11-{case}").summary[0]["extra"]["cost_maintain"] for case in ("1", "2", "3", "4", "5")}
    assert maintain["1"] < maintain["2"] < maintain["3"]
    assert min(maintain, key=maintain.get) == "5"


def test_figure_11_five_components_are_far_cheaper_than_single_agents_and_than_peers_alone():
    five = [costs(f"li-song-11-{case}")[0] for case in ("1", "2", "4", "5")]
    assert max(five) < costs("li-song-11-6")[0] / 5
    assert max(five) < costs("li-song-11-3")[1] / 5  # row 1 of case 3 is DDP-MAB


def extra_regret(rewards, graphs, structure):
    """Over CDP-MAB, pair by pair."""
    centre, other = regrets(f"li-song-12-{rewards}-{graphs}-{structure}")
    return other - centre


@pytest.mark.parametrize("graphs", ["random", "ring"])
@pytest.mark.parametrize("rewards", ["homogeneous", "heterogeneous"])
def test_figure_12_a_server_beats_components_and_components_beat_peers(rewards, graphs):
    hybrid, peers = extra_regret(rewards, graphs, "hybrid"), extra_regret(rewards, graphs, "peers")
    assert surely_less(0 * hybrid, hybrid)
    assert surely_less(hybrid, peers)


@pytest.mark.parametrize("structure", ["hybrid", "peers"])
@pytest.mark.parametrize("graphs", ["random", "ring"])
def test_figure_12_heterogeneous_rewards_enlarge_the_distance_to_a_server_and_leave_the_server_as_it_is(graphs, structure):
    equal, different = (extra_regret(rewards, graphs, structure) for rewards in ("homogeneous", "heterogeneous"))
    assert surely_less(equal, different)
    centres = [regrets(f"li-song-12-{rewards}-{graphs}-{structure}")[0].mean() for rewards in ("homogeneous", "heterogeneous")]
    assert centres[0] == pytest.approx(centres[1], rel=0.02)


@pytest.mark.parametrize("name", FIGURES)
def test_the_best_arm_survives_in_every_run(name):
    """Also where the horizon ends before all others are dropped. Agents alone may have a best arm of their own."""
    study = load_study(name).specification
    for row in study.rows:
        if row.name == "single-mab" and study.problem.heterogeneity > 0:
            continue
        for replication in range(5):
            case = make_case(study, row, replication)
            servers = case.simulate(study.seed, replication, 1).servers[0]
            for server in servers:
                assert study.problem.arms - 1 in server["arm"][: server["survivors"]]
