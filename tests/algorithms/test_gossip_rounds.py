"""Gossip round by round, against a second program that follows the specification in plain floats.

The second program is handed the simulator's chance (rewards, drawn edges, picks among arms to catch up on) and nothing
else; its state is its own. Rewards are normal, so that no two arms tie by accident and rounding decides nothing. Lazy
edges leave agents with their own views for long, so that they have to catch up with one another.
"""

from functools import cache
from math import ceil, inf, log, sqrt
from types import SimpleNamespace

import networkx
import numpy as np
import pytest

from coterie.algorithms import find
from coterie.algorithms.gossip import innovate_privately, radius
from coterie.contract import Setting
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.simulate import Links, Weather, simulate_mesh
from coterie.kernel import CHOICE, NETWORK, REWARD, UNIT, pick, stream, uniform
from coterie.network import path
from coterie.problem import gaussian
from coterie.studies.case import reach

AGENTS, ARMS, ROUNDS, SEED = 5, 5, 300, 12
FINE, KEYS = 2**32, keys_of(seeds_of(SEED), 0)
MEANS = np.array(
    [
        [5.40, 2.10, 1.20, 4.50, 0.60],
        [2.70, 5.70, 2.40, 0.90, 1.80],
        [4.50, 1.20, 3.60, 1.80, 3.00],
        [1.20, 4.80, 0.60, 5.40, 1.80],
        [5.70, 1.80, 4.20, 0.60, 1.20],
    ]
)  # far apart, so that agents prefer different arms also where radii are wide
SIGMA = 0.5
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4)]
WORLD = gaussian.world(MEANS, sigma=SIGMA)
RADII = {
    "paper": lambda t, n: sqrt(2 * AGENTS / n * log(t)),
    "tuned": lambda t, n: sqrt(4 * log(t) * SIGMA**2 * (1 / (AGENTS * n) + 1 / n**2)),
}


def method(name, **options):
    entry = find(name)
    return entry.build(entry.options(**options), Setting(AGENTS, ARMS, ROUNDS, low=-inf, high=inf, proxy=SIGMA))


def links(meetings=1) -> Links:
    return reach([path(AGENTS)], 1, 1)._replace(meetings=meetings)


def simulate(made, horizon, marks=(1,), **how):
    about = (made, gaussian, WORLD, AGENTS, horizon, np.array(marks), links(made.meetings))
    return simulate_mesh(*about, weather=Weather(made.active), seed=SEED, **how)


@cache
def simulated(radius, active):
    """After every round 0..ROUNDS: the open state, and how often each arm was played in the last tenth of so many rounds."""
    runs = (simulate(method("gossip-ucb", radius=radius, active=active), t) for t in range(ROUNDS + 1))
    return [(run.opens[0], run.late[0]) for run in runs]


class Plain:
    """An agent of the second program."""

    def __init__(self):
        self.counts, self.beliefs = [0] * ARMS, [1] * ARMS
        self.totals, self.means, self.estimates = [0.0] * ARMS, [0.0] * ARMS, [0.0] * ARMS

    def pull(self, i, arm, t):
        """One reward; returns how far the running mean has moved."""
        plan, harvest = SimpleNamespace(entries=1, arm=[arm], pulls=[1]), SimpleNamespace(total=[0])
        gaussian.draw(WORLD.view(np.recarray)[i], None, plan, harvest, stream(KEYS.world, i, REWARD, t))
        self.counts[arm] += 1
        self.totals[arm] += harvest.total[0] / UNIT
        before, self.means[arm] = self.means[arm], self.totals[arm] / self.counts[arm]
        return self.means[arm] - before


def followed(radius, active):
    """[((beliefs, counts, estimates), arms, how many catch up)] after every round, by the specification."""
    team, told = [Plain() for _ in range(AGENTS)], []
    for i, agent in enumerate(team):
        for arm in range(ARMS):
            agent.estimates[arm] = agent.pull(i, arm, 0)
    for t in range(1, ROUNDS + 1):
        told.append(one_round(team, t, RADII[radius], active))
    return told


def one_round(team, t, radius, active):
    heard = [list(agent.beliefs) for agent in team]
    arms, late = [], 0
    for i, agent in enumerate(team):
        near = [heard[j] for j in (i - 1, i, i + 1) if 0 <= j < AGENTS]
        agent.beliefs = [max(n, *(belief[k] for belief in near)) for k, n in enumerate(agent.counts)]
        behind = [k for k in range(ARMS) if agent.counts[k] < agent.beliefs[k] - AGENTS]
        index = [agent.estimates[k] + radius(t, agent.counts[k]) for k in range(ARMS)]
        arms.append(behind[pick(stream(KEYS.dice, i, CHOICE, t), 0, len(behind))] if behind else int(np.argmax(index)))
        late += bool(behind)
    news = [agent.pull(i, arms[i], t) for i, agent in enumerate(team)]
    die = stream(KEYS.world, 0, NETWORK, t)
    one, other = EDGES[pick(die, 0, len(EDGES))]
    if uniform(die, 1) < active:
        between = [(a + b) / 2 for a, b in zip(team[one].estimates, team[other].estimates, strict=True)]
        team[one].estimates, team[other].estimates = list(between), list(between)
    for i, agent in enumerate(team):
        agent.estimates[arms[i]] += news[i]
    return [[list(getattr(a, part)) for a in team] for part in ("beliefs", "counts", "estimates")], arms, late


@pytest.mark.parametrize("active", [1.0, 0.02])
@pytest.mark.parametrize("radius", RADII)
def test_every_round_is_that_of_the_specification(radius, active):
    caught_up, played = 0, []
    for (open, plays), ((beliefs, counts, estimates), arms, late) in zip(
        simulated(radius, active)[1:], followed(radius, active), strict=True
    ):
        played.append(arms)
        last = played[-ceil(len(played) / 10) :]
        assert plays.tolist() == [[own.count(k) for k in range(ARMS)] for own in zip(*last, strict=True)]
        assert open["pulls"][:, :ARMS].tolist() == counts
        assert open["belief"][:, :ARMS].tolist() == beliefs
        assert np.abs(open["estimate"][:, :ARMS] / FINE - estimates).max() < 1e-6
        caught_up += late
    assert caught_up > 50 or active == 1.0
    assert len(set(map(tuple, played))) > 20


@pytest.mark.parametrize("radius", RADII)
def test_a_belief_is_the_largest_count_as_old_as_its_way_is_long(radius):
    hops = dict(networkx.all_pairs_shortest_path_length(networkx.path_graph(AGENTS)))
    told = [open for open, _ in simulated(radius, 0.02)]
    counts, differ = [open["pulls"] for open in told], 0
    for t in range(1, ROUNDS + 1):
        for i in range(AGENTS):
            old = np.max([counts[max(0, t - 1 - hops[j][i])][j] for j in range(AGENTS)], axis=0)
            assert told[t]["belief"][i].tolist() == old.tolist()
            differ += (old != counts[t - 1][i]).any()
    assert differ > ROUNDS


@pytest.mark.parametrize("mode", ["private", "paper"])
@pytest.mark.parametrize("radius", RADII)
def test_an_infinite_epsilon_is_gossip_without_privacy_to_the_byte(radius, mode):
    runs = [
        simulate(made, 2000, (10, 100, 2000), replications=2)
        for made in (method("gossip-ucb", radius=radius), method("fed-ucb", epsilon=inf, radius=radius, mode=mode))
    ]
    for part in ("opens", "curves", "totals", "late", "secrets", "inners", "tallies"):
        assert getattr(runs[0], part).tobytes() == getattr(runs[1], part).tobytes()


def test_a_finite_epsilon_is_not_gossip_without_privacy():
    """The comparison above would notice noise."""
    plain, noised = (simulate(method(*about), 60, compiled=False) for about in (("gossip-ucb",), ("fed-ucb",)))
    assert plain.opens["estimate"].tobytes() != noised.opens["estimate"].tobytes()


@pytest.mark.parametrize("mode, radius", [("private", "tuned"), ("paper", "paper")])
def test_each_mode_has_its_own_radius_unless_one_is_asked_for(mode, radius):
    given, default = (method("fed-ucb", epsilon=inf, mode=mode, **more).p for more in ({"radius": radius}, {}))
    assert given == default


def test_without_catching_up_agents_that_differ_drift_apart():
    far = {}
    for catch_up in (True, False):
        pulls = simulate(method("gossip-ucb", catch_up=catch_up, active=0.02), ROUNDS).opens["pulls"]
        far[catch_up] = int((pulls.max(axis=1) - pulls.min(axis=1)).max())
    assert far[True] <= (3 * ARMS + 1) * AGENTS < far[False]


# --- the radii ------------------------------------------------------------------------------------------


def fed_radius(t, n, epsilon, least):
    """Section 4 of the specification, but for the part that is the same for all arms."""
    privacy = 128 * AGENTS * log(ROUNDS) ** 2 * log(t) * log(max(n, least)) / (n**2 * epsilon**2)
    return sqrt(2 * AGENTS * (privacy + 1 / n) * log(t))


@pytest.mark.parametrize("mode, least", [("private", 2), ("paper", 1)])
@pytest.mark.parametrize("t, n, epsilon", [(1, 1, 1.0), (2, 1, 1.0), (7, 2, 0.5), (300, 41, 2.0), (250, 3, 5.0)])
def test_the_printed_radius_is_the_formula(mode, least, t, n, epsilon):
    made = method("fed-ucb", mode=mode, radius="paper", mechanism="tree", epsilon=epsilon)
    assert radius_of(made, t, n, 0.0) == pytest.approx(fed_radius(t, n, epsilon, least), rel=1e-12)


@pytest.mark.parametrize("t, n, variance, factor", [(1, 1, 2.0, 1.0), (9, 4, 0.0, 1.0), (300, 17, 12.5, 0.5)])
def test_the_tuned_radius_counts_rewards_disagreement_and_noise(t, n, variance, factor):
    made = method("fed-ucb", epsilon=1.0, factor=factor)
    parts = SIGMA**2 / (AGENTS * n) + SIGMA**2 / n**2 + variance / (AGENTS * n**2)
    assert radius_of(made, t, n, variance) == pytest.approx(factor * sqrt(4 * log(t) * parts), rel=1e-12)


def radius_of(made, t, n, variance):
    open = np.zeros(1, made.node.open(made.p)).view(np.recarray)[0]
    innovate_privately(open, made.p, 0, 0, n, variance)
    return radius(open, made.p, log(t), 0)
