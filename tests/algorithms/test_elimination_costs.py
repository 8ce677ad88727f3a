"""What communication costs in each structure, counted by hand on tiny cases.

One round is held: the horizon ends with the first epoch, in which all ten arms are active. A report has 1 + 10 words
of 8 bytes, a decision 3 + 10. Runs are interpreted, and end in the bytes of compiled ones.
"""

from functools import partial

import numpy as np
import pytest

from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.simulate import simulate_star
from coterie.studies import load_study
from coterie.studies.case import make_case

PRICES = {"server": 25, "peer": 3}
REPORT, DECISION = 11, 13


def case(name, agents, graph="complete", components=None, **options):
    network = {"graph": graph, "link_cost": PRICES} | ({"components": components} if components else {})
    about = load_study(
        {
            "horizon": 100_000,
            "problem": {"instance": "grid", "agents": agents, "arms": 10},
            "network": network,
            "algorithm": [{"name": name, "mode": "paper", **options}],
        }
    ).specification
    return make_case(about, about.rows[0], 0)


def after_one_round(case, slots_more=0):
    server = Agent(case.method.server, case.method.p, Keyed(keys_of(seeds_of(0), 0), -1), rehearsal=True)
    pulls = int(np.frombuffer(server.announce(1), np.int64)[1])
    horizon = 10 * pulls + slots_more
    run = case._replace(horizon=horizon, marks=np.array([horizon])).simulate(0, 0, 1, compiled=False)
    return {
        name: np.asarray(value).item() for name, value in case.traffic(run.tallies)._asdict().items() if name != "extra"
    } | {name: float(value[0]) for name, value in case.traffic(run.tallies).extra.items()}


def test_a_server_is_paid_for_every_report_and_its_answers_are_free():
    assert after_one_round(case("cdp-mab", 3)) == {
        "rounds": 1,
        "messages": 3 + 3,
        "bytes": 8 * 3 * (REPORT + DECISION),
        "cost": 25 * 3,
    }
    assert after_one_round(case("cdp-mab", 4, participation=0.5)) == {
        "rounds": 1,
        "messages": 4 + 2,
        "bytes": 8 * (4 * DECISION + 2 * REPORT),
        "cost": 25 * 2,
    }


def test_the_next_decision_is_sent_when_the_run_goes_on():
    more = after_one_round(case("cdp-mab", 3), slots_more=1)
    assert (more["rounds"], more["messages"], more["cost"]) == (1, 3 + 3 + 3, 75)
    assert 8 * 3 * (REPORT + DECISION + 4) <= more["bytes"] <= 8 * 3 * (REPORT + 2 * DECISION)


def test_peers_on_a_path_of_three():
    """Slot 1: 4 ADV, 4 REQ, 4 DATA (each end learns the middle, the middle both ends). Slot 2: 4 ADV, of which the ends
    use what the middle offers: 2 REQ, 2 DATA. Both links carry an ADV in both slots. Items named: 10 by ADV, 6 by REQ.
    """
    assert after_one_round(case("ddp-mab", 3, "path")) == {
        "rounds": 1,
        "messages": 12 + 8,
        "bytes": 8 * (6 * REPORT + 10 + 6),
        "cost": 3 * 4,
        "delay": 1,
        "cost_data_links": 3 * 4,
    }


@pytest.mark.parametrize(
    "graph, agents, links, delay",
    [
        ("complete", 6, 15, 0),
        ("star", 6, 10, 1),
        ("ring", 6, 18, 2),
        ("ring", 7, 21, 2),
        ("complete", 2, 1, 0),
        ("path", 2, 1, 0),
    ],
)
def test_peers_pay_for_every_link_that_carried_an_advertisement(graph, agents, links, delay):
    """M (M - 1) / 2 on a complete graph, 2 (M - 1) on a star, M floor(M / 2) on a ring."""
    found = after_one_round(case("ddp-mab", agents, graph))
    assert (found["cost"], found["delay"]) == (3 * links, delay)


def test_components_pay_by_path_by_maintained_link_or_by_tree():
    """A ring of four (sink 0, hops 0 + 1 + 2 + 1, radius 2, four links) and a single agent, with a sink each.

    Every link on the way carries a report up and a decision down: 4 hops and 2 sinks.
    """
    assert after_one_round(case("hdp-mab", 5, "ring", [4, 1])) == {
        "rounds": 1,
        "messages": 2 * 6,
        "bytes": 8 * 6 * (REPORT + DECISION),
        "cost": 3 * 4 + 25 * 2,
        "delay": 2,
        "cost_maintain": 3 * 2 * 4 + 25 * 2,
        "cost_tree": 3 * 3 + 25 * 2,
    }


def test_singletons_pay_as_much_as_a_server_alone():
    hybrid, centre = after_one_round(case("hdp-mab", 4, components=[1] * 4)), after_one_round(case("cdp-mab", 4))
    assert hybrid["cost"] == hybrid["cost_maintain"] == hybrid["cost_tree"] == centre["cost"] == 100


def test_an_agent_alone_says_nothing():
    assert after_one_round(case("single-mab", 3)) == {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0}


def test_cost_grows_with_the_rounds_that_were_held(monkeypatch):
    monkeypatch.setattr("coterie.studies.case.simulate_star", partial(simulate_star, compiled=False))
    rows = (
        load_study(
            {
                "horizon": 100_000,
                "replications": 2,
                "problem": {"instance": "grid", "agents": 4, "arms": 10},
                "network": {"graph": "ring", "link_cost": PRICES},
                "algorithm": [
                    {"name": name, "mode": "paper", "gap": "true", "sweep": {"rounds": [1, 2, 3]}}
                    for name in ("cdp-mab", "ddp-mab", "hdp-mab")
                ],
            }
        )
        .run()
        .summary
    )
    per_round = {"cdp-mab": 25 * 4, "ddp-mab": 3 * 8, "hdp-mab": 3 * 4 + 25}
    for row in rows:
        held = row["communication"]["rounds"]
        assert row["communication"]["cost"] == per_round[row["algorithm"]] * held
        assert 0 < held <= row["parameters"]["rounds"]
