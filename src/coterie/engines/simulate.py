"""A simulated run: lay out its memory, hand it to the engine, read the results off."""

from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from coterie.contract import Algorithm, Method, out_record
from coterie.engines import leap, mesh, pool, star
from coterie.engines.bind import bind
from coterie.engines.faults import Weather
from coterie.engines.memory import Common, Nodes, Span, first_late, make_common, make_nodes, make_pulse, seeds_of
from coterie.engines.plans import make_plans
from coterie.engines.waiting import call
from coterie.errors import AlgorithmError
from coterie.kernel import rows
from coterie.kernel.records import named
from coterie.privacy.door import why_refused
from coterie.privacy.secret import envelope_record

NO_MASKS = pool.Reach(np.zeros((1, 1, 1), int64), np.zeros((1, 1), int64))
SPARSE = 256  # a factor: pairs that masks go through in the time of one link


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


class Wires:
    """Links as engines take them. They are worked out once, for all batches."""

    def __init__(self, links: Links, agents: int):
        self.links, self.agents = links, agents
        self.ring = 1 + max(1, int(links.delay.max(initial=1)))  # rounds of messages that a wire holds

    @cached_property
    def wiring(self) -> Wiring:
        return wiring(self.links, self.ring, self.agents)

    @cached_property
    def masks(self) -> pool.Reach:
        links, ring, agents = self.links, self.ring, self.agents
        bits, mask = np.zeros((ring, -(-agents // 63), agents), int64), np.zeros((ring * agents, agents), int64)
        receiver = np.repeat(np.arange(agents), np.diff(self.wiring.first[0]))
        np.bitwise_or.at(bits, (links.delay, links.sender // 63, receiver), np.int64(1) << (links.sender % 63))
        mask[links.delay * agents + links.sender, receiver] = -1
        return pool.Reach(bits, mask)

    @property
    def sparse(self) -> bool:
        """Whether masks of all pairs would be larger than the links, and slower."""
        return SPARSE * len(self.links.sender) < self.ring * self.agents**2


class Run(NamedTuple):
    """What is left of a batch of replications. A folded run has one row for all agents."""

    curves: np.ndarray  # [replication, mark]: regret summed over agents
    totals: np.ndarray  # [replication, agent]: regret at the horizon
    late: np.ndarray  # [replication, agent, arm]: plays in the last tenth of the rounds
    tallies: np.ndarray  # [replication] of memory.TALLY
    secrets: np.ndarray  # [replication, agent], and so on
    inners: np.ndarray
    opens: np.ndarray
    ledgers: np.ndarray
    early: np.ndarray  # [replication, agent]: regret up to the end of the exploration, among peers
    violations: np.ndarray  # [replication, agent]: rounds in which the plan broke a constraint of the problem
    servers: np.ndarray | None = None  # [replication, team]
    server_ledgers: np.ndarray | None = None


def desk_facts(method: Method, voices: Any) -> dict[str, Any]:
    """What a server knows of each sender beforehand: for how many agents it speaks, and with what weight."""
    facts: dict[str, Any] = {"voices": voices}
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
    crowded: bool = False,
    weather: Weather = Weather(),
    compiled: bool = True,
    binding: Callable[..., Callable[..., Any]] = bind,
    pulse: np.ndarray | None = None,
) -> Run:
    """Clients around a server, or (structure "alone") every client with a server of its own.

    folded: all share one record; crowded: those of a crowd do.
    """
    node, server, p, R = method.node, method.server, method.p, replications
    assert server is not None
    crowds = np.array(method.crowds) if crowded else np.ones(agents, int64)
    if crowded:
        assert node.mechanism.many is not None
        node = node._replace(mechanism=node.mechanism._replace(add=node.mechanism.many))
    size = 1 if method.structure == "alone" else len(crowds)
    places, teams, reach = 1 if folded else len(crowds), len(crowds) // size, problem.reach(worlds, method.p.arms)
    made = lambda shape, kind: rows(shape, kind, compiled)  # noqa: E731
    nodes = make_nodes(node, p, R, places, places, reach, method.holders, compiled, 1 if folded else crowds)
    pulse = make_pulse() if pulse is None else pulse
    common = make_common(node, p, R, len(marks), compiled, pulse)
    served = make_nodes(server, p, R, teams, places, np.max(reach), 1, compiled)
    hall = star.Hall(
        secrets=served.secrets,
        opens=served.opens,
        ledgers=served.ledgers,
        out=made(R, out_record(server, p)),
        desks=served.peers,
        envelopes=made((R, places if server.trusted or server.sums else 0), envelope_record(p.arms)),
        invited=np.tile(np.arange(places), (R, 1)),
        report=made(R, node.message(p)),
        decision=made(R, server.message(p)),
    )
    for field, values in desk_facts(method, agents if folded else crowds).items():
        if field in (hall.desks.dtype.names or ()):
            hall.desks[field] = values
    for field, values in method.known.items():
        nodes.opens[field] = values[np.cumsum(crowds) - crowds] if crowded else values
    chosen = flags(weather) | {"FOLDED": folded, "CROWDS": crowded, "TRUSTED": server.trusted, "SEALED": server.sums}
    run = binding(star, node, problem, server=server, flags=chosen, compiled=compiled)
    worlds = worlds if compiled else named(worlds)
    team = star.Team(size, agents // teams, min(method.reporters or size, size), method.rotate, delay, method.quorum)
    span = Span(1, horizon, 0, first_late(horizon), marks)
    about = (p, seeds_of(seed), first, span, worlds, team, whole(weather, agents), nodes, hall, common)
    call(run, about, pulse, compiled and binding is bind)
    check_faults(node, nodes.secrets)
    check_faults(server, hall.secrets)
    if common.tally["uneven"].any():
        raise AlgorithmError(f"plans of {node.name} must take equally many rounds for all clients and pulls of all arms")
    return finished(nodes, common, servers=hall.opens, server_ledgers=hall.ledgers)


def finished(nodes: Nodes, common: Common, **others: np.ndarray) -> Run:
    return Run(common.curve, nodes.totals, nodes.late, common.tally, nodes.secrets, nodes.inners, nodes.opens, nodes.ledgers,
               nodes.early, nodes.violations, **others)  # fmt: skip


def check_faults(role: Algorithm, secrets: np.ndarray) -> None:
    """What the door refused is told when a run is over, and then there are no results."""
    refused = int(np.bitwise_or.reduce(secrets["refused"], axis=None)) if secrets.size else 0
    if refused:
        raise AlgorithmError(f"{role.name}: nothing may leave by {why_refused(refused)}")


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
        return np.arange(len(sender)), first[0], np.ascontiguousarray(sender)  # strides are types to the compiler
    memory, known, senders = np.zeros(len(sender), int64), [0], list[int]()
    for i in range(agents):
        places: dict[int, int] = {}
        for phase in first:
            for link in range(phase[i], phase[i + 1]):
                memory[link] = known[-1] + places.setdefault(int(sender[link]), len(places))
        senders += places
        known.append(len(senders))
    return memory, np.array(known), np.array(senders, int64)


def simulate_mesh(
    method: Method,
    problem: ModuleType,
    worlds: np.ndarray,
    agents: int,
    horizon: int,
    marks: np.ndarray,
    links: Links | Wires,
    *,
    weather: Weather = Weather(),
    seed: int = 0,
    first: int = 0,
    replications: int = 1,
    compiled: bool = True,
    binding: Callable[..., Callable[..., Any]] = bind,
    pulse: np.ndarray | None = None,
) -> Run:
    """Peers on a graph."""
    node, p, R = method.node, method.p, replications
    if not node.mechanism.single:
        raise AlgorithmError(f"mechanism {node.mechanism.name} of {node.name} needs a server that sees sums of reports only")
    if node.commits and (node.additive or node.first_round != 1 or np.ndim(problem.reach(worlds, p.arms)) > 0):
        raise AlgorithmError(
            f"{node.name} commits to plans: it must play single arms from round 1 on, and not add messages up"
        )
    made = links if isinstance(links, Wires) else Wires(links, agents)
    ring, wires, reach, marks = made.ring, made.wiring, problem.reach(worlds, p.arms), np.asarray(marks)
    nodes = make_nodes(node, p, R, agents, 1 if node.additive else max(1, len(wires.senders)), reach, 1, compiled)
    for field, values in method.known.items():
        nodes.opens[field] = values
    pulse = make_pulse() if pulse is None else pulse
    span = Span(node.first_round, horizon, method.exploration, first_late(horizon), marks)
    common = make_common(node, p, R, len(marks), compiled, pulse)
    worlds, all_weather = worlds if compiled else named(worlds), whole(weather, agents)
    if node.additive:
        singly = len(weather.away) > 0 or weather.loss > 0 or len(wires.first) > 1 or made.sparse
        news, amounts = node.additive == "news", node.message(p).itemsize // 8
        chosen: dict[str, Any] = flags(weather) | {"NEWS": news, "SINGLY": singly, "AMOUNTS": amounts}
        run = binding(pool, node, problem, flags=chosen, compiled=compiled)
        post, heard = _post(node, p, R, agents, ring, wires, singly, compiled), NO_MASKS if singly else made.masks
        about: tuple = (p, seeds_of(seed), first, span, worlds, wires, heard, all_weather, nodes, post, common)
        call(run, about, pulse, compiled and binding is bind)
    else:
        if "origin" in (nodes.peers.dtype.names or ()):
            nodes.peers["origin"][:, : len(wires.senders)] = wires.senders
        lasting = len(wires.first) == 1
        if node.commits and lasting and len(weather.away) == 0 and wires.meetings == 0:
            run = binding(leap, node, problem, flags=flags(weather) | {"COMMITS": True}, compiled=compiled)
            course, liars = _course(node, p, R, agents, ring, compiled), np.flatnonzero(all_weather.liar == 1)
            about = (p, seeds_of(seed), first, span, worlds, wires, liars, all_weather, nodes, course, common)
        else:
            chosen = flags(weather) | {"SELDOM": node.seldom and lasting, "COMMITS": node.commits}
            run = binding(mesh, node, problem, flags=chosen, compiled=compiled)
            wire = _wire(node, p, R, agents, ring, wires.meetings, compiled)
            about = (p, seeds_of(seed), first, span, worlds, wires, all_weather, nodes, wire, common)
        call(run, about, pulse, compiled and binding is bind)
    check_faults(node, nodes.secrets)
    return finished(nodes, common)


def _wire(node: Algorithm, p: Any, R: int, agents: int, ring: int, meetings: int, compiled: bool) -> mesh.Wire:
    return mesh.Wire(
        wire=rows((R, ring * agents), node.message(p), compiled),
        said=np.zeros((R, ring * agents), int64),
        cards=rows((R, max(1, meetings), 2), node.card(p), compiled),
        met=np.zeros((R, meetings), int64),
        busy=np.full((R, agents), -1),
        plans=make_plans(p, R, agents, compiled),
    )


def _course(node: Algorithm, p: Any, R: int, agents: int, ring: int, compiled: bool) -> leap.Course:
    return leap.Course(
        wire=rows((R, ring, agents), node.message(p), compiled),
        spoken=np.zeros((R, ring, agents), int64),
        speakers=np.zeros((R, ring), int64),
        plans=make_plans(p, R, agents, compiled),
        counted=np.zeros((R, agents), int64),
        ends=np.zeros((R, agents), int64),
        free=np.zeros((R, agents), int64),
    )


def _post(node: Algorithm, p: Any, R: int, agents: int, ring: int, wires: Wiring, singly: bool, compiled: bool) -> pool.Post:
    kind = node.message(p)
    amounts, blocks = kind.itemsize // 8, -(-agents // 63)
    spoken, news = np.zeros((R, ring * agents), kind), np.zeros(R, kind)
    return pool.Post(
        wire=spoken if compiled else named(spoken),
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
        plans=make_plans(p, R, agents, compiled).plan,
        news=news if compiled else named(news),
        heard=news.view(int64).reshape(R, amounts),
    )
