"""A deployed agent: what it refuses, what it answers while it waits, and where its chance comes from."""

from fractions import Fraction

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.contract import Algorithm, Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed, System
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.rehearsal import compare, rehearse_star
from coterie.engines.simulate import simulate_star
from coterie.errors import ProtocolError, UsageError
from coterie.kernel import UNIT, one, record
from coterie.problem import bernoulli

ARMS, KEYS = 4, keys_of(seeds_of(1), 0)


def made(**options):
    entry = entries()["cdp-mab"]
    return entry.build(entry.options(**options), Setting(agents=3, arms=ARMS, horizon=1000))


def ready(chance=None, rehearsal=False, pulls=2, **options):
    """A client with a plan of `pulls` pulls of each arm."""
    method = made(**options)
    client = Agent(method.node, method.p, chance or System(), rehearsal=rehearsal)
    client.know("server")
    decision = one(method.node.hears(method.p))
    decision.survivors, decision.pulls, decision.samples, decision.arm[:] = ARMS, pulls, 0, range(ARMS)
    client.hear(1, "server", decision.tobytes())
    client.begin(1)
    return client


def finish(client, reward=1.0):
    while any(client.left):
        client.tell(client.ask()[0], reward)
    client.finish()


def test_a_deployed_agent_refuses_chance_that_could_be_foretold():
    with pytest.raises(UsageError, match="must be the operating system's, got a keyed one") as refused:
        ready(Keyed(KEYS, 0))
    assert "\n" not in str(refused.value)
    assert ready(Keyed(KEYS, 0), rehearsal=True).plan.entries == ARMS


def test_a_deployed_agent_refuses_noise_that_it_cannot_draw_exactly_before_it_plays():
    entry = entries()["fed-ucb"]
    method = entry.build(entry.options(mechanism="digits"), Setting(agents=3, arms=ARMS, horizon=1000))
    with pytest.raises(UsageError, match="mechanism of a deployed agent must be one of gauss, laplace") as refused:
        Agent(method.node, method.p, System())
    assert "'digits'" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert Agent(method.node, method.p, Keyed(KEYS, 0), rehearsal=True).plan.entries == 0
    assert ready(noise="secagg").plan.entries == ARMS


def test_deployed_noise_is_exact_and_booked():
    scales = []
    client = ready()
    laplace = client.algorithm.mechanism._replace(exact=lambda scale: scales.append(scale) or 1000)
    client.algorithm = client.algorithm._replace(mechanism=laplace)
    finish(client)
    assert client.open.total.tolist() == [2 * UNIT + 1000] * ARMS
    assert client.ledger.loss[:, 0].tolist() == [1.0] * ARMS
    assert scales == [Fraction(1024 * UNIT + 1, 1024)] * ARMS  # rounded up to the next step


def test_the_operating_systems_dice_are_never_the_same():
    """The chance that two of a thousand agree is 1e-13."""
    chance = System()
    assert len({chance.die(1) for _ in range(500)} | {chance.idle_die(1) for _ in range(500)}) == 1000


@pytest.mark.parametrize("length", [1, 7, 9, 39, 48, 4096])
def test_messages_that_are_too_long_or_ragged_are_refused(length):
    kind = record(survivors=np.int64, arm=(np.int64, 4))
    with pytest.raises(UsageError, match=f"at most 40 bytes, in whole words of 8, got {length}") as refused:
        Agent.read(bytes(length), kind)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("words", range(6))
def test_what_a_message_does_not_say_reads_as_zero(words):
    kind = record(survivors=np.int64, arm=(np.int64, 4))
    said = np.arange(1, 6)
    message = Agent.read(said.tobytes()[: 8 * words], kind)
    assert [message.survivors, *message.arm] == [*said[:words], *[0] * (5 - words)]


def test_an_oversized_message_changes_nothing():
    client = ready()
    finish(client)
    before = client.open.tobytes()
    with pytest.raises(UsageError, match="at most"):
        client.hear(2, "server", bytes(8 * 100))
    assert client.open.tobytes() == before


def test_decisions_go_round_the_arms_and_the_rest_is_not_of_the_plan():
    client = ready()
    asked = [client.ask() for _ in range(2 * ARMS)]
    assert [arm for _, arm in asked] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len({ticket for ticket, _ in asked}) == 2 * ARMS
    ticket, arm = client.ask()
    assert ticket is None
    assert 0 <= arm < ARMS


def test_without_a_rule_for_waiting_the_first_arm_of_the_plan_is_played():
    method = made()
    client = Agent(method.node._replace(idle=Algorithm("plain").idle), method.p, System())
    client.plan.arm[0] = 2
    assert client.ask() == (None, 2)


def test_a_reward_without_a_ticket_is_not_learned_from():
    client = ready(pulls=1)
    client.tell(None, 1.0)
    finish(client, 0.0)
    assert client.secret.total.tolist() == [0] * ARMS


def test_rewards_may_come_in_any_order_but_must_all_have_come():
    client = ready()
    tickets = [client.ask() for _ in range(2 * ARMS)]
    for ticket, arm in reversed(tickets[1:]):
        client.tell(ticket, (arm + 1) / 4)
    with pytest.raises(ProtocolError, match="must be told before it is finished, 1 are missing"):
        client.finish()
    client.tell(tickets[0][0], 7 / UNIT)
    client.finish()
    assert client.secret.total.tolist() == [UNIT // 4 + 7, UNIT, 3 * UNIT // 2, 2 * UNIT]


def test_a_plan_that_was_not_asked_for_to_its_end_cannot_be_finished():
    client = ready()
    client.tell(client.ask()[0], 0.0)
    with pytest.raises(ProtocolError, match="must be asked for before it is finished, 7 are left"):
        client.finish()


def test_a_server_knows_of_its_senders_what_its_records_have_room_for():
    method = made(aggregation="median")
    server = Agent(method.server, method.p, System())
    for i in range(3):
        server.know(f"agent {i}", voices=i + 1, colour="blue")
    assert server.peers.voices.tolist() == [1, 2, 3]
    assert server.senders == ["agent 0", "agent 1", "agent 2"]


def test_a_comparison_names_the_records_that_differ():
    method, worlds = made(), bernoulli.world(np.array([[0.9, 0.7, 0.5, 0.1]]))
    run = simulate_star(method, bernoulli, worlds, 3, 1000, np.array([1000]), seed=2, compiled=False)
    rehearsal = rehearse_star(method, bernoulli, worlds, 3, 1000, seed=2)
    assert compare(run, rehearsal, 0) == []
    rehearsal.agents[1].open.total[0] += 1
    rehearsal.servers[0].ledger.loss[0, 0] = 0.5
    assert compare(run, rehearsal, 0) == ["open of elimination_client 1", "ledger of elimination_server 0"]
