"""A run in which the door refused something has no results, and a deployed agent raises at once."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy import int64

from coterie.algorithms import entries
from coterie.contract import NOW, NOWHERE, Algorithm, Claim, Method, Setting, offer, offer_between, order
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed, System
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.simulate import Links, simulate_mesh, simulate_star
from coterie.errors import AlgorithmError
from coterie.kernel import UNIT, node, record
from coterie.problem import bernoulli

ARMS = 3


class Params(NamedTuple):
    arms: int = ARMS


P = Params()


def open_record(p):
    return record(published=int64)


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
    open.published += out.entries


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


@pytest.mark.parametrize("chance", [System(), Keyed(keys_of(seeds_of(1), 0), 0)], ids=["deployed", "rehearsed"])
def test_an_agent_raises_at_once_and_for_ever(chance):
    agent = Agent(BACKWARDS, P, chance, rehearsal=chance.rehearsed)
    for t in (1, 2, 3, 4):
        agent.begin(t)
        while any(agent.left):
            agent.tell(agent.ask()[0], UNIT)
        if t < 3:
            agent.finish()
        else:
            with pytest.raises(AlgorithmError, match=f"backwards: in turn {t} nothing may leave by a stretch"):
                agent.finish()
            assert (agent.out.entries, agent.out.value.any()) == (0, False)
    assert (agent.open.published, agent.ledger.entries.sum()) == (2, 2)


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
