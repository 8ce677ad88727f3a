"""The example algorithm of the guide passes what every algorithm must pass, and the guide's code runs."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.contract import Algorithm, Setting, out_record, plan_record
from coterie.engines.rehearsal import compare, rehearse_mesh
from coterie.engines.simulate import simulate_mesh
from coterie.kernel import UNIT, one
from coterie.network import path
from coterie.privacy.door import clear, look_up
from coterie.privacy.ledger import ledger_record
from coterie.privacy.secret import make_secrets, take_in
from coterie.problem import bernoulli
from coterie.studies.case import reach

ROOT = Path(__file__).parents[1]
FILE = ROOT / "examples/own_algorithm.py"
ENTRY = find(str(FILE))
GUIDE = re.findall(r"```python\n((?!# src/).*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)


@pytest.mark.parametrize("options", ENTRY.examples, ids=str)
def test_the_example_runs_three_ways_to_the_same_bytes(options):
    agents, arms, horizon = 5, 4, 120
    method = ENTRY.build(ENTRY.options(**options), Setting(agents, arms, horizon))
    worlds, links = bernoulli.world(np.array([[0.9, 0.6, 0.3, 0.1]])), reach([path(agents)], 3, 0)
    about = (method, bernoulli, worlds, agents, horizon)
    compiled, interpreted = (
        simulate_mesh(*about, np.array([horizon]), links, seed=5, replications=2, compiled=way) for way in (True, False)
    )
    for name in ("curves", "late", "secrets", "opens", "ledgers", "tallies"):
        assert getattr(compiled, name).tobytes() == getattr(interpreted, name).tobytes(), name
    assert compare(compiled, rehearse_mesh(*about, links, seed=5, replication=1), 1) == []
    assert compiled.ledgers["loss"].max() == method.p.epsilon


def test_the_example_is_short():
    assert len(FILE.read_text().splitlines()) <= 90


def test_all_code_of_the_guide_runs():
    for code in GUIDE:
        exec(compile(code, "CONTRIBUTING.md", "exec"), {"__name__": "guide"})
    assert GUIDE[0] == FILE.read_text() and len(GUIDE) == 2


def test_the_tree_of_the_guide_covers_as_many_rewards_as_the_lowest_bit_of_their_number():
    names: dict = {"__name__": "guide"}
    exec(GUIDE[1], names)
    p, levels = SimpleNamespace(arms=2, epsilon=1.0), 5
    role = Algorithm("tree", marks=lambda p: levels, chains=lambda p: levels)
    secret = make_secrets(1, p.arms, levels, 1.0).view(np.recarray)[0]
    plan, out, ledger = one(plan_record(p)), one(out_record(role, p)), one(ledger_record(p.arms, levels))
    plan.arm[0], plan.entries, open = 1, 1, SimpleNamespace(pulls=[0, 0])
    for m in range(1, 2**levels):
        open.pulls[1] = m
        take_in(secret, 1, 1, m * UNIT)
        clear(out)
        names["release"](open, p, m, plan, out)
        look_up(out, secret, ledger, p.arms, False)
        lowest = m & -m
        assert (out.entries, out.first[0], out.last[0], out.chain[0]) == (1, m - lowest + 1, m, lowest.bit_length() - 1)
        assert out.value[0] == UNIT * sum(range(m - lowest + 1, m + 1)) and secret.refused == 0
