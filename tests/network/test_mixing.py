"""The gossip matrix against its definition edge by edge, its second eigenvalue against closed forms and networkx."""

from math import cos, pi

import networkx
import numpy as np
import pytest

from coterie.errors import UsageError
from coterie.network import mixing
from coterie.network.graphs import complete, disjoint, erdos_renyi, from_edges, path, ring, star
from coterie.network.mixing import gossip_matrix, second_eigenvalue

CLOSED_FORMS = {
    "complete": (complete, lambda n: 1 - 1 / (n - 1)),
    "path": (path, lambda n: 1 - (1 - cos(pi / n)) / (n - 1)),
    "ring": (ring, lambda n: 1 - (1 - cos(2 * pi / n)) / n),
    "star": (star, lambda n: 1 - 1 / (2 * (n - 1))),
}
NUMBERS = [
    (complete(3), 0.5),
    (complete(10), 8 / 9),
    (path(3), 0.75),
    (path(10), 0.994562),
    (ring(10), 0.980902),
    (star(10), 17 / 18),
]


def from_networkx(theirs):
    theirs = networkx.convert_node_labels_to_integers(theirs)
    return from_edges(len(theirs), list(theirs.edges))


def mean_over_edges(graph):
    """The definition: the mean of I - (e_i - e_j)(e_i - e_j)' / 2 over all edges."""
    total = np.zeros((graph.nodes, graph.nodes))
    for i, j in graph.edges:
        difference = np.eye(graph.nodes)[i] - np.eye(graph.nodes)[j]
        total += np.eye(graph.nodes) - np.outer(difference, difference) / 2
    return total / len(graph.edges)


@pytest.fixture(params=[complete(2), complete(6), path(7), ring(5), star(8), erdos_renyi(20, np.random.default_rng(3))])
def graph(request):
    return request.param


def test_the_matrix_is_the_mean_of_all_exchanges(graph):
    assert np.allclose(gossip_matrix(graph), mean_over_edges(graph), rtol=0, atol=1e-15)


def test_the_matrix_is_symmetric_doubly_stochastic_and_positive_semidefinite(graph):
    matrix = gossip_matrix(graph)
    assert np.array_equal(matrix, matrix.T)
    assert np.allclose(matrix.sum(axis=0), 1, rtol=0, atol=1e-14)
    assert matrix.min() >= 0
    values = np.linalg.eigvalsh(matrix)
    assert values[0] >= -1e-14
    assert values[-1] == pytest.approx(1, abs=1e-14)


def test_the_second_eigenvalue_is_that_of_the_matrix(graph):
    assert second_eigenvalue(graph) == pytest.approx(np.linalg.eigvalsh(gossip_matrix(graph))[-2], abs=1e-14)


@pytest.mark.parametrize(("graph", "value"), NUMBERS)
def test_small_graphs_have_the_known_values(graph, value):
    assert second_eigenvalue(graph) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize("nodes", [3, 4, 5, 10, 33, 100, 3000])
@pytest.mark.parametrize("kind", CLOSED_FORMS)
def test_named_graphs_have_closed_forms_below_and_above_the_size_that_changes_the_method(kind, nodes):
    make, closed_form = CLOSED_FORMS[kind]
    assert 1 - second_eigenvalue(make(nodes)) == pytest.approx(1 - closed_form(nodes), rel=1e-6, abs=1e-14)


def test_two_agents_agree_after_one_exchange():
    assert second_eigenvalue(path(2)) == pytest.approx(0, abs=1e-15)
    assert second_eigenvalue(path(2)) >= 0


@pytest.mark.parametrize("seed", range(5))
def test_random_graphs_agree_with_the_algebraic_connectivity_of_networkx(seed):
    graph = erdos_renyi(40, np.random.default_rng(seed))
    theirs = networkx.empty_graph(40)
    theirs.add_edges_from(graph.edges.tolist())
    connectivity = networkx.algebraic_connectivity(theirs, tol=1e-12)
    assert second_eigenvalue(graph) == pytest.approx(1 - connectivity / (2 * len(graph.edges)), abs=1e-10)


@pytest.mark.parametrize(
    "theirs",
    [
        networkx.lollipop_graph(60, 60),
        networkx.barbell_graph(60, 0),
        networkx.full_rary_tree(2, 150),
        networkx.grid_2d_graph(11, 12, periodic=True),
        networkx.hypercube_graph(7),
        networkx.gnp_random_graph(120, 0.1, seed=1),
    ],
    ids=["lollipop", "barbell", "tree", "torus", "hypercube", "random"],
)
def test_the_method_for_large_graphs_agrees_with_the_one_for_small_graphs(theirs, monkeypatch):
    graph = from_networkx(theirs)
    dense = second_eigenvalue(graph)
    monkeypatch.setattr(mixing, "DENSE_NODES_MAX", 1)
    assert second_eigenvalue(graph) == pytest.approx(dense, abs=1e-12)


def test_a_large_graph_gives_the_same_number_every_time():
    graph = erdos_renyi(2500, np.random.default_rng(0))
    assert second_eigenvalue(graph) == second_eigenvalue(graph)


@pytest.mark.parametrize("function", [gossip_matrix, second_eigenvalue])
def test_a_disconnected_graph_is_refused(function):
    with pytest.raises(UsageError, match=r"graph must be connected, got 2 components: \{0, 1, 2\}, \{3, 4\}"):
        function(disjoint([ring(3), path(2)]))


@pytest.mark.parametrize("function", [gossip_matrix, second_eigenvalue])
def test_a_single_agent_has_nobody_to_gossip_with(function):
    with pytest.raises(UsageError, match="at least 2, got 1"):
        function(complete(1))
