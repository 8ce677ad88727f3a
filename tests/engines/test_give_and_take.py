"""A node that gives all it has to another one, in every turn, ends in the same bytes as one that never does."""

from functools import partial

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import System
from coterie.engines.guard import refill
from coterie.engines.protocol import Turn
from coterie.engines.rehearsal import compare, keyed_agent, rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links, simulate_mesh, simulate_star
from coterie.errors import ProtocolError
from coterie.kernel import UNIT
from coterie.network import path
from coterie.problem import bernoulli

AGENTS, ARMS = 3, 3
MEANS = np.array([[0.9, 0.5, 0.2]])
HOPS = Links(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.ones(4, int), path(AGENTS).edges)


class Reborn(Agent):
    """Whenever anything is to happen, another agent takes over."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.make = partial(Agent, *given, **named)

    def _pass_on(self):
        other = self.make()
        for sender in self.senders:
            other.know(sender)
        other.take(self.give())
        refill(other.secret, self.secret.tobytes())
        self.__dict__.update(other.__dict__)

    def begin(self, t):
        self._pass_on()
        super().begin(t)
        self._pass_on()

    def hear(self, t, sender, data):
        self._pass_on()
        super().hear(t, sender, data)

    def speak(self, t):
        self._pass_on()
        return super().speak(t)

    def meet(self, t, data):
        self._pass_on()
        super().meet(t, data)


def build(name, horizon, **options):
    entry = entries()[name]
    return entry.build(entry.options(**options), Setting(AGENTS, ARMS, horizon, reward_values=(0.0, 1.0)))


@pytest.mark.parametrize("name", ["fed-ucb", "coop-ucb", "byzantine-ucb", "pr-ucb", "private-ucb", "peer-ucb"])
def test_among_peers(name):
    method = build(name, 60)
    about, links = (method, bernoulli, bernoulli.world(MEANS), AGENTS, 60), HOPS._replace(meetings=method.meetings)
    run = simulate_mesh(*about, np.array([60]), links, seed=5, compiled=False)
    assert compare(run, rehearse_mesh(*about, links, seed=5, make=partial(keyed_agent, kind=Reborn)), 0) == []


@pytest.mark.parametrize("options", [{}, {"aggregation": "median", "liars_assumed": 0.2}], ids=str)
def test_around_a_server(options):
    about = (build("cdp-mab", 600, **options), bernoulli, bernoulli.world(MEANS), AGENTS, 600)
    run = simulate_star(*about, np.array([600]), seed=5, compiled=False)
    assert compare(run, rehearse_star(*about, seed=5, make=partial(keyed_agent, kind=Reborn)), 0) == []


def test_a_budget_that_refused_is_passed_on():
    agent = Agent(build("pr-ucb", 60).node, build("pr-ucb", 60).p, System())
    agent.exhausted = True
    other = Agent(agent.algorithm, agent.p, System())
    other.take(agent.give())
    assert other.exhausted


# --- sums of rewards that waited elsewhere ----------------------------------------------------------------


def playing():
    method = build("coop-ucb", 60)
    agent = Agent(method.node, method.p, System())
    agent.begin(1)
    return agent


def test_a_plan_is_finished_with_sums_that_were_made_elsewhere():
    one_by_one, at_once = playing(), playing()
    one_by_one.tell(one_by_one.ask()[0], 0.25)
    one_by_one.finish()
    at_once.finish(1, {int(at_once.plan.arm[0]): (1, UNIT // 4)})
    assert at_once.secret.tobytes() == one_by_one.secret.tobytes()
    assert at_once.give() == one_by_one.give()


WRONG = [{}, {0: (2, 0)}, {0: (1, UNIT + 1)}, {0: (1, -1)}, {1: (1, 0)}, {0: (1, 0), 1: (1, 0)}]


@pytest.mark.parametrize("sums", WRONG, ids=str)
def test_sums_that_are_not_of_the_plan_or_not_of_rewards_are_refused(sums):
    agent = playing()
    before = agent.give()
    with pytest.raises(ProtocolError, match="sums of a plan must be of"):
        agent.finish(1, sums)
    assert agent.give() == before
    assert agent.protocol.turn is Turn.PLAYING
