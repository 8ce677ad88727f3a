"""What a study will take, told before anything is allocated: sizes are checked against arrays that were really made."""

from pathlib import Path

import numpy as np
import pytest

from coterie.errors import UsageError
from coterie.network import GRAPHS, distances, from_edges
from coterie.studies import estimate, load_study
from coterie.studies.case import make_case, within
from coterie.studies.estimate import SECONDS_UNASKED, Estimate, time_text
from coterie.studies.wiring import heard_of, hops, part_of, wires_of

GOSSIP = {"horizon": 100, "problem": {"instance": "grid", "agents": 200_000, "arms": 5}, "algorithm": [{"name": "gossip-ucb"}]}
CDP, DDP = (GOSSIP | {"algorithm": [{"name": name}]} for name in ("cdp-mab", "ddp-mab"))
COOP = GOSSIP | {"algorithm": [{"name": "coop-ucb"}]}


@pytest.fixture
def machine(monkeypatch):
    """One with 16 GiB, whatever this one has."""
    monkeypatch.setattr(estimate, "memory_free", lambda: 16 * 2.0**30)
    monkeypatch.setattr(estimate, "disk_free", lambda folder: 2.0**30)


@pytest.mark.parametrize(
    ("study", "sets"),
    [
        (GOSSIP, ()),  # a complete graph of 200,000 agents
        (COOP, ("problem.agents=20000",)),  # masks
        (GOSSIP, ("problem.agents=10", "replications=100000000")),  # curves
        (GOSSIP, ("problem.agents=10000000", "problem.arms=100000", "network.graph=ring")),
        ("solanki-exp1-uniform", ("problem.producers=100000", "problem.agents=1000")),
        (DDP, ("problem.agents=1000000",)),  # all reports reach all agents
    ],
)
def test_what_does_not_fit_is_refused_with_the_number_and_nothing_is_created(machine, tmp_path, study, sets):
    loaded = load_study(study, sets)
    with pytest.raises(UsageError, match=r"this needs about [\d,.]+ GiB of memory, and 16 GiB are free"):
        loaded.run(out=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_what_the_disk_has_no_room_for_is_refused(machine, tmp_path):
    needed = Estimate(memory=1e9, disk=2e9, seconds=1.0)
    with pytest.raises(UsageError, match=r"this writes about 1.86 GiB, and 1 GiB are free in .*run"):
        needed.refuse(tmp_path / "run")
    needed.refuse()


def test_sparse_gossip_of_many_agents_fits(machine):
    load_study(GOSSIP, ("network.graph=ring",)).forecast().refuse()


def test_a_million_folded_clients_fit(machine):
    load_study(CDP, ("problem.agents=1000000",)).forecast().refuse()


@pytest.mark.parametrize("name", ["solanki-exp2-uniform", "dubey-p-100000", "dubey-1a-long", "dubey-a", "zhu-2b", "hospitals"])
def test_the_longest_studies_that_are_shipped_do_not_ask(machine, name):
    found = load_study(name).forecast(1)
    found.refuse()
    assert 0 < found.seconds < SECONDS_UNASKED


def test_an_index_costs_by_arms_and_epochs_and_not_by_rounds_or_agents_that_act_alike():
    """Alone, ten times the arms take ten times the epochs, and each looks at ten times the arms."""

    def seconds(name, *sets):
        return load_study(GOSSIP | {"horizon": 100_000, "algorithm": [{"name": name}]}, sets).forecast(1).seconds

    few, many = (seconds("solo-ucb", "problem.agents=1", f"problem.arms={arms}") for arms in (100, 1000))
    assert 80 < many / few < 105
    thousand, million = (seconds("pooled-ucb", f"problem.agents={agents}") for agents in (1000, 1_000_000))
    assert million < 1.1 * thousand
    assert seconds("pooled-ucb", "horizon=10000000") < 1.5 * seconds("pooled-ucb")
    assert seconds("solo-ucb", "problem.agents=100") == pytest.approx(100 * seconds("solo-ucb", "problem.agents=1"), rel=0.05)


def test_rounds_of_elimination_cost_next_to_nothing_and_those_of_peers_add_up():
    few, many = (load_study("quickstart", (f"horizon={rounds}",)).forecast(1).seconds for rounds in (10_000, 10**12))
    assert many < 3 * few
    few, many = (load_study("zhu-2a", (f"horizon={rounds}",)).forecast(1).seconds for rounds in (10**5, 10**7))
    assert many == pytest.approx(100 * few, rel=0.01)


@pytest.mark.parametrize("kind", ["complete", "star", "ring", "path"])
@pytest.mark.parametrize("life", [0, 1, 3, "half-diameter", "half-diameter-down", "diameter"])
def test_links_are_counted_as_they_will_be(kind, life):
    study = load_study(GOSSIP, (f"network.graph={kind}",)).specification
    part, graph = part_of(study.network, 21, life), GRAPHS[kind].made(21, np.random.default_rng(0))
    assert part.edges == len(graph.edges)
    assert part.diameter == distances(graph).max()
    assert part.reached == len(within(graph, life)[1])


def test_neighbours_are_found_without_distances_as_with_them():
    graph = GRAPHS["erdos-renyi"].make(40, np.random.default_rng(1), 0.2)
    near, all_pairs = within(graph, 1), distances(graph)
    receiver, sender = np.nonzero(all_pairs == 1)
    assert near[0].tolist() == np.searchsorted(receiver, np.arange(41)).tolist()
    assert near[1].tolist() == sender.tolist()
    assert set(near[2].tolist()) == {1}


def test_memory_of_links_is_that_of_the_arrays_they_take():
    study = load_study(COOP, ("problem.agents=300", "network.graph=ring", "network.life=40")).specification
    case = make_case(study, study.rows[0], 0)
    wires = wires_of(study, case.method)
    assert wires.links == len(case.links.sender)
    assert wires.delay == case.links.delay.max() == 40
    parts = (*case.links, *case.wires.wiring, *case.wires.masks)
    arrays = {id(part): part.nbytes for part in parts if isinstance(part, np.ndarray)}
    assert sum(arrays.values()) == pytest.approx(wires.kept, rel=0.05)


def test_times_are_told_in_words():
    assert [time_text(seconds) for seconds in (5, 90, 3600, 1e5, 1e9)] == [
        "less than a minute", "2 minutes", "1 hour", "1 day", "32 years"
    ]


def test_hops_are_those_of_the_named_lives():
    assert [hops(7, life) for life in (0, 3, 9, "half-diameter", "half-diameter-down", "diameter")] == [0, 3, 7, 4, 3, 7]


def test_the_folder_need_not_exist_to_know_its_disk(tmp_path):
    assert estimate.disk_free(tmp_path / "a" / "b") == estimate.disk_free(tmp_path) > 0
    assert estimate.memory_free() > 0
    assert not Path(tmp_path / "a").exists()


@pytest.mark.parametrize("kind", ["ring", "path", "star", "complete", "erdos-renyi"])
@pytest.mark.parametrize("life", [0, 1, 2, 4])
def test_of_edges_that_are_given_links_are_no_fewer_than_there_will_be_and_hardly_more(kind, life):
    """Of a ring of 20,000 agents 138 GB were told, where the same ring by its name takes a third of one."""
    network = load_study(GOSSIP, (f"network.graph={kind}",)).specification.network
    graph = GRAPHS[kind].made(40, np.random.default_rng(3), network)
    edges = GOSSIP | {"network": {"edges": graph.edges.tolist()}, "problem": GOSSIP["problem"] | {"agents": 40}}
    study, (_, hearers, _) = load_study(edges).specification, within(graph, life)
    found = part_of(study.network, 40, life)
    assert len(hearers) <= found.reached <= 1.5 * len(hearers)
    most = np.diff(within(graph, life)[0]).max()
    assert most <= heard_of(study.network, 40, life) <= 2 * most


@pytest.mark.parametrize("life", ["half-diameter", "diameter"])
def test_the_longest_way_through_a_tree_of_given_edges_is_known(life):
    """A star that is given as edges was refused for 88 GB; by its name it takes a third of one."""
    for edges, way in (([[0, i] for i in range(1, 50)], 2), ([[i, (i - 1) // 3] for i in range(1, 121)], 8)):
        agents = 1 + max(map(max, edges))
        study = load_study(GOSSIP | {"network": {"edges": edges}, "problem": GOSSIP["problem"] | {"agents": agents}})
        found, graph = part_of(study.specification.network, agents, life), from_edges(agents, edges)
        assert found.diameter == way and found.reached == len(within(graph, life)[1])


@pytest.mark.parametrize("faults", [{"loss": 0.2}, {"liars": 0.2, "attack": "promote-worst"}, {"churn": 0.2}], ids=str)
def test_faults_of_peers_that_commit_cost_little_of_what_stepping_costs(faults):
    """Lost messages cost no rounds; a lie in every round is soon heard, and a round of a plan under way soon passed."""
    problem = GOSSIP["problem"] | {"agents": 30, "instance": "middle"}
    study = GOSSIP | {"horizon": 10**6, "problem": problem, "faults": faults}
    rows = ([{"name": "pr-ucb", "commit": commit}] for commit in (True, False))
    committed, stepped = (load_study(study | {"algorithm": row}).forecast(1).seconds for row in rows)
    assert committed < stepped / 4


def test_plans_that_double_cost_next_to_nothing_for_a_longer_horizon():
    """The example ends a plan whenever an arm's pulls have doubled."""
    own = {"name": str(Path(__file__).parents[2] / "examples/own_algorithm.py"), "commit": True}
    study = GOSSIP | {"algorithm": [own], "network": {"graph": "ring"}}
    few, many = (load_study(study, (f"horizon={rounds}",)).forecast(1).seconds for rounds in (10**4, 10**8))
    assert few < many < 3 * few
