"""One changed reward and the same transcript: nothing visible may differ, and only what was paid for differs behind it.

An agent lives once in a rehearsal, where everything that is done to it goes on a tape. It then lives again by the tape
with one reward changed, and is handed the noised numbers of its first life. Plans, messages and the open state must be
the same; what it offers to the door may differ only where it covers that reward, by no more than the declared
sensitivity, at the booked price. This is exact: no luck is involved.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from coterie.contract import Algorithm
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.rehearsal import Make, keyed_agent, rehearse_mesh, rehearse_star
from coterie.kernel import UNIT
from coterie.privacy.door import BOOKS
from coterie.privacy.ledger import loss_per_reward
from coterie.studies.case import Case

STREAMS = ("digits", "root")  # mechanisms in which an arm's offers are paid for all together
CALLS = {"know", "hear", "begin", "ask", "tell", "finish", "release", "speak", "announce", "greet", "meet"}
ROUNDS_AT_MOST = 20_000  # an interpreted life is slow

Change = Callable[[str, tuple], tuple]  # of the arguments of a call: what is different in the second life


class Offer(NamedTuple):
    t: int
    arm: int
    value: int
    sensitivity: float
    price: float
    chain: int
    first: int
    last: int


class Reward(NamedTuple):
    """An arm's own clock counts its rewards or the turns: an offer may speak of either."""

    arm: int
    number: int  # among the arm's rewards
    turn: int


class StrayError(Exception):
    """The second life offers another number of values: its script does not fit."""


class Witness:
    """The chance of an agent. Its door keeps what was offered and what came back, or hands out what another kept."""

    rehearsed = True

    def __init__(self, chance: Any, script: Sequence[np.ndarray] | None = None):
        self.chance, self.die, self.idle_die = chance, chance.die, chance.idle_die
        self.offers: list[Offer] = []
        self.passed: list[np.ndarray] = []
        self.script = script

    def door(self, algorithm: Algorithm, p: Any, t: int, out: Any, ledger: Any) -> None:
        n = out.entries
        columns = [getattr(out, field)[:n].tolist() for field in Offer._fields[1:]]
        self.offers += [Offer(t, *row) for row in zip(*columns, strict=True)]
        if self.script is None:
            self.chance.door(algorithm, p, t, out, ledger)
        else:
            BOOKS[algorithm.mechanism](out, ledger)
            kept = self.script[len(self.passed)]
            if len(kept) != n:
                raise StrayError
            out.value[:n] = kept
        self.passed.append(out.value[:n].copy())


class Taped:
    """An agent in a rehearsal, and a tape of (call, its arguments, what could be seen of it)."""

    def __init__(self, role: Algorithm, p: Any, chance: Keyed):
        self.witness, self.tape, self.start = Witness(chance), list[tuple](), None
        self.agent = Agent(role, p, self.witness, rehearsal=True)

    def __getattr__(self, name: str) -> Any:
        return self.play(name) if name in CALLS else getattr(self.agent, name)

    def play(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **facts: Any) -> Any:
            if not self.tape:
                self.start = self.agent.open.copy()  # with what it knows beforehand
            answer, seen = act(self.agent, name, arguments, facts)
            self.tape.append((name, arguments, facts, seen))
            return answer

        return call


def act(agent: Agent, name: str, arguments: tuple, facts: dict) -> tuple[Any, tuple]:
    """What is answered, and what can be seen: (choices, message, open state)."""
    answer, plan = getattr(agent, name)(*arguments, **facts), agent.plan
    if name in ("ask", "tell"):
        return answer, (answer, None, None)
    pulls = plan.arm[: plan.entries].tolist(), plan.pulls[: plan.entries].tolist(), int(plan.rounds)
    return answer, (pulls, answer, agent.open.tobytes())


def live(rehearse: Callable[[Make], Any]) -> list[Taped]:
    """Agent 0 of a rehearsal and its server, if it has one, both taped."""
    taped = []

    def make(role: Algorithm, p: Any, chance: Keyed) -> Any:
        if chance.node > 0:
            return keyed_agent(role, p, chance)
        taped.append(Taped(role, p, chance))
        return taped[-1]

    rehearse(make)
    return taped[:2]


def relive(first: Taped, change: Change, script: Sequence[np.ndarray] | None) -> tuple[Agent, Witness, list[tuple]]:
    """The second life: (agent, its witness, what could be seen of every call up to another choice, if there is one)."""
    witness = Witness(first.chance.chance, script)
    agent, seen = Agent(first.algorithm, first.p, witness, rehearsal=True), list[tuple]()
    assert first.start is not None
    for field in first.start.dtype.names:
        agent.open[field] = first.start[field]
    for name, arguments, facts, before in first.tape:
        seen.append(act(agent, name, change(name, arguments), facts)[1])
        if seen[-1][0] != before[0]:
            break  # another choice: the rest of the tape belongs to another life
    return agent, witness, seen


def rewards(first: Taped) -> dict[int, Reward]:
    """By the ticket of the decision."""
    found, count, t = {}, dict.fromkeys(range(first.p.arms), 0), 0
    for name, arguments, _, seen in first.tape:
        t = arguments[0] if name == "begin" else t
        if name == "ask" and seen[0][0] is not None:
            ticket, arm = seen[0]
            count[arm] += 1
            found[ticket] = Reward(arm, count[arm], t)
    return found


def flip(ticket: int) -> Change:
    """One reward, 0 to 1 or 1 to 0."""

    def change(name: str, arguments: tuple) -> tuple:
        return (ticket, UNIT - arguments[1]) if name == "tell" and arguments[0] == ticket else arguments

    return change


def report_anew(reports: dict[int, bytes]) -> Change:
    """All reports of agent 0 to its server: {turn: report}."""

    def change(name: str, arguments: tuple) -> tuple:
        return (*arguments[:2], reports[arguments[0]]) if name == "hear" and arguments[1] == 0 else arguments

    return change


def chosen(found: dict[int, Reward]) -> Iterator[int]:
    """Of every arm the first reward, one from the middle, and the last."""
    for arm in sorted({reward.arm for reward in found.values()}):
        tickets = [ticket for ticket, reward in found.items() if reward.arm == arm]
        yield from sorted({tickets[0], tickets[len(tickets) // 2], tickets[-1]})


def compare_lives(first: Taped, change: Change, reward: Reward) -> tuple[list[str], float]:
    """What is wrong with the first life, given one change: a list of findings, and what the change has cost."""
    try:
        agent, second, seen = relive(first, change, first.witness.passed)
    except StrayError:
        return ["the number of offers shows the reward"], inf
    for (name, *_, before), after in zip(first.tape, seen, strict=False):
        if before != after:
            return [f"{name} shows the reward"], inf
    if agent.ledger.tobytes() != first.agent.ledger.tobytes():
        return ["the ledger shows the reward"], inf
    pairs, stream = list(zip(first.witness.offers, second.offers, strict=True)), agent.algorithm.mechanism in STREAMS
    moved = [one for one, other in pairs if one.value != other.value]
    far = [one for one, other in pairs if abs(one.value - other.value) > one.sensitivity * UNIT]
    wrong = ["an offer moves further than its sensitivity"] * bool(far)
    if not any(all(covers(one, reward.arm, clock, stream) for one in moved) for clock in reward[1:]):
        wrong.append("an offer moves that does not cover the reward")
    cost = (max if stream else sum)([0.0, *(one.price for one in moved)])
    if cost > booked(first) * (1 + 1e-12):
        wrong.append("more is lost than was booked")
    return wrong, cost


def covers(offer: Offer, arm: int, clock: int, stream: bool) -> bool:
    """An offer of a stream is the sum of all up to its first."""
    return offer.arm == arm and (clock <= offer.first if stream else offer.first <= clock <= offer.last)


def booked(first: Taped) -> float:
    return float(loss_per_reward(np.array([first.agent.ledger]).view(first.agent.ledger.dtype))[0])


def compare_agent(first: Taped) -> Iterator[tuple[list[str], float]]:
    """(findings, cost) of each reward that is changed."""
    found = rewards(first)
    for ticket in chosen(found):
        yield compare_lives(first, flip(ticket), found[ticket])


def compare_server(first: Taped, server: Taped) -> Iterator[tuple[list[str], float]]:
    """The reward of one agent changes its raw reports to the end; the door of a trusted server is the one that counts."""
    found = rewards(first)
    for ticket in chosen(found):
        _, _, seen = relive(first, flip(ticket), None)
        reports = {tape[1][0]: after[1] for tape, after in zip(first.tape, seen, strict=True) if tape[0] == "speak"}
        yield compare_lives(server, report_anew(reports), found[ticket])


class Replay(NamedTuple):
    """What became of the rewards that were changed."""

    rewards: int
    price: float  # what the dearest of them was charged; inf: a number left without noise
    findings: tuple[str, ...]


def replay(case: Case, seed: int) -> Replay:
    """Change some rewards of agent 0 (or, where the server is trusted, what they change in its reports)."""
    about = (case.method, case.problem, case.worlds, case.agents, min(case.horizon, ROUNDS_AT_MOST))
    if (links := case.links) is not None:
        taped = live(lambda make: rehearse_mesh(*about, links, seed=seed, make=make))
    else:
        taped = live(lambda make: rehearse_star(*about, seed=seed, delay=case.delay, make=make))
    served = case.method.claim.booked_by == "server"
    results = list(compare_server(*taped) if served else compare_agent(taped[0]))
    findings = dict.fromkeys(finding for wrong, _ in results for finding in wrong)
    return Replay(len(results), max(cost for _, cost in results), tuple(findings))
