"""The cost of a method before it runs: closed forms, and never less than what a run then books."""

from math import inf
from typing import NamedTuple

import numpy as np
import pytest
from numpy import int64

from coterie.algorithms import entries
from coterie.contract import Algorithm, Claim, Method, Setting, Terms, order
from coterie.engines import forecast as module
from coterie.engines.forecast import forecast, plans_of_a_peer
from coterie.engines.rehearsal import rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links, simulate_mesh
from coterie.kernel import node, record
from coterie.privacy.accountant import booked_loss
from coterie.problem import bernoulli, procurement

AGENTS, ARMS = 3, 2
TERMS = Terms(np.full((3, 2), 0.1), np.full((3, 2), 5), alpha=0.4, rho=1.0)
CASES = [(name, example) for name, entry in entries().items() for example in entry.examples]


def made(name, example, horizon):
    entry = entries()[name]
    facts = {"gap": 0.3, "components": (2, 1), "terms": TERMS, "reward_values": (0.0, 1.0)}
    return entry.build(entry.options(**example), Setting(AGENTS, ARMS, horizon, **facts))


def kind_of(name, example):
    """Who plays in which mode, by what noise, and whether the server is trusted with it."""
    method = made(name, example, 70)
    trusted = method.server is not None and method.server.trusted
    return method.node.name, method.node.mechanism.name, trusted, example.get("mode")


FIRST = {kind_of(*case): case for case in reversed(CASES)}  # of each kind; the others are run by hand
PARAMS = [pytest.param(*case, marks=[pytest.mark.slow] * (case != FIRST[kind_of(*case)])) for case in CASES]


def loss(name, example, horizon):
    method = made(name, example, horizon)
    return forecast(method, horizon).agent.loss.epsilon(method.claim.delta)


@pytest.mark.parametrize(("name", "example"), PARAMS, ids=str)
def test_no_run_costs_more_than_its_forecast(name, example):
    """A short rehearsal; the epsilon of every ledger in it is compared."""
    horizon = 70 if made(name, example, 70).server is None else 1500
    method, means, buys = made(name, example, horizon), np.array([[0.9, 0.2]]), entries()[name].problem == "procurement"
    problem, worlds = (procurement, procurement.world(means[0], *TERMS)) if buys else (bernoulli, bernoulli.world(means))
    ahead, delta = forecast(method, horizon), method.claim.delta
    if method.server is None:
        nobody = Links(np.zeros(AGENTS + 1, int), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 2), int))
        done = rehearse_mesh(method, problem, worlds, AGENTS, horizon, nobody, seed=1)
    else:
        done = rehearse_star(method, bernoulli, worlds, AGENTS, horizon, seed=1)
    for course, nodes in ((ahead.agent, done.agents), (ahead.server, done.servers)):
        booked = [one for one in nodes if one.ledger.entries.any()]
        assert (course is None or course.releases == 0) == (not booked)
        for one in booked:
            spent = booked_loss(one.ledger, one.algorithm.mechanism).epsilon(delta)
            assert spent <= course.loss.epsilon(delta) * (1 + 1e-12)
            assert method.server is not None or one.ledger.entries.sum(axis=1).max() <= course.releases


@pytest.mark.parametrize("horizon", [7, 8, 100])
def test_closed_forms(horizon):
    """Blocks: a release whenever the count doubles. A tree: one for every pull, and a share for every level."""
    blocks = forecast(made("fed-ucb", {}, horizon), horizon).agent
    assert blocks.releases == (horizon + 1).bit_length() and blocks.loss.pure == 1
    tree = forecast(made("fed-ucb", {"mechanism": "tree", "epsilon": 0.3}, horizon), horizon).agent
    assert tree.releases == horizon + 1
    assert float(tree.loss.pure) == pytest.approx(0.3, rel=1e-12) and tree.loss.pure <= 0.3
    assert loss("fed-ucb", {"mechanism": "digits", "epsilon": 0.3}, horizon) == 0.3
    assert loss("fed-ucb", {"mechanism": "root"}, horizon) == pytest.approx(1.0, rel=1e-9)


def test_the_printed_forms_cost_what_they_really_do():
    assert loss("fed-ucb", {"mode": "paper"}, 100) == inf
    assert loss("cdp-mab", {"mode": "paper", "epsilon": 0.5}, 5000) == AGENTS * 0.5
    assert loss("single-mab", {"mode": "paper", "epsilon": 0.5}, 5000) == 0.5


def test_looking_again_at_the_same_rewards_is_charged_in_every_round():
    """Noise drawn afresh whenever the count is at a multiple of 2: the dearest look is the first, after two pulls."""
    fresh = forecast(made("dp-ucb-int", {"mode": "paper", "epsilon": 0.5, "reading": "fresh"}, 500), 500)
    assert float(fresh.agent.loss.pure) == pytest.approx(500 * 2**-0.55)
    live = forecast(made("dp-ucb-int", {"mode": "paper", "epsilon": 0.5}, 500), 500)
    assert float(live.agent.loss.pure) == pytest.approx(sum(n**-0.55 for n in range(2, 501, 2)))


def test_a_trusted_server_pays_and_its_clients_pass_no_door_of_their_own():
    ahead = forecast(made("cdp-mab", {"noise": "central", "epsilon": 0.7}, 5000), 5000)
    assert (ahead.agent.loss.pure, ahead.agent.releases) == (0, 0)
    assert ahead.server.loss.epsilon() == pytest.approx(0.7, rel=1e-12)
    assert ahead.server.releases > 1


TREE = pytest.param({"mechanism": "tree"}, 301, marks=pytest.mark.slow)


@pytest.mark.parametrize(("example", "releases"), [({}, 9), TREE])
def test_a_long_horizon_is_forecast_by_the_compiled_engine_to_the_same_result(example, releases, monkeypatch):
    """Blocks: a release whenever the count doubles, up to 256. A tree: one for every pull."""
    horizon = 300
    method = made("fed-ucb", example, horizon)
    short = forecast(method, horizon)
    monkeypatch.setattr(module, "ROUNDS_RECORDED", 50)
    long = forecast(method, horizon)
    assert len(long.agent.events) < len(short.agent.events)
    assert (long.agent.releases, long.rewards) == (short.agent.releases, short.rewards) == (releases, horizon + ARMS)
    assert float(long.agent.loss.pure) == pytest.approx(float(short.agent.loss.pure), rel=1e-12)


class Windows(NamedTuple):
    arms: int = 2
    window: int = 1


@node
def choose_for_a_while(open, p, t, die, plan):
    order(plan, 0, p.window)


@pytest.mark.parametrize(("window", "horizon"), [(1, 10**6), (7, 10**6), (50, 10**6), (1, 100), (10**9, 100)])
def test_plans_in_windows_are_counted_to_the_horizon(window, horizon):
    """It once assumed that all plans double, and was seventy times too low."""
    nothing = record(word=int64)
    rule = Algorithm("windows", lambda p: nothing, lambda p: nothing, choose=choose_for_a_while, commits=True)
    plans = plans_of_a_peer(Method(rule, Windows(2, window), Claim(inf)), horizon)
    assert plans == pytest.approx(horizon / window, rel=0.01, abs=1)


@pytest.mark.parametrize("growth", [1.1, 1.3, 4.0])
def test_plans_that_grow_are_counted_within_a_factor_of_two_of_what_is_played(growth):
    entry, agents, arms, horizon = entries()["pr-ucb"], 4, 3, 100_000
    method = entry.build(entry.options(commit=True, growth=growth), Setting(agents, arms, horizon, gap=0.3))
    worlds = bernoulli.world(np.array([[0.8, 0.5, 0.3]]))
    nobody = Links(np.zeros(agents + 1, int), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 2), int))
    run = simulate_mesh(method, bernoulli, worlds, agents, horizon, np.array([horizon]), nobody, compiled=False)
    played = run.tallies["up_messages"].sum() / agents
    assert played / 2 < plans_of_a_peer(method, horizon) < 2 * played
