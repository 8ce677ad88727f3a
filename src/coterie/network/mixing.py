"""How fast gossip mixes: the expected matrix of one exchange and its second largest eigenvalue.

When the edge (i, j) is drawn, its two ends replace their values by their average, which is multiplication by
W_ij = I - (e_i - e_j)(e_i - e_j)' / 2. The mean of W_ij over all edges is W = I - Laplacian / (2 edges), symmetric and
positive semidefinite, with largest eigenvalue 1 for the constant vectors. Each exchange shrinks the expected squared
disagreement by at least the factor lambda_2 = 1 - connectivity / (2 edges), where the connectivity (Fiedler's algebraic
connectivity) is the second smallest eigenvalue of the Laplacian. The smaller lambda_2, the faster the group agrees.

Gossip needs an edge to draw, hence two agents, and one component: otherwise lambda_2 = 1 and the group never agrees.
"""

from typing import Any

import numpy as np

from coterie.errors import UsageError
from coterie.network.graphs import Graph, require_connected

DENSE_NODES_MAX = 500  # a fraction of a second; the cost grows with the cube
RESTARTS_MAX = 30


def gossip_matrix(graph: Graph) -> np.ndarray:
    """W = I - Laplacian / (2 edges), float64 [nodes, nodes]."""
    _require_gossip(graph)
    return np.eye(graph.nodes) - _laplacian(graph) / (2 * len(graph.edges))


def second_eigenvalue(graph: Graph) -> float:
    """lambda_2 of the gossip matrix, in [0, 1).

    All eigenvalues are computed up to 500 agents, only the wanted one beyond. That takes a tenth of a second for 10,000
    agents on a path or a random graph and, for its 50 million edges, ten seconds on a complete one.
    """
    _require_gossip(graph)
    if graph.nodes <= DENSE_NODES_MAX:
        connectivity = np.linalg.eigvalsh(_laplacian(graph))[1]
    else:
        connectivity = _sparse_connectivity(graph)
    return max(0.0, 1.0 - float(connectivity) / (2 * len(graph.edges)))  # two agents have exactly 0


def _require_gossip(graph: Graph) -> None:
    if graph.nodes < 2:
        raise UsageError(f"agents of a gossip network must number at least 2, got {graph.nodes}")
    require_connected(graph)


def _laplacian(graph: Graph) -> np.ndarray:
    laplacian = np.zeros((graph.nodes, graph.nodes))
    low, high = graph.edges.T
    laplacian[low, high] = laplacian[high, low] = -1.0
    np.fill_diagonal(laplacian, np.diff(graph.first))
    return laplacian


def _sparse_connectivity(graph: Graph) -> float:
    """Lanczos converges in a few steps where the graph mixes fast. One that mixes slowly has thin places to cut it at,
    and that is what makes the factorisation cheap which the second attempt needs.
    """
    # Imported here because few graphs are this large and the import takes as long as that of all else together.
    from scipy.sparse import csr_array  # type: ignore[import-untyped]
    from scipy.sparse.linalg import ArpackNoConvergence  # type: ignore[import-untyped]

    degree = np.diff(graph.first).astype(float)
    shape = (graph.nodes, graph.nodes)
    adjacency = csr_array((np.ones(len(graph.neighbour)), graph.neighbour, graph.first), shape=shape)
    start = np.random.default_rng(0).standard_normal(graph.nodes)  # the same result every time
    try:
        return _by_lanczos(adjacency, degree, start)
    except ArpackNoConvergence:
        return _by_factorisation(adjacency, degree, start)


def _by_lanczos(adjacency: Any, degree: np.ndarray, start: np.ndarray) -> float:
    """The largest eigenvalue of shift - Laplacian on the vectors of mean 0, where shift is at least all eigenvalues."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    shift = 2 * degree.max()

    def multiply(vector: np.ndarray) -> np.ndarray:
        centred = vector - vector.mean()
        image = (shift - degree) * centred + adjacency @ centred
        return image - image.mean()

    operator = LinearOperator(adjacency.shape, matvec=multiply, dtype=float)
    found = eigsh(operator, k=1, which="LA", v0=start, maxiter=RESTARTS_MAX, return_eigenvectors=False)
    return float(shift - found[0])


def _by_factorisation(adjacency: Any, degree: np.ndarray, start: np.ndarray) -> float:
    """The eigenvalues nearest to a point just below 0. No connected graph has a connectivity below 4 / nodes^2 (Mohar,
    1991), so 1 / nodes^2 is near enough, and far enough for the factors to exist.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import eigsh

    laplacian = (diags_array(degree) - adjacency).tocsc()
    found = eigsh(laplacian, k=2, sigma=-1.0 / len(degree) ** 2, v0=start, return_eigenvectors=False)
    return float(found.max())
