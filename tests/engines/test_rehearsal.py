"""A rehearsal of deployed agents ends in the simulator's bytes: small cases of each structure, interpreted."""

from math import inf

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.contract import Setting, Terms
from coterie.engines.faults import Weather
from coterie.engines.protocol import Turn
from coterie.engines.rehearsal import _deal, compare, rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links, simulate_mesh, simulate_star
from coterie.kernel import UNIT
from coterie.network import path
from coterie.problem import bernoulli, gaussian, procurement

AGENTS, ARMS, SEED = 3, 3, 5
MEANS = np.array([[0.9, 0.5, 0.2]])
TERMS = Terms(np.full((AGENTS, ARMS), 0.1), np.full((AGENTS, ARMS), 5), alpha=0.4, rho=1.0)
AWAY = np.array([[90, 90], [10, 20], [90, 90]])
HOPS = Links(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.ones(4, int), path(AGENTS).edges)


def built(name, horizon, clip=(0.0, 1.0), **options):
    entry = entries()[name]
    setting = Setting(AGENTS, ARMS, horizon, gap=0.3, low=clip[0], high=clip[1], components=(2, 1), terms=TERMS)
    return entry.build(entry.options(**options), setting)


STARS = {
    "a server": ("cdp-mab", {}, bernoulli, (0.0, 1.0), Weather()),
    "a trusted server": ("cdp-mab", {"noise": "central"}, bernoulli, (0.0, 1.0), Weather()),
    "a trusted server without all reports": ("cdp-mab", {"noise": "central"}, bernoulli, (0.0, 1.0), Weather(loss=0.3)),
    "normal rewards": ("cdp-mab", {}, gaussian, (-inf, inf), Weather()),
    "clipped rewards": ("cdp-mab", {}, gaussian, (-0.3, 0.45), Weather(dropout=0.2)),
}
MESHES = {
    "peers": ("fed-ucb", {}, bernoulli, Weather()),
    "peers that come and go": ("fed-ucb", {}, bernoulli, Weather(loss=0.2, away=AWAY)),
    "peers that sit out": ("fed-ucb", {"mechanism": "tree"}, bernoulli, Weather(dropout=0.3)),
    "messages that add up": ("coop-ucb", {}, bernoulli, Weather(dropout=0.3, loss=0.2)),
    "meetings of agents that come and go": ("gossip-ucb", {}, bernoulli, Weather(loss=0.2, one_way=1, away=AWAY)),
    "orders": ("p-fcb", {}, procurement, Weather()),
}


def worlds_of(problem, clip=(0.0, 1.0)):
    if problem is procurement:
        return procurement.world(MEANS[0], *TERMS)
    return problem.world(MEANS, sigma=0.5, low=clip[0], high=clip[1]) if problem is gaussian else problem.world(MEANS)


@pytest.mark.parametrize("case", STARS)
def test_a_star_is_rehearsed_to_the_same_bytes(case):
    name, options, problem, clip, weather = STARS[case]
    about = (built(name, 600, clip, **options), problem, worlds_of(problem, clip), AGENTS, 600)
    run = simulate_star(*about, np.array([600]), seed=SEED, weather=weather, compiled=False)
    ended = rehearse_star(*about, seed=SEED, weather=weather)
    assert compare(run, ended, 0) == []
    assert all(node.t >= 2 and node.protocol.turn is not Turn.FRESH for node in (*ended.agents, *ended.servers))


@pytest.mark.parametrize("case", MESHES)
def test_a_mesh_is_rehearsed_to_the_same_bytes(case):
    name, options, problem, weather = MESHES[case]
    method = built(name, 60, **options)
    about, links = (method, problem, worlds_of(problem), AGENTS, 60), HOPS._replace(meetings=method.meetings)
    run = simulate_mesh(*about, np.array([60]), links, seed=SEED, weather=weather, compiled=False)
    ended = rehearse_mesh(*about, links, seed=SEED, weather=weather)
    assert compare(run, ended, 0) == []
    assert all(node.t == 60 and node.secret.count.sum() > 0 for node in ended.agents)


@pytest.mark.parametrize(("least", "most"), [(0, UNIT), (-19660, 29491), (5, 6)])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("pulls", [0, 1, 2, 7])
def test_rewards_are_dealt_inside_their_range_and_add_up(least, most, share, pulls):
    total = round(pulls * (least + share * (most - least)))
    dealt = _deal(total, pulls, least, most)
    assert (len(dealt), sum(dealt)) == (pulls, total)
    assert all(least <= steps <= most for steps in dealt)
    assert sum(least < steps < most for steps in dealt) <= 1
