"""The synchronisation protocol against closed forms, a literal replay with sets, and networkx distances."""

from functools import partial

import networkx
import numpy as np
import pytest

from coterie.errors import UsageError
from coterie.network.distances import diameter
from coterie.network.graphs import complete, disjoint, erdos_renyi, from_edges, path, ring, star
from coterie.network.synchronise import Synchronisation, slots, synchronise


def random_connected(nodes):
    return erdos_renyi(nodes, np.random.default_rng(nodes))


CONNECTED = {
    "one agent": lambda: complete(1),
    "two agents": lambda: path(2),
    "star": lambda: star(7),
    "even ring": lambda: ring(8),
    "odd ring": lambda: ring(9),
    "path": lambda: path(10),
    "complete": lambda: complete(9),
    "several advertisers": lambda: from_edges(6, [[5, 0], [5, 1], [5, 2], [0, 3], [1, 3], [2, 3], [3, 4]]),
    **{f"random {nodes}": partial(random_connected, nodes) for nodes in (3, 5, 10, 20, 35)},
}


@pytest.fixture(params=CONNECTED)
def graph(request):
    return CONNECTED[request.param]()


def as_networkx(graph):
    theirs = networkx.empty_graph(graph.nodes)
    theirs.add_edges_from(graph.edges.tolist())
    return theirs


def literal_replay(theirs):
    """The three phases written out with sets of (sender, receiver, item)."""
    have = {agent: {agent} for agent in theirs}
    fresh = {agent: {agent} for agent in theirs}
    total = Synchronisation()
    while any(len(items) < len(theirs) for items in have.values()):
        adv = {(i, j, item) for i in theirs for j in theirs[i] for item in fresh[i]}
        wanted = {(j, item) for i, j, item in adv if item not in have[j]}
        req = {(min(i for i, k, other in adv if (k, other) == (j, item)), j, item) for j, item in wanted}
        fresh = {agent: {item for _, j, item in req if j == agent} for agent in theirs}
        have = {agent: have[agent] | fresh[agent] for agent in theirs}
        adv_pairs, req_pairs = {(i, j) for i, j, _ in adv}, {(i, j) for i, j, _ in req}
        counts = (
            1,
            len(req),
            len(adv),
            len({frozenset(pair) for pair in adv_pairs}),
            len({frozenset(pair) for pair in req_pairs}),
            len(adv_pairs),
            len(req_pairs),
            len(req_pairs),
        )
        total = Synchronisation(*(old + new for old, new in zip(total, counts, strict=True)))
    return total


def test_counts_equal_those_of_a_literal_replay(graph):
    assert synchronise(graph) == literal_replay(as_networkx(graph))


def test_it_takes_diameter_slots_and_delivers_every_item_once_to_everyone(graph):
    result = synchronise(graph)
    deliveries = [delivery for slot in slots(graph) for delivery in slot.deliveries]
    pairs = [(receiver, item) for _, receiver, items in deliveries for item in items]
    assert result.slots == diameter(graph)
    assert result.delivered == len(pairs) == len(set(pairs)) == graph.nodes * (graph.nodes - 1)
    assert all(receiver != item for receiver, item in pairs)
    assert result.advertised_links <= result.slots * len(graph.edges)


def test_items_come_along_shortest_paths_from_the_lowest_numbered_advertiser(graph):
    theirs = as_networkx(graph)
    hops = dict(networkx.all_pairs_shortest_path_length(theirs))
    for number, slot in enumerate(slots(graph)):
        for sender, receiver, items in slot.deliveries:
            for item in items:
                assert hops[item][receiver] == number + 1
                assert sender == min(agent for agent in theirs[receiver] if hops[item][agent] == number)


def test_agents_advertise_what_reached_them_in_the_slot_before(graph):
    hops = dict(networkx.all_pairs_shortest_path_length(as_networkx(graph)))
    for number, slot in enumerate(slots(graph)):
        assert slot.advertised == [list(hops[agent].values()).count(number) for agent in range(graph.nodes)]


@pytest.mark.parametrize("nodes", [3, 4, 5, 20, 51, 100])
def test_link_cost_is_diameter_times_edges_on_complete_star_and_ring(nodes):
    assert synchronise(complete(nodes)).advertised_links == nodes * (nodes - 1) // 2
    assert synchronise(star(nodes)).advertised_links == 2 * (nodes - 1)
    assert synchronise(ring(nodes)).advertised_links == nodes * (nodes // 2)


def test_an_edge_is_advertised_on_until_both_ends_have_passed_on_their_last_news(graph):
    """The last news of an agent is from as far away as its eccentricity, and is advertised one slot later."""
    far = networkx.eccentricity(as_networkx(graph))
    spoken = [min(diameter(graph), 1 + max(far[low], far[high])) for low, high in graph.edges.tolist()]
    assert synchronise(graph).advertised_links == sum(spoken)


def test_links_in_the_middle_of_a_path_fall_silent_first():
    assert synchronise(path(6)).advertised_links == 5 * 5 - 1
    assert synchronise(path(7)).advertised_links == 6 * 6 - 2


def test_a_single_agent_needs_nothing():
    assert synchronise(complete(1)) == Synchronisation()
    assert list(slots(complete(1))) == []


def test_a_disconnected_graph_is_refused():
    with pytest.raises(UsageError, match="2 components"):
        synchronise(disjoint([ring(3), path(2)]))
