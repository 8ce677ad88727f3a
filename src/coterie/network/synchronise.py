"""All agents obtain all reports by talking to neighbours only: global information synchronisation (GIS).

Every agent starts with one item, its own report. In each slot, all at the same time: agents advertise to all their
neighbours the items that were new to them in the last slot (ADV); each agent requests the advertised items it lacks,
every item from the lowest-numbered neighbour that advertised it (REQ); the items are delivered (DATA). It ends when
everyone has everything, which takes as many slots as the diameter.

`slots` plays this message by message; `synchronise` counts what it took. Sets of items are Python integers, bit i
for the item of agent i. Both grow with slots * edges, which is meant for hundreds of agents.
"""

from collections.abc import Iterator
from operator import add
from typing import NamedTuple

import numpy as np

from coterie.network.graphs import Graph, require_connected


class Delivery(NamedTuple):
    """One DATA message."""

    sender: int
    receiver: int
    items: tuple[int, ...]  # the agents whose reports it carries, ascending


class Slot(NamedTuple):
    """What happens in one slot."""

    advertised: list[int]  # per agent the number of items it advertises to each neighbour; 0 is silence
    deliveries: list[Delivery]  # ordered by receiver, then sender


class Synchronisation(NamedTuple):
    """What one synchronisation takes. A message is one transmission to one neighbour, however many items it carries."""

    slots: int = 0
    delivered: int = 0  # items carried by DATA, and named by REQ
    advertised_items: int = 0  # items named by ADV, once per neighbour
    advertised_links: int = 0  # summed over slots: undirected edges with at least one ADV
    data_links: int = 0  # summed over slots: undirected edges with at least one DATA
    adv_messages: int = 0
    req_messages: int = 0
    data_messages: int = 0


def synchronise(graph: Graph) -> Synchronisation:
    """Run the protocol once on a connected graph and count."""
    total = Synchronisation()
    for slot in slots(graph):
        total = Synchronisation(*map(add, total, _count(graph, slot)))
    return total


def slots(graph: Graph) -> Iterator[Slot]:
    """Play the protocol on a connected graph, slot by slot."""
    require_connected(graph)
    neighbours = [row.tolist() for row in np.split(graph.neighbour, graph.first[1:-1])]
    fresh = [1 << agent for agent in range(graph.nodes)]
    everything = (1 << graph.nodes) - 1
    missing = [everything ^ own for own in fresh]
    while any(missing):
        deliveries = []
        arrived = []
        for receiver, before in enumerate(missing):
            for sender in neighbours[receiver]:
                wanted = fresh[sender] & missing[receiver]
                if wanted:
                    missing[receiver] ^= wanted
                    deliveries.append(Delivery(sender, receiver, _agents(wanted)))
            arrived.append(before ^ missing[receiver])
        yield Slot([items.bit_count() for items in fresh], deliveries)
        fresh = arrived


def _count(graph: Graph, slot: Slot) -> Synchronisation:
    advertised = np.array(slot.advertised)
    speaks = advertised > 0
    degrees = np.diff(graph.first)
    requests = len(slot.deliveries)  # every DATA message answers one REQ message
    return Synchronisation(
        slots=1,
        delivered=sum(len(delivery.items) for delivery in slot.deliveries),
        advertised_items=int(degrees @ advertised),
        advertised_links=int(speaks[graph.edges].any(axis=1).sum()),
        data_links=len({frozenset((delivery.sender, delivery.receiver)) for delivery in slot.deliveries}),
        adv_messages=int(degrees[speaks].sum()),
        req_messages=requests,
        data_messages=requests,
    )


def _agents(items: int) -> tuple[int, ...]:
    agents = []
    while items:
        lowest = items & -items
        agents.append(lowest.bit_length() - 1)
        items ^= lowest
    return tuple(agents)
