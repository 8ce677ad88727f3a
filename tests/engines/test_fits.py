"""What a deployed node lets in: all that honest nodes say, and nothing that a hook cannot take.

Honest messages are those of rehearsals. Wild ones are honest ones with other numbers in them: they are refused, and that
changes nothing, or they are heard without an exception or an overflow.
"""

import warnings
from functools import cache, partial
from inspect import signature
from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import contract
from coterie.algorithms import entries
from coterie.contract import DEPLOYED, HOOKS, SWITCHES, Setting
from coterie.engines.agent import Agent
from coterie.engines.protocol import Turn
from coterie.engines.rehearsal import keyed_agent, rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links
from coterie.network import path
from coterie.problem import bernoulli

AGENTS, ARMS, HORIZON = 3, 3, 3000
MEANS = np.array([[0.9, 0.5, 0.2]])
WORD = np.iinfo(np.int64)
EXTREMES = (WORD.min, WORD.min + 1, -(2**62), -(2**56), -1, 0, 1, 2, 3, HORIZON, HORIZON + 2, 2**31, 2**56, 2**62, WORD.max)
REFUSED = {"mode": "paper", "noise": ("central", "secagg", "kept"), "through": "components", "mechanism": ("digits", "root")}
# What a secure sum brings is not heard as it was said: see deploy/clocks/test_sealed.py


def build(name, options):
    entry = entries()[name]
    setting = Setting(AGENTS, ARMS, HORIZON, gap=0.3, components=(2, 1), reward_values=(0.0, 1.0))
    return entry.build(entry.options(**options), setting)


CASES = {
    f"{name} {example}": build(name, example)
    for name, entry in entries().items()
    if entry.problem == "arms" and name != "hdp-mab"
    for example in entry.examples
    if not any(example[key] in REFUSED[key] for key in REFUSED if key in example)
}
TALKING = [case for case, method in CASES.items() if case.split()[0] not in ("ucb1", "dp-ucb-int") and "isolated" not in case]


def roles_of(method):
    return [role for role in (method.node, method.server) if role is not None]


class Witness(Agent):
    """An agent that is asked before it hears, and remembers how it was then."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.heard, self.met, self.refused = [], [], 0

    def hear(self, t, sender, data):
        self.heard.append((self.give(), t, sender, data))
        self.refused += not self.fits(t, data)
        super().hear(t, sender, data)

    def meet(self, t, data):
        self.met.append((self.give(), t, data))
        self.refused += not self.suits(t, data)
        super().meet(t, data)


@cache
def rehearsal(case):
    """All agents and servers of a rehearsal, each with what it has heard."""
    method, make = CASES[case], partial(keyed_agent, kind=Witness)
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS)
    if method.server is not None:
        ended = rehearse_star(*about, HORIZON, seed=5, make=make, epochs=12)
    else:
        links = Links(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.ones(4, int), path(AGENTS).edges, method.meetings)
        ended = rehearse_mesh(*about, 100, links, seed=5, make=make)
    return [*ended.agents, *ended.servers]


@pytest.mark.parametrize("case", CASES)
def test_all_that_honest_nodes_say_and_show_fits(case):
    nodes = rehearsal(case)
    assert sum(node.refused for node in nodes) == 0
    assert (sum(len(node.heard) for node in nodes) > 4) == (case in TALKING)
    assert (sum(len(node.met) for node in nodes) > 4) == (CASES[case].meetings > 0)


@pytest.mark.parametrize("case", CASES)
def test_an_arm_is_worth_about_its_mean_where_it_is_known(case):
    """Noise of small batches may lead far from it, so that only the best arm of all that was learned has to be near."""
    node = rehearsal(case)[0]
    worths = [node.worth(k) for k in range(ARMS)]
    assert not all(isnan(worth) for worth in worths)
    assert all(isnan(worth) or -60.0 < worth < 60.0 for worth in worths)
    if CASES[case].claim.epsilon == inf:
        assert abs(worths[0] - 0.9) < 0.25


wild_numbers = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(EXTREMES) | st.integers(WORD.min, WORD.max) | st.integers(-5, 400)),
    min_size=1, max_size=3,
)  # fmt: skip


def changed(data, changes):
    words = np.frombuffer(data, np.int64).copy()
    for place, number in changes:
        words[place % len(words)] = number
    return words.tobytes()


@pytest.mark.parametrize("case", TALKING)
@settings(max_examples=60)
@given(which=st.integers(0, 10**6), who=st.integers(0, 10**6), changes=wild_numbers)
def test_wild_numbers_are_refused_or_heard_without_harm(case, which, who, changes):
    nodes = [node for node in rehearsal(case) if node.heard or node.met]
    node = nodes[who % len(nodes)]
    state, t, *sender, data = (node.heard + node.met)[which % len(node.heard + node.met)]
    agent = Agent(node.algorithm, node.p, node.chance, rehearsal=True, reach=1.0, low=-inf, high=inf)
    for each in node.senders:
        agent.know(each)
    agent.take(state)
    data = changed(data, changes)
    asked, act = (agent.fits, lambda: agent.hear(t, *sender, data)) if sender else (agent.suits, lambda: agent.meet(t, data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fits = asked(t, data)
        assert agent.give() == state
        if fits:
            act()
            live_on(agent, t)


def live_on(agent, t):
    """A turn on what was heard: an index outside, an overflow or a division by zero would show in it."""
    if agent.protocol.turn is Turn.HEARING:
        agent.release()
        agent.announce(agent.t + 1)
    elif agent.protocol.turn is not Turn.PLAYING:
        agent.begin(max(t, agent.t + 1))


@pytest.mark.parametrize("case", TALKING)
@pytest.mark.parametrize("data", [b"", b"\x01" * 7, b"\xff" * 8, b"\x7f" * 4096, None, "text"], ids=repr)
def test_what_is_no_message_does_not_fit_and_raises_nothing(case, data):
    node = rehearsal(case)[0]
    before = node.give()
    assert not node.fits(node.t, data)
    assert data == b"\xff" * 8 or not node.suits(node.t, data)  # a card that shows a small estimate of one arm
    assert node.give() == before


def test_hooks_of_deployment_are_in_no_engine_and_every_talking_role_has_fits():
    assert not set(DEPLOYED) & {*HOOKS, *SWITCHES}
    for method in CASES.values():
        for role in roles_of(method):
            assert role.fits is not None
            assert role.worth is not contract.worth
            assert (role.suits is not None) >= (method.meetings > 0)
            for name in DEPLOYED:
                hook = getattr(role, name)
                travels = ("message", "card", "decision", "report", "k")
                assert hook is None or list(signature(hook).parameters)[:3] == ["open", "p", "t"]
                assert hook is None or list(signature(hook).parameters)[3] in travels
    for name, options in (
        ("cdp-mab", {"noise": "central"}), ("pooled-ucb", {"noise": "central"}),
        ("private-ucb", {"mode": "paper", "epsilon": 0.5}), ("fed-ucb", {"mode": "paper"}),
    ):  # fmt: skip
        assert build(name, options).node.fits is None


@pytest.mark.parametrize("total", [0, 7 * contract.UNIT, 8 * contract.UNIT, -contract.UNIT, 2**57, -(2**63)])
def test_sums_are_those_that_so_many_rewards_and_noise_can_have(total):
    assert contract.can_sum_to(np.int64(total), 7, 0.0, 1.0, 0.0) == (0 <= total <= 7 * contract.UNIT)
    assert contract.can_sum_to(np.int64(total), 7, 0.0, 1.0, 1.0) == (abs(total) < 2**30)
