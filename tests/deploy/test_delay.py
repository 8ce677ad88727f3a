"""Rewards that come late, and agents that decide at unlike rates: the desk, own clocks and the hooks, without stores or a wire.

Numbers are of fixed seeds. Margins say how far a run is from failing; where chance decides, the false-alarm rate is stated.
"""

import heapq
import random
from math import sqrt

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.contract import Setting
from coterie.deploy.desk import Desk
from coterie.deploy.stores.rewards import Queued
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.kernel import UNIT

MEANS = np.array([[0.62, 0.55, 0.50, 0.45, 0.30], [0.58, 0.57, 0.48, 0.47, 0.32], [0.60, 0.53, 0.52, 0.43, 0.31]])
FED, PR = ("fed-ucb", {"catch_up": False}), ("pr-ucb", {})


class Hospital:
    """An agent with a desk. What others say is heard before its next turn; meetings are under way for no time."""

    def __init__(self, method, i, key):
        self.agent = Agent(method.node, method.p, Keyed(key, i), rehearsal=True)
        for field, values in method.known.items():
            self.agent.open[field] = values[i]
        self.desk, self.heard, self.used, self.due = Desk(method.p.arms, in_turn=not method.node.commits), [], 0, []

    def begin(self):
        self.before = self.agent.give(), self.heard
        for turn, sender, data in self.heard:
            self.agent.hear(max(self.agent.t, turn), sender, data)
        self.heard = []
        self.agent.begin(self.agent.t + 1)
        self.desk.lay_out(self.agent.plan)

    def drop(self):
        """The plan leaves no trace."""
        state, heard = self.before
        self.agent.take(state)
        self.heard = heard + self.heard

    def ask(self):
        arm = self.desk.decide()
        return int(self.agent.plan.arm[0]) if arm is None else arm

    def end(self):
        sums = self.desk.serve()
        self.used += sum(pulls for pulls, _ in sums.values())
        self.agent.finish(None, sums)
        return self.agent.speak(self.agent.t)


def play(algorithm, decisions, rates=(1, 1, 1), lateness=lambda *_: 0.0, window=None, horizon=None, seed=1, means=MEANS):
    """Each hospital takes `rates` decisions in a unit of time. A reward counts when it has come, or after the window.

    Returns the hospitals, and of each the regret of a decision and the share that it has learned from.
    """
    name, options = algorithm
    entry, size = entries()[name], len(rates)
    setting = Setting(agents=size, arms=means.shape[1], horizon=horizon or decisions * max(rates), homogeneous=False)
    method, rng, key = entry.build(entry.options(**options), setting), random.Random(seed), keys_of(seeds_of(seed), 0)
    cast = [Hospital(method, i, key) for i in range(size)]
    for i, hospital in enumerate(cast):
        for j in range(size):
            if j != i:
                hospital.agent.know(j, origin=j)
        hospital.begin()
    mean, regret = means[:size].mean(axis=0), np.zeros(size)
    for now in range(decisions):
        for i, hospital in enumerate(cast):
            for part in range(rates[i]):
                time, arm = now + part / rates[i], hospital.ask()
                regret[i] += mean.max() - mean[arm]
                reward = float(rng.random() < means[i, arm])
                late = lateness(rng, reward) if window is None else window
                heapq.heappush(hospital.due, (time + late, rng.random(), arm, int(reward * UNIT)))
                take_turns(cast, i, time, method.meetings, rng)
    counts = np.array(rates) * decisions
    return cast, regret / counts, np.array([hospital.used for hospital in cast]) / counts


def take_turns(cast, i, time, meetings, rng):
    hospital, size = cast[i], len(cast)
    while True:
        while hospital.due and hospital.due[0][0] <= time:
            _, _, arm, steps = heapq.heappop(hospital.due)
            hospital.desk.add(Queued(0, arm, steps))
        if not hospital.desk.ready:
            return
        said = hospital.end()
        for other in cast:
            if said and other is not hospital:
                other.heard.append((hospital.agent.t, i, said))
        if meetings and size > 1 and rng.random() < 1 / size:
            meet(hospital, cast[(i + 1 + rng.randrange(size - 1)) % size])
        hospital.begin()


def meet(one, other):
    """Who is in a plan drops it, meets, and makes another."""
    other.drop()
    mine, theirs = one.agent.greet(one.agent.t), other.agent.greet(other.agent.t)
    one.agent.meet(one.agent.t, theirs)
    other.agent.meet(other.agent.t, mine)
    other.begin()


def some_time(rng, reward):
    """On average the time of 100 decisions."""
    return rng.expovariate(1 / 100)


LONG = pytest.mark.slow
CASES = [(FED, 1500), pytest.param(FED, 4000, marks=LONG), pytest.param(PR, 4000, marks=LONG)]


@pytest.mark.parametrize(("algorithm", "decisions"), CASES, ids=str)
def test_rewards_a_hundred_decisions_late_are_learned_from_and_cost_little(algorithm, decisions):
    _, at_once, all_used = play(algorithm, decisions)
    _, late, used = play(algorithm, decisions, lateness=some_time)
    assert all_used.min() > 0.99
    assert used.mean() >= 0.8
    assert late.mean() <= 2 * at_once.mean()


def test_a_delay_that_depends_on_the_reward_biases_what_is_counted_as_it_comes_and_not_what_waits_for_its_window():
    """A 1 comes at once, a 0 after 300 decisions. False alarm of the second part: below 1e-5 (three times five deviations)."""
    means, bad_news = np.array([[0.1, 0.2, 0.3]]), lambda rng, reward: 0.0 if reward else 300.0
    (hasty,), _, _ = play(("ucb1", {}), 600, (1,), bad_news, means=means)
    (patient,), _, used = play(("ucb1", {}), 2500, (1,), bad_news, window=300.0, means=means)
    assert all(hasty.agent.worth(k) > means[0, k] + 0.15 for k in range(3))
    assert used[0] > 0.6
    for k, mean in enumerate(means[0]):
        assert abs(patient.agent.worth(k) - mean) < 5 * sqrt(mean * (1 - mean) / patient.agent.open.count[k])


@pytest.mark.parametrize("algorithm", [FED, pytest.param(PR, marks=LONG)], ids=str)
def test_at_unlike_rates_the_slow_are_better_off_than_if_all_were_slow(algorithm):
    """Ten to one: those who decide often learn for all."""
    _, mixed, _ = play(algorithm, 300, rates=(10, 1, 1), horizon=4000)
    _, slow, _ = play(algorithm, 300, horizon=4000)
    assert mixed[1:].mean() < slow[1:].mean()
