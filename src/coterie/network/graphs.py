"""Who may talk to whom: simple undirected graphs over agents 0..nodes-1.

A graph is kept twice: as the sorted list of its edges, which is what costs and random draws are taken over, and as
adjacency lists in compressed rows, which is what walks over the graph read. Agent `i` has the neighbours
`neighbour[first[i]:first[i + 1]]`, ascending. No step loops over edges in the interpreter, so that a complete
graph of 10,000 agents (50 million edges, 1.2 GB) is still built in seconds.
"""

from collections.abc import Mapping, Sequence
from math import log
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from coterie.choices import Kind
from coterie.contract import Options
from coterie.errors import UsageError
from coterie.kernel.caching import cached

DRAWS_MAX = 1000
ALONE_MOST = 9.0  # agents without a link on average: one of 8,000 draws then leaves none
LISTED_MAX = 6


class Graph(NamedTuple):
    """An undirected graph without self-loops or double edges."""

    nodes: int
    edges: np.ndarray  # int64 [edges, 2]; the smaller end first, rows in ascending order
    first: np.ndarray  # int64 [nodes + 1]
    neighbour: np.ndarray  # int32 [2 * edges]


def complete(nodes: int) -> Graph:
    """Every agent talks to every other one."""
    _require_nodes(nodes)
    return _link(nodes, _pairs(nodes, np.arange(nodes * (nodes - 1) // 2)))


def star(nodes: int) -> Graph:
    """Agent 0 is the hub; all others talk to it only."""
    _require_nodes(nodes)
    spokes = np.arange(1, nodes)
    return _link(nodes, np.column_stack((np.zeros_like(spokes), spokes)))


def path(nodes: int) -> Graph:
    """Agents in a row, each talking to the one before and the one after it."""
    _require_nodes(nodes)
    row = np.arange(nodes)
    return _link(nodes, np.column_stack((row[:-1], row[1:])))


def ring(nodes: int) -> Graph:
    """A path whose two ends also talk to each other (two agents share one edge, not two)."""
    if nodes < 3:
        return path(nodes)
    row = np.arange(nodes)
    return from_edges(nodes, np.column_stack((row, np.roll(row, -1))))


def erdos_renyi(nodes: int, rng: np.random.Generator, probability: float | None = None) -> Graph:
    """Every pair is an edge independently with this probability, redrawn until the graph is connected.

    The default min(1, 2 ln(nodes) / nodes) is twice the value around which such graphs become connected.
    """
    _require_nodes(nodes)
    if probability is None:
        probability = min(1.0, 2 * log(nodes) / nodes)
    if not 0 <= probability <= 1:
        raise UsageError(f"probability of an erdos-renyi graph must lie in [0, 1], got {probability}")
    alone = nodes * (1 - probability) ** (nodes - 1)
    if alone > ALONE_MOST:
        raise _never_connected(nodes, probability, f"a draw leaves {alone:.1f} of them without a link on average")
    for _ in range(DRAWS_MAX):
        edges = _draw(nodes, rng, probability)
        if nodes > 1 and not np.bincount(edges.ravel(), minlength=nodes).all():
            continue  # most graphs that are not connected leave an agent alone, which is soon seen
        graph = _link(nodes, edges)
        if len(parts(graph)) == 1:
            return graph
    raise _never_connected(nodes, probability, f"{DRAWS_MAX} draws were all disconnected")


def _never_connected(nodes: int, probability: float, why: str) -> UsageError:
    wanted = f"probability of an erdos-renyi graph of {nodes} agents must be large enough to connect them"
    return UsageError(f"{wanted} (2 ln(n) / n is {2 * log(nodes) / nodes:.2g}), got {probability}: {why}")


def from_edges(nodes: int, edges: ArrayLike) -> Graph:
    """The graph with the given pairs of agents as edges, in any order and direction, each pair once."""
    _require_nodes(nodes)
    pairs = _as_pairs(edges)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    _refuse(pairs, (low < 0) | (high >= nodes), f"must join agents in 0..{nodes - 1}")
    _refuse(pairs, low == high, "must join two different agents")
    places = np.sort(low * nodes + high)
    pairs = np.column_stack(np.divmod(places, nodes))
    _refuse(pairs[1:], places[1:] == places[:-1], "must not repeat a pair of agents in either direction")
    return _link(nodes, pairs)


class LinkOptions(Options):
    probability: Annotated[float, Field(gt=0, le=1)] | None = Field(None, title="that two agents are linked")


def _links_said(network: Mapping[str, Any]) -> str:
    chance = network["probability"]
    return "links are drawn at random" + ("" if chance is None else f", each with probability {chance:g}")


GRAPHS = {
    "complete": Kind(complete, "every one is linked to every other"),
    "star": Kind(star, "one in the middle is linked to all others"),
    "ring": Kind(ring, "they form a ring"),
    "path": Kind(path, "they form a chain"),
    "erdos-renyi": Kind(erdos_renyi, _links_said, LinkOptions, drawn=True),
}


def disjoint(graphs: Sequence[Graph]) -> Graph:
    """All graphs side by side without an edge between them, agents numbered on from one graph to the next."""
    if not graphs:
        raise UsageError("components must number at least 1, got 0")
    sizes = [graph.nodes for graph in graphs]
    shifts = np.cumsum([0, *sizes[:-1]])
    edges = np.concatenate([graph.edges + shift for graph, shift in zip(graphs, shifts, strict=True)])
    return _link(sum(sizes), edges)


def parts(graph: Graph) -> list[list[int]]:
    """The connected components, ordered by their lowest agent, each in ascending order."""
    part = _part_of_each(graph.first, graph.neighbour)
    by_part = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part))
    return [members.tolist() for members in np.split(by_part, ends[:-1])]


def require_connected(graph: Graph) -> None:
    """Raise a UsageError that lists the components unless every agent can reach every other one."""
    components = parts(graph)
    if len(components) > 1:
        listed = _abbreviated(["{" + _abbreviated(component) + "}" for component in components])
        raise UsageError(f"graph must be connected, got {len(components)} components: {listed}")


def _require_nodes(nodes: int) -> None:
    if nodes < 1:
        raise UsageError(f"agents of a graph must number at least 1, got {nodes}")


def _as_pairs(edges: ArrayLike) -> np.ndarray:
    rule = "edges must be a list of pairs of agent numbers such as [[0, 1], [1, 2]]"
    try:
        pairs = np.asarray(edges)
    except ValueError:
        raise UsageError(f"{rule}, got rows of unequal length") from None
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise UsageError(f"{rule}, got {pairs.dtype} values of shape {pairs.shape}")
    return pairs.astype(np.int64)


def _refuse(pairs: np.ndarray, bad: np.ndarray, rule: str) -> None:
    if bad.any():
        raise UsageError(f"edges {rule}, got {pairs[bad.argmax()].tolist()}")


def _abbreviated(items: Sequence[object]) -> str:
    listed = ", ".join(str(item) for item in items[:LISTED_MAX])
    hidden = len(items) - LISTED_MAX
    return f"{listed} and {hidden} more" if hidden > 0 else listed


def _draw(nodes: int, rng: np.random.Generator, probability: float) -> np.ndarray:
    """The edges of one Erdos-Renyi graph: first how many, then which, so that the work grows with edges and not with pairs."""
    pairs = nodes * (nodes - 1) // 2
    chosen = rng.choice(pairs, size=rng.binomial(pairs, probability), replace=False, shuffle=False)
    chosen.sort()
    return _pairs(nodes, chosen)


def _link(nodes: int, edges: np.ndarray) -> Graph:
    first, neighbour = _adjacency(nodes, edges)
    return Graph(nodes, edges, first, neighbour)


@cached
def _pairs(nodes, numbers):
    """The pairs with these ascending places in the list (0, 1), (0, 2), ..., (0, nodes - 1), (1, 2), ..."""
    pairs = np.empty((len(numbers), 2), dtype=np.int64)
    low, start = 0, 0  # (low, low + 1) has place `start`
    for index, number in enumerate(numbers):
        while number >= start + nodes - 1 - low:
            start += nodes - 1 - low
            low += 1
        pairs[index, 0] = low
        pairs[index, 1] = low + 1 + number - start
    return pairs


@cached
def _adjacency(nodes, edges):
    """Compressed rows. Sorted edges present the neighbours of each agent in ascending order, so no row is sorted."""
    first = np.zeros(nodes + 1, dtype=np.int64)
    for edge in range(len(edges)):
        first[edges[edge, 0] + 1] += 1
        first[edges[edge, 1] + 1] += 1
    first = np.cumsum(first)
    place = first[:-1].copy()
    neighbour = np.empty(2 * len(edges), dtype=np.int32)
    for edge in range(len(edges)):
        low, high = edges[edge]
        neighbour[place[low]] = high
        neighbour[place[high]] = low
        place[low] += 1
        place[high] += 1
    return first, neighbour


@cached
def _part_of_each(first, neighbour):
    """Number the components 0, 1, ... in the order of their lowest agent; the component of every agent."""
    nodes = len(first) - 1
    part = np.full(nodes, -1, dtype=np.int64)
    waiting = np.empty(nodes, dtype=np.int64)
    found = 0
    for start in range(nodes):
        if part[start] >= 0:
            continue
        part[start] = found
        waiting[0] = start
        length = 1
        while length > 0:
            length -= 1
            node = waiting[length]
            for link in range(first[node], first[node + 1]):
                other = neighbour[link]
                if part[other] < 0:
                    part[other] = found
                    waiting[length] = other
                    length += 1
        found += 1
    return part
