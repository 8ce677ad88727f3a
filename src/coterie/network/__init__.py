"""Who talks to whom, over how many hops, and what it takes to bring all reports together.

`graphs` builds graphs and splits them into components, `distances` counts hops, `synchronise` lets all agents obtain
all reports from neighbours only, `hybrid` collects them at one sink per component, `mixing` tells how fast gossip
makes all agents agree.
"""

from coterie.network.distances import diameter, distances, eccentricities, near
from coterie.network.graphs import (
    GRAPHS,
    Graph,
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
from coterie.network.hybrid import Collection, collect
from coterie.network.mixing import gossip_matrix, second_eigenvalue
from coterie.network.synchronise import Synchronisation, slots, synchronise

__all__ = [
    "GRAPHS",
    "Collection",
    "Graph",
    "Synchronisation",
    "collect",
    "complete",
    "diameter",
    "disjoint",
    "distances",
    "eccentricities",
    "erdos_renyi",
    "from_edges",
    "gossip_matrix",
    "near",
    "parts",
    "path",
    "require_connected",
    "ring",
    "second_eigenvalue",
    "slots",
    "star",
    "synchronise",
]
