"""What a method will cost, before anything runs: its releases on the dearest path there is.

What a release covers and pays follows from what a node has done, not from its rewards. More pulls of an arm mean more releases
that cover its first reward, so nobody loses more than the first reward of an arm that is played in every round: among peers one
agent with one arm plays to the horizon. Around a server it plays two arms that cannot be told apart, so that no epoch is saved.
The door keeps the events and adds no noise: nothing here depends on it. An algorithm that looks again at arms it does not pull
is charged its dearest look in every round. Runs are compared with their forecasts in the tests.

Interpreted hooks take up to half a millisecond a round. Beyond `ROUNDS_RECORDED` the compiled engine goes the same way, and its
ledger tells the cost; the events are then those of the first rounds.
"""

from collections.abc import Iterator
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from coterie.contract import Algorithm, Method
from coterie.engines.agent import Agent
from coterie.engines.protocol import step
from coterie.engines.rehearsal import rounds_of
from coterie.engines.simulate import Links, simulate_mesh
from coterie.kernel import CHOICE, UNIT, capacity, stream
from coterie.privacy.accountant import WITHOUT_NOISE, Loss, booked_loss, dearest, price_of
from coterie.privacy.events import Event, events_of
from coterie.privacy.mechanisms import Mechanism
from coterie.privacy.secret import take_in
from coterie.problem import bernoulli

ROUNDS_RECORDED = 1000
RECORDS = ("open", "message", "peer", "card", "inner", "hears", "chains", "marks", "moves", "stream")
ROUNDS_WATCHED = 300  # for releases about arms that were not pulled
PLANS_WATCHED = 400  # of a peer that commits, before it is reckoned how many follow


class Course(NamedTuple):
    """The releases of one node, on the dearest path."""

    role: Algorithm
    events: list[Event]  # in order; those of the first rounds, where the horizon is long
    releases: int | None  # about one arm; None: not counted, as nothing is protected anyway
    loss: Loss  # of the dearest reward


class Forecast(NamedTuple):
    agent: Course
    server: Course | None  # where a server has a door of its own and used it
    rewards: int  # how many an agent sees at most

    def at_least(self, loss: Loss) -> "Forecast":
        """What is known to have been lost is no less."""
        server = self.server and self.server._replace(loss=max(self.server.loss, loss))
        return self._replace(agent=self.agent._replace(loss=max(self.agent.loss, loss)), server=server)


class Recorder:
    """Chance that keeps events and adds no noise."""

    rehearsed = True

    def __init__(self, events: list[Event]):
        self.events = events

    def die(self, t: int) -> Any:
        return stream(0, 0, CHOICE, t)

    idle_die = die

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None:
        self.events += events_of(out, mechanism)


class Recorded(Agent):
    """A node that keeps its events."""

    def __init__(self, role: Algorithm, p: Any):
        self.events: list[Event] = []
        super().__init__(role, p, Recorder(self.events), rehearsal=True)

    def reward_of(self, arm: int) -> int:
        """All rewards are 1, so that who looks at them has no reason to stop."""
        return UNIT

    @step
    def finish(self, t: int | None = None, sums: dict[int, tuple[int, int]] | None = None) -> None:
        """Rewards are not told one by one."""
        self.t = self.t if t is None else t
        for e in range(self.plan.entries):
            arm, pulls = self.plan.arm[e], self.plan.pulls[e]
            take_in(self.secret, arm, pulls, self.reward_of(int(arm)) * pulls)
        self.desk.clear()
        self.pass_door()


class Choosy(Recorded):
    """Its arms are worth from 1 down to nearly 0."""

    def reward_of(self, arm: int) -> int:
        return UNIT - UNIT * arm // self.p.arms


def forecast(method: Method, horizon: int) -> Forecast:
    """The most that any reward can lose in `horizon` rounds."""
    start_up = method.p.arms if method.node.first_round == 0 else 0
    if method.server is not None:
        agent, server = _around_a_server(method, horizon)
        return Forecast(_course(agent), _course(server) if server.events else None, horizon)
    course = _course(_among_peers(method, min(horizon, ROUNDS_RECORDED)))
    looks, seen = _looks_again(method, min(horizon, ROUNDS_WATCHED))
    if looks:
        dearest_look = price_of(max(looks, key=lambda event: event.price))
        course = course._replace(releases=horizon, loss=Loss(*(part * horizon for part in dearest_look)))
    elif horizon > ROUNDS_RECORDED:
        course = course._replace(releases=None) if course.loss == WITHOUT_NOISE else _compiled(method, horizon, course)
    course = course._replace(loss=max([course.loss, *seen]))  # an arm may cost what the one that is played does not
    return Forecast(course, None, horizon + start_up)


def first_release(method: Method, horizon: int) -> list[Event]:
    """The event that an agent's forecast begins with; none, if nothing is released in `horizon` rounds."""
    agent = _among_peers(method, horizon, most=1) if method.server is None else _around_a_server(method, horizon)[0]
    return agent.events[:1]


def _among_peers(method: Method, horizon: int, most: float = inf) -> Recorded:
    """Up to the horizon, or until there are so many events."""
    agent = _node(_as_laid_out(method.node, method.p), _in_play(method.p, 1), method.known)
    for end in _plans(agent, horizon):
        agent.finish(end)
        if len(agent.events) >= most:
            break
    return agent


def _plans(agent: Recorded, horizon: int) -> Iterator[int]:
    """Begin one plan after the other; yields the last round of each, up to the horizon."""
    last = agent.algorithm.first_round - 1
    while last < horizon:
        agent.begin(last + 1)
        last += max(1, rounds_of(agent.plan)) if agent.algorithm.commits else 1
        if last <= horizon:
            yield last


def plans_of_a_peer(method: Method, horizon: int) -> float:
    """How many plans one that commits makes, about.

    It is played alone for a while. From then on, whenever their number has doubled, the rounds they have taken grow by a factor
    that changes as it did before: by 2 in windows of one length, and ever faster where batches grow.
    """
    agent, ends = _node(method.node, method.p, method.known, Choosy), list[int]()
    for end in _plans(agent, horizon):
        agent.finish(end)
        ends.append(end)
        if len(ends) == PLANS_WATCHED:
            break
    else:
        return 1.0 + len(ends)
    half, whole = (ends[len(ends) // part - 1] / ends[len(ends) // (2 * part) - 1] for part in (2, 1))
    plans, rounds, faster = float(len(ends)), float(ends[-1]), max(1.0, whole / half)
    while rounds < horizon:
        whole *= faster
        doubled = min(1.0, log(horizon / rounds) / log(max(whole, 2.0)))
        plans, rounds = plans * 2.0**doubled, rounds * max(whole, 2.0)
    return plans


def _looks_again(method: Method, horizon: int) -> tuple[list[Event], list[Loss]]:
    """Releases about arms that were not pulled and rewards that were released before; and what the dearest rewards have lost.

    All arms are in play.
    """
    agent, found, last = _node(method.node, method.p, method.known), list[Event](), dict[tuple[int, int], int]()
    for end in _plans(agent, horizon):
        before, pulled = len(agent.events), set(agent.plan.arm[: agent.plan.entries].tolist())
        agent.finish(end)
        for event in agent.events[before:]:
            if event.arm not in pulled and event.first <= last.get((event.arm, event.chain), 0):
                found.append(event)
            last[event.arm, event.chain] = event.last
    return found, dearest(agent.events)


def _around_a_server(method: Method, horizon: int) -> tuple[Recorded, Recorded]:
    assert method.server is not None
    p, t, now = _in_play(method.p, 2), 0, 1
    agent = _node(_as_laid_out(method.node, method.p), p, method.known)
    server = _node(_as_laid_out(method.server, method.p), p, {})
    agent.know("server")
    server.know("agent", voices=1, **({"weight": 1.0} if method.weights else {}))
    while now <= horizon:
        t += 1
        agent.hear(t, "server", server.announce(t) or b"")
        agent.begin(t)
        now += rounds_of(agent.plan)
        if now > horizon + 1:
            break  # a plan that the horizon cuts is not observed
        agent.finish()
        if said := agent.speak(t):
            server.hear(t, "agent", said)
        server.release()
    return agent, server


def _compiled(method: Method, horizon: int, course: Course) -> Course:
    known = {field: values[:1] for field, values in method.known.items()}
    alone = method._replace(node=_as_laid_out(method.node, method.p), p=_in_play(method.p, 1), known=known)
    nobody = Links(np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))
    run = simulate_mesh(alone, bernoulli, bernoulli.world(np.ones((1, 1))), 1, horizon, np.array([horizon]), nobody)
    ledger = run.ledgers[0, 0]
    return course._replace(releases=int(ledger["entries"].sum()), loss=booked_loss(ledger, method.node.mechanism))


def _in_play(p: Any, arms: int) -> Any:
    """With so many arms, and loops over no more slots than the engine's own records then have."""
    return p._replace(arms=arms, **({"slots": capacity(arms)} if "slots" in p._fields else {}))


def _as_laid_out(role: Algorithm, p: Any) -> Algorithm:
    """With records that have room for all arms, whatever the number of those that are played."""
    kinds = {name: getattr(role, name) for name in RECORDS}
    laid_out: dict[str, Any] = {name: lambda _, made=kind(p): made for name, kind in kinds.items() if kind}
    return role._replace(**laid_out)


def _node(role: Algorithm, p: Any, known: dict[str, Any], kind: type[Recorded] = Recorded) -> Recorded:
    node = kind(role, p)
    for field, values in known.items():
        node.open[field] = values[0]
    return node


def _course(node: Recorded) -> Course:
    events = node.events
    first = [event for event in events if event.arm == events[0].arm]
    return Course(node.algorithm, events, len(first), max(dearest(events), default=Loss()))
