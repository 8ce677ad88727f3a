"""From a specification to what the engines take: the problem, the network and the method of one row and one instance."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from coterie import algorithms, contract
from coterie.building import build, doors_of
from coterie.contract import Entry, Method
from coterie.engines.attacks import ATTACKS, HONEST
from coterie.engines.compiled import Engine, engine_of
from coterie.engines.faults import Weather
from coterie.engines.simulate import Links, Run, Wires, flags, simulate_mesh, simulate_star
from coterie.errors import AlgorithmError, UsageError
from coterie.network import (
    GRAPHS,
    Collection,
    Graph,
    Synchronisation,
    collect,
    diameter,
    disjoint,
    from_edges,
    near,
    require_connected,
    second_eigenvalue,
    synchronise,
)
from coterie.privacy.statement import Doors
from coterie.problem.instances import TIE
from coterie.studies.arms import Arms, contaminant
from coterie.studies.messages import alternatives
from coterie.studies.purchases import Purchases
from coterie.studies.spec import Network, Row, Specification
from coterie.theory.gossip import trivial_bound

NETWORK, FAULTS = 1, 2  # purposes of an instance's own randomness, beside `arms.PROBLEM`
PHASES = 8  # graphs of a network that changes, after which they come round again


class Traffic(NamedTuple):
    """What was said in each replication, and what it cost by the prices of the links."""

    rounds: np.ndarray
    messages: np.ndarray
    bytes: np.ndarray
    cost: np.ndarray
    extra: dict[str, np.ndarray]


class Case(NamedTuple):
    """One row of a study on one instance: everything but the replications."""

    method: Method
    doors: Doors
    problem: ModuleType
    worlds: np.ndarray
    quality: np.ndarray  # of each arm: its mean over all agents
    agents: int
    horizon: int
    marks: np.ndarray
    delay: int
    wires: Wires | None  # among peers
    weather: Weather
    traffic: Callable[[np.ndarray], Traffic]

    def simulate(self, seed: int, first: int, replications: int, **how: Any) -> Run:
        arguments = (self.method, self.problem, self.worlds, self.agents, self.horizon, self.marks)
        which: dict[str, Any] = {"seed": seed, "first": first, "replications": replications, **how}
        if self.wires is not None:
            return simulate_mesh(*arguments, self.wires, weather=self.weather, **which)
        fair = not any(flags(self.weather).values())
        which["folded"] = self.method.folds and self.delay == 0 and fair
        which["crowded"] = bool(self.method.crowds) and len(self.worlds) == 1 and fair
        return simulate_star(*arguments, delay=self.delay, weather=self.weather, **which)

    def engine(self) -> Engine | None:
        """What `simulate` calls, once it is compiled; None: it is interpreted."""
        return engine_of(partial(self.simulate, 0, 0, 0))

    @property
    def links(self) -> Links | None:
        return self.wires.links if self.wires is not None else None

    @property
    def best_arms(self) -> np.ndarray:
        return np.flatnonzero(self.quality >= self.quality.max() - TIE)


class Lines(NamedTuple):
    """The network of one instance, built only where it is asked for: a star of a million clients has no use for a graph."""

    about: Network
    agents: int
    seed: int = 0
    replication: int = 0

    def graph(self) -> Graph:
        return graphs_of(self)[0]

    def heard(self, life: int | str | None) -> int:
        """How many others an agent hears at most, if messages live so long."""
        firsts = wires_of_lines(self, life, 0).links.first
        return int(np.diff(firsts[0]).max()) if len(firsts) == 1 else self.agents - 1


@lru_cache(maxsize=2)  # rows, checks and batches ask for the same ones in turn
def graphs_of(lines: Lines) -> tuple[Graph, ...]:
    """One, or those of the phases of a network that changes."""
    about, rng = lines.about, np.random.default_rng([lines.seed, lines.replication, NETWORK])
    if about.edges is not None:
        return (from_edges(lines.agents, np.array(about.edges, np.int64).reshape(-1, 2)),)
    sizes = about.components or (lines.agents,)
    phases = PHASES if about.switch_every else 1
    return tuple(disjoint([GRAPHS[about.graph].made(size, rng, about) for size in sizes]) for _ in range(phases))


@lru_cache(maxsize=2)
def wires_of_lines(lines: Lines, life: int | str | None, meetings: int) -> Wires:
    graphs = graphs_of(lines)
    for graph in graphs:
        require_connected(graph)
    links = reach(graphs, life, lines.about.life)
    return Wires(links._replace(meetings=meetings, period=lines.about.switch_every or 1), lines.agents)


@lru_cache(maxsize=2)
def synchronised(lines: Lines) -> Synchronisation:
    return synchronise(lines.graph())


@lru_cache(maxsize=2)
def collected(lines: Lines) -> Collection:
    return collect(lines.graph())


PROBLEMS = (Arms, Purchases)


def problem_of(study: Specification) -> Arms:
    """Who answers what is asked of the study's problem."""
    return next(answers(study) for answers in PROBLEMS if study.problem.kind in answers.kinds)


def is_random(study: Specification) -> bool:
    """Whether every replication has an instance of its own."""
    troubled = any(row.faults.churn or row.faults.liars for row in study.rows)
    return problem_of(study).drawn or is_drawn(study.network) or troubled


def is_drawn(network: Network) -> bool:
    return network.graph is not None and GRAPHS[network.graph].drawn


def make_case(study: Specification, row: Row, replication: int) -> Case:
    """The instance is drawn from (seed, replication): all rows of a study meet the same ones."""
    with errors_of(study, row):
        return _make_case(study, row, replication)


@contextmanager
def errors_of(study: Specification, row: Row) -> Iterator[None]:
    """Options that do not fit the problem or the network are told with the study and the row they stand in."""
    try:
        yield
    except UsageError as error:
        if isinstance(error, AlgorithmError) and row.content:  # it names the user's own file, the line and the hook
            raise
        raise UsageError(f"{study.place}: {row.label}: {error}") from None


def entry_of(study: Specification, row: Row) -> Entry:
    """Of an algorithm that can play the study's problem."""
    entry, sort = algorithms.find(row.reference), problem_of(study).sort
    if entry.problem != sort:
        wanted = alternatives(repr(kind) for answers in PROBLEMS if answers.sort == entry.problem for kind in answers.kinds)
        raise UsageError(f"problem.kind must be {wanted} for {entry.name}, got {study.problem.kind!r}")
    return entry


def _make_case(study: Specification, row: Row, replication: int) -> Case:
    entry, asked = entry_of(study, row), problem_of(study)
    problem, worlds, overall, setting = asked.instance(row, replication)
    lines = Lines(study.network, study.problem.agents, *((study.seed, replication) if is_drawn(study.network) else ()))
    method = build(entry, row.options, setting._replace(heard=lines.heard))
    if row.content or study.problem.in_order:  # that clients fold is proved of our own texts, where agents have one law
        method = method._replace(folds=False, crowds=())
    check_faults(row, method, study.problem.agents)
    method = method._replace(warnings=(*method.warnings, *fault_warnings(row, method)))
    delay, wires, traffic = STRUCTURES[method.structure](study, method, lines, overall.max() - overall)
    weather = make_weather(study, row, method, overall, np.random.default_rng([study.seed, replication, FAULTS]))
    marks, agents = checkpoints(study), study.problem.agents
    doors, horizon = doors_of(method, setting), study.horizon
    return Case(method, doors, problem, worlds, overall, agents, horizon, marks, delay, wires, weather, traffic)


def make_weather(study: Specification, row: Row, method: Method, truth: np.ndarray, rng: np.random.Generator) -> Weather:
    """Those who go away do so once, in the first half, for a quarter of the horizon. An agent alone has nobody to lie to."""
    faults, agents, horizon = row.faults, study.problem.agents, study.horizon
    away, liar = np.zeros((0, 2), np.int64), np.zeros(0, np.int64)
    if faults.churn > 0 and method.structure == "peers":
        leaving = rng.permutation(agents) < round(faults.churn * agents)
        start = rng.integers(1, max(2, horizon // 2), agents)
        away = np.where(leaving[:, None], np.stack([start, start + max(1, horizon // 4)], 1), horizon + 1)
    if faults.liars > 0:
        liar = (rng.permutation(agents) >= row.honest(agents)).astype(np.int64)
    weather = Weather(
        active=method.active,
        away=away,
        liar=liar,
        attack=HONEST if faults.attack is None or method.structure == "alone" else ATTACKS[faults.attack].number,
        truth=truth,
    )
    if method.structure == "alone":
        return weather
    return weather._replace(
        loss=faults.loss,
        one_way=int(faults.one_way),
        dropout=faults.dropout,
        contamination=faults.contamination,
        contaminant=contaminant(study, row),
    )


def check_faults(row: Row, method: Method, agents: int) -> None:
    """Sums need every report or a quorum, and noise in shares the honest ones: anyone's message may be contaminated."""
    sealed, faults, liars = not method.node.mechanism.single, row.faults, agents - row.honest(agents)
    if not sealed and not method.node.trusts:
        return
    unless = " or a quorum below all agents" if sealed else ""
    for key in ("loss", "dropout") if method.quorum in (0, agents) else ():
        if getattr(faults, key) > 0:
            raise UsageError(f"faults.{key} must be 0 where the noise needs every report{unless}, got {getattr(faults, key):g}")
    if sealed and faults.contamination > 0:
        raise UsageError(f"faults.contamination must be 0 where the noise is in shares, got {faults.contamination:g}")
    if sealed and liars > method.quorum - method.holders:
        most = f"{method.quorum - liars} ({agents} agents, of whom {liars} lie)"
        raise UsageError(f"honest must be at most {most}, got {method.holders}: a liar's share of noise is missing")


def fault_warnings(row: Row, method: Method) -> Iterator[str]:
    """What the faults of a study do not do to this algorithm."""
    faults, role = row.faults, method.node
    if method.structure not in ("peers", "alone") and (faults.churn > 0 or faults.one_way):
        yield "agents come and go, and single directions get lost, between peers only: not in this row"
    speaks = role.speak is not contract.speak and method.structure != "alone"
    enclosed = role.trusts or not role.mechanism.single  # the engine falsifies what is enclosed
    mute = role.lie is contract.lie and role.pose is contract.pose and not enclosed
    if (faults.liars > 0 or faults.contamination > 0) and speaks and mute:
        yield f"{role.name} has no hook `lie`: its liars tell the truth"
    if not role.mechanism.single and (faults.loss > 0 or faults.dropout > 0):
        differ = "where agents differ, the mean is that of those who were heard"
        yield f"of fewer than {method.quorum} reports no sum is opened, and what a sum lacks is lost: {differ}"


def checkpoints(study: Specification) -> np.ndarray:
    """Half of them evenly spaced, half by equal factors: curves look right on both kinds of axes."""
    half = study.checkpoints // 2
    even = np.linspace(0, study.horizon, half + 1)[1:]
    marks = np.concatenate([even, np.geomspace(1, study.horizon, half)]).round().astype(np.int64)
    return np.unique(np.maximum(1, marks))  # no round is marked that some engines do not count


# --- how reports travel: each gives (delay, wires, traffic) -------------------------------------------


def around_a_server(study, method, lines, gaps):
    price = study.network.link_cost.server

    def traffic(tally):
        words = tally["up_words"] + tally["down_words"]
        messages = tally["up_messages"] + tally["down_messages"]
        return Traffic(tally["rounds"], messages, 8 * words, price * tally["up_messages"], {})

    return 0, None, traffic


def by_synchronisation(study, method, lines, gaps):
    """Every agent obtains every report: links that carried an advertisement are paid for."""
    once, price = synchronised(lines), study.network.link_cost.peer
    spoken = once.adv_messages + once.req_messages + once.data_messages
    delay = max(0, once.slots - 1)

    def traffic(tally):
        rounds, agents = tally["rounds"], study.problem.agents
        data = once.delivered * tally["up_words"] // agents
        names = rounds * (once.advertised_items + once.delivered)
        data_links = price * rounds * once.data_links
        extra = {"delay": np.full(len(rounds), delay), "cost_data_links": data_links}
        return Traffic(rounds, rounds * spoken, 8 * (data + names), price * rounds * once.advertised_links, extra)

    return delay, None, traffic


def by_components(study, method, lines, gaps):
    """Reports go hop by hop to the sink of their component, sinks report to the server, its answer returns the same way."""
    once, prices = collected(lines), study.network.link_cost
    links = once.hops + len(once.sinks)

    def traffic(tally):
        rounds, agents = tally["rounds"], study.problem.agents
        extra = {"delay": np.full(len(rounds), once.delay)}
        extra |= {f"cost_{name}": rounds * getattr(once, name)(prices.peer, prices.server) for name in ("maintain", "tree")}
        words = (tally["up_words"] + tally["down_words"]) * links // agents
        return Traffic(rounds, 2 * rounds * links, 8 * words, rounds * once.path(prices.peer, prices.server), extra)

    return once.delay, None, traffic


def alone(study, method, lines, gaps):
    def traffic(tally):
        nothing = np.zeros(len(tally), np.int64)
        return Traffic(nothing, nothing, nothing, nothing, {})

    return 0, None, traffic


def among_peers(study, method, lines, gaps):
    """Messages reach every agent within `life` hops, after as many rounds as there are hops."""
    wires, price = wires_of_lines(lines, method.life, method.meetings), study.network.link_cost.peer
    phases = len(wires.links.first)
    hearers = len(wires.links.sender) / (phases * study.problem.agents)
    bounds = theory(method, lines.graph(), gaps, study) if method.bound and phases == 1 else {}

    def traffic(tally):
        messages = tally["up_messages"] * hearers + 2 * tally["meetings"]
        words = tally["up_words"] * hearers + tally["meeting_words"]
        extra = {name: np.full(len(tally), value) for name, value in bounds.items()}
        spoken = np.where(tally["meetings"] > 0, study.horizon, np.minimum(tally["rounds"], study.horizon))
        rounds = np.where(messages > 0, spoken, 0)
        return Traffic(rounds, messages, 8 * words, price * messages, extra)

    return 0, wires, traffic


def theory(method: Method, graph: Graph, gaps: np.ndarray, study: Specification) -> dict[str, float]:
    """What the paper proves about the regret per agent, beside what is true of any algorithm."""
    assert method.bound is not None
    lambda_2, unit = second_eigenvalue(graph), study.problem.unit
    return {
        "lambda_2": lambda_2,
        "bound_per_agent": unit * method.bound(gaps, lambda_2),
        "trivial_bound_per_agent": unit * trivial_bound(gaps, study.horizon),
    }


def reach(graphs: Sequence[Graph], life: int | str | None, default: int | str) -> Links:
    """Every agent hears every other one within `life` hops, in each phase of the network: the nearest first."""
    firsts, senders, delays, offset = [], [], [], 0
    for graph in graphs:
        first, sender, delay = within(graph, default if life is None else life)
        firsts.append(offset + first)
        senders.append(sender)
        delays.append(delay)
        offset += len(sender)
    edges, last_edge = np.concatenate([graph.edges for graph in graphs]), np.cumsum([len(graph.edges) for graph in graphs])
    sender, delay = (np.concatenate(parts) for parts in (senders, delays))
    return Links(np.array(firsts), sender, delay, edges, last_edge=last_edge)


def within(graph: Graph, life: int | str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all agents in order: where those they hear begin, who they are, and how many hops away."""
    if isinstance(life, int):
        return near(graph, life)
    longest = diameter(graph)
    return near(graph, {"diameter": longest, "half-diameter": -(-longest // 2), "half-diameter-down": longest // 2}[life])


STRUCTURES = {
    "server": around_a_server,
    "synchronise": by_synchronisation,
    "hybrid": by_components,
    "alone": alone,
    "peers": among_peers,
}
