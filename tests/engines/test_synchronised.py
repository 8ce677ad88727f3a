"""Elimination without a server, for real: every agent runs the server's hooks on reports that came over a graph as bytes.

They arrive in another order at every agent, hop by hop, and all agents must reach the same decisions to the byte.
"""

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.rehearsal import rounds_of
from coterie.engines.simulate import simulate_star
from coterie.kernel import REWARD, UNIT, one, stream
from coterie.network import erdos_renyi, path, star
from coterie.network.synchronise import slots
from coterie.problem import bernoulli
from coterie.problem.harvest import harvest_record

AGENTS, ARMS, HORIZON, SEED = 6, 4, 6000, 9
MEANS = np.array([[0.9, 0.75, 0.4, 0.1]])
GRAPHS = {"path": path(AGENTS), "star": star(AGENTS), "random": erdos_renyi(AGENTS, np.random.default_rng(4))}


class Member:
    """An agent that is its own server."""

    def __init__(self, method, i, keys):
        self.client = Agent(method.node, method.p, Keyed(keys, i), rehearsal=True)
        self.server = Agent(method.server, method.p, Keyed(keys, -1), rehearsal=True)
        self.client.know("myself")
        for j in range(AGENTS):
            self.server.know(j, voices=1)

    def plan(self, t):
        decision = self.server.announce(t)
        self.client.hear(t, "myself", decision)
        self.client.begin(t)
        return decision

    def play(self, world, die, t):
        client = self.client
        harvest = one(harvest_record(client.p))
        bernoulli.draw(world, client.secret, client.plan, harvest, die)
        ones = {client.plan.arm[e]: harvest.total[e] // UNIT for e in range(client.plan.entries)}
        while any(client.left):
            ticket, arm = client.ask()
            client.tell(ticket, 1.0 if ones[arm] > 0 else 0.0)
            ones[arm] -= 1
        client.finish()
        return client.speak(t)


def federate(method, graph):
    """All members at the horizon."""
    keys, t, now = keys_of(seeds_of(SEED), 0), 0, 1
    members, world = [Member(method, i, keys) for i in range(AGENTS)], bernoulli.world(MEANS).view(np.recarray)[0]
    while now <= HORIZON:
        t += 1
        assert len({member.plan(t) for member in members}) == 1
        rounds = rounds_of(members[0].client.plan)
        if now + rounds - 1 > HORIZON:
            break
        reports = [member.play(world, stream(keys.world, i, REWARD, t), t) for i, member in enumerate(members)]
        now += rounds + deliver(members, graph, reports, t) - 1
    return members


def deliver(members, graph, reports, t):
    """The number of slots it took."""
    for i, member in enumerate(members):
        member.server.hear(t, i, reports[i])
    taken = 0
    for slot in slots(graph):
        taken += 1
        for _, receiver, items in slot.deliveries:
            for item in items:
                members[receiver].server.hear(t, item, reports[item])
    return taken


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("options", [{}, {"rounds": 4}, {"aggregation": "median", "liars_assumed": 0.1}], ids=str)
def test_all_agents_end_in_the_bytes_of_the_simulated_server(options, graph):
    entry = entries()["ddp-mab"]
    method = entry.build(entry.options(**options), Setting(agents=AGENTS, arms=ARMS, horizon=HORIZON, gap=0.15))
    members, delay = federate(method, GRAPHS[graph]), len(list(slots(GRAPHS[graph]))) - 1
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, HORIZON, np.array([HORIZON]))
    run = simulate_star(*about, seed=SEED, delay=delay, compiled=False)
    assert {member.server.open.tobytes() for member in members} == {run.servers[0, 0].tobytes()}
    assert [member.client.open.tobytes() for member in members] == [row.tobytes() for row in run.opens[0]]
    assert [member.client.ledger.tobytes() for member in members] == [row.tobytes() for row in run.ledgers[0]]
    assert run.tallies["rounds"][0] >= 2
