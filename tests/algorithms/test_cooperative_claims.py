"""What the paper and PR-UCB promise, on random instances: who beats whom, and by about how much.

Everywhere 100 agents with 5 arms on a random graph of diameter 3, 1000 rounds, a new graph and new means for every replication,
the same for all algorithms. The paper has 200 agents and edges with probability 0.1; 0.15 keeps the diameter at 3 with half
of them. Regret is per honest agent. All parameters are the defaults or the paper's, and the seeds of this file were never used
to choose any. The numbers in the docstrings are what was measured here; the assertions leave room.

Studies are run with an engine in which anybody may lie, though nobody does: it need not be compiled twice.
"""

from functools import cache
from math import sqrt

import numpy as np
import polars as pl
import pytest

from coterie.studies import load_study
from coterie.studies.case import make_case

pytestmark = pytest.mark.slow

ROUNDS, SEED = 1000, 20_261
NOBODY = {"contamination": 1e-300}


def row(name, **options):
    return {"name": name, **options}


PLAIN = {
    "ucb1": row("ucb1"),
    "coop": row("coop-ucb"),
    "single 0.1": row("dp-ucb-int", mode="paper", epsilon=0.1),
    "single 1": row("dp-ucb-int", mode="paper", epsilon=1.0),
    "printed 0.1": row("private-ucb", mode="paper", epsilon=0.1),
    "printed 1": row("private-ucb", mode="paper", epsilon=1.0),
    "corrected 0.1": row("private-ucb", mode="corrected", epsilon=0.1),
    "corrected 1": row("private-ucb", mode="corrected", epsilon=1.0),
    "kept 1": row("private-ucb", mode="corrected", epsilon=1.0, noise="kept"),
}
ROBUST = {
    "ucb1": row("ucb1"),
    "trimmed": row("byzantine-ucb", liars_assumed=0.0),
    "trimmed 0.001": row("byzantine-ucb", liars_assumed=0.001),
    "clipped": row("byzantine-ucb", estimator="clipped"),
    "printed": row("private-ucb", mode="paper", epsilon=1.0),
    "byzantine": row("byzantine-ucb"),
    "votes": row("pr-ucb"),
    "votes unclipped": row("pr-ucb", own_clip=False),
    "mean": row("pr-ucb", votes="mean"),
}


def specification(rows, between, faults, life, replications):
    network = {"graph": "erdos-renyi", "probability": 0.15, "life": life}
    problem = {"instance": "uniform", "agents": 100, "arms": 5, "between": list(between)}
    about = {"horizon": ROUNDS, "replications": replications, "seed": SEED, "checkpoints": 20}
    return load_study(about | {"problem": problem, "network": network, "faults": faults or NOBODY, "algorithm": rows})


@cache
def curves(names, between=(0.0, 1.0), life="half-diameter", replications=12, **faults):
    """{name: regret per honest agent [replication, half time or end]}"""
    table, names = PLAIN if between == (0.0, 1.0) else ROBUST, names.split(", ")
    rows = [table[name] | {"label": name} for name in names]
    found = specification(rows, between, faults, life, replications).run(workers=2).frame()
    found = found.filter(pl.col("round").is_in([ROUNDS // 2, ROUNDS]))
    by_row = [found.filter(pl.col("row") == i).sort("replication", "round")["regret_per_agent"] for i in range(len(names))]
    return {name: column.to_numpy().reshape(replications, 2) for name, column in zip(names, by_row, strict=True)}


def regret(names, *about, **more):
    return {name: table[:, -1] for name, table in curves(names, *about, **more).items()}


def compare(one, other):
    """Mean and standard error of a paired difference."""
    difference = one - other
    return difference.mean(), difference.std(ddof=1) / sqrt(len(difference))


ALL = "ucb1, coop, printed 0.1, printed 1, corrected 0.1, corrected 1, kept 1"
ALONE = "ucb1, single 0.1, single 1"
THREE = "coop, printed 0.1, printed 1"


# --- privacy ----------------------------------------------------------------------------------------------


def test_cooperation_beats_isolated_learning_by_an_order_of_magnitude():
    """Claim 1. Measured: 70.1 alone, 5.2 together, ahead in every replication."""
    found = regret(ALL)
    assert found["ucb1"].mean() > 10 * found["coop"].mean()
    assert (found["ucb1"] > 5 * found["coop"]).all()


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_private_cooperation_is_far_below_isolated_learning_with_or_without_privacy(epsilon):
    """Claim 1. Measured: 20.0 (epsilon 0.1) and 5.9 (1), against 70.1 and, private, 97.4 and 84.1."""
    found, alone = regret(ALL), regret(ALONE, replications=40)
    printed = found[f"printed {epsilon}"]
    assert printed.mean() < 0.4 * found["ucb1"].mean()
    assert printed.mean() < 0.4 * alone[f"single {epsilon}"].mean()
    assert (printed < found["ucb1"]).all()


@pytest.mark.parametrize("life", ["half-diameter", 1])
def test_privacy_at_epsilon_a_tenth_costs_the_cooperating_something(life):
    """Claim 2, up and down of half the diameter. Measured: 14.8 +- 1.8 more, and 24.4 +- 1.7 more with a life of 1."""
    found = regret(ALL) if life == "half-diameter" else regret(THREE, life=life)
    extra, error = compare(found["printed 0.1"], found["coop"])
    assert extra > 6 * error
    assert (found["printed 0.1"] > found["coop"]).all()


def test_most_of_that_cost_is_the_forced_exploration():
    """Claim 2. Everyone plays every arm ten times instead of once, so 9 times the sum of all gaps is lost: 14.3 on average.
    Measured: 1.02 times that, between 0.80 and 1.33 times in single replications."""
    about = specification([PLAIN["coop"]], (0.0, 1.0), None, "diameter", 12).specification
    cases = [make_case(about, about.rows[0], replication) for replication in range(12)]
    forced = 9 * np.array([(case.quality.max() - case.quality).sum() for case in cases])
    assert {int(case.links.delay.max()) for case in cases} == {3}
    found = regret(ALL)
    share = (found["printed 0.1"] - found["coop"]) / forced
    assert 0.9 < share.mean() < 1.3
    assert share.min() > 0.7 and share.max() < 1.7


def test_privacy_at_epsilon_one_costs_the_cooperating_little_or_a_lot_where_they_hear_few():
    """Claim 2. Measured: 0.7 +- 0.5 more at half the diameter, which may be noise; 16.7 +- 2.3 more with a life of 1."""
    near, far = (compare(found["printed 1"], found["coop"]) for found in (regret(ALL), regret(THREE, life=1)))
    assert abs(near[0]) < 4 * near[1] and abs(near[0]) < 3
    assert far[0] > 5 * far[1]


def test_alone_privacy_makes_learning_worse():
    """Claim 3, over 40 replications. Measured: 70.8; 26.6 +- 1.8 more at epsilon 0.1, 13.4 +- 1.9 more at 1."""
    found = regret(ALONE, replications=40)
    for epsilon in ("0.1", "1"):
        extra, error = compare(found[f"single {epsilon}"], found["ucb1"])
        assert extra > 3 * error


def test_regret_falls_steeply_up_to_two_hops_and_little_beyond():
    """Claim 4. Measured for lives 0 to 3: 70.1, 25.6, 5.2, 3.4 (exact), 70.1, 42.2, 5.9, 4.9 (epsilon 1)
    and 70.2, 49.9, 20.0, 18.7 (epsilon 0.1)."""
    lives = [regret(THREE, life=0), regret(THREE, life=1), regret(ALL), regret(THREE, life="diameter")]
    for name in THREE.split(", "):
        means = [found[name].mean() for found in lives]
        assert means[0] > means[1] > means[2]
        assert means[0] - means[2] > 10 * abs(means[2] - means[3])
        assert means[1] - means[2] > 5 * abs(means[2] - means[3])


def test_without_life_the_printed_algorithm_is_ucb1_up_to_its_longer_start():
    """Claim 4. Own rewards enter raw: the same to the last digit at epsilon 1, and 0.11 +- 0.23 off at 0.1."""
    found, alone = regret(THREE, life=0), regret(ALL)["ucb1"]
    assert found["coop"].tolist() == found["printed 1"].tolist() == alone.tolist()
    assert abs(found["printed 0.1"] - alone).max() < 0.06 * alone.mean()


def test_deciding_from_releases_alone_does_not_cost_but_helps():
    """Claim 7. Measured: corrected minus printed -3.0 +- 0.4 (epsilon 1) and -2.6 +- 0.8 (0.1); the largest single regret 4.6
    against 7.7, and 23.2 against 27.6.

    Where own releases decide, an arm whose noise came out high is pulled again and redrawn, and one whose noise came out low is
    left as it is: arms are given up on low draws, which all others hear of. That needs fresh noise: with one draw for ever
    (kept) the advantage is gone, 5.8. It has a tail of its own, as the best arm may be given up too: on sparser graphs (edges
    with probability 0.1) and other seeds the mean was 4.7 against 10.5, but the largest regret 29.0 against 15.5.
    """
    found = regret(ALL)
    for epsilon in ("0.1", "1"):
        difference, error = compare(found[f"corrected {epsilon}"], found[f"printed {epsilon}"])
        assert difference < -2.5 * error
        assert found[f"corrected {epsilon}"].max() < found[f"printed {epsilon}"].max()
    kept, error = compare(found["kept 1"], found["corrected 1"])
    assert kept > 2.5 * error


# --- lies -------------------------------------------------------------------------------------------------

MIDDLE, WIDE = (0.3, 0.7), (0.1, 0.9)
REPLACED = {"contamination": 0.001, "range": (0.0, 10.0)}


@pytest.mark.parametrize("contaminant", [1.0, 0.0, 10.0])
def test_byzantine_ucb_is_far_below_isolated_learning_and_one_lie_in_a_thousand_is_not_felt(contaminant):
    """Claim 5. Measured: 64.1 alone, 4.8 with clean messages. With lies of value 1, 0, 10 the difference is 0.04 +- 0.24,
    -0.26 +- 0.22 and 0.23 +- 0.21: the radius is the same for all arms, and coins of 0.3 to 0.7 are not trimmed."""
    clean = regret("ucb1, trimmed", MIDDLE)
    lied_to = regret("trimmed 0.001, clipped", MIDDLE, contaminant=contaminant, **REPLACED)["trimmed 0.001"]
    assert clean["trimmed"].mean() < 0.1 * clean["ucb1"].mean()
    assert lied_to.mean() < 0.1 * clean["ucb1"].mean()
    difference, error = compare(lied_to, clean["trimmed"])
    assert abs(difference) < 4 * error
    assert abs(difference) < 0.02 * clean["ucb1"].mean()


@pytest.mark.parametrize("contaminant", [1.0, 0.0, 10.0])
def test_the_clipped_mean_is_not_worse_than_the_trimmed_one(contaminant):
    """Claim 6. Measured, clipped minus trimmed: 0.09 +- 0.23, 0.28 +- 0.15, -0.11 +- 0.23 for lies of value 1, 0, 10."""
    found = regret("trimmed 0.001, clipped", MIDDLE, contaminant=contaminant, **REPLACED)
    difference, error = compare(found["clipped"], found["trimmed 0.001"])
    assert difference < 2 * error


ATTACKED = "printed, byzantine, votes, mean"


def isolated():
    return regret("ucb1", WIDE)["ucb1"].mean()


def late(table):
    """The share of all regret that falls into the second half of the rounds: one half where it grows linearly."""
    return 1 - table[:, 0].mean() / table[:, 1].mean()


def test_without_liars_pooling_is_best_and_votes_cost_less_than_learning_alone():
    """Measured: 71.3 alone, 6.3 (private, as printed), 4.5 (Byzantine-proof), 17.8 (votes), 23.8 without the own clip."""
    found = regret("ucb1, printed, byzantine, votes, votes unclipped", WIDE)
    means = {name: column.mean() for name, column in found.items()}
    assert max(means["printed"], means["byzantine"]) < 0.2 * means["ucb1"]
    assert means["votes"] < 0.4 * means["ucb1"]
    assert means["votes"] < means["votes unclipped"]


@pytest.mark.parametrize("attack", ["promote-worst", "promote-second"])
def test_promoting_liars_own_pooled_samples_and_means_of_votes_but_not_their_median(attack):
    """Claim 8, two agents of ten lie. Measured where the worst arm is promoted, and the second-best, against 71.4 alone:

    private, as printed   148.9 and 113.0, half of it in the second half: linear
    Byzantine-proof       194.8 and 110.4, the same
    votes                  13.0 and  18.9, no replication above 25.9, about a fifth of it in the second half
    mean of votes          42.7 and  79.3
    """
    found, alone = curves(ATTACKED, WIDE, liars=0.2, attack=attack), isolated()
    mean = {name: table[:, 1].mean() for name, table in found.items()}
    for name in ("printed", "byzantine"):
        assert mean[name] > 1.3 * alone
        assert late(found[name]) > 0.4
    assert mean["votes"] < 0.35 * alone
    assert found["votes"][:, 1].max() < 0.6 * alone
    assert late(found["votes"]) < 0.25
    assert mean["mean"] > 2 * mean["votes"]


def test_as_many_liars_as_assumed_are_withstood_on_average_and_not_always():
    """Claim 8. Three of ten promote the second-best arm. Measured: 23.5, the worst replication 59.2."""
    found = curves("votes", WIDE, liars=0.3, attack="promote-second")["votes"][:, 1]
    assert found.mean() < isolated()
    assert found.max() > 1.5 * found.mean()


def test_many_more_liars_than_assumed_are_not_withstood():
    """Claim 8. Measured with 45 of a hundred: 96.3."""
    assert regret("votes", WIDE, liars=0.45, attack="promote-second", replications=4)["votes"].mean() > isolated()


def test_random_liars_hardly_hurt_pooled_means_but_trimming_against_them_does():
    """Claim 8 holds for the private algorithm: 4.9 measured, and 6.4 without liars.

    It does not hold for Byzantine-proof UCB that is told of two liars in ten: 63.0, and 1.6 if it is told of none. An arm that
    honest agents have given up gets coin flips from liars only; about half of them are ones, which is nearly all that the
    interval must hold at such a share, and the estimate jumps to 1.
    """
    clean = regret("printed, byzantine", WIDE)
    found = regret("printed, byzantine, trimmed", WIDE, liars=0.2, attack="random")
    assert found["printed"].mean() < 1.5 * clean["printed"].mean()
    assert found["trimmed"].mean() < 1.5 * clean["byzantine"].mean()
    assert found["byzantine"].mean() > 10 * found["trimmed"].mean()


def test_the_own_clip_keeps_an_agent_from_pulling_for_ever_on_stale_votes():
    """With a life of one hop and no liars. Measured: 35.1, and 79.8 without the clip."""
    found = curves("votes, votes unclipped", WIDE, life=1)
    assert found["votes unclipped"][:, 1].mean() > 2 * found["votes"][:, 1].mean()
    assert late(found["votes unclipped"]) > 0.4
    assert late(found["votes"]) < 0.4
