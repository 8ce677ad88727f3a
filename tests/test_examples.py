"""The example algorithm of the guide passes what every algorithm must pass."""

from pathlib import Path

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.contract import Setting
from coterie.engines.rehearsal import compare, rehearse_mesh
from coterie.engines.simulate import simulate_mesh
from coterie.network import path
from coterie.problem import bernoulli
from coterie.studies.case import reach

ENTRY = find(str(Path(__file__).parents[1] / "examples/own_algorithm.py"))


@pytest.mark.parametrize("options", ENTRY.examples, ids=str)
def test_the_example_runs_three_ways_to_the_same_bytes(options):
    agents, arms, horizon = 5, 4, 120
    method = ENTRY.build(ENTRY.options(**options), Setting(agents, arms, horizon))
    worlds, links = bernoulli.world(np.array([[0.9, 0.6, 0.3, 0.1]])), reach([path(agents)], 3, 0)
    about = (method, bernoulli, worlds, agents, horizon)
    compiled, interpreted = (
        simulate_mesh(*about, np.array([horizon]), links, seed=5, replications=2, compiled=way) for way in (True, False)
    )
    for name in ("curves", "finals", "secrets", "opens", "ledgers", "tallies"):
        assert getattr(compiled, name).tobytes() == getattr(interpreted, name).tobytes(), name
    assert compare(compiled, rehearse_mesh(*about, links, seed=5, replication=1), 1) == []
    assert compiled.ledgers["loss"].max() == method.p.epsilon
