"""Privacy of gossip: one changed reward, the noise that hides it, and what is said about it.

A whole federation lives twice. In its second life one reward of agent 0 is turned round and the noise of the numbers that
cover it is shifted by the difference. Everything that anyone sees must then be the same, and the shift must cost no more
than the claim. (For streams, where a shift by a column of R moves all later sums alike: tests/privacy/test_streams.py.)
"""

from functools import partial
from math import inf
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.rehearsal import rehearse_mesh
from coterie.engines.simulate import simulate_mesh
from coterie.kernel import REWARD, UNIT, fold, stream
from coterie.network import complete
from coterie.problem import bernoulli
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import make_case, reach

AGENTS, ARMS, ROUNDS, EPSILON = 3, 4, 60, 2.0
MEANS = np.array([[0.9, 0.3, 0.4, 0.2], [0.8, 0.4, 0.3, 0.3], [0.7, 0.5, 0.4, 0.1]])
MECHANISMS = ("blocks", "tree", "digits", "root")


def build(**options):
    entry = find("fed-ucb")
    return entry.build(entry.options(epsilon=EPSILON, **options), Setting(AGENTS, ARMS, ROUNDS))


# --- two lives --------------------------------------------------------------------------------------------


class Change(NamedTuple):
    """The n-th reward of an arm of agent 0 is turned round. `drawn` is the noise of its first life."""

    arm: int
    nth: int
    drawn: list


class Door:
    """Keyed chance whose noise is written down, or that of another life, shifted so that the change does not show."""

    rehearsed = True

    def __init__(self, chance, change=None):
        self.chance, self.node, self.die, self.idle_die = chance, chance.node, chance.die, chance.idle_die
        self.change, self.difference, self.cost, self.drawn = change, 0, 0.0, []

    def noise(self, mechanism, secret, t, out):
        exact = out.value[: out.entries].copy()
        if self.change is None:
            self.chance.noise(mechanism, secret, t, out)
        else:
            out.value[: out.entries] += self.change.drawn[len(self.drawn)]
            self.hide(out, mechanism.covers == "stream")
        self.drawn.append(out.value[: out.entries] - exact)

    def hide(self, out, stream):
        arm, nth, _ = self.change
        for e in range(out.entries):
            first, last = (1, out.first[e]) if stream else (out.first[e], out.last[e])
            if out.arm[e] == arm and first <= nth <= last and out.price[e] < inf:
                out.value[e] -= self.difference
                spent = abs(self.difference) / (UNIT * out.sensitivity[e]) * out.price[e]
                self.cost = max(self.cost, spent) if stream else self.cost + spent


class Watched(Agent):
    """An agent of which all is kept that others see: its choices and what it shows them."""

    def __init__(self, role, p, chance, reach, holders, change=None):
        door = Door(chance, change if chance.node == 0 else None)
        super().__init__(role, p, door, rehearsal=True, reach=reach, holders=holders)
        self.seen, self.told, self.others = [], [0] * ARMS, {None: 0.0}

    def begin(self, t):
        super().begin(t)
        self.seen.append(self.plan.arm[: self.plan.entries].tolist())

    def tell(self, ticket, reward):
        change, arm = self.chance.change, self.waiting.get(ticket)
        if ticket in self.others:  # a reward that is told again
            reward = self.others[ticket]
        elif arm is not None:
            self.told[arm] += 1
            if change and (arm, self.told[arm]) == change[:2]:
                self.chance.difference, reward = UNIT * (1 - 2 * reward), 1.0 - reward
            self.others[ticket] = reward
        super().tell(ticket, reward)

    def speak(self, t):
        self.seen.append(super().speak(t))
        return self.seen[-1]

    def greet(self, t):
        self.seen.append(super().greet(t))
        return self.seen[-1]


def live(method, change=None):
    links = reach([complete(AGENTS)], 1, 1)._replace(meetings=method.meetings)
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, ROUNDS, links)
    return rehearse_mesh(*about, seed=4, make=partial(Watched, change=change)).agents


def changes(first):
    """First and last rewards, and of the arm pulled most those around a release of a block."""
    yield from ((0, nth) for nth in (1, 3, 4, first.told[0]))
    yield from ((1, 1), (ARMS - 1, first.told[ARMS - 1]))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_changed_reward_can_be_hidden_from_all_who_watch_at_the_price_that_is_claimed(mechanism):
    method = build(mechanism=mechanism)
    before = live(method)
    costs = []
    for arm, nth in changes(before[0]):
        after = live(method, Change(arm, nth, before[0].chance.drawn))
        assert after[0].chance.difference in (UNIT, -UNIT)
        assert [agent.seen for agent in after] == [agent.seen for agent in before]
        assert [agent.open.tobytes() for agent in after] == [agent.open.tobytes() for agent in before]
        assert [agent.ledger.tobytes() for agent in after] == [agent.ledger.tobytes() for agent in before]
        costs.append(after[0].chance.cost)
    paid = max(costs)
    assert paid <= before[0].ledger.loss.sum(axis=1).max() * (1 + 1e-12)
    assert paid == pytest.approx({"tree": method.p.price * before[0].told[0].bit_length()}.get(mechanism, method.p.price))
    assert before[0].told[0] > 16


def test_without_the_shift_the_change_is_seen(monkeypatch):
    """So the lives above are the same because of the noise, and not because nobody looks."""
    monkeypatch.setattr(Door, "hide", lambda *_: None)
    method = build(mechanism="tree")
    before = live(method)
    after = live(method, Change(0, 1, before[0].chance.drawn))
    assert [agent.seen for agent in after] != [agent.seen for agent in before]


def test_as_printed_no_shift_hides_a_first_reward_and_the_ledger_knows():
    method = build(mode="paper")
    before = live(method)
    for arm in range(ARMS):
        after = live(method, Change(arm, 1, before[0].chance.drawn))
        assert [agent.seen for agent in after] != [agent.seen for agent in before]
    assert (before[0].ledger.loss[:ARMS, 0] == inf).all()


def test_one_reward_cannot_move_a_sum_further_than_the_noise_allows_for():
    """Rewards are rounded to the grid, also where the ends of their range are not on it."""
    study = gossip_study({"name": "fed-ucb"}, clip=[-0.00001, 1.00001], kind="gaussian", sigma=50.0)
    made = make_case(study.specification, study.specification.rows[0], 0)
    drawn = {reward(made, t) for t in range(40)}
    assert len(drawn) == 2  # the two ends
    assert max(drawn) - min(drawn) <= UNIT * made.problem.reach(made.worlds, ARMS) == UNIT * made.method.p.reach


def reward(made, t):
    plan, harvest = SimpleNamespace(entries=1, arm=[0], pulls=[1]), SimpleNamespace(total=[0])
    made.problem.draw(made.worlds.view(np.recarray)[0], None, plan, harvest, stream(fold(1, 0), 0, REWARD, t))
    return harvest.total[0]


# --- what is said -----------------------------------------------------------------------------------------


def gossip_study(*algorithms, **problem):
    about = {"means": MEANS.tolist(), **problem}
    return load_study({"horizon": ROUNDS, "replications": 1, "problem": about, "algorithm": list(algorithms)})


@pytest.fixture
def privacy(monkeypatch):
    """The statement of the only row of a small study, run interpreted."""
    monkeypatch.setattr(case_module, "simulate_mesh", partial(simulate_mesh, compiled=False))

    def of(problem, **options):
        return gossip_study({"name": "fed-ucb", "epsilon": EPSILON, **options}, **problem).run(workers=1).summary[0]["privacy"]

    return of


NORMAL, CLIPPED = {"kind": "gaussian"}, {"kind": "gaussian", "clip": [-2, 3]}
FIRST_REWARD = "not private: first reward of each arm is sent without noise"
UNBOUNDED = "noise level, not a guarantee: rewards are not bounded"


@pytest.mark.parametrize("problem", [{}, CLIPPED], ids=["coins", "normal, clipped"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_was_spent_is_what_was_claimed(mechanism, problem, privacy):
    """All but the tree spend it all; the tree has levels that short streams do not reach."""
    said = privacy(problem, mechanism=mechanism)
    assert said["private"] is True
    assert said["claimed"] == {"epsilon": EPSILON, "delta": 1e-6 if mechanism == "root" else 0.0}
    spent = said["accounted"]["epsilon"]
    assert spent <= EPSILON
    assert spent == EPSILON or mechanism in ("tree", "root")
    assert spent > EPSILON - 1e-9 or mechanism == "tree"
    assert said["accounted"]["delta"] == said["claimed"]["delta"]
    assert said["unit"] == "one reward of one agent"
    assert said["adversary"].startswith("anyone who sees every message, count, arm and time")


def test_a_tree_spends_one_share_on_every_level_that_was_reached(privacy):
    levels = (ROUNDS + 1).bit_length()
    spent = privacy({}, mechanism="tree")["accounted"]["epsilon"]
    assert spent / EPSILON * levels == pytest.approx(round(spent / EPSILON * levels), abs=1e-9)
    assert EPSILON / levels < spent <= EPSILON


def test_as_printed_it_is_not_private_and_the_reason_is_told(privacy):
    said = privacy({}, mode="paper")
    assert (said["private"], said["accounted"]["epsilon"]) == (False, None)
    assert said["note"] == f"{FIRST_REWARD}. no finite epsilon holds: a number leaves an agent without noise"
    assert said["claimed"] == {"epsilon": EPSILON, "delta": 0.0}


def test_as_printed_but_with_blocks_every_reward_is_noised(privacy):
    said = privacy({}, mode="paper", mechanism="blocks")
    assert (said["private"], said["accounted"]["epsilon"]) == (True, EPSILON)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_rewards_without_bounds_have_a_noise_level_and_no_guarantee(mechanism, privacy):
    said = privacy(NORMAL, mechanism=mechanism)
    assert (said["private"], said["accounted"]["epsilon"]) == (False, None)
    assert said["note"].endswith(UNBOUNDED)


def test_both_reasons_are_told_where_both_hold(privacy):
    said = privacy(NORMAL, mode="paper")
    assert said["private"] is False
    assert said["note"] == f"{FIRST_REWARD}. {UNBOUNDED}"


def test_without_noise_nothing_is_claimed(privacy):
    said = privacy({}, epsilon=inf)
    assert (said["claimed"], said["private"], said["note"]) == (None, False, "no noise is added")
