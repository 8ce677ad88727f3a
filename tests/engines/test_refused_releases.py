"""A run in which the door refused something has no results, and a deployed agent raises at once."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy import int64

from coterie.algorithms import entries
from coterie.contract import NOW, NOWHERE, Algorithm, Claim, Method, Setting, offer, offer_all, offer_between, order
from coterie.engines import simulate
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed, System
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.simulate import Links, simulate_mesh, simulate_star
from coterie.errors import AlgorithmError, ProtocolError
from coterie.kernel import node, record
from coterie.privacy.budget import Budget
from coterie.privacy.door import ORDER
from coterie.problem import bernoulli, procurement

ARMS = 3


class Params(NamedTuple):
    arms: int = ARMS


P = Params()


def open_record(p):
    return record(published=int64, left_behind=int64)


@node
def choose(open, p, t, die, plan):
    order(plan, t % p.arms, 1)


@node
def release_backwards(open, p, t, plan, out):
    """From the third turn on what it asks for is the stretch between now and mark 0, backwards: minus the raw sum."""
    if t < 3:
        offer_between(out, plan.arm[0], 0, NOW, NOWHERE, 0.5, 0)
    else:
        offer_between(out, 0, NOW, 0, NOWHERE, 0.5, 0)


@node
def publish(open, p, t, plan, out):
    """Where nothing may leave it finds no sum either, also not of another agent or of a former turn."""
    open.published += out.entries
    if out.entries == 0:
        for e in range(len(out.value)):
            open.left_behind += 1 if out.value[e] != 0 else 0


BACKWARDS = Algorithm("backwards", open_record, choose=choose, release=release_backwards, publish=publish)
NOBODY = Links(np.zeros(3, int64), np.zeros(0, int64), np.zeros(0, int64), np.zeros((0, 2), int64))
WORLDS = bernoulli.world(np.array([[1.0, 1.0, 1.0]]))


@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_in_which_something_was_refused_has_no_results(compiled):
    method = Method(BACKWARDS, P, Claim(1.0))
    about = (method, bernoulli, WORLDS, 2)
    with pytest.raises(AlgorithmError, match="backwards: nothing may leave by a stretch that ends before it begins") as refused:
        simulate_mesh(*about, 6, np.array([6]), NOBODY, compiled=compiled)
    assert "\n" not in str(refused.value)
    assert simulate_mesh(*about, 2, np.array([2]), NOBODY, compiled=compiled).opens["published"].tolist() == [[2, 2]]


@pytest.mark.parametrize("compiled", [True, False])
def test_publish_finds_no_sum_of_a_turn_that_was_refused(compiled, monkeypatch):
    monkeypatch.setattr(simulate, "check_faults", lambda role, secrets: refused.append(secrets["refused"].tolist()))
    refused = []
    run = simulate_mesh(Method(BACKWARDS, P, Claim(1.0)), bernoulli, WORLDS, 2, 6, np.array([6]), NOBODY, compiled=compiled)
    assert refused == [[[ORDER, ORDER]]]
    assert run.opens["published"].tolist() == [[2, 2]]
    assert run.opens["left_behind"].tolist() == [[0, 0]]


def play(agent, t):
    agent.begin(t)
    while any(agent.left):
        agent.tell(agent.ask()[0], 1.0)
    agent.finish()


@pytest.mark.parametrize("chance", [System(), Keyed(keys_of(seeds_of(1), 0), 0)], ids=["deployed", "rehearsed"])
def test_an_agent_raises_at_once_and_for_ever(chance):
    agent = Agent(BACKWARDS, P, chance, rehearsal=chance.rehearsed)
    for t in (1, 2):
        play(agent, t)
    assert agent.out.value.any()
    with pytest.raises(AlgorithmError, match="backwards: in turn 3 nothing may leave by a stretch"):
        play(agent, 3)
    assert (agent.out.entries, agent.out.value.any()) == (0, False)
    with pytest.raises(ProtocolError, match="begin is not allowed in state FAILED"):
        agent.begin(4)
    assert (agent.open.published, agent.ledger.entries.sum()) == (2, 2)


@node
def offer_three_arms(open, p, t, plan, out):
    for k in range(p.arms):
        offer_all(out, k, 0.5)


def test_publish_finds_no_sum_once_the_budget_is_spent():
    greedy = Algorithm("greedy", open_record, choose=choose, release=offer_three_arms, publish=publish)
    agent = Agent(greedy, P, System(), budget=Budget(1.2))
    for t in range(1, 9):
        play(agent, t)
        assert agent.out.value.any() == (not agent.exhausted)
    assert agent.exhausted and agent.open.published > 0 == agent.open.left_behind


# --- orders -------------------------------------------------------------------------------------------

LIMITS = np.array([[2, 3, 0]])
PRODUCERS = procurement.world(np.array([0.9, 0.8, 0.7]), np.zeros((1, 3)), LIMITS, 0.5, 1.0)
BEYOND = "more than the arm allows"


@node
def order_all(open, p, t, die, plan):
    order(plan, 0, 2)
    order(plan, 1, 3)


@node
def order_one_too_many(open, p, t, die, plan):
    order(plan, 0, 2)
    order(plan, 1, 4)


@node
def order_twice(open, p, t, die, plan):
    """Together they are within the limit, but each would be what one order brought."""
    order(plan, 1, 1)
    order(plan, 1, 2)


@node
def order_of_nobody(open, p, t, die, plan):
    order(plan, 2, 1)


def buy(hook, compiled=False):
    method = Method(Algorithm("buyer", open_record, choose=hook, release=offer_three_arms, publish=publish), P, Claim(1.0))
    return simulate_mesh(method, procurement, PRODUCERS, 2, 4, np.array([4]), NOBODY, compiled=compiled)


@pytest.mark.parametrize("hook", [order_one_too_many, order_twice, order_of_nobody], ids=lambda hook: hook.__name__)
def test_an_order_that_could_bring_more_than_its_noise_is_made_for_is_refused(hook):
    with pytest.raises(AlgorithmError, match=f"buyer: nothing may leave by .*{BEYOND}"):
        buy(hook)
    agent = Agent(Algorithm("buyer", choose=hook), P, System(), reach=LIMITS[0].astype(float))
    with pytest.raises(AlgorithmError, match=f"buyer: turn 1 has .*{BEYOND}"):
        agent.begin(1)


@pytest.mark.slow
def test_a_compiled_run_refuses_such_an_order_too():
    with pytest.raises(AlgorithmError, match=BEYOND):
        buy(order_one_too_many, compiled=True)


def test_an_order_up_to_the_limit_is_carried_out():
    """So that those above are refused for what is beyond it. Where all arms have one reach a plan may be any."""
    assert buy(order_all).secrets["count"][0, :, :3].tolist() == [[8, 12, 0]] * 2
    agent = Agent(Algorithm("buyer", choose=order_all), P, System(), reach=LIMITS[0].astype(float))
    agent.begin(1)
    assert agent.left == [2, 3]
    for hook in (order_one_too_many, order_twice):
        Agent(Algorithm("player", choose=hook), P, System()).begin(1)


@node
def offer_for_nothing(open, p, t, plan, out):
    offer(out, 0, 0.0)


@pytest.mark.parametrize("side", ["node", "server"])
def test_the_doors_of_clients_and_of_a_server_refuse_alike(side):
    entry = entries()["cdp-mab"]
    options = entry.options(noise="central" if side == "server" else None)
    method = entry.build(options, Setting(2, ARMS, 1000))
    wrong = method._replace(**{side: getattr(method, side)._replace(release=offer_for_nothing)})
    with pytest.raises(AlgorithmError, match=f"{getattr(method, side).name}: nothing may leave by a price"):
        simulate_star(wrong, bernoulli, WORLDS, 2, 1000, np.array([1000]), compiled=False)
