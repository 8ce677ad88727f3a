"""A case: its network is made and measured once, and an algorithm is told how many others can be heard in it."""

import numpy as np
import pytest

from coterie.engines import simulate
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import make_case

PR_UCB = {
    "horizon": 60,
    "problem": {"instance": "uniform", "between": [0.1, 0.9], "agents": 24, "arms": 3},
    "network": {"graph": "ring", "life": 2},
    "algorithm": [{"name": "pr-ucb", "batch": 2}, {"name": "pr-ucb", "batch": 2, "commit": True}, {"name": "coop-ucb"}],
}


def study(**network):
    return load_study(PR_UCB | {"network": PR_UCB["network"] | network}).specification


def test_links_are_found_and_wired_once_for_all_rows_and_batches(monkeypatch):
    made, wiring = [], simulate.wiring
    monkeypatch.setattr(simulate, "wiring", lambda *given: made.append(1) or wiring(*given))
    found = study(life=3)
    cases = [make_case(found, row, 0) for row in found.rows]
    for case in cases:
        for first in range(2):
            case.simulate(0, first, 1, compiled=False)
    assert len(made) == 1 and len({id(case.wires) for case in cases}) == 1


def test_a_drawn_network_is_that_of_its_replication():
    found = study(graph="erdos-renyi", probability=0.3, life=1)
    first, again, second = (make_case(found, found.rows[0], replication).links for replication in (0, 0, 1))
    assert first.sender.tobytes() == again.sender.tobytes() != second.sender.tobytes()


@pytest.mark.parametrize(
    ("network", "heard"),
    [({}, 4), ({"life": 1}, 2), ({"graph": "complete", "life": 1}, 23), ({"graph": "star", "life": 1}, 23),
     ({"graph": "erdos-renyi", "probability": 0.4, "switch_every": 5, "life": 1}, 23)],
)  # fmt: skip
def test_a_ballot_has_room_for_those_who_can_be_heard(network, heard):
    found = study(**network)
    method = make_case(found, found.rows[0], 0).method
    assert method.p.voters == heard + 1
    assert method.node.open(method.p)["ballot"].shape[1] >= heard + 1


def test_as_many_are_heard_as_have_links_to_an_agent():
    found = study(graph="erdos-renyi", probability=0.2, life=2)
    case = make_case(found, found.rows[0], 3)
    assert case.method.p.voters == 1 + np.diff(case.links.first[0]).max()


@pytest.mark.parametrize("row", [0, 1])
def test_votes_count_the_same_on_a_larger_ballot(row, monkeypatch):
    found = study()
    small = make_case(found, found.rows[row], 0)
    monkeypatch.setattr("coterie.contract.Setting.hears", lambda setting, life: setting.agents - 1)
    large = make_case(found, found.rows[row], 0)
    one, other = (case.simulate(5, 0, 2, compiled=False) for case in (small, large))
    assert small.method.p.voters < large.method.p.voters
    for field in ("votes", "index", "pulls", "rung", "batches"):
        assert one.opens[field].tobytes() == other.opens[field].tobytes()
    assert one.curves.tobytes() == other.curves.tobytes() and one.opens["votes"].max() == 5


@pytest.mark.parametrize(("name", "measure"), [("hdp-mab", "collect"), ("ddp-mab", "synchronise")])
def test_a_network_is_measured_once_for_checks_engines_and_runs(monkeypatch, name, measure):
    """It was three times, which took minutes where there are 30,000 agents."""
    calls, measured = [], getattr(case_module, measure)
    monkeypatch.setattr(case_module, measure, lambda graph: calls.append(graph) or measured(graph))
    study = {
        "horizon": 60, "replications": 1, "seed": 77, "problem": {"instance": "middle", "agents": 6, "arms": 2},
        "network": {"graph": "erdos-renyi", "probability": 0.7}, "algorithm": [{"name": name}],
    }  # fmt: skip
    load_study(study).run(workers=1)
    assert len(calls) == 1
