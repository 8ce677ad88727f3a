"""Sinks, radii and costs of collection against networkx and closed forms."""

import networkx
import numpy as np
import pytest

from coterie.network.graphs import complete, disjoint, erdos_renyi, from_edges, path, ring, star
from coterie.network.hybrid import collect


@pytest.mark.parametrize("seed", range(20))
def test_sinks_radii_and_costs_agree_with_networkx(seed):
    theirs = networkx.gnp_random_graph(40, 0.06, seed=seed)
    collection = collect(from_edges(40, list(theirs.edges)))
    components = sorted(networkx.connected_components(theirs), key=min)
    inside = [theirs.subgraph(component) for component in components]
    radii = [networkx.radius(part) for part in inside]
    sinks = [min(networkx.center(part)) for part in inside]
    hops = sum(sum(networkx.shortest_path_length(theirs, sink).values()) for sink in sinks)
    kept = sum(radius * part.number_of_edges() for radius, part in zip(radii, inside, strict=True))
    assert collection.sinks == sinks
    assert collection.radii == radii
    assert collection.delay == max(radii)
    assert collection.path(3, 50) == 3 * hops + 50 * len(components)
    assert collection.maintain(3, 50) == 3 * kept + 50 * len(components)
    assert collection.tree(3, 50) == 3 * (40 - len(components)) + 50 * len(components)


def costs(collection):
    return collection.path(1, 50), collection.maintain(1, 50), collection.tree(1, 50)


def test_five_complete_components_of_twenty():
    collection = collect(disjoint([complete(20)] * 5))
    assert collection.sinks == [0, 20, 40, 60, 80]
    assert collection.delay == 1
    assert costs(collection) == (95 + 250, 5 * 190 + 250, 95 + 250)


def test_five_stars_of_twenty_are_cheaper_to_maintain_than_complete_components():
    collection = collect(disjoint([star(20)] * 5))
    assert collection.delay == 1
    assert costs(collection) == (95 + 250, 95 + 250, 95 + 250)


def test_singletons_talk_to_the_server_at_once():
    collection = collect(disjoint([complete(1)] * 100))
    assert collection.sinks == list(range(100))
    assert collection.delay == 0
    assert costs(collection) == (5000, 5000, 5000)


def test_unequal_components_wait_for_the_largest_radius():
    collection = collect(disjoint([path(5), ring(8), complete(1)]))
    assert collection.sinks == [2, 5, 13]
    assert collection.radii == [2, 4, 0]
    assert collection.delay == 4
    assert costs(collection) == (6 + 16 + 150, 2 * 4 + 4 * 8 + 150, 4 + 7 + 150)


def test_components_with_interleaved_numbers_keep_their_own_sinks():
    collection = collect(from_edges(6, [[0, 4], [4, 2], [1, 3], [3, 5]]))
    assert collection.sinks == [4, 3]
    assert collection.path(1, 0) == 4


def test_of_several_best_agents_the_lowest_is_the_sink():
    assert collect(path(4)).sinks == [1]
    assert collect(from_edges(4, [[3, 2], [2, 1], [1, 0]])).sinks == [1]
    assert collect(from_edges(4, [[0, 3], [3, 2], [2, 1]])).sinks == [2]


def test_a_tree_never_costs_more_than_paths_nor_paths_more_than_keeping_links_open():
    for seed in range(10):
        path_cost, maintain_cost, tree_cost = costs(collect(erdos_renyi(50, np.random.default_rng(seed))))
        assert tree_cost <= path_cost <= maintain_cost
