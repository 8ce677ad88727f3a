"""Leaping over rounds ends in the bytes of stepping through them: with delays, losses, dropouts and liars of every kind."""

from functools import cache
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy import float64, int64

from coterie.algorithms import entries
from coterie.contract import Algorithm, Claim, Method, Setting, offer, order
from coterie.engines.attacks import ATTACKS
from coterie.engines.bind import bind
from coterie.engines.leap import pop, push
from coterie.engines.rehearsal import compare, rehearse_mesh
from coterie.engines.simulate import Links, Run, Weather, simulate_mesh
from coterie.kernel import UNIT, argmax, capacity, node, pick, record, uniform
from coterie.network import path
from coterie.problem import bernoulli

AGENTS, ARMS, SEED, HORIZON = 5, 4, 8, 150
MEANS = np.array([0.9, 0.7, 0.4, 0.1])
UNLIKE = MEANS + 0.1 * np.array([[-1, 1, -1, 1], [1, -1, 1, -1], [0.5, 0, -0.5, 0], [-0.5, 0, 0.5, 0], [0, 0, 0, 0]])
MARKS = np.unique(np.geomspace(1, HORIZON, 30).astype(int64))


# --- an algorithm whose plans have several arms and any length -----------------------------------------


class Params(NamedTuple):
    arms: int = ARMS
    price: float = 2.0
    longest: int = 9


def open_record(p):
    n = capacity(p.arms)
    return record(told=int64, heard=int64, decided=int64, count=(int64, n), total=(int64, n), score=(float64, n))


def word_record(p):
    return record(arm=int64, count=int64, total=int64)


def peer_record(p):
    return record(last=int64)


@node
def weigh(open, peers, p, t):
    for j in range(len(peers)):
        open.heard += t * peers[j].last
    for k in range(p.arms):
        open.score[k] = open.total[k] / (UNIT * float(max(1, open.count[k])))


@node
def choose(open, p, t, die, plan):
    """Some rounds of any arm, then some of the best one; now and then a single pull."""
    arm, best = pick(die, 0, p.arms), argmax(open.score, p.arms)
    open.decided += t
    order(plan, arm, 1 + pick(die, 1, p.longest))
    if best != arm and uniform(die, 2) < 0.7:
        order(plan, best, pick(die, 3, 3 * p.longest))


@node
def release(open, p, t, plan, out):
    for e in range(plan.entries):
        if plan.pulls[e] > 2:
            offer(out, plan.arm[e], p.price)


@node
def publish(open, p, t, plan, out):
    open.told = -1
    for e in range(out.entries):
        k = open.told = out.arm[e]
        open.count[k] += out.last[e] - out.first[e] + 1
        open.total[k] += out.value[e]


@node
def speak(open, p, t, message):
    if open.told < 0:
        return 0
    message.arm, message.count, message.total = open.told, open.count[open.told], open.total[open.told] + t
    return 3


@node
def hear(open, peer, p, t, message):
    """Order and round of all that is heard show in `heard`."""
    open.heard = 31 * open.heard % 1_000_003 + t * message.count + message.total % 97
    peer.last = message.count


@node
def lie(open, p, t, tale, die, message):
    message.arm, message.count, message.total = max(tale.arm, 0), t, int(tale.value[max(tale.arm, 0)] * UNIT)
    return 3


PLANNER = Algorithm(
    "planner", open_record, word_record, peer_record, weigh=weigh, choose=choose, release=release, publish=publish, speak=speak,
    hear=hear, lie=lie, commits=True,
)  # fmt: skip


def planner(**options):
    return Method(PLANNER, Params(**options), Claim(inf))


def pr_ucb(**options):
    entry, setting = entries()["pr-ucb"], Setting(AGENTS, ARMS, HORIZON, reward_values=(0.0, 1.0))
    return entry.build(entry.options(commit=True, batch=2, **options), setting)


METHODS = {
    "planner": planner(),
    "single rounds": planner(longest=1),
    "pr-ucb": pr_ucb(),
    "pr-ucb, scouts": pr_ucb(votes="scouts", growth=1.5),
}
LIAR, TRUTH = np.array([0, 1, 0, 0, 1]), MEANS
WEATHERS = {
    "fine": Weather(),
    "loss": Weather(loss=0.3),
    "dropout": Weather(dropout=0.4),
    "contamination": Weather(contamination=0.4, contaminant=0.2),
    **{name: Weather(liar=LIAR, attack=attack.number, truth=TRUTH) for name, attack in ATTACKS.items()},
    "everything": Weather(loss=0.2, dropout=0.3, liar=LIAR, attack=ATTACKS["random"].number, truth=TRUTH, contamination=0.1),
}
CASES = [(method, weather) for method in METHODS for weather in WEATHERS if method != "single rounds" or weather == "fine"]


def links(life=3):
    """Agents in a row hear those within `life` hops, after as many rounds."""
    hops = np.abs(np.subtract.outer(np.arange(AGENTS), np.arange(AGENTS)))
    receiver, sender = np.nonzero((hops > 0) & (hops <= life))
    order = np.lexsort((sender, hops[receiver, sender], receiver))
    receiver, sender = receiver[order], sender[order]
    first = np.searchsorted(receiver, np.arange(AGENTS + 1))
    return Links(first, sender, hops[receiver, sender], path(AGENTS).edges)


def about(method, horizon=HORIZON):
    return METHODS[method], bernoulli, bernoulli.world(UNLIKE), AGENTS, horizon


def stepped(weather):
    """Agents that may go away make the engine step. Nobody goes."""
    return weather._replace(away=np.full((AGENTS, 2), HORIZON + 1))


class Named:
    """`bind`, and which engine it was asked for."""

    engine = ""

    def __call__(self, engine, *given: Any, **named: Any):
        self.engine = engine.__name__.rpartition(".")[2]
        return bind(engine, *given, **named)


def simulate(method, weather, **how):
    binding = Named()
    run = simulate_mesh(*about(method), MARKS, links(), weather=weather, seed=SEED, binding=binding, **how)
    return binding.engine, run


@cache
def leapt(method, weather):
    engine, run = simulate(method, WEATHERS[weather], replications=3)
    assert engine == "leap"
    return run


def differing(one, other):
    pairs = zip(one._fields, one, other, strict=True)
    return [name for name, ours, theirs in pairs if ours is not None and ours.tobytes() != theirs.tobytes()]


def part(run, replication):
    return Run(*(None if array is None else array[replication : replication + 1] for array in run))


@pytest.mark.parametrize(("method", "weather"), CASES)
def test_leaping_ends_in_the_bytes_of_stepping(method, weather):
    engine, run = simulate(method, stepped(WEATHERS[weather]), replications=3)
    assert engine == "mesh"
    assert differing(leapt(method, weather), run) == []
    assert run.tallies["up_messages"].min() > 10 and run.late.any()


@pytest.mark.parametrize(("method", "weather"), CASES)
def test_an_interpreted_and_a_deployed_run_end_in_the_same_bytes(method, weather):
    run = leapt(method, weather)
    assert differing(part(run, 1), simulate(method, WEATHERS[weather], first=1, replications=1, compiled=False)[1]) == []
    deployed = rehearse_mesh(*about(method), links(), weather=WEATHERS[weather], seed=SEED, replication=1)
    assert compare(run, deployed, 1) == []
