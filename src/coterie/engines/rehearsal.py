"""A federation of deployed agents in memory, event by event, with the simulator's randomness.

It must end in the simulator's bytes: rewards are told late and in any order, decisions are asked for while rewards are under
way, and messages travel as bytes. `compare` says where a rehearsal and a simulation differ.
"""

import random
from collections.abc import Callable, Iterator
from itertools import count
from math import ceil, floor, inf
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from coterie.contract import Algorithm, Method
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.faults import Weather, deceives, out_of, tale_record
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.simulate import Links, Run, whole, wiring
from coterie.kernel import FAULT, LIE, NETWORK, REWARD, UNIT, fold, one, pick, side, stream, uniform
from coterie.kernel.records import named
from coterie.problem.harvest import harvest_record


class Rehearsal(NamedTuple):
    agents: list[Agent]
    servers: list[Agent]


Make = Callable[[Algorithm, Any, Keyed, Any, int], Any]  # of an agent: an audit puts a witness in its place


def keyed_agent(
    role: Algorithm, p: Any, chance: Any, reach: Any = 1.0, holders: int = 1, *, kind: type[Agent] = Agent
) -> Any:
    """The problem sees to the range of rewards, and says how far one can move a sum."""
    return kind(role, p, chance, rehearsal=True, low=-inf, high=inf, reach=reach, holders=holders)


def rehearse_star(
    method: Method, problem: ModuleType, worlds: np.ndarray, agents: int, horizon: int, *, seed: int = 0, replication: int = 0,
    delay: int = 0, weather: Weather = Weather(), make: Make = keyed_agent, epochs: float = inf,
) -> Rehearsal:
    """To the horizon, or for so many epochs."""
    key, weather = keys_of(seeds_of(seed), replication), whole(weather, agents)
    reaches = reach_of_each(problem, worlds, method.p.arms, agents)
    clients = [make(method.node, method.p, Keyed(key, i), reaches[i], method.holders) for i in range(agents)]
    for i, client in enumerate(clients):
        for field, values in method.known.items():
            client.open[field] = values[i]
    teams = [[client] for client in clients] if method.structure == "alone" else [clients]
    servers: list[Any] = []
    for team in teams:
        assert method.server is not None
        server = make(method.server, method.p, Keyed(key, -1 - len(servers)), np.max(reaches), 1)
        servers.append(server)
        start = clients.index(team[0])
        for i in range(len(team)):
            server.know(i, voices=1, **({"weight": method.weights[i]} if method.weights else {}))
            team[i].know("server")
        _live(method, problem, named(worlds), team, server, start, key, horizon, delay, weather, epochs)
    return Rehearsal(clients, servers)


def _live(method, problem, worlds, team, server, start, key, horizon, delay, weather, epochs):
    t, now, shuffle = 0, 1, random.Random(1).shuffle
    reports = reporting(method, len(team), start, key.world)
    while now <= horizon and t < epochs:
        t += 1
        decision = server.announce(t) or b""
        for client in team:
            client.hear(t, "server", decision)
            client.begin(t)
        if now + rounds_of(team[0].plan) - 1 > horizon:
            return
        for i, client in enumerate(team):
            _play(client, problem, worlds[(start + i) % len(worlds)], start + i, t, key, shuffle)
        now += rounds_of(team[0].plan) + delay
        here = [i for i in next(reports) if not _is_lost(t, start + i, key, weather)]
        for i in here if len(here) >= method.quorum else ():  # else nothing is said: raw rewards behind a report are not lost
            report = _speak(team[i], start + i, t, now - 1, horizon, weather, key)
            if report:
                server.hear(t, i, report)
        server.release()


def _is_lost(t: int, i: int, key: Any, weather: Weather) -> bool:
    """A report on its way, or its agent sits out."""
    return bool(uniform(side(stream(key.world, i, FAULT, t), 0), 0) < weather.loss or out_of(t, 0, i, key, weather))


def reporting(method: Method, size: int, start: int, world: Any) -> Iterator[list[int]]:
    """Who reports in epoch 1, 2, ...: of a team of so many that begins at agent `start`, by the run's public coin."""
    reporters, order = min(method.reporters or size, size), list(range(size))
    for t in count(1):
        if reporters < size and (t == 1 or not method.rotate):
            die = stream(world, start, NETWORK, t)
            for j in range(size if method.rotate else reporters):
                other = j + pick(die, j, size - j)
                order[j], order[other] = order[other], order[j]
        yield [order[((t - 1) * reporters + j) % size if method.rotate else j] for j in range(reporters)]


def rehearse_mesh(
    method: Method, problem: ModuleType, worlds: np.ndarray, agents: int, horizon: int, links: Links, *,
    weather: Weather = Weather(), seed: int = 0, replication: int = 0, make: Make = keyed_agent,
) -> Rehearsal:
    key, shuffle, worlds = keys_of(seeds_of(seed), replication), random.Random(1).shuffle, named(worlds)
    weather = whole(weather, agents)
    reaches = reach_of_each(problem, worlds, method.p.arms, agents)
    nodes = [make(method.node, method.p, Keyed(key, i), reaches[i], 1) for i in range(agents)]
    wires, start = wiring(links, 1, agents), method.node.first_round
    for i, node in enumerate(nodes):
        for field, values in method.known.items():
            node.open[field] = values[i]
        for sender in wires.senders[wires.known[i] : wires.known[i + 1]]:
            node.know(int(sender), origin=sender)
    sent: dict[tuple[int, int], bytes | None] = {}
    left = [0] * agents  # rounds of plans that are under way
    for t in range(start, horizon + 1):
        phase = t // wires.period % len(wires.first)
        edges = wires.edges[wires.last_edge[phase - 1] if phase > 0 else 0 : wires.last_edge[phase]]
        here = [not weather.away[i, 0] <= t < weather.away[i, 1] for i in range(agents)]
        acts = [here[i] and not out_of(t, start, i, key, weather) for i in range(agents)]
        _come_and_go(nodes, edges, weather, here, t)
        drawn = draw_edges(edges, wires.meetings if t > start else 0, weather.active, here, key.world, t)
        cards = {m: tuple(_greet(nodes[i], i, t, horizon, weather, key) for i in ends) for m, ends in drawn.items()}
        for i, node in enumerate(nodes):
            for link in range(wires.first[phase, i], wires.first[phase, i + 1]) if here[i] else ():
                data = sent.get((t - int(links.delay[link]), int(links.sender[link])))
                if data and not (weather.loss > 0 and uniform(side(stream(key.world, i, FAULT, t), link), 0) < weather.loss):
                    node.hear(t, int(links.sender[link]), data)
            if acts[i]:
                if left[i] == 0:
                    node.begin(t)
                    left[i] = max(1, rounds_of(node.plan)) if node.algorithm.commits else 1
                left[i] -= 1
                if left[i] == 0:
                    _play(node, problem, worlds[i % len(worlds)], i, t, key, shuffle)
            elif here[i] and left[i] == 0:
                node.rest(t)
        for m, (i, j) in drawn.items():
            coins = [uniform(side(stream(key.world, -1, FAULT, t), m), c) >= weather.loss for c in (0, weather.one_way)]
            if weather.loss == 0 or coins[0]:
                nodes[i].meet(t, cards[m][1])
            if weather.loss == 0 or coins[1]:
                nodes[j].meet(t, cards[m][0])
        for i, node in enumerate(nodes):
            sent[t, i] = _speak(node, i, t, t, horizon, weather, key, acts[i] and left[i] == 0) if here[i] else None
    return Rehearsal(nodes, [])


def _speak(agent, i, t, now, horizon, weather, key, acts=True):
    """What an agent says, or, if it lies or its message is contaminated, what is said in its name."""
    said = agent.speak(t) if acts else None
    return _falsified(agent, i, t, now, horizon, weather, stream(key.dice, i, LIE, t), agent.message, agent.algorithm.lie, said)


def _greet(agent, i, t, horizon, weather, key):
    shown, die = agent.greet(t), fold(stream(key.dice, i, LIE, t), 1)
    return _falsified(agent, i, t, t, horizon, weather, die, agent.card, agent.algorithm.pose, shown)


def _falsified(agent, i, t, now, horizon, weather, die, record, hook, said):
    tale = one(tale_record(agent.p))
    if not deceives(tale, agent.p, t, now, horizon, weather, i, die, len(said or b"")):
        return said
    if agent.algorithm.trusts or not agent.algorithm.mechanism.single:
        return said and _with_false_news(said, tale)
    words = hook(agent.open, agent.p, t, tale, fold(die, 0), record)
    return said if words < 0 else record.tobytes()[: 8 * words] or None


def _with_false_news(said, tale):
    """The same report with the sums that the tale gives its pulls."""
    words = np.frombuffer(said, np.int64).copy()
    news = words[len(words) - 1 - 3 * words[-1] : -1].reshape(-1, 3)
    for row in news:
        row[2] = int(tale.value[row[0]] * UNIT) * row[1]
    return words.tobytes()


def draw_edges(edges: Any, meetings: int, active: float, here: list[bool], world: Any, t: int) -> dict[int, tuple[int, int]]:
    """Meeting number -> the two ends, by the run's public coin."""
    drawn: dict[int, tuple[int, int]] = {}
    die, busy = stream(world, 0, NETWORK, t), set[int]()
    for m in range(meetings):
        i, j = (int(end) for end in edges[pick(die, 2 * m, len(edges))])
        if not busy & {i, j} and here[i] and here[j] and (active >= 1 or uniform(die, 2 * m + 1) < active):
            drawn[m] = (i, j)
            busy |= {i, j}
    return drawn


def _come_and_go(nodes, edges, weather, here, t):
    for i in range(len(weather.away)):
        heirs = [int(sum(edge)) - i for edge in edges if i in edge and here[int(sum(edge)) - i]]
        if t == weather.away[i, 0] and heirs:
            nodes[heirs[0]].inherit(t, nodes[i].leave(t))


def compare(run: Run, rehearsal: Rehearsal, replication: int) -> list[str]:
    """The records in which a simulated replication and a rehearsal of it differ."""
    own = {"secret": run.secrets, "inner": run.inners, "open": run.opens, "ledger": run.ledgers}
    servers = {"open": run.servers, "ledger": run.server_ledgers}
    parts = [(part, records, rehearsal.agents) for part, records in own.items()]
    parts += [(part, records, rehearsal.servers) for part, records in servers.items() if records is not None]
    return [
        f"{part} of {agents[i].algorithm.name} {i}"
        for part, records, agents in parts
        for i in range(len(agents))
        if records[replication, i].tobytes() != getattr(agents[i], part).tobytes()
    ]


def reach_of_each(problem: ModuleType, worlds: np.ndarray, arms: int, agents: int) -> list[Any]:
    """How far one reward of each agent can move a sum."""
    reach = problem.reach(worlds, arms)
    return [reach if np.ndim(reach) == 0 else reach[i % len(reach)] for i in range(agents)]


def rounds_of(plan: Any) -> int:
    return int(plan.pulls[: plan.entries].sum())


def _play(agent, problem, world, i, t, key, shuffle):
    """One plan, decision by decision. The environment deals the simulator's sums; rewards come late, twice and out of order."""
    harvest = one(harvest_record(agent.p))
    problem.draw(world, agent.secret, agent.plan, harvest, stream(key.world, i, REWARD, t))
    plan, hands = agent.plan, {}
    for e in range(plan.entries):
        hands[int(plan.arm[e])] = _deal(int(harvest.total[e]), int(plan.pulls[e]), *_ends(world))
        shuffle(hands[int(plan.arm[e])])
    late = []
    while any(agent.left):
        ticket, arm = agent.ask()
        late.append((ticket, hands[arm].pop() / UNIT))
    late += [(agent.ask()[0], 1.0), *late[:1]]  # a decision while rewards are under way, and a reward that comes twice
    shuffle(late)
    for ticket, reward in late:
        agent.tell(ticket, reward)
    agent.finish(t)


def _ends(world: Any) -> tuple[int, int]:
    """Of the range of a reward, on the grid; 0 and 1 where a world names none, or has no bounds."""
    low, high = (world.low, world.high) if "low" in (world.dtype.names or ()) else (0.0, 1.0)
    return (ceil(UNIT * low), floor(UNIT * high)) if high - low < inf else (0, UNIT)


def _deal(total: int, pulls: int, least: int, most: int) -> list[int]:
    """Rewards that sum to `total`: as many as possible at the ends of the range."""
    if pulls == 0:
        return []
    high = max(0, min(pulls - 1, (total - pulls * least) // (most - least)))
    low = pulls - 1 - high
    return [total - high * most - low * least] + [most] * high + [least] * low
