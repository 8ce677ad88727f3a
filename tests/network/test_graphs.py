"""Graphs against networkx, closed forms and the exact law of small random graphs."""

from itertools import combinations

import networkx
import numpy as np
import pytest
from scipy.stats import chi2

import coterie.network
from coterie.errors import UsageError
from coterie.network.graphs import (
    GRAPHS,
    complete,
    disjoint,
    erdos_renyi,
    from_edges,
    parts,
    path,
    require_connected,
    ring,
    star,
)

SIZES = [1, 2, 3, 4, 5, 12, 33]
THEIRS = {
    "complete": networkx.complete_graph,
    "star": lambda nodes: networkx.star_graph(nodes - 1),
    "ring": lambda nodes: networkx.cycle_graph(nodes) if nodes > 2 else networkx.path_graph(nodes),
    "path": networkx.path_graph,
}


def sorted_edges(theirs):
    return sorted([min(edge), max(edge)] for edge in theirs.edges)


def assert_well_formed(graph):
    """Edges are sorted and the adjacency lists say the same as the edges, ascending."""
    assert graph.edges.dtype == np.int64
    assert graph.edges.shape == (len(graph.edges), 2)
    assert graph.edges.tolist() == sorted(graph.edges.tolist())
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    neighbours = [set() for _ in range(graph.nodes)]
    for low, high in graph.edges.tolist():
        neighbours[low].add(high)
        neighbours[high].add(low)
    rows = [graph.neighbour[graph.first[node] : graph.first[node + 1]].tolist() for node in range(graph.nodes)]
    assert rows == [sorted(row) for row in neighbours]
    assert len(graph.first) == graph.nodes + 1


@pytest.mark.parametrize("nodes", SIZES)
@pytest.mark.parametrize("kind", THEIRS)
def test_named_graphs_have_the_edges_of_networkx(kind, nodes):
    graph = GRAPHS[kind].made(nodes, np.random.default_rng(0))
    assert graph.nodes == nodes
    assert graph.edges.tolist() == sorted_edges(THEIRS[kind](nodes))
    assert_well_formed(graph)


def test_large_graphs_have_the_edges_the_closed_forms_say():
    assert complete(2000).edges.shape == (1_999_000, 2)
    assert np.array_equal(complete(2000).edges, np.column_stack(np.triu_indices(2000, 1)))
    assert ring(10_000).edges[:3].tolist() == [[0, 1], [0, 9999], [1, 2]]
    assert len(star(10_000).edges) == len(path(10_000).edges) == 9_999


@pytest.mark.parametrize("seed", range(10))
def test_from_edges_takes_edges_in_any_order_and_direction(seed):
    rng = np.random.default_rng(seed)
    theirs = networkx.gnp_random_graph(20, 0.2, seed=seed)
    given = [edge if rng.random() < 0.5 else edge[::-1] for edge in rng.permutation(list(theirs.edges)).tolist()]
    graph = from_edges(20, given)
    assert graph.edges.tolist() == sorted_edges(theirs)
    assert_well_formed(graph)


def test_from_edges_takes_no_edges_at_all():
    graph = from_edges(3, [])
    assert graph.edges.shape == (0, 2)
    assert_well_formed(graph)


@pytest.mark.parametrize(
    ("edges", "named"),
    [
        ([[0, 1], [2, 2]], r"different agents, got \[2, 2\]"),
        ([[0, 1], [1, 4]], r"agents in 0\.\.3, got \[1, 4\]"),
        ([[0, 1], [-1, 2]], r"agents in 0\.\.3, got \[-1, 2\]"),
        ([[0, 1], [1, 2], [0, 1]], r"repeat a pair .* got \[0, 1\]"),
        ([[3, 1], [0, 2], [1, 3]], r"repeat a pair .* got \[1, 3\]"),
        ([[0, 1], [2]], "pairs of agent numbers"),
        ([[0, 1, 2]], "pairs of agent numbers"),
        ([[0.0, 1.0]], "pairs of agent numbers"),
        ([["0", "1"]], "pairs of agent numbers"),
        ([0, 1], "pairs of agent numbers"),
    ],
)
def test_from_edges_names_the_edge_it_refuses(edges, named):
    with pytest.raises(UsageError, match=named):
        from_edges(4, edges)


@pytest.mark.parametrize("kind", [*THEIRS, "erdos-renyi"])
def test_a_graph_without_agents_is_refused(kind):
    with pytest.raises(UsageError, match="at least 1, got 0"):
        GRAPHS[kind].made(0, np.random.default_rng(0))


@pytest.mark.parametrize("nodes", [*SIZES, 400])
def test_erdos_renyi_graphs_are_connected_and_follow_their_seed(nodes):
    graph = erdos_renyi(nodes, np.random.default_rng(7))
    assert len(parts(graph)) == 1
    assert_well_formed(graph)
    assert np.array_equal(graph.edges, GRAPHS["erdos-renyi"].made(nodes, np.random.default_rng(7)).edges)


def test_erdos_renyi_draws_every_connected_graph_as_often_as_its_law_says():
    """At probability 1/2 the 38 connected graphs on 4 agents are equally likely. Chi-square, false alarm 1e-6."""
    rng = np.random.default_rng(1)
    pairs = list(combinations(range(4), 2))
    counts = {}
    for subset in (frozenset(subset) for size in range(7) for subset in combinations(pairs, size)):
        theirs = networkx.empty_graph(4)
        theirs.add_edges_from(subset)
        if networkx.is_connected(theirs):
            counts[subset] = 0
    assert len(counts) == 38
    draws = 3800
    for _ in range(draws):
        counts[frozenset(map(tuple, erdos_renyi(4, rng, 0.5).edges.tolist()))] += 1
    expected = draws / 38
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < chi2.isf(1e-6, 37)


def test_erdos_renyi_has_the_expected_number_of_edges():
    """400 agents at the default probability: binomial edges, where connectedness hardly matters. False alarm 1e-6."""
    probability = 2 * np.log(400) / 400
    pairs = 400 * 399 // 2
    edges = [len(erdos_renyi(400, np.random.default_rng(seed)).edges) for seed in range(50)]
    deviation = np.sqrt(pairs * probability * (1 - probability) / 50)
    assert abs(np.mean(edges) - pairs * probability) < 4.9 * deviation


def test_erdos_renyi_at_probability_one_is_complete():
    assert np.array_equal(erdos_renyi(30, np.random.default_rng(0), 1.0).edges, complete(30).edges)


@pytest.mark.parametrize("probability", [-0.1, 1.1, float("nan")])
def test_erdos_renyi_refuses_what_is_no_probability(probability):
    with pytest.raises(UsageError, match=rf"in \[0, 1\], got {probability}"):
        erdos_renyi(5, np.random.default_rng(0), probability)


@pytest.mark.parametrize(("nodes", "probability", "why"), [
    (50, 0.0, "a draw leaves 50.0 of them without a link on average"),
    (50, 0.01, "a draw leaves 30.6 of them without a link on average"),
    (10, 0.02, "1000 draws were all disconnected"),
    (1_000_000, 1e-5, "a draw leaves 45.4 of them"),  # it once drew a thousand graphs of five million edges
])  # fmt: skip
def test_erdos_renyi_gives_up_on_a_probability_that_never_connects(nodes, probability, why):
    with pytest.raises(UsageError, match=rf"large enough to connect them \(2 ln\(n\) / n is .*\), got {probability}: {why}"):
        erdos_renyi(nodes, np.random.default_rng(0), probability)


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_the_connected_components_of_networkx(seed):
    theirs = networkx.gnp_random_graph(40, 0.04, seed=seed)
    graph = from_edges(40, list(theirs.edges))
    assert parts(graph) == sorted(sorted(component) for component in networkx.connected_components(theirs))


def test_disjoint_puts_graphs_side_by_side():
    graph = disjoint([ring(4), complete(1), star(3)])
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3], [5, 6], [5, 7]]
    assert parts(graph) == [[0, 1, 2, 3], [4], [5, 6, 7]]
    assert_well_formed(graph)


def test_disjoint_needs_a_graph():
    with pytest.raises(UsageError, match="at least 1, got 0"):
        disjoint([])


def test_require_connected_accepts_connected_graphs():
    for graph in (complete(1), path(2), ring(50)):
        assert require_connected(graph) is None


def test_require_connected_lists_the_components():
    with pytest.raises(UsageError, match=r"got 3 components: \{0, 1\}, \{2\}, \{3, 4, 5\}$"):
        require_connected(disjoint([path(2), path(1), path(3)]))


def test_require_connected_stays_on_one_short_line():
    with pytest.raises(UsageError) as refused:
        require_connected(disjoint([ring(100)] * 50))
    assert "{0, 1, 2, 3, 4, 5 and 94 more}" in str(refused.value)
    assert str(refused.value).endswith("and 44 more")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_all_exported_names_exist_once():
    assert len(coterie.network.__all__) == len(set(coterie.network.__all__))
    assert all(hasattr(coterie.network, name) for name in coterie.network.__all__)
