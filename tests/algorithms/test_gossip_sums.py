"""The law of gossip: the estimates of all agents sum to their running means, exactly and at every round.

A recording `speak` looks at every agent at the end of every round, after its meetings; those who are away do not speak. The
runs are interpreted, and end in the bytes of compiled ones.
"""

from math import inf

import numpy as np
import pytest

from coterie.algorithms import find, gossip
from coterie.contract import Setting
from coterie.engines.simulate import Weather, simulate_mesh
from coterie.network import complete, erdos_renyi, path, star
from coterie.problem import bernoulli, gaussian
from coterie.studies.case import reach

AGENTS, ARMS, ROUNDS, NEVER = 5, 4, 60, 10**6
MEANS = np.random.default_rng(3).random((AGENTS, ARMS))
METHODS = {
    "plain": ("gossip-ucb", {}),
    "blocks": ("fed-ucb", {}),
    "tree": ("fed-ucb", {"mechanism": "tree"}),
    "digits": ("fed-ucb", {"mechanism": "digits"}),
    "root": ("fed-ucb", {"mechanism": "root"}),
    "printed": ("fed-ucb", {"mode": "paper"}),
}
PATH = [path(AGENTS)]
CHANGING = [erdos_renyi(AGENTS, np.random.default_rng(n), 0.5) for n in range(4)]
AWAY = np.array([[20, 45], [NEVER, NEVER], [7, 20], [24, 40], [NEVER, NEVER]])
SEEN = {}  # round -> [(estimates, means) of every agent that is present]
MET = {}  # round -> [agent, ...]: the two ends of the first drawn edge, then those of the second, and so on


def recording(open, p, t, message):
    SEEN.setdefault(t, []).append((open.estimate.copy(), open.average.copy()))
    return gossip.speak(open, p, t, message)


def greeting(open, p, t, card):
    MET.setdefault(t, []).append(int(open.weight))
    gossip.greet(open, p, t, card)
    return 0


def build(mechanism, weights=(), problem=bernoulli, agents=AGENTS, **more):
    name, options = METHODS[mechanism]
    low, high = (0.0, 1.0) if problem is bernoulli else (-inf, inf)
    setting = Setting(agents, ARMS, 20_000, low=low, high=high, weights=weights)
    return find(name).build(find(name).options(**options, **more), setting)


def record(mechanism, graphs=PATH, weather=Weather(), problem=bernoulli, means=MEANS, rounds=ROUNDS, period=1, **more):
    """[round]: how far the sum of estimates is from that of the means, and how far single estimates are from their means."""
    SEEN.clear()
    method = build(mechanism, problem=problem, agents=len(means), **more)
    method = method._replace(node=method.node._replace(speak=recording))
    links = reach(graphs, 1, 1)._replace(meetings=method.meetings, period=period)
    about = (method, problem, problem.world(means), len(means), rounds, np.array([rounds]), links)
    simulate_mesh(*about, weather=weather._replace(active=method.active), seed=5, compiled=False)
    apart = [np.subtract(*np.moveaxis(np.array(SEEN[t]), 1, 0)) for t in range(rounds + 1)]
    return [abs(part.sum(axis=0)).max() for part in apart], [abs(part).max() for part in apart]


CASES = {
    "one edge a round": {},
    "several edges a round": {"graphs": [complete(AGENTS)], "edges": 3},
    "lazy edges": {"active": 0.3},
    "meetings lost, both ways or none": {"weather": Weather(loss=0.4)},
    "a graph that changes": {"graphs": CHANGING, "period": 3},
    "weighted means": {"weights": (0.4, 0.3, 0.2, 0.1, 0.0)},
    "agents that go away and come back": {"graphs": [complete(AGENTS)], "weather": Weather(away=AWAY)},
    "all of it": {
        "graphs": [complete(AGENTS), CHANGING[0]], "period": 10, "edges": 2, "active": 0.8,
        "weather": Weather(loss=0.2, away=AWAY), "weights": (0.1, 0.3, 0.2, 0.1, 0.3),
    },
}  # fmt: skip


def often(mechanism, case):
    """Without noise every case, and every mechanism with the first of them and the last. The others are slow."""
    return mechanism == "plain" or case in ("one edge a round", "all of it")


@pytest.mark.parametrize(
    ("mechanism", "case"),
    [pytest.param(m, c, marks=() if often(m, c) else pytest.mark.slow) for m in METHODS for c in CASES],
)
def test_estimates_sum_to_the_running_means_at_every_round(mechanism, case):
    off, apart = record(mechanism, **CASES[case])
    assert off == [0] * (ROUNDS + 1)
    assert max(apart) > 2**28  # single agents are far from their own means: something was exchanged


def test_normal_rewards_keep_the_law():
    off, apart = record("plain", problem=gaussian, means=10 * MEANS - 5)
    assert off == [0] * (ROUNDS + 1) and max(apart) > 2**31


def test_those_who_are_away_do_not_count_and_those_who_stay_take_over_what_they_leave():
    record("plain", graphs=[complete(AGENTS)], weather=Weather(away=AWAY))
    present = [len(SEEN[t]) for t in (0, 6, 7, 19, 20, 23, 24, 39, 40, 44, 45)]
    assert present == [5, 5, 4, 4, 4, 4, 3, 3, 4, 4, 5]


def test_who_leaves_when_another_comes_back_hands_over_to_one_who_keeps_it():
    """Agent 0 leaves in the round in which its heir, agent 1, comes back."""
    away = np.array([[10, 30], [5, 10], [NEVER, NEVER]])
    off, apart = record("plain", graphs=[complete(3)], weather=Weather(away=away), means=MEANS[:3])
    assert off == [0] * (ROUNDS + 1) and max(apart) > 0


def test_who_leaves_while_all_its_neighbours_are_away_does_not_take_the_others_mass_along():
    """The hub of a star is away, then a leaf leaves too; at the latest when all are back the law must hold again."""
    away = np.array([[10, 20], [14, 30], [NEVER, NEVER], [NEVER, NEVER]])
    off, apart = record("plain", graphs=[star(4)], weather=Weather(away=away), means=MEANS[:4])
    assert off[:14] == [0] * 14
    assert off[30:] == [0] * (ROUNDS + 1 - 30)
    assert max(apart) > 0


def meetings(graphs, period, rounds, **options):
    """{round: pairs of agents that have met}. Weights tell agents apart here."""
    MET.clear()
    method = build("plain", **options)
    method = method._replace(node=method.node._replace(greet=greeting), known={"weight": list(range(AGENTS))})
    links = reach(graphs, 1, 1)._replace(meetings=method.meetings, period=period)
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, rounds, np.array([rounds]), links)
    simulate_mesh(*about, weather=Weather(method.active), seed=5, compiled=False)
    return {t: list(zip(ends[::2], ends[1::2], strict=True)) for t, ends in MET.items()}


def test_all_edges_of_the_present_graph_are_drawn_and_no_others():
    drawn = [set() for _ in CHANGING]
    for t, pairs in meetings(CHANGING, 3, 150).items():
        drawn[t // 3 % len(CHANGING)].update(pairs)
    assert drawn == [set(map(tuple, graph.edges.tolist())) for graph in CHANGING]
    assert len({tuple(sorted(edges)) for edges in drawn}) == len(CHANGING)


def test_edges_are_drawn_evenly_and_those_of_one_round_share_no_agent():
    """Of 200 draws among 4 edges each has 50, with a standard deviation of 6.1. False-alarm rate below 1e-6."""
    pairs = [pair for met in meetings(PATH, 1, 200).values() for pair in met]
    assert len(pairs) == 200
    assert all(abs(pairs.count((i, i + 1)) - 50) < 33 for i in range(AGENTS - 1))
    several = meetings([complete(AGENTS)], 1, 60, edges=3).values()
    assert all(len(set(sum(met, ()))) == 2 * len(met) for met in several)
    assert {len(met) for met in several} == {1, 2}


def test_one_way_losses_break_the_law_for_good():
    off, _ = record("plain", weather=Weather(loss=0.3, one_way=1))
    broken = next(t for t in range(ROUNDS + 1) if off[t] > 0)
    assert broken < 20
    assert min(off[20:]) > 2**24


def test_rounding_does_not_add_up():
    """Many rounds, compiled, and the law holds to the last unit."""
    method, world = build("plain"), bernoulli.world(MEANS)
    links = reach(PATH, 1, 1)._replace(meetings=1)
    opens = simulate_mesh(method, bernoulli, world, AGENTS, 100_000, np.array([1]), links, replications=3).opens
    assert (opens["estimate"].sum(axis=1) == opens["average"].sum(axis=1)).all()
    assert (opens["estimate"] != opens["average"]).any()
