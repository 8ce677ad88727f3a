"""How many links and hops a network has, and what it takes to find them, before it is built."""

from math import ceil, log, sqrt
from typing import NamedTuple

import numpy as np

from coterie.contract import Method
from coterie.engines.simulate import SPARSE
from coterie.network import GRAPHS, distances, from_edges
from coterie.network.distances import hops_to_nearest
from coterie.studies.case import PHASES
from coterie.studies.spec import Network, Specification

BYTES_OF_LINK, BYTES_OF_EDGE = 32.0, 40.0  # while links are found and wired
BYTES_OF_LINK_KEPT, BYTES_OF_EDGE_KEPT, BYTES_OF_AGENT_KEPT = 48.0, 16.0, 16.0  # and then, as long as there is the case
BYTES_OF_DELIVERY = 200.0  # of one agent's report to another one, where all reports reach all agents
NS_OF_PAIR, NS_OF_LOOK, NS_OF_LINK, NS_OF_EDGE, NS_OF_DELIVERY = 12.0, 3.0, 250.0, 60.0, 1500.0
LOOKS_MOST = 1e8  # at edges, before anything runs


class Wires(NamedTuple):
    """Of one case."""

    links: float = 0.0  # who hears whom
    delay: int = 0  # the longest, in rounds
    kept: float = 0.0  # bytes, as long as there is the case
    building: float = 0.0  # bytes, while links are found
    nanoseconds: float = 0.0
    sparse: bool = False  # see engines.simulate.Wires


class Part(NamedTuple):
    """A connected part of a network."""

    agents: int
    edges: float
    diameter: int
    reached: float  # within the life of a message: ordered pairs


def wires_of(study: Specification, method: Method) -> Wires:
    network, agents = study.network, study.problem.agents
    if method.structure in ("server", "alone"):
        return Wires()
    life = network.life if method.life is None else method.life
    parts = [part_of(network, size, life) for size in network.components or (agents,)]
    edges, pairs = sum(part.edges for part in parts), sum(float(part.agents) ** 2 for part in parts)
    delay = max((hops(part.diameter, life) for part in parts), default=1)
    if method.structure == "synchronise":
        return Wires(0.0, max(part.diameter for part in parts), 0.0, BYTES_OF_EDGE * edges + BYTES_OF_DELIVERY * pairs,
                     NS_OF_EDGE * edges + NS_OF_DELIVERY * pairs)  # fmt: skip
    if method.structure == "hybrid":
        return Wires(0.0, max(part.diameter for part in parts), 0.0, BYTES_OF_EDGE * edges,
                     NS_OF_EDGE * edges + NS_OF_PAIR * pairs)  # fmt: skip
    phases = PHASES if network.switch_every else 1
    links = phases * sum(part.reached for part in parts)
    ring, places = 1 + max(1, delay), phases * agents * (1.0 + max(1, delay))
    sparse = SPARSE * links < ring * float(agents) ** 2
    masks = ring * float(agents) ** 2 * (8 + 8 / 63) if method.node.additive and phases == 1 and not sparse else 0.0
    looks = 2 * min(links * 2 * edges / agents, phases * pairs) if life != 1 else 0.0  # neighbours are known without a search
    all_looks = phases * pairs if isinstance(life, str) else 0.0  # to know how many hops there are
    return Wires(
        links, max(1, delay),
        BYTES_OF_LINK_KEPT * links + phases * BYTES_OF_EDGE_KEPT * edges + BYTES_OF_AGENT_KEPT * places + masks,
        phases * BYTES_OF_EDGE * edges + BYTES_OF_LINK * links + 2 * BYTES_OF_AGENT_KEPT * places,
        phases * NS_OF_EDGE * edges + NS_OF_LOOK * looks + NS_OF_PAIR * all_looks + NS_OF_LINK * links + masks / 8,
        sparse,
    )  # fmt: skip


def heard_of(network: Network, agents: int, life: int | str | None) -> int:
    """How many others an agent hears at most; about, where the graph is drawn. See contract.Setting.hears."""
    life = network.life if life is None else life
    if network.edges is not None:
        return int(others_near(network, agents, life).max(initial=0))
    if network.graph in ("complete", "star") or network.switch_every:
        return agents - 1
    most = 0.0
    for size in network.components or (agents,):
        mean = part_of(network, size, life).reached / size
        most = max(most, min(size - 1.0, mean + (4 * sqrt(mean) + 4 if GRAPHS[str(network.graph)].drawn else 1)))
    return ceil(most)


def part_of(network: Network, n: int, life: int | str) -> Part:
    """A connected part of n agents."""
    pairs = n * (n - 1.0)
    if network.edges is not None:
        return Part(n, len(network.edges), longest_way(network, n), float(others_near(network, n, life).sum()))
    if network.graph == "erdos-renyi":
        chance = network.probability or min(1.0, 2 * log(max(n, 2)) / n)
        edges = pairs / 2 * chance
        degree = max(1.5, 2 * edges / n)
        diameter = ceil(log(max(n, 2)) / log(degree)) + 1
        reached = min(pairs, n * degree ** hops(diameter, life))
        return Part(n, edges, diameter, reached if hops(diameter, life) else 0.0)
    shapes = {"complete": (pairs / 2, 1), "star": (n - 1.0, 2), "ring": (float(n), n // 2), "path": (n - 1.0, n - 1)}
    if str(network.graph) not in shapes:
        return grown(network, n, life)
    edges, diameter = shapes[str(network.graph)]
    far = min(hops(diameter, life), diameter)
    along = {"star": 2 * edges if far == 1 else pairs, "ring": 2.0 * n * far, "path": far * (2.0 * n - far - 1)}
    return Part(n, edges, diameter, min(pairs, along.get(str(network.graph), pairs)) if far else 0.0)


def longest_way(network: Network, n: int) -> int:
    """How far the farthest agent is from the one that is farthest from the first: in a tree nobody is farther from anybody."""
    graph = from_edges(n, np.array(network.edges, np.int64).reshape(-1, 2))
    farthest = int(hops_to_nearest(graph, np.array([0])).argmax())
    return max(1, int(hops_to_nearest(graph, np.array([farthest])).max()))


def others_near(network: Network, n: int, life: int | str) -> np.ndarray:
    """Of each agent, where the edges are given: how many others are within the life of a message, at most.

    Walks that never turn back are counted. Each other agent is at the end of one, and of several where there are circles.
    """
    first, second = np.array(network.edges, np.int64).reshape(-1, 2).T
    far = hops(longest_way(network, n), life) if isinstance(life, str) else min(life, n - 1)
    if far * len(first) > LOOKS_MOST:
        return np.full(n, n - 1.0)

    def next_to(values: np.ndarray) -> np.ndarray:
        return np.bincount(first, values[second], n) + np.bincount(second, values[first], n)

    walks, before = next_to(np.ones(n)), np.ones(n)
    further, near = walks - 1, walks * min(far, 1)
    for hop in range(2, far + 1):
        walks, before = next_to(walks) - (further + (hop == 2)) * before, walks
        near = np.minimum(near + walks, n - 1.0)
        if not walks.any() or near.min() == n - 1:
            break
    return near


def grown(network: Network, n: int, life: int | str) -> Part:
    """Of a graph nobody has a formula for: what two small ones have, continued by a power of the size."""
    sizes = [min(n, 64), max(2, min(n, 64) // 2)]
    found = []
    for size in sizes:
        graph = GRAPHS[str(network.graph)].made(size, np.random.default_rng(0), network)
        away = distances(graph)
        farthest = int(away.max())
        found.append((len(graph.edges), max(1, farthest), np.count_nonzero((away > 0) & (away <= hops(farthest, life)))))
    growth = log(n / sizes[0]) / log(sizes[0] / sizes[1]) if sizes[0] > sizes[1] else 0.0
    edges, diameter, reached = (large * (large / max(small, 1)) ** growth for large, small in zip(*found, strict=True))
    return Part(n, edges, ceil(diameter), min(n * (n - 1.0), reached))


def hops(diameter: int, life: int | str) -> int:
    named = {"diameter": diameter, "half-diameter": -(-diameter // 2), "half-diameter-down": diameter // 2}
    return named[life] if isinstance(life, str) else min(life, diameter)
