"""How pooled UCB compares: ratios of mean regret on the same instances, at the same accounted epsilon.

Bounds are far below what was measured (docs/pooled-ucb.md), so that a ratio that falls short is no matter of chance.
"""

import numpy as np
import pytest

from coterie.privacy.ledger import loss_per_reward
from coterie.studies import load_study
from coterie.studies.case import make_case

MIDDLE = {"instance": "middle", "agents": 5, "arms": 10}
CROWD = {"instance": "middle", "agents": 200, "arms": 5}
GRID = {"instance": "grid", "agents": 50, "arms": 100}
TAILED = {"five": {"means": [0.75, 0.625, 0.5, 0.375, 0.25], "agents": 10}, "two": {"means": [0.5, 0.52], "agents": 10},
          "middle": {"instance": "middle", "agents": 10, "arms": 10}}  # fmt: skip


def regrets(name, problem, horizon, runs, graph="complete", **options):
    """Of each run; no reward has lost more than epsilon."""
    study = {"horizon": horizon, "problem": problem, "network": {"graph": graph}, "algorithm": [{"name": name, **options}]}
    specification = load_study(study).specification
    case = make_case(specification, specification.rows[0], 0)
    run = case.simulate(17, 0, runs)
    lost = run.server_ledgers if options.get("noise") == "central" else run.ledgers
    assert loss_per_reward(lost).max() <= options.get("epsilon", 1.0) * (1 + 1e-12)
    return run.curves[:, -1]


def test_pooling_has_a_fraction_of_eliminations_regret():
    """A small one, measured at 8 and more."""
    small = {"means": [0.8, 0.6, 0.4, 0.1], "agents": 5}
    eliminated, pooled = (regrets(name, small, 20_000, 20).mean() for name in ("cdp-mab", "pooled-ucb"))
    assert eliminated > 4 * pooled


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("problem", "horizon", "runs", "least"),
                         [(MIDDLE, 100_000, 40, 6.0), (GRID, 100_000, 5, 6.0), (CROWD, 1000, 40, 4.0)],
                         ids=["5 x 10", "50 x 100", "200 x 5"])  # fmt: skip
def test_elimination_has_many_times_the_regret(problem, horizon, runs, least, epsilon):
    eliminated, pooled = (regrets(name, problem, horizon, runs, epsilon=epsilon).mean() for name in ("cdp-mab", "pooled-ucb"))
    assert eliminated >= least * pooled


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_playing_apart_and_adding_reports_up_pay(epsilon):
    apart, together, added = (
        regrets("pooled-ucb", GRID, 100_000, 5, epsilon=epsilon, **options).mean()
        for options in ({}, {"play": "together"}, {"noise": "secagg"})
    )
    assert together >= 2.5 * apart
    assert added <= 1.1 * apart


@pytest.mark.slow
@pytest.mark.parametrize(("agents", "graph", "most"), [(20, "complete", 1.4), (50, "ring", 2.0)])
def test_peers_come_close_to_a_server(agents, graph, most):
    problem = {"instance": "middle", "agents": agents, "arms": 10}
    peers, pooled = (regrets(name, problem, 100_000, 20, graph=graph).mean() for name in ("peer-ucb", "pooled-ucb"))
    assert peers <= most * pooled


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("problem", TAILED.values(), ids=TAILED)
def test_hardly_any_run_is_far_worse_than_most(problem, epsilon):
    """Of (.5 .52) one of 2,000 to 15,000 is, of the others fewer: five of 400 come by chance in one case of a million."""
    found = regrets("pooled-ucb", problem, 100_000, 400, epsilon=epsilon)
    assert np.count_nonzero(found > 5 * np.median(found)) < 5


@pytest.mark.slow
def test_more_caution_costs_about_a_sixth():
    """Why thrift stays 1/2: 1/4 has a fifth of the bad runs. Measured 1.18, with a standard error of 0.01 over 4,000 runs."""
    two = TAILED["two"]
    cautious, usual = (regrets("pooled-ucb", two, 100_000, 4000, epsilon=0.3, thrift=thrift).mean() for thrift in (0.25, 0.5))
    assert 1.1 < cautious / usual < 1.26
