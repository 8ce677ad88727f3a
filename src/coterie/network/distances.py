"""How many hops apart two agents are, by breadth-first search from every agent.

A search grows a frontier, the agents reached in the last step, in one of two directions. Pushing looks at all links
of the frontier. Pulling looks at the links of every agent not yet reached, up to its first neighbour in the frontier;
once the frontier is large that neighbour comes early. Taking the cheaper direction in each step keeps a search near
O(nodes) on dense graphs, where pushing alone would look at every edge (Beamer, Asanovic & Patterson, 2012).

Searches stay inside one component: agents of other components are never looked at.
"""

import numpy as np

from coterie.kernel.caching import cached
from coterie.network.graphs import Graph, parts, require_connected


def distances(graph: Graph) -> np.ndarray:
    """Hop distances [nodes, nodes], int32; -1 between agents of different components."""
    hops = np.full((graph.nodes, graph.nodes), -1, dtype=np.int32)
    for part in parts(graph):
        _search_each(graph.first, graph.neighbour, np.array(part), hops)
    return hops


def eccentricities(graph: Graph) -> np.ndarray:
    """For every agent its largest hop distance inside its own component, int32 [nodes], in O(nodes) memory."""
    farthest = np.zeros(graph.nodes, dtype=np.int32)
    hops = np.full(graph.nodes, -1, dtype=np.int32)
    for part in parts(graph):
        _measure_each(graph.first, graph.neighbour, np.array(part), hops, farthest)
    return farthest


def near(graph: Graph, hops: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all agents in order: where those begin that are at most so many hops away, who they are, and how far away.

    The nearest come first, and of those equally far the lower numbers. Time and memory follow the pairs that are found.
    """
    if hops <= 1:  # neighbours need no search
        first = graph.first if hops == 1 else np.zeros_like(graph.first)
        return first, graph.neighbour[: first[-1]].astype(np.int64), np.ones(first[-1], np.int64)
    hops = min(hops, 2 * int(hops_to_nearest(graph, np.array([part[0] for part in parts(graph)])).max()))  # none is longer
    counts = np.zeros((graph.nodes, hops), np.int64)
    _count_near(graph.first, graph.neighbour, counts)
    ends = np.cumsum(counts)
    first = np.append(0, ends[hops - 1 :: hops])
    others, away = np.empty(first[-1], np.int64), np.empty(first[-1], np.int64)
    _list_near(graph.first, graph.neighbour, (ends - counts.ravel()).reshape(counts.shape), others, away)
    return first, others, away


def diameter(graph: Graph) -> int:
    """The largest hop distance of a connected graph."""
    require_connected(graph)
    return int(eccentricities(graph).max())


def hops_to_nearest(graph: Graph, sources: np.ndarray) -> np.ndarray:
    """For every agent the hops to the nearest of `sources`, int32 [nodes]; -1 where none can be reached."""
    hops = np.full(graph.nodes, -1, dtype=np.int32)
    queue = np.empty(graph.nodes, dtype=np.int64)
    _search(graph.first, graph.neighbour, np.arange(graph.nodes), sources, hops, queue)
    return hops


@cached
def _search_each(first, neighbour, members, hops):
    queue = np.empty(len(members), dtype=np.int64)
    for index in range(len(members)):
        _search(first, neighbour, members, members[index : index + 1], hops[members[index]], queue)


@cached
def _measure_each(first, neighbour, members, hops, farthest):
    queue = np.empty(len(members), dtype=np.int64)
    for index in range(len(members)):
        hops[members] = -1
        farthest[members[index]] = _search(first, neighbour, members, members[index : index + 1], hops, queue)


@cached
def _search(first, neighbour, members, sources, hops, queue):
    """Write the distances from `sources` to all `members` into `hops`, which holds -1 there; return the largest."""
    links = 0
    for member in members:
        links += first[member + 1] - first[member]
    for index in range(len(sources)):
        queue[index] = sources[index]
        hops[sources[index]] = 0
    level, begin, end = 0, 0, len(sources)
    while end < len(members):
        frontier_links = 0
        for node in queue[begin:end]:
            frontier_links += first[node + 1] - first[node]
        # A link leads into the frontier with probability frontier_links / links. Pulling therefore costs about
        # len(members) + (len(members) - end) * links / frontier_links looks, pushing costs frontier_links.
        if (len(members) - end) * links < frontier_links * (frontier_links - len(members)):
            grown = _pull(first, neighbour, members, hops, queue, end, level + 1)
        else:
            grown = _push(first, neighbour, hops, queue, begin, end, level + 1)
        if grown == end:
            break
        begin, end, level = end, grown, level + 1
    return level


@cached
def _push(first, neighbour, hops, queue, begin, end, level):
    for node in queue[begin:end]:
        for link in range(first[node], first[node + 1]):
            other = neighbour[link]
            if hops[other] < 0:
                hops[other] = level
                queue[end] = other
                end += 1
    return end


@cached
def _pull(first, neighbour, members, hops, queue, end, level):
    for node in members:
        if hops[node] >= 0:
            continue
        for link in range(first[node], first[node + 1]):
            if hops[neighbour[link]] == level - 1:
                hops[node] = level
                queue[end] = node
                end += 1
                break
    return end


@cached
def _count_near(first, neighbour, counts):
    """counts[i, d - 1]: agents at distance d from i."""
    seen, queue = np.full(len(counts), -1, np.int64), np.empty(len(counts), np.int64)
    for source in range(len(counts)):
        begin, end = 0, 1
        queue[0], seen[source] = source, source
        for level in range(counts.shape[1]):
            grown = _spread(first, neighbour, seen, source, queue, begin, end)
            counts[source, level] = grown - end
            begin, end = end, grown


@cached
def _list_near(first, neighbour, place, others, away):
    """Agents spread in ascending order, so that they come into each other's lists in that order."""
    levels = place.shape[1]
    seen, queue = np.full(len(place), -1, np.int64), np.empty(len(place), np.int64)
    for source in range(len(place)):
        begin, end = 0, 1
        queue[0], seen[source] = source, source
        for level in range(levels):
            grown = _spread(first, neighbour, seen, source, queue, begin, end)
            for other in queue[end:grown]:
                others[place[other, level]], away[place[other, level]] = source, level + 1
                place[other, level] += 1
            begin, end = end, grown


@cached
def _spread(first, neighbour, seen, source, queue, begin, end):
    """One more hop from the agents between `begin` and `end`; stops when nobody is left to be found."""
    for node in queue[begin:end]:
        if end == len(queue):
            break
        for link in range(first[node], first[node + 1]):
            other = neighbour[link]
            if seen[other] != source:
                seen[other] = source
                queue[end] = other
                end += 1
    return end
