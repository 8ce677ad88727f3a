"""Clients around a server: regret against a replay slot by slot, plans that do not fit, and who is invited to report."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from coterie.algorithms import entries
from coterie.contract import Setting, order
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.rehearsal import rounds_of
from coterie.engines.simulate import simulate_star
from coterie.engines.star import shuffle
from coterie.errors import AlgorithmError, CoterieError
from coterie.kernel import REWARD, UNIT, fold, node, one, side, stream
from coterie.problem import bernoulli
from coterie.problem.harvest import harvest_record

AGENTS, ARMS, HORIZON, SEED = 3, 4, 2500, 5
MEANS = np.array([[0.9, 0.7, 0.5, 0.1], [0.8, 0.8, 0.3, 0.2], [0.7, 0.6, 0.4, 0.0]])


def made(name, horizon=HORIZON, **options):
    entry = entries()[name]
    return entry.build(entry.options(**options), Setting(agents=AGENTS, arms=ARMS, horizon=horizon, components=(2, 1)))


class Replay:
    """A team of deployed agents that is asked for one arm per agent and slot, with all words counted."""

    def __init__(self, method, team, delay):
        key = keys_of(seeds_of(SEED), 0)
        self.key, self.team, self.delay, self.arms, self.words_up, self.words_down = key, team, delay, [], 0, 0
        self.clients = [Agent(method.node, method.p, Keyed(key, i), rehearsal=True) for i in team]
        self.server = Agent(method.server, method.p, Keyed(key, -1), rehearsal=True)
        for i, client in zip(team, self.clients, strict=True):
            self.server.know(i, voices=1)
            client.know("server")

    def run(self):
        t = 0
        while len(self.arms) < HORIZON:
            t += 1
            self.epoch(t)
        return self

    def epoch(self, t):
        decision = self.server.announce(t)
        self.words_down += len(self.team) * len(decision) // 8
        for client in self.clients:
            client.hear(t, "server", decision)
            client.begin(t)
        hands = [self.deal(i, client, t) for i, client in zip(self.team, self.clients, strict=True)]
        for _ in range(rounds_of(self.clients[0].plan)):
            if not self.slot(hands):
                return
        for client in self.clients:
            client.finish()
        for _ in range(self.delay):
            self.slot(hands)
        for i, client in zip(self.team, self.clients, strict=True):
            report = client.speak(t)
            self.words_up += len(report) // 8
            self.server.hear(t, i, report)
        self.server.release()

    def deal(self, i, client, t):
        """Rewards by arm, that add up to the simulator's sums."""
        world, harvest = bernoulli.world(MEANS).view(np.recarray)[i], one(harvest_record(client.p))
        bernoulli.draw(world, client.secret, client.plan, harvest, stream(self.key.world, i, REWARD, t))
        return {client.plan.arm[e]: [1.0] * (harvest.total[e] // UNIT) for e in range(client.plan.entries)}

    def slot(self, hands):
        """Everyone plays once, and is told at once; False when the horizon is reached."""
        if len(self.arms) == HORIZON:
            return False
        self.arms.append([])
        for client, hand in zip(self.clients, hands, strict=True):
            ticket, arm = client.ask()
            self.arms[-1].append(arm)
            client.tell(ticket, hand[arm].pop() if ticket and hand[arm] else 0.0)
        return True


CASES = [("cdp-mab", 0), ("ddp-mab", 7), ("hdp-mab", 100), ("single-mab", 0)]
GAPS = MEANS.mean(axis=0).max() - MEANS.mean(axis=0)


@cache
def both(name, delay):
    """The simulated run with a mark in every slot, and the replays of all teams."""
    method, marks = made(name), np.arange(1, HORIZON + 1)
    run = simulate_star(method, bernoulli, bernoulli.world(MEANS), AGENTS, HORIZON, marks, seed=SEED, delay=delay)
    teams = [[i] for i in range(AGENTS)] if name == "single-mab" else [list(range(AGENTS))]
    return run, [Replay(method, team, delay).run() for team in teams]


@pytest.mark.parametrize(("name", "delay"), CASES)
def test_regret_is_exact_in_every_slot(name, delay):
    run, replays = both(name, delay)
    arms = np.concatenate([replay.arms for replay in replays], axis=1)
    assert np.allclose(run.curves[0], GAPS[arms].sum(axis=1).cumsum(), rtol=0, atol=1e-9)
    assert run.tallies["rounds"][0] >= 2


@pytest.mark.parametrize(("name", "delay"), CASES)
def test_plays_of_the_last_tenth_are_those_of_its_slots(name, delay):
    run, replays = both(name, delay)
    arms = np.concatenate([replay.arms for replay in replays], axis=1)[-HORIZON // 10 :]
    assert run.late[0].tolist() == [np.bincount(own, minlength=ARMS).tolist() for own in arms.T]


@pytest.mark.parametrize(("name", "delay"), CASES)
def test_the_total_of_an_agent_is_its_regret_at_the_horizon_also_where_that_cuts_a_plan(name, delay):
    run, replays = both(name, delay)
    arms = np.concatenate([replay.arms for replay in replays], axis=1)
    assert np.allclose(run.totals[0], GAPS[arms].sum(axis=0), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "delay"), CASES)
def test_words_are_tallied_as_they_are_sent(name, delay):
    run, replays = both(name, delay)
    assert run.tallies["up_words"][0] == sum(replay.words_up for replay in replays) > 0
    assert run.tallies["down_words"][0] == sum(replay.words_down for replay in replays)


def test_marks_may_be_few_and_need_not_reach_the_horizon():
    method, worlds = made("ddp-mab"), bernoulli.world(MEANS)
    every, few = (
        simulate_star(method, bernoulli, worlds, AGENTS, HORIZON, marks, seed=SEED, delay=7).curves[0]
        for marks in (np.arange(1, HORIZON + 1), np.array([1, 2, 300, 301, 1999]))
    )
    assert few.tolist() == every[[0, 1, 299, 300, 1998]].tolist()


# --- plans that do not fit ----------------------------------------------------------------------------


@node
def order_unequal_pulls(open, p, t, die, plan):
    order(plan, 0, 2)
    order(plan, 1, 1)


@node
def order_unequal_lengths(open, p, t, die, plan):
    order(plan, 0, 1 + abs(die) % 1000)


@node
def order_nothing(open, p, t, die, plan):
    """A plan that takes no time would never reach the horizon."""


@node
def order_no_pulls(open, p, t, die, plan):
    order(plan, 0, 0)
    order(plan, 1, 0)


@pytest.mark.parametrize("choose", [order_unequal_pulls, order_unequal_lengths, order_nothing, order_no_pulls])
def test_uneven_plans_are_refused(choose):
    method = made("cdp-mab")
    uneven = method._replace(node=method.node._replace(choose=choose))
    about = (uneven, bernoulli, bernoulli.world(MEANS), AGENTS, HORIZON, np.array([HORIZON]))
    with pytest.raises(CoterieError, match="equally many rounds"):
        simulate_star(*about, seed=SEED, compiled=False)


@node
def order_too_much(open, p, t, die, plan):
    for k in range(100):
        order(plan, k % p.arms, 1)


@node
def order_no_arm(open, p, t, die, plan):
    order(plan, p.arms, 1)


@node
def order_less_than_nothing(open, p, t, die, plan):
    order(plan, 0, -1)


@pytest.mark.parametrize("choose", [order_too_much, order_no_arm, order_less_than_nothing])
def test_plans_that_cannot_be_carried_out_are_refused(choose):
    method = made("cdp-mab")
    wrong = method._replace(node=method.node._replace(choose=choose))
    about = (wrong, bernoulli, bernoulli.world(MEANS), AGENTS, HORIZON, np.array([HORIZON]))
    with pytest.raises(AlgorithmError, match="nothing may leave by a plan with more entries than arms"):
        simulate_star(*about, seed=SEED, compiled=False)
    client = Replay(wrong, [0], 0).clients[0]
    with pytest.raises(AlgorithmError, match="turn 1 has a plan with more entries than arms"):
        client.begin(1)


# --- who is invited -----------------------------------------------------------------------------------


def shuffled(key, size, count, draws):
    """[draw, place]: every draw goes on from the order that the last one left."""
    invited, seen = np.arange(2 + size), np.empty((draws, count), np.int64)
    for n in range(draws):
        shuffle(invited, 2, size, count, side(key, n))
        seen[n] = invited[2 : 2 + count]
    return seen, invited


@pytest.mark.parametrize(("size", "count"), [(4, 4), (5, 2), (6, 1)])
def test_every_order_of_those_invited_is_equally_likely(size, count):
    """Chi-squared, false alarm 1e-6."""
    seen, invited = shuffled(fold(1, size), size, count, 6000)
    orders = list(permutations(range(2, 2 + size), count))
    tally = dict.fromkeys(orders, 0)
    for row in seen.tolist():
        tally[tuple(row)] += 1
    assert chisquare(list(tally.values())).pvalue > 1e-6
    assert invited[:2].tolist() == [0, 1]
    assert sorted(invited) == list(range(2 + size))


def test_whoever_takes_turns_is_heard_once_in_every_cycle():
    """Three agents, one report an epoch: after three epochs every agent has said something once."""
    method = made("cdp-mab", participation=0.3, rotation=True)
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, HORIZON, np.array([HORIZON]))
    run = simulate_star(*about, seed=SEED, compiled=False)
    assert method.reporters == 1
    assert run.tallies["up_messages"][0] == run.tallies["rounds"][0] >= AGENTS
    assert run.servers["reports"][0, 0] in (0, AGENTS)
