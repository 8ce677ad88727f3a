"""Collection through sinks: each component gathers its reports at one agent, and only these talk to the server.

The sink of a component is its agent with the smallest largest hop distance to the others, so that the last report
arrives as early as possible. What a round costs depends on what is paid for, hence three figures: `path`, `maintain`
and `tree`.
"""

from typing import NamedTuple

import numpy as np

from coterie.network.distances import eccentricities, hops_to_nearest
from coterie.network.graphs import Graph, parts


class Collection(NamedTuple):
    """The sinks of a graph, one per component in the order of `parts`, and the links one round of collecting takes."""

    sinks: list[int]
    radii: list[int]  # hops from each sink to the farthest agent of its component
    delay: int  # extra slots before the server can decide
    hops: int  # travelled by all reports on shortest paths to their sinks
    kept_links: int  # sum over components of radius times edges
    tree_links: int  # edges of one spanning tree per component

    def path(self, peer_price: float, server_price: float) -> float:
        """Each report pays every hop of its way to the sink."""
        return peer_price * self.hops + server_price * len(self.sinks)

    def maintain(self, peer_price: float, server_price: float) -> float:
        """Every edge of a component is paid for as long as its collection lasts."""
        return peer_price * self.kept_links + server_price * len(self.sinks)

    def tree(self, peer_price: float, server_price: float) -> float:
        """Partial sums travel along a shortest-path tree, one message per edge."""
        return peer_price * self.tree_links + server_price * len(self.sinks)


def collect(graph: Graph) -> Collection:
    """Choose the sinks (ties: lowest number) of all components and add up what collecting takes.

    A report is at the server after its hops to the sink plus one; the first hop is free of delay, so the delay is the
    largest radius.
    """
    components = parts(graph)
    farthest = eccentricities(graph)
    degrees = np.diff(graph.first)
    sinks = [min(component, key=farthest.__getitem__) for component in components]
    radii = [int(farthest[sink]) for sink in sinks]
    edges = [int(degrees[component].sum()) // 2 for component in components]
    return Collection(
        sinks=sinks,
        radii=radii,
        delay=max(radii),
        hops=int(hops_to_nearest(graph, np.array(sinks)).sum()),
        kept_links=sum(radius * count for radius, count in zip(radii, edges, strict=True)),
        tree_links=graph.nodes - len(components),
    )
