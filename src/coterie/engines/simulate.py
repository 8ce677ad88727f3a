"""A simulated run: lay out its memory, hand it to the engine, read the results off."""

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from coterie.contract import Algorithm, Method, out_record, plan_record
from coterie.engines import mesh, pool, star
from coterie.engines.bind import bind
from coterie.engines.faults import Weather, tale_record
from coterie.errors import CoterieError
from coterie.kernel import record, rows
from coterie.privacy.ledger import ledger_record

TALLY = record(
    rounds=int64, meetings=int64, meeting_words=int64, up_messages=int64, up_words=int64,
    down_messages=int64, down_words=int64, uneven=int64,
)


class Links(NamedTuple):
    """Who hears whom: agent i hears links first[i] .. first[i + 1], each a sender and a delay in rounds.

    A graph that changes has one row of `first` for each phase, its edges follow one another, and `last_edge` says where the
    edges of a phase end.
    """

    first: np.ndarray
    sender: np.ndarray
    delay: np.ndarray
    edges: np.ndarray  # undirected, for meetings
    meetings: int = 0  # edges drawn for a meeting in each round
    last_edge: np.ndarray | None = None
    period: int = 1


class Wiring(NamedTuple):
    """Links as the engine takes them."""

    first: np.ndarray
    origin: np.ndarray  # where on the wire a link's message lies, from the present round's place on
    memory: np.ndarray  # where its receiver keeps what it knows of its sender, whatever the phase
    known: np.ndarray  # [agent]: where what it knows of others begins
    senders: np.ndarray  # of whom it is known
    edges: np.ndarray
    last_edge: np.ndarray
    period: int
    meetings: int
    hearers: np.ndarray  # (agent, link) by delay and sender: those who hear what a sender says
    last_hearer: np.ndarray  # [delay, sender]: where its hearers begin


class Run(NamedTuple):
    """What is left of a batch of replications. A folded run has one row for all agents."""

    curves: np.ndarray  # [replication, mark]: regret summed over agents
    totals: np.ndarray  # [replication, agent]: regret at the horizon
    finals: np.ndarray  # [replication, agent]: the arm played last
    tallies: np.ndarray  # [replication] of TALLY
    secrets: np.ndarray  # [replication, agent], and so on
    opens: np.ndarray
    ledgers: np.ndarray
    servers: np.ndarray | None = None  # [replication, team]
    server_ledgers: np.ndarray | None = None
    early: np.ndarray | None = None  # [replication, agent]: regret up to the end of the exploration, among peers
    violations: np.ndarray | None = None  # [replication, agent]: rounds in which the plan broke a constraint of the problem


class StarMemory(NamedTuple):
    secrets: np.ndarray
    opens: np.ndarray
    peers: np.ndarray
    ledgers: np.ndarray
    desks: np.ndarray
    totals: np.ndarray
    finals: np.ndarray
    invited: np.ndarray
    curves: np.ndarray
    tallies: np.ndarray
    plans: np.ndarray
    outs: np.ndarray
    reports: np.ndarray
    decisions: np.ndarray
    server_secrets: np.ndarray
    servers: np.ndarray
    server_ledgers: np.ndarray
    server_outs: np.ndarray
    tales: np.ndarray


def desk_facts(method: Method, agents: int, folded: bool) -> dict[str, Any]:
    """What a server knows of each sender beforehand: for how many agents it speaks, and with what weight."""
    facts: dict[str, Any] = {"voices": agents if folded else 1}
    return facts | ({"weight": np.array(method.weights)} if method.weights else {})


def simulate_star(
    method: Method,
    problem: ModuleType,
    worlds: np.ndarray,
    agents: int,
    horizon: int,
    marks: np.ndarray,
    *,
    seed: int = 0,
    first: int = 0,
    replications: int = 1,
    delay: int = 0,
    folded: bool = False,
    weather: Weather = Weather(),
    compiled: bool = True,
) -> Run:
    """Clients around a server, or (structure "alone") every client with a server of its own."""
    node, server, p, R = method.node, method.server, method.p, replications
    assert server is not None
    size = 1 if method.structure == "alone" else agents
    places, teams = 1 if folded else agents, agents // size
    made = lambda shape, kind: rows(shape, kind, compiled)  # noqa: E731
    m = StarMemory(
        secrets=made((R, places), node.secret(p)),
        opens=made((R, places), node.open(p)),
        peers=made((R, places), node.peer(p)),
        ledgers=made((R, places), _ledger(node, p)),
        desks=made((R, places), server.peer(p)),
        totals=np.zeros((R, places)),
        finals=np.zeros((R, places), int64),
        invited=np.tile(np.arange(places), (R, 1)),
        curves=np.zeros((R, len(marks))),
        tallies=made(R, TALLY),
        plans=made(R, plan_record(p)),
        outs=made(R, out_record(p, node.width)),
        reports=made(R, node.message(p)),
        decisions=made(R, server.message(p)),
        server_secrets=made((R, teams), server.secret(p)),
        servers=made((R, teams), server.open(p)),
        server_ledgers=made((R, teams), _ledger(server, p)),
        server_outs=made(R, out_record(p, server.width)),
        tales=made(R, tale_record(p)),
    )
    for field, values in desk_facts(method, agents, folded).items():
        if field in (m.desks.dtype.names or ()):
            m.desks[field] = values
    for field, values in method.known.items():
        m.opens[field] = values
    run = bind(star, node, problem, server, flags(weather) | {"FOLDED": folded}, compiled)
    worlds = worlds if compiled else worlds.view(np.recarray)
    reporters = min(method.reporters or size, size)
    run(p, seed, first, horizon, size, reporters, method.rotate, delay, marks, worlds, whole(weather, agents), m)
    if m.tallies["uneven"].any():
        raise CoterieError(f"plans of {node.name} must take equally many rounds for all clients and pulls of all arms")
    return Run(m.curves, m.totals, m.finals, m.tallies, m.secrets, m.opens, m.ledgers, m.servers, m.server_ledgers)


def flags(weather: Weather) -> dict[str, bool]:
    """What the engines need not look at where it is absent."""
    losses = {"CHURNS": len(weather.away) > 0, "LOSES": weather.loss > 0}
    return losses | {"DROPS": weather.dropout > 0, "LIES": weather.lies}


def whole(weather: Weather, agents: int) -> Weather:
    """With an entry for every agent."""
    away = weather.away if len(weather.away) else np.zeros((agents, 2), int64)
    return weather._replace(away=away, liar=weather.liar if len(weather.liar) else np.zeros(agents, int64))


def wiring(links: Links, ring: int, agents: int) -> Wiring:
    """A wire holds `ring` rounds of messages, one place for each agent."""
    origin = (ring - links.delay) * agents + links.sender
    last_edge = np.array([len(links.edges)]) if links.last_edge is None else links.last_edge
    first = np.atleast_2d(links.first)
    receiver = np.searchsorted(first[0], np.arange(first[0, -1]), side="right") - 1
    of_sender = links.delay[: len(receiver)] * agents + links.sender[: len(receiver)]
    order = np.argsort(of_sender, kind="stable")
    bounds = np.searchsorted(of_sender[order], np.arange(ring * agents + 1))
    last_hearer = np.stack([bounds[delay * agents : (delay + 1) * agents + 1] for delay in range(ring)])
    hearers = np.stack([receiver[order], order], axis=1)
    memory, known, senders = _memories(first, links.sender, agents)
    return Wiring(
        first, origin, memory, known, senders, links.edges, last_edge, links.period, links.meetings, hearers, last_hearer
    )


def _memories(first: np.ndarray, sender: np.ndarray, agents: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One place for each receiver and sender, in the order of links; phases of a graph that changes share them."""
    if len(first) == 1:
        return np.arange(len(sender)), first[0], sender
    memory, known, senders = np.zeros(len(sender), int64), [0], list[int]()
    for i in range(agents):
        places: dict[int, int] = {}
        for phase in first:
            for link in range(phase[i], phase[i + 1]):
                memory[link] = known[-1] + places.setdefault(int(sender[link]), len(places))
        senders += places
        known.append(len(senders))
    return memory, np.array(known), np.array(senders, int64)


class MeshMemory(NamedTuple):
    secrets: np.ndarray
    opens: np.ndarray
    peers: np.ndarray
    ledgers: np.ndarray
    wires: np.ndarray
    said: np.ndarray
    cards: np.ndarray
    met: np.ndarray
    busy: np.ndarray
    totals: np.ndarray
    early: np.ndarray
    violations: np.ndarray
    finals: np.ndarray
    curves: np.ndarray
    tallies: np.ndarray
    plans: np.ndarray
    outs: np.ndarray
    tales: np.ndarray


class PoolMemory(NamedTuple):
    secrets: np.ndarray
    opens: np.ndarray
    peers: np.ndarray
    ledgers: np.ndarray
    wires: np.ndarray
    words: np.ndarray  # the same memory as whole numbers
    said: np.ndarray
    former: np.ndarray  # [replication, sender or link, arm, amount]
    changes: np.ndarray  # [replication, slot, sender, amount]
    steps: np.ndarray  # [replication, slot, arm, amount]: the one change of all senders, if it is not mixed
    mixed: np.ndarray
    who: np.ndarray  # ... and a bit for every sender
    sums: np.ndarray  # [replication, arm, amount, receiver]
    fresh: np.ndarray  # [replication, arm]: 1 if anyone has something to hear about it
    due: np.ndarray
    news: np.ndarray
    heard: np.ndarray  # the same memory as whole numbers
    tales: np.ndarray
    totals: np.ndarray
    finals: np.ndarray
    curves: np.ndarray
    tallies: np.ndarray
    plans: np.ndarray
    outs: np.ndarray
    reach: np.ndarray  # [delay, block, receiver]: a bit for every sender
    mask: np.ndarray  # [delay * agents + sender, receiver]: all bits or none


def simulate_mesh(
    method: Method,
    problem: ModuleType,
    worlds: np.ndarray,
    agents: int,
    horizon: int,
    marks: np.ndarray,
    links: Links,
    *,
    weather: Weather = Weather(),
    seed: int = 0,
    first: int = 0,
    replications: int = 1,
    compiled: bool = True,
) -> Run:
    """Peers on a graph."""
    node, p, R = method.node, method.p, replications
    ring = 1 + max(1, int(links.delay.max(initial=1)))
    if node.additive:
        return _simulate_pool(method, problem, worlds, agents, horizon, marks, links, weather, seed, first, R, compiled, ring)
    made = lambda shape, kind: rows(shape, kind, compiled)  # noqa: E731
    wires = wiring(links, ring, agents)
    m = MeshMemory(
        secrets=made((R, agents), node.secret(p)),
        opens=made((R, agents), node.open(p)),
        peers=made((R, max(1, len(wires.senders))), node.peer(p)),
        ledgers=made((R, agents), _ledger(node, p)),
        wires=made((R, ring * agents), node.message(p)),
        said=np.zeros((R, ring * agents), int64),
        cards=made((R, max(1, links.meetings), 2), node.card(p)),
        met=np.zeros((R, links.meetings), int64),
        busy=np.full((R, agents), -1),
        totals=np.zeros((R, agents)),
        early=np.zeros((R, agents)),
        violations=np.zeros((R, agents), int64),
        finals=np.zeros((R, agents), int64),
        curves=np.zeros((R, len(marks))),
        tallies=made(R, TALLY),
        plans=made(R, plan_record(p)),
        outs=made(R, out_record(p, node.width)),
        tales=made(R, tale_record(p)),
    )
    for field, values in method.known.items():
        m.opens[field] = values
    if "origin" in (m.peers.dtype.names or ()):
        m.peers["origin"][:, : len(wires.senders)] = wires.senders
    seldom = node.seldom and len(wires.first) == 1
    run = bind(mesh, node, problem, flags=flags(weather) | {"SELDOM": seldom}, compiled=compiled)
    worlds = worlds if compiled else worlds.view(np.recarray)
    run(p, seed, first, node.first_round, horizon, method.exploration, marks, worlds, wires, whole(weather, agents), m)
    told = {"early": m.early, "violations": m.violations}
    return Run(m.curves, m.totals, m.finals, m.tallies, m.secrets, m.opens, m.ledgers, **told)


def _simulate_pool(method, problem, worlds, agents, horizon, marks, links, weather, seed, first, R, compiled, ring):
    """Peers on a graph whose messages add up."""
    node, p, wires = method.node, method.p, wiring(links, ring, agents)
    kind = node.message(p)
    amounts, blocks = kind.itemsize // 8, -(-agents // 63)
    singly = len(weather.away) > 0 or weather.loss > 0 or len(wires.first) > 1
    made = lambda shape, kind: rows(shape, kind, compiled)  # noqa: E731
    spoken, news = np.zeros((R, ring * agents), kind), np.zeros(R, kind)
    reach, mask = _masks(links, wires, ring, agents, blocks, empty=singly)
    m = PoolMemory(
        secrets=made((R, agents), node.secret(p)),
        opens=made((R, agents), node.open(p)),
        peers=made((R, 1), node.peer(p)),
        ledgers=made((R, agents), _ledger(node, p)),
        wires=spoken if compiled else spoken.view(np.recarray),
        words=spoken.view(int64).reshape(R, ring * agents, amounts),
        said=np.zeros((R, ring * agents), int64),
        former=np.zeros((R, max(1, len(wires.senders)) if singly else agents, p.arms, amounts), int64),
        changes=np.zeros((R, ring, agents, amounts), int64),
        steps=np.zeros((R, ring, p.arms, amounts), int64),
        mixed=np.zeros((R, ring, p.arms, amounts), int64),
        who=np.zeros((R, ring, p.arms, amounts, blocks), int64),
        sums=np.zeros((R, p.arms, amounts, agents), int64),
        fresh=np.zeros((R, p.arms), int64),
        due=np.zeros((R, ring * agents + 3, 2), int64),
        news=news if compiled else news.view(np.recarray),
        heard=news.view(int64).reshape(R, amounts),
        tales=made(R, tale_record(p)),
        totals=np.zeros((R, agents)),
        finals=np.zeros((R, agents), int64),
        curves=np.zeros((R, len(marks))),
        tallies=made(R, TALLY),
        plans=made(R, plan_record(p)),
        outs=made(R, out_record(p, node.width)),
        reach=reach,
        mask=mask,
    )
    for field, values in method.known.items():
        m.opens[field] = values
    chosen = flags(weather) | {"NEWS": node.additive == "news", "SINGLY": singly}
    run = bind(pool, node, problem, flags=chosen, compiled=compiled)
    worlds = worlds if compiled else worlds.view(np.recarray)
    run(p, seed, first, node.first_round, horizon, marks, worlds, wires, whole(weather, agents), m)
    return Run(m.curves, m.totals, m.finals, m.tallies, m.secrets, m.opens, m.ledgers)


def _masks(links, wires, ring, agents, blocks, empty):
    """Who hears whom at which delay, as bits and as rows of a mask."""
    if empty:
        return np.zeros((1, 1, 1), int64), np.zeros((1, 1), int64)
    reach, mask = np.zeros((ring, blocks, agents), int64), np.zeros((ring * agents, agents), int64)
    receiver = np.repeat(np.arange(agents), np.diff(wires.first[0]))
    np.bitwise_or.at(reach, (links.delay, links.sender // 63, receiver), np.int64(1) << (links.sender % 63))
    mask[links.delay * agents + links.sender, receiver] = -1
    return reach, mask


def _ledger(role: Algorithm, p: Any) -> np.dtype:
    return ledger_record(p.arms, role.chains(p))
