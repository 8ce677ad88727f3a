"""Rewards of any range: the same life as rewards of 0 and 1, told in another unit.

Runs are interpreted, and end in the bytes of compiled ones.
"""

from functools import partial

import pytest

import coterie
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.errors import UsageError
from coterie.studies import case
from coterie.studies.reading import load

SCALED = [[0.25, 0.5, 0.625], [0.375, 0.5, 0.875]]
LOW, HIGH = -20.0, 108.0  # a power of two apart, so that no digit is lost


def study(**problem):
    names = [{"name": "pooled-ucb"}, {"name": "ucb1"}, {"name": "gossip-ucb", "radius": "paper"}]
    return {"horizon": 60, "replications": 2, "seed": 5, "problem": problem, "algorithm": names}


@pytest.fixture
def interpreted(monkeypatch):
    for name, simulate in (("simulate_mesh", simulate_mesh), ("simulate_star", simulate_star)):
        monkeypatch.setattr(case, name, partial(simulate, compiled=False))


def test_regret_is_that_of_rewards_of_0_and_1_times_the_width_of_the_range(interpreted):
    means = [[LOW + (HIGH - LOW) * mean for mean in row] for row in SCALED]
    plain = coterie.load_study(study(means=SCALED)).run(workers=1)
    ranged = coterie.load_study(study(means=means, low=LOW, high=HIGH)).run(workers=1)
    assert (ranged.frame()["regret"] == (HIGH - LOW) * plain.frame()["regret"]).all()
    for one, other in zip(plain.summary, ranged.summary, strict=True):
        assert other["communication"] == one["communication"]
        assert other["privacy"] == one["privacy"]
    told, scaled = (summary.summary[2] for summary in (ranged, plain))
    assert told["floor"]["constant"] == pytest.approx((HIGH - LOW) * scaled["floor"]["constant"], rel=1e-12)
    for bound in ("bound_per_agent", "trivial_bound_per_agent"):
        assert told["extra"][bound] == pytest.approx((HIGH - LOW) * scaled["extra"][bound], rel=1e-12)


def test_compiled_and_interpreted_runs_end_in_the_same_bytes():
    specification = coterie.load_study(study(means=[[3, 5, 9], [4, 5, 8]], low=2, high=10)).specification
    made = case.make_case(specification, specification.rows[1], 0)
    compiled, plain = (made.simulate(5, 0, 2, compiled=how) for how in (True, False))
    for name, mine, theirs in zip(compiled._fields, compiled, plain, strict=True):
        assert mine is None or mine.tobytes() == theirs.tobytes(), name


def test_low_or_high_alone_make_the_problem_bounded():
    problem = load(study(means=SCALED, high=2)).problem
    assert (problem.kind, problem.given, problem.range, problem.unit) == ("bounded", (0.0, 2.0), (0.0, 1.0), 2.0)


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        ({"means": [3, 5], "low": 4, "high": 9, "agents": 2}, "problem must have means in [4, 9], its low and high, got 3"),
        ({"means": [3, 5], "low": 4, "high": 4, "agents": 2}, "problem must have a high above its low, got 4 and 4"),
        ({"instance": "grid", "arms": 3, "agents": 2, "high": 5}, "must have means or a file where rewards have a range"),
        ({"means": [0.3, 0.5], "kind": "bernoulli", "low": 1, "agents": 2}, "unknown key 'low' in problem"),
    ],
)
def test_what_does_not_fit_is_one_line(problem, told):
    with pytest.raises(UsageError) as caught:
        load(study(**problem))
    assert told in str(caught.value) and "\n" not in str(caught.value)
