"""Leaping over rounds ends in the bytes of stepping through them: with delays, losses, dropouts and liars of every kind."""

from functools import cache, partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy import float64, int64

from coterie.algorithms import entries
from coterie.contract import Algorithm, Claim, Method, Setting, offer, order
from coterie.engines.agent import Agent
from coterie.engines.attacks import ATTACKS
from coterie.engines.bind import bind
from coterie.engines.leap import pop, push
from coterie.engines.memory import first_late
from coterie.engines.rehearsal import compare, keyed_agent, rehearse_mesh
from coterie.engines.simulate import Links, Run, Weather, simulate_mesh
from coterie.errors import AlgorithmError
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
        if plan.pulls[e] > 2 or p.longest == 1:
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


@node
def choose_nothing(open, p, t, die, plan):
    order(plan, 0, 0)


def planner(**options):
    return Method(PLANNER, Params(**options), Claim(inf), exploration=37)


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
ALL_WEATHERS = ("planner", "single rounds")  # the engine's business; of others the first and the last weather tell enough
SELDOM = [case for case in CASES if case[0] not in ALL_WEATHERS and case[1] not in ("fine", "everything")]


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


def simulate(method, weather, compiled=False, **how):
    binding, how = Named(), {"seed": SEED, "first": 1, "compiled": compiled} | how
    run = simulate_mesh(*about(method), MARKS, links(), weather=weather, binding=binding, **how)
    return binding.engine, run


@cache
def leapt(method, weather):
    engine, run = simulate(method, WEATHERS[weather])
    assert engine == "leap"
    return run


def differing(one, other):
    pairs = zip(one._fields, one, other, strict=True)
    return [name for name, ours, theirs in pairs if ours is not None and ours.tobytes() != theirs.tobytes()]


@pytest.mark.parametrize(("method", "weather"), [pytest.param(*c, marks=[pytest.mark.slow] * (c in SELDOM)) for c in CASES])
def test_leaping_and_a_deployed_run_end_in_the_bytes_of_stepping(method, weather):
    engine, run = simulate(method, stepped(WEATHERS[weather]))
    assert engine == "mesh"
    assert differing(leapt(method, weather), run) == []
    assert run.tallies["up_messages"].min() > 10 and run.late.any() and len(np.unique(run.curves)) > 5
    deployed = rehearse_mesh(*about(method), links(), weather=WEATHERS[weather], seed=SEED, replication=1)
    assert compare(run, deployed, 0) == []


@cache
def compiled_leap(weather):
    return simulate("planner", WEATHERS[weather], compiled=True, first=0, replications=3)[1]


BOTH = [pytest.param("fine", marks=pytest.mark.slow), "everything"]


@pytest.mark.parametrize("weather", BOTH)
def test_compiled_and_interpreted_leaps_end_in_the_same_bytes(weather):
    leap = compiled_leap(weather)
    middle = Run(*(None if array is None else array[1:2] for array in leap))
    assert differing(middle, leapt("planner", weather)) == []
    assert differing(leap, simulate("planner", WEATHERS[weather], compiled=True, first=1, replications=3)[1]) != []


@pytest.mark.slow
@pytest.mark.parametrize("weather", ["fine", "everything"])
def test_compiled_runs_of_both_engines_end_in_the_same_bytes(weather):
    mesh = simulate("planner", stepped(WEATHERS[weather]), compiled=True, first=0, replications=3)[1]
    assert differing(compiled_leap(weather), mesh) == []


def test_agents_that_go_away_play_their_plans_when_they_are_back():
    """Stepped, and as a deployed agent does."""
    weather = Weather(loss=0.2, away=np.array([[200, 200], [10, 40], [30, 50], [1, 60], [200, 200]]))
    engine, run = simulate("planner", weather)
    assert engine == "mesh"
    assert compare(run, rehearse_mesh(*about("planner"), links(), weather=weather, seed=SEED, replication=1), 0) == []
    assert run.late.sum() == AGENTS * HORIZON // 10


# --- what it tells -------------------------------------------------------------------------------------


class Diary(Agent):
    """An agent that keeps its plans, with the rounds in which they began."""

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        self.kept: list[tuple[int, list[int]]] = []

    def begin(self, t):
        super().begin(t)
        plan = self.plan
        self.kept.append((t, [int(plan.arm[e]) for e in range(plan.entries) for _ in range(plan.pulls[e])]))


def test_regret_and_late_plays_are_those_of_the_arms_played_in_each_round():
    """By the plans that deployed agents make, arm by arm and round by round, also inside the plan that the horizon cuts."""
    run, gaps = leapt("planner", "fine"), UNLIKE.mean(axis=0).max() - UNLIKE.mean(axis=0)
    agents = rehearse_mesh(*about("planner"), links(), seed=SEED, replication=1, make=partial(keyed_agent, kind=Diary)).agents
    played = np.full((AGENTS, HORIZON), -1)
    for i, agent in enumerate(agents):
        for begun, arms in agent.kept:
            until = min(HORIZON + 1, begun + len(arms))
            assert (played[i, begun - 1 : until - 1] == -1).all()
            played[i, begun - 1 : until - 1] = arms[: until - begun]
    assert (played >= 0).all()
    regret = np.cumsum(gaps[played].sum(axis=0))
    assert np.allclose(run.curves[0], regret[MARKS - 1], rtol=1e-12)
    assert np.allclose(run.totals[0], gaps[played].sum(axis=1), rtol=1e-12)
    late = [np.bincount(played[i, first_late(HORIZON) - 1 :], minlength=ARMS) for i in range(AGENTS)]
    assert run.late[0].tolist() == np.array(late).tolist()


def test_a_horizon_a_thousand_times_as_long_costs_no_more_than_its_plans():
    """Rounds that are looked at: counted by an algorithm that has one plan of each power of two."""
    horizon = 10**9
    method = Method(DOUBLER, Params(), Claim(inf))
    run = simulate_mesh(
        method, bernoulli, bernoulli.world(UNLIKE), AGENTS, horizon, np.array([horizon]), links(), compiled=False
    )
    assert run.opens["decided"].tolist() == [[30] * AGENTS]
    assert run.secrets["count"].sum() == AGENTS * (2**29 - 1)
    assert run.late.sum(axis=2).tolist() == [[horizon // 10] * AGENTS]
    assert np.allclose(run.totals[0], horizon * (UNLIKE.mean(axis=0).max() - UNLIKE[:, 1].mean()), rtol=1e-12)


@node
def double(open, p, t, die, plan):
    order(plan, 1, 2**open.decided)
    open.decided += 1


DOUBLER = PLANNER._replace(name="doubler", weigh=None, choose=double)


@pytest.mark.parametrize("length", [1, 2, 3, 10, 33])
def test_a_heap_gives_the_least_first(length):
    rng, heap = np.random.default_rng(length), np.zeros(length, int64)
    for _ in range(20):
        keys = rng.integers(0, 40, length)
        for place, key in enumerate(keys):
            push(heap, place, key)
        taken = []
        for left in range(length, 0, -1):
            taken.append(int(heap[0]))
            pop(heap, left)
        assert taken == sorted(keys.tolist())


@pytest.mark.parametrize("wrong", [{"additive": "news"}, {"first_round": 0}])
def test_who_commits_plays_single_arms_from_round_1_on(wrong):
    with pytest.raises(AlgorithmError, match="planner commits to plans: it must play single arms from round 1 on"):
        simulate_mesh(planner()._replace(node=PLANNER._replace(**wrong)), *about("planner")[1:], MARKS, links(), compiled=False)


@pytest.mark.parametrize("weather", [WEATHERS["fine"], stepped(WEATHERS["fine"])], ids=["leap", "mesh"])
def test_a_plan_without_a_pull_is_refused_wherever_it_is_played(weather):
    """It once took a round, and the regret of who never played was 0."""
    lazy = planner()._replace(node=PLANNER._replace(choose=choose_nothing))
    with pytest.raises(AlgorithmError, match="of a peer that commits, no pull at all"):
        simulate_mesh(lazy, *about("planner")[1:], MARKS, links(), weather=weather, compiled=False)
    with pytest.raises(AlgorithmError, match="of a peer that commits, no pull at all"):
        rehearse_mesh(lazy, *about("planner")[1:], links(), seed=SEED)


@node
def choose_no_more(open, p, t, die, plan):
    order(plan, 0, 1 if t < 4 else 0)


def test_a_plan_that_is_refused_ends_the_run_there_and_not_at_the_horizon():
    late = planner()._replace(node=PLANNER._replace(weigh=None, choose=choose_no_more))
    problem, worlds, agents = about("planner")[1:4]
    with pytest.raises(AlgorithmError, match="of a peer that commits, no pull at all"):
        simulate_mesh(late, problem, worlds, agents, 10**12, np.array([10**12]), links(), compiled=False)
