"""Decisions of the cooperative algorithms, round by round, against a plain reference that is written from their definitions.

This file stands in for the kind of rewards and for the noise of the door: it keeps a tape of every pull, its reward, and every
number that passes the door. The reference reads rewards and noise off the tape and must make every decision again. It keeps
whole tables of messages by round, knows distances from another library, and uses floating-point means where the algorithm
uses integer sums.
"""

import sys
from collections import defaultdict
from math import ceil, inf, log, sqrt

import networkx
import numpy as np
import pytest
from numpy import int64

from coterie.algorithms import find
from coterie.algorithms.cooperative import PRIVATE, accounts, commit, pay, pivots
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.kernel import UNIT, discrete_laplace, node, side
from coterie.network import erdos_renyi
from coterie.privacy.mechanisms import LAPLACE
from coterie.problem import bernoulli
from coterie.problem.bernoulli import lay_out, reach, regret, regret_until, violates  # noqa: F401
from coterie.studies.case import reach as links_within
from coterie.theory.cooperative import losses, multiples, release_counts

MEANS = np.array([[0.75, 0.6, 0.5, 0.45, 0.2]])
ARMS, AGENTS = 5, 6
GRAPH = erdos_renyi(AGENTS, np.random.default_rng(2), 0.35)
HOPS = dict(networkx.all_pairs_shortest_path_length(networkx.Graph(GRAPH.edges.tolist())))
TAPE: list = []  # of turns, in the order of rounds and agents: [arm, reward, [(arm, exact sum, noise, scale), ...]]


@node
def draw(world, secret, plan, harvest, die):
    bernoulli.draw(world, secret, plan, harvest, die)
    TAPE.append((int(plan.arm[0]), harvest.total[0] / UNIT, []))


@node
def taped_laplace(out, secret, die, lasting):
    for e in range(out.entries):
        scale = out.sensitivity[e] / out.price[e]
        noise = int(discrete_laplace(side(die, e), UNIT * scale)) if scale > 0 else 0
        TAPE[-1][2].append((int(out.arm[e]), out.value[e] / UNIT, noise / UNIT, float(scale)))
        out.value[e] += noise


def build(name, horizon=400, **options):
    entry = find(name)
    return entry.build(entry.options(**options), Setting(AGENTS, ARMS, horizon))


def run(method, horizon, life=2):
    """(the run, [round][agent] of its tape)."""
    TAPE.clear()
    taped = method._replace(node=method.node._replace(mechanism=LAPLACE._replace(add=taped_laplace)))
    about = (taped, sys.modules[__name__], bernoulli.world(MEANS), AGENTS, horizon, np.array([horizon]))
    done = simulate_mesh(*about, links_within([GRAPH], life, life), seed=11, compiled=False)
    return done, [TAPE[t * AGENTS : (t + 1) * AGENTS] for t in range(horizon)]


def best(index):
    """The lowest of the largest."""
    return index.index(max(index))


def bound(total, count, t):
    return total / count + sqrt(2 * log(t) / count) if count > 0 else inf


class Reference:
    """One agent of the private algorithm as printed, or corrected; without noise and with every release it is Coop-UCB."""

    def __init__(self, epsilon, rate, corrected):
        self.epsilon, self.rate, self.corrected = epsilon, rate, corrected
        self.pulls, self.total = [0] * ARMS, [0.0] * ARMS
        self.released = [(0, 0.0)] * ARMS  # count and mean
        self.income = [0.0] * ARMS  # since the last release

    def index(self, k, words, t):
        """`words` are tables of (count, mean) of all within reach."""
        count, total = (self.released[k][0], self.released[k][0] * self.released[k][1]) if self.corrected else (
            self.pulls[k], self.total[k])  # fmt: skip
        return bound(total + sum(table[k][0] * table[k][1] for table in words), count + sum(table[k][0] for table in words), t)

    def decide(self, words, t):
        if t <= ARMS * ceil(1 / self.epsilon):
            return (t - 1) % ARMS
        return best([self.index(k, words, t) for k in range(ARMS)])

    def pull(self, k, reward):
        """Whether the arm is released now."""
        self.pulls[k] += 1
        self.total[k] += reward
        self.income[k] += self.pulls[k] ** (-self.rate / 2)
        return self.income[k] >= self.pulls[k] ** (-self.rate / 2) / self.epsilon * (1 - 1e-12)

    def release(self, k, noise):
        self.released[k], self.income[k] = (self.pulls[k], self.total[k] / self.pulls[k] + noise), 0.0

    def word(self):
        """As printed, a stale mean travels with the current count."""
        if self.corrected:
            return list(self.released)
        return [(self.pulls[k] if count > 0 else 0, mean) for k, (count, mean) in enumerate(self.released)]


def replay(tape, epsilon, rate=1.1, corrected=False, life=2, scale=1.0, before_pull=None):
    """Make all decisions again; the noise of a released mean must have the scale n^(v/2 - 1), times `scale`."""
    agents, words = [Reference(epsilon, rate, corrected) for _ in range(AGENTS)], defaultdict(lambda: [(0, 0.0)] * ARMS)
    for t, turns in enumerate(tape, start=1):
        for i, (arm, reward, passed) in enumerate(turns):
            heard = [words[j, t - d] for j, d in HOPS[i].items() if 1 <= d <= life]
            assert agents[i].decide(heard, t) == arm, (t, i)
            if before_pull:
                before_pull(agents[i], i, heard, t, arm)
            due = agents[i].pull(arm, reward)
            assert len(passed) == int(due), (t, i)
            for k, exact, noise, width in passed:
                n = agents[i].pulls[arm]
                assert (k, exact) == (arm, agents[i].total[arm])
                assert width / n == pytest.approx(scale * n ** (rate / 2 - 1), rel=1e-9)
                agents[i].release(arm, noise / n)
        for i in range(AGENTS):
            words[i, t] = agents[i].word()
    return agents


# --- no noise ---------------------------------------------------------------------------------------------


def test_ucb1_plays_every_arm_once_and_then_the_largest_index():
    _, tape = run(build("ucb1"), 80, life=0)
    for i in range(AGENTS):
        pulls, total = [0] * ARMS, [0.0] * ARMS
        for t, turns in enumerate(tape, start=1):
            arm, reward, _ = turns[i]
            assert arm == (t - 1 if t <= ARMS else best([bound(total[k], pulls[k], t) for k in range(ARMS)]))
            pulls[arm] += 1
            total[arm] += reward


@pytest.mark.parametrize("life", [1, 2, 3])
def test_coop_ucb_adds_up_exact_counts_and_sums_with_their_delays(life):
    """The private reference, with every pull released, is the exact one where nothing is noise."""
    ended, tape = run(build("coop-ucb"), 60, life)
    agents = replay(tape, 1.0, life=life, scale=0.0)
    assert [agent.pulls for agent in agents] == ended.opens["pulls"][0, :, :ARMS].tolist()


def test_coop_ucb_without_life_is_ucb1():
    assert run(build("coop-ucb"), 60, 0)[1] == run(build("ucb1"), 60, 0)[1]


@pytest.mark.parametrize("name", ["private-ucb", "dp-ucb-int"])
def test_without_privacy_nothing_is_noised(name):
    life = 2 if name == "private-ucb" else 0
    assert run(build(name, epsilon=inf), 40, life)[1] == run(build("coop-ucb"), 40, life)[1]


# --- the private algorithm --------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon, rate, horizon", [(1.0, 1.1, 60), (0.4, 1.4, 70)])
def test_private_ucb_as_printed_makes_the_decisions_of_its_definition(epsilon, rate, horizon):
    """Own rewards raw; the means of others as last released, with current counts."""
    _, tape = run(build("private-ucb", mode="paper", epsilon=epsilon, rate=rate), horizon)
    replay(tape, epsilon, rate)
    assert len({arm for turns in tape[-10:] for arm, *_ in turns}) > 1


@pytest.mark.parametrize("epsilon, rate, horizon", [(1.0, 1.1, 60), (0.4, 1.4, 70)])
def test_private_ucb_corrected_decides_from_releases_alone(epsilon, rate, horizon):
    """Own and received means as released, with the counts at the release."""
    _, tape = run(build("private-ucb", mode="corrected", epsilon=epsilon, rate=rate), horizon)
    replay(tape, epsilon, rate, corrected=True)


def test_private_ucb_in_its_own_mode_differs_from_the_corrected_one_by_the_scale_of_noise_alone():
    method = build("private-ucb", epsilon=3.0, nominal=0.5)
    _, tape = run(method, 60)
    replay(tape, 0.5, corrected=True, scale=release_counts(0.5, 1.1, 400).cost / 3.0)


@pytest.mark.parametrize("epsilon", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("mode", ["paper", "corrected"])
def test_everyone_goes_round_the_arms_first(mode, epsilon):
    """For K ceil(1 / epsilon) rounds: the forced exploration that makes a small epsilon dear."""
    rounds = ARMS * ceil(1 / epsilon)
    _, tape = run(build("private-ucb", mode=mode, epsilon=epsilon), rounds + 6)
    assert all(arm == (t - 1) % ARMS for t, turns in enumerate(tape[:rounds], start=1) for arm, *_ in turns)
    assert any(arm != (t - 1) % ARMS for t, turns in enumerate(tape, start=1) for arm, *_ in turns)


def test_kept_noise_is_one_draw_for_each_agent_and_arm():
    """Released sums at n pulls are off by n^(v/2) times the same number."""
    method, drawn = build("private-ucb", mode="corrected", noise="kept"), {}
    for horizon in (30, 60):
        ended = simulate_mesh(method, bernoulli, bernoulli.world(MEANS), AGENTS, horizon, np.array([horizon]),
                              links_within([GRAPH], 2, 2), seed=11, compiled=False)  # fmt: skip
        for i in range(AGENTS):
            for k in range(ARMS):
                n = int(ended.opens["count"][0, i, k])
                noise = (ended.opens["total"][0, i, k] - ended.secrets["total"][0, i, k]) / UNIT / n**0.55
                assert n == ended.opens["pulls"][0, i, k]  # epsilon = 1: every pull is released
                assert drawn.setdefault((i, k), noise) == pytest.approx(noise, abs=2 / UNIT)
    assert len({round(noise, 3) for noise in drawn.values()}) == AGENTS * ARMS


# --- rounds in which one own reward decides ---------------------------------------------------------------


def test_pivotal_rounds_are_those_in_which_another_own_reward_would_have_changed_the_choice():
    """By brute force: every reward an agent has had is turned round, and the decision made again."""
    counted = [0] * AGENTS

    def turn_round(agent, i, heard, t, arm):
        if t <= ARMS * ceil(1 / agent.epsilon):
            return
        for k in range(ARMS):
            ones = round(agent.total[k])
            for change in [-1.0] * (ones > 0) + [1.0] * (ones < agent.pulls[k]):
                agent.total[k] += change
                other = agent.decide(heard, t)
                agent.total[k] -= change
                if other != arm:
                    counted[i] += 1
                    return

    ended, tape = run(build("private-ucb", mode="paper", epsilon=0.5), 70)
    replay(tape, 0.5, before_pull=turn_round)
    assert ended.inners["pivotal"][0].tolist() == counted
    assert min(counted) > 0 and max(counted) < 60


def test_a_summary_tells_losses_and_the_share_of_agents_with_a_pivotal_round():
    inners = np.zeros((2, 4), [("pivotal", int64)])
    inners["pivotal"][0] = [0, 3, 1, 0]
    found = pivots(inners, np.zeros((2, 4)))
    assert found["pivotal_share"].tolist() == [0.5, 0.0]
    assert found["pivotal_rounds"].tolist() == [1.0, 0.0]
    assert list(accounts(0.1, 1.1, 1000).values()) == list(losses(0.1, 1.1, 1000, 1e-5))


# --- what is spent ----------------------------------------------------------------------------------------


@node
def stubborn(open, p, t, die, plan):
    """The dearest case: one arm in every round."""
    commit(open, plan, 0)
    pay(open, p)


@node
def stubborn_single(open, p, t, die, plan):
    commit(open, plan, 0)


def spent_by(method, rounds):
    agent, spent = Agent(method.node, method.p, Keyed(keys_of(seeds_of(1), 0), 0), rehearsal=True), []
    for t in range(1, rounds + 1):
        agent.begin(t)
        agent.tell(agent.ask()[0], t % 2)
        agent.finish()
        spent.append(float(agent.ledger.loss[0, 0]))
    return agent, spent


@pytest.mark.parametrize(("epsilon", "nominal"), [(0.05, 1.0), (1.0, 0.3), (7.0, 0.1)])
def test_prices_add_up_to_the_stated_epsilon_at_the_horizon_and_not_before(epsilon, nominal):
    method = build("private-ucb", horizon=400, epsilon=epsilon, nominal=nominal)
    agent, spent = spent_by(method._replace(node=PRIVATE._replace(choose=stubborn)), 400)
    schedule = release_counts(nominal, 1.1, 400)
    assert agent.ledger.entries[0, 0] == len(schedule.pulls)
    assert (np.flatnonzero(np.diff(spent, prepend=0.0)) + 1).tolist() == schedule.pulls.tolist()
    assert spent[-1] == pytest.approx(epsilon, rel=1e-12)
    assert spent[-2] <= epsilon * (1 + 1e-12) and spent[schedule.pulls[-1] - 2] < epsilon


@pytest.mark.parametrize("nominal", [1.0, 0.3])
def test_looks_of_a_single_agent_add_up_to_the_stated_epsilon(nominal):
    method = build("dp-ucb-int", horizon=400, epsilon=2.0, nominal=nominal)
    _, spent = spent_by(method._replace(node=method.node._replace(choose=stubborn_single)), 400)
    looks = multiples(ceil(1 / nominal), 1.1, 400)
    assert (np.flatnonzero(np.diff(spent, prepend=0.0)) + 1).tolist() == looks.pulls.tolist()
    assert spent[-1] == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("name", ["private-ucb", "dp-ucb-int"])
def test_no_ledger_exceeds_the_stated_epsilon(name):
    ended, _ = run(build(name, horizon=90, epsilon=0.7, nominal=1.0), 90)
    assert 0.3 < ended.ledgers["loss"].max() <= 0.7 * (1 + 1e-12)


@pytest.mark.parametrize("name", ["private-ucb", "dp-ucb-int"])
def test_a_horizon_that_is_too_short_for_a_release_costs_nothing(name):
    ended, _ = run(build(name, horizon=6), 6)
    assert not ended.ledgers["entries"].any()


# --- a single agent's noised means ------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1.0, 0.4])
@pytest.mark.parametrize("reading", ["live", "frozen", "fresh"])
def test_the_three_readings_of_dp_ucb_int_make_the_decisions_of_their_definitions(reading, epsilon):
    """Every look of an agent at an arm must pass the door when the definition asks for it, and at no other time.

    `live` and `frozen` look once at every multiple f of pulls, also in the first K f rounds (their first look is then there
    in time); `fresh` looks in every later round that finds a multiple.
    """
    every, rate = ceil(1 / epsilon), 1.2
    _, tape = run(build("dp-ucb-int", mode="paper", epsilon=epsilon, rate=rate, reading=reading), 60, life=0)
    choices = set()
    for i in range(AGENTS):
        pulls, total, mean, index, seen_at = [0] * ARMS, [0.0] * ARMS, [0.0] * ARMS, [0.0] * ARMS, [0] * ARMS
        looks = {}
        for t, turns in enumerate(tape, start=1):
            arm, reward, passed = turns[i]
            if t > ARMS * every:
                for k in range(ARMS):
                    due = pulls[k] % every == 0 and (reading == "fresh" or seen_at[k] != pulls[k])
                    if due:
                        exact, noise, scale = looks.pop(k)
                        assert exact == total[k]
                        assert scale / pulls[k] == pytest.approx(pulls[k] ** (rate / 2 - 1), rel=1e-9)
                        mean[k], seen_at[k] = (exact + noise) / pulls[k], pulls[k]
                    if due or reading == "live":
                        index[k] = mean[k] + sqrt(2 * log(t) / pulls[k])
                assert looks == {}
                choices.add(arm)
            assert arm == (best(index) if t > ARMS * every else (t - 1) % ARMS), (i, t)
            pulls[arm] += 1
            total[arm] += reward
            looks |= {k: seen for k, *seen in passed}
    assert len(choices) > 1


def test_noise_drawn_again_and_again_is_refused_where_privacy_is_stated():
    with pytest.raises(UsageError, match="reading must be live or frozen in mode = 'private', got 'fresh'"):
        build("dp-ucb-int", reading="fresh")


def test_a_printed_epsilon_above_one_is_refused():
    with pytest.raises(UsageError, match=r"epsilon must be <= 1 in mode = 'paper', where it spaces the releases, got 1\.5"):
        build("private-ucb", mode="paper", epsilon=1.5)
    assert build("private-ucb", epsilon=1.5).claim.epsilon == 1.5


@pytest.mark.parametrize("nominal", [1.0, 0.1])
def test_alone_the_corrected_form_with_every_pull_released_is_dp_ucb_int(nominal):
    """Both decide from (mean at release, count); with epsilon = 1 that is the current count."""
    corrected = run(build("private-ucb", mode="corrected", epsilon=nominal), 70, life=0)[1]
    single = run(build("dp-ucb-int", mode="paper", epsilon=nominal), 70, life=0)[1]
    assert (corrected == single) == (nominal == 1.0)
