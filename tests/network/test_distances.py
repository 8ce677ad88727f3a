"""Hop distances against networkx and closed forms."""

import networkx
import numpy as np
import pytest

from coterie.errors import UsageError
from coterie.network.distances import diameter, distances, eccentricities, hops_to_nearest, near
from coterie.network.graphs import complete, disjoint, from_edges, path, ring, star


def oracle(theirs):
    hops = np.full((len(theirs), len(theirs)), -1)
    for source, reached in networkx.all_pairs_shortest_path_length(theirs):
        for target, distance in reached.items():
            hops[source, target] = distance
    return hops


def dense_islands(seed):
    """Two dense components and a lonely agent, numbered at random so that components interleave."""
    islands = networkx.disjoint_union(
        networkx.gnp_random_graph(30, 0.5, seed=seed), networkx.complete_bipartite_graph(20, 25)
    )
    islands.add_node(75)
    names = np.random.default_rng(seed).permutation(76).tolist()
    return networkx.relabel_nodes(islands, dict(enumerate(names)))


# From many components to graphs so dense that a search changes its direction.
DENSITIES = [(40, 0.03), (40, 0.12), (60, 0.35), (60, 0.7)]
RANDOM = [
    *(networkx.gnp_random_graph(nodes, density, seed=seed) for nodes, density in DENSITIES for seed in range(5)),
    *(dense_islands(seed) for seed in range(5)),
]


@pytest.mark.parametrize("theirs", RANDOM)
def test_distances_and_eccentricities_agree_with_networkx(theirs):
    graph = from_edges(len(theirs), list(theirs.edges))
    expected = oracle(theirs)
    assert np.array_equal(distances(graph), expected)
    assert np.array_equal(eccentricities(graph), expected.max(axis=1))


@pytest.mark.parametrize("hops", [0, 1, 2, 3, 10**9])
@pytest.mark.parametrize("theirs", [*RANDOM[::3], networkx.empty_graph(7), networkx.path_graph(30)])
def test_those_who_are_near_are_listed_by_distance_and_number(theirs, hops):
    apart = oracle(theirs)
    receiver, other = np.nonzero((apart >= 1) & (apart <= hops))
    order = np.lexsort((other, apart[receiver, other], receiver))
    first, others, away = near(from_edges(len(theirs), list(theirs.edges)), hops)
    assert first.tolist() == np.searchsorted(receiver, np.arange(len(theirs) + 1)).tolist()
    assert others.tolist() == other[order].tolist()
    assert away.tolist() == apart[receiver, other][order].tolist()


@pytest.mark.parametrize("theirs", RANDOM)
def test_hops_to_the_nearest_source_agree_with_networkx(theirs):
    graph = from_edges(len(theirs), list(theirs.edges))
    sources = [3, 17, 30]
    reached = networkx.multi_source_dijkstra_path_length(theirs, set(sources))
    assert hops_to_nearest(graph, np.array(sources)).tolist() == [reached.get(node, -1) for node in range(len(theirs))]


def test_distances_have_closed_forms_on_named_graphs():
    apart = np.abs(np.subtract.outer(np.arange(101), np.arange(101)))
    assert np.array_equal(distances(path(101)), apart)
    assert np.array_equal(distances(ring(101)), np.minimum(apart, 101 - apart))
    assert np.array_equal(distances(complete(101)), apart > 0)
    to_hub_or_leaf = np.where(apart > 0, 2, 0)
    to_hub_or_leaf[0, 1:] = to_hub_or_leaf[1:, 0] = 1
    assert np.array_equal(distances(star(101)), to_hub_or_leaf)


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 7, 1000])
def test_diameters_have_closed_forms_on_named_graphs(nodes):
    assert diameter(complete(nodes)) == min(1, nodes - 1)
    assert diameter(star(nodes)) == min(2, nodes - 1)
    assert diameter(ring(nodes)) == nodes // 2
    assert diameter(path(nodes)) == nodes - 1


def test_eccentricities_stay_inside_a_component():
    assert eccentricities(disjoint([path(3), complete(1), ring(6)])).tolist() == [2, 1, 2, 0, *[3] * 6]


def test_a_disconnected_graph_has_no_diameter():
    with pytest.raises(UsageError, match="2 components"):
        diameter(disjoint([ring(3), ring(4)]))
