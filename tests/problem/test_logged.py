"""Rewards of a log: each is met once and in turn, what is kept is fair, and what a log cannot answer is refused.

Means are asked to lie within five and a half standard errors: false alarms stay below 1e-6 each.
"""

from functools import partial

import numpy as np
import pytest

from coterie.engines.simulate import simulate_star
from coterie.errors import UsageError
from coterie.kernel import UNIT
from coterie.problem.decisions import Rows
from coterie.problem.logged import worlds_of
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import make_case
from coterie.studies.reading import load

MEANS = np.array([[0.5, 0.5], [0.5, 0.5]])


def rows_of(cell, reward, probability=None):
    cell, reward = np.array(cell), np.array(reward, float)
    chance = np.ones(len(cell)) if probability is None else np.array(probability, float)
    least = np.ones(int(cell.max()) + 1)
    np.minimum.at(least, cell, chance)
    return Rows(cell, reward, chance, least)


def queue(world, arm):
    """The rewards on the grid, in turn."""
    first, length = world["first"][arm], world["length"][arm]
    return np.diff(world["sums"][first : first + length + 1])


def test_queues_hold_every_reward_once_in_an_order_of_their_own():
    rng = np.random.default_rng(1)
    cell, reward = rng.integers(0, 4, 400), np.round(20 * rng.random(400)) - 5
    worlds = [worlds_of(rows_of(cell, reward), MEANS, None, 2, (-5.0, 20.0), np.random.default_rng(n)) for n in (1, 2)]
    for i in range(2):
        for k in range(2):
            mine = np.rint(UNIT * (reward[cell == 2 * i + k] + 5) / 20)
            first, second = (queue(world[i], k) for world in worlds)
            assert sorted(first) == sorted(second) == sorted(mine) and list(first) != list(second)


def test_rows_without_agents_are_dealt_out_evenly():
    log = rows_of([0] * 60 + [1] * 30, [1] * 60 + [0] * 30)
    worlds = worlds_of(log, MEANS[:1], None, 3, (0.0, 1.0), np.random.default_rng(0))
    assert worlds["length"][:, :2].sum(axis=0).tolist() == [60, 30]
    assert worlds["length"][:, :2].sum(axis=1).tolist() == [30, 30, 30]
    assert [queue(world, 0).sum() for world in worlds] == (UNIT * worlds["length"][:, 0]).tolist()


def test_what_is_kept_does_not_depend_on_what_made_a_choice_likely():
    """Arm 0 was likely (0.8) where its reward is 1 and unlikely (0.2) where it is 0, in equally many cases: its mean is 1/2."""
    log = rows_of([0] * 800 + [0] * 200, [1] * 800 + [0] * 200, [0.8] * 800 + [0.2] * 200)
    kept = [worlds_of(log, MEANS[:1], None, 1, (0.0, 1.0), np.random.default_rng(n))[0] for n in range(300)]
    ones, all_kept = (sum(f(queue(world, 0)) for world in kept) for f in (lambda q: q.sum() / UNIT, len))
    assert all(queue(world, 0).tolist().count(0) == 200 for world in kept)  # those of the least probability always stay
    assert abs(ones - 300 * 800 * 0.25) <= 5.5 * np.sqrt(300 * 800 * 0.25 * 0.75)
    assert abs(ones / all_kept - 0.5) < 0.01


@pytest.fixture
def log(tmp_path):
    rng, lines = np.random.default_rng(3), ["agent,arm,reward"]
    lines += [f"{'AB'[n % 2]},{'xyz'[n // 2 % 3]},{int(rng.random() < (0.3, 0.5, 0.7)[n // 2 % 3])}" for n in range(24_000)]
    (tmp_path / "log.csv").write_text("\n".join(lines))

    def study(kind, *algorithms, **other):
        problem = {"file": str(tmp_path / "log.csv"), "kind": kind}
        rows = [{"name": name} for name in algorithms]
        return {"horizon": 60, "replications": 200, "problem": problem, "algorithm": rows} | other

    return study


@pytest.mark.parametrize("name", ["ucb1", "pooled-ucb", "gossip-ucb"])
def test_an_agent_has_the_first_rewards_of_each_queue(log, name):
    study = load(log("logged", name))
    case = make_case(study, study.rows[0], 4)
    run = case.simulate(study.seed, 4, 1, compiled=False)
    count, total = (run.secrets[field][0, :, :3] for field in ("count", "total"))
    assert count.sum() > 60  # a plan that is not over has drawn nothing yet
    for i in range(2):
        for k in range(3):
            assert total[i, k] == queue(case.worlds[i], k)[: count[i, k]].sum()


@pytest.mark.parametrize(("name", "replications"), [pytest.param("ucb1", 200, marks=pytest.mark.slow), ("pooled-ucb", 50)])
def test_on_a_long_log_regret_is_that_of_rewards_drawn_by_its_means(log, monkeypatch, name, replications):
    """Peers are compiled, and the epochs of a server interpreted."""
    monkeypatch.setattr(case_module, "simulate_star", partial(simulate_star, compiled=False))
    studies = (load_study(log(kind, name, replications=replications)) for kind in ("bernoulli", "logged"))
    drawn, logged = (study.run(workers=1).summary[0]["regret"] for study in studies)
    assert abs(drawn["mean"] - logged["mean"]) <= 5.5 * np.hypot(drawn["sem"], logged["sem"])


def test_a_log_that_runs_out_gives_no_number(log):
    with pytest.raises(UsageError) as caught:
        load_study(log("logged", "ucb1", horizon=20_000, replications=1)).run(workers=1)
    told = str(caught.value)
    assert "horizon must be shorter for this log to answer, got 20,000: agent 'A' would play arm 'z'" in told
    assert told.endswith("and has 4,000 rewards of it") and "\n" not in told


def test_a_log_needs_a_file_and_rows(tmp_path):
    def told(problem):
        with pytest.raises(UsageError) as caught:
            load({"horizon": 9, "problem": {"kind": "logged"} | problem, "algorithm": [{"name": "ucb1"}]})
        return str(caught.value)

    assert "problem must have a file with one row for each choice" in told({"means": [0.1, 0.2], "agents": 2})
    (tmp_path / "counts.csv").write_text("arm,successes,trials\nx,1,2\ny,1,2\n")
    assert "must have one row for each choice, with its reward" in told({"file": str(tmp_path / "counts.csv"), "agents": 2})
