"""Noise and privacy of the elimination family: the law of the noise, what is booked, and what is said about it.

Where rewards are certain (means 0 and 1) all that differs from the exact sums is noise. Statistical tests have a
false-alarm rate of 1e-6 or less. Engines are compiled for four arms, and interpreted where one run is enough.
"""

from functools import partial
from math import exp, inf, sqrt

import numpy as np
import pytest
from scipy.stats import binomtest, kstest, laplace

from coterie.algorithms import find
from coterie.contract import Setting
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.rehearsal import keyed_agent
from coterie.engines.simulate import simulate_star
from coterie.kernel import UNIT
from coterie.privacy.ledger import loss_per_reward
from coterie.privacy.statement import statement
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import make_case

AGENTS, ARMS, RUNS = 5, 4, 1000
CERTAIN = [1.0] * (ARMS - 1) + [0.0]


def study(agents=AGENTS, name="cdp-mab", horizon=100_000, means=CERTAIN, network=None, **options):
    return load_study(
        {
            "horizon": horizon,
            "replications": 1,
            "problem": {"means": means, "agents": agents},
            "network": network or {},
            "algorithm": [{"name": name, **options}],
        }
    )


def case(**options):
    about = study(**options).specification
    return make_case(about, about.rows[0], 0)


@pytest.fixture
def said(monkeypatch):
    """What the only row of a study says about privacy, run interpreted."""

    def of(**options):
        with monkeypatch.context() as patched:
            patched.setattr(case_module, "simulate_star", partial(simulate_star, compiled=False))
            return study(horizon=10_000, **options).run(workers=1).summary[0]["privacy"]

    return of


def apart(case, horizon, replications=1):
    """A run in which every agent has its own record."""
    marks = np.array([horizon])
    return simulate_star(case.method, case.problem, case.worlds, case.agents, horizon, marks, replications=replications)


def start(method, reach=1.0):
    """The server, to be driven by hand."""
    server = keyed_agent(method.server, method.p, Keyed(keys_of(seeds_of(0), 0), -1), reach)
    for i in range(method.p.agents):
        server.know(i, voices=1)
    return server


def first_pulls(case):
    return int(np.frombuffer(start(case.method).announce(1), np.int64)[1])


def noise_of_the_sum(run, pulls):
    """[replication, arm], in rewards: what the server's sums are off by after one epoch."""
    return (run.servers["history"][:, 0, :ARMS] - UNIT * AGENTS * pulls * np.array(CERTAIN)) / UNIT


def promised(case, epsilon):
    return {
        "claimed": {"epsilon": epsilon, "delta": 0.0},
        "accounted": {"epsilon": epsilon, "delta": 0.0},
        "private": True,
        "unit": "one reward of one agent",
        "adversary": case.doors.adversary,
        "note": case.method.claim.note,
    }


def noise_after_one_epoch(case, replications):
    """[replication, agent, arm], in rewards."""
    pulls = first_pulls(case)
    run = apart(case, ARMS * pulls, replications)
    return (run.opens["total"][:, :, :ARMS] - UNIT * pulls * np.array(CERTAIN)) / UNIT


# --- the law of the noise -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, scale",
    [
        ({"epsilon": 0.5}, 2.0),
        ({"mode": "paper", "epsilon": 0.5}, 1 / (AGENTS * 0.5)),
        ({"mode": "paper", "epsilon": 0.5, "participation": 0.4}, 1 / (2 * 0.5)),
    ],
    ids=str,
)
def test_every_agent_adds_laplace_noise_of_the_stated_scale_to_every_sum(options, scale):
    noise = noise_after_one_epoch(case(**options), RUNS)
    assert kstest(noise.ravel(), laplace(scale=scale).cdf).pvalue > 1e-6
    assert len(np.unique(noise)) > noise.size / 2  # the grid is fine, and no two draws are shared
    for other in (noise[:, 0, 1], noise[:, 1, 0]):  # another arm, another agent
        assert abs(np.corrcoef(noise[:, 0, 0], other)[0, 1]) < 5 / sqrt(RUNS)


def test_noise_is_drawn_once_in_every_epoch_and_kept():
    """What the second epoch adds to a total is its own rewards and one more draw; the first draw stays in it."""
    about = case(means=[1.0] * (ARMS - 1) + [0.99], epsilon=0.5)
    first = first_pulls(about)
    client = apart(about, ARMS * first + 1).opens[0, 0]
    second = ARMS * (first + int(client["pulls"]))
    assert client["survivors"] == ARMS
    before, after = (apart(about, end, RUNS).opens["total"][:, :, : ARMS - 1] for end in (ARMS * first, second))
    added = (after - before - UNIT * int(client["pulls"])) / UNIT
    assert kstest(added.ravel(), laplace(scale=2).cdf).pvalue > 1e-6
    old = (before - UNIT * first) / UNIT
    assert abs(np.corrcoef(old.ravel(), added.ravel())[0, 1]) < 5 / sqrt(old.size)


def test_without_privacy_sums_are_exact():
    assert (noise_after_one_epoch(case(epsilon=inf), 3) == 0).all()


def test_the_radius_of_secure_aggregation_counts_one_draw_per_epoch():
    shared, own = case(noise="secagg", epsilon=0.01, honest=AGENTS), case(epsilon=0.01)
    assert (shared.method.p.draws, own.method.p.draws) == (1.0, 0.0)  # 0: one for each report
    assert shared.method.p.noise == own.method.p.noise == 100
    assert first_pulls(shared) < first_pulls(own)


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-1.0, 1.0), (0.0, 0.25)])
@pytest.mark.parametrize("noise", ["local", "central"])
def test_noise_grows_with_the_range_of_a_reward_and_the_price_does_not(noise, low, high):
    """A sum moves by high - low when one reward changes: the scale is (high - low) / epsilon, the loss epsilon."""
    entry, setting = find("cdp-mab"), Setting(AGENTS, 2, 1000, low=low, high=high, proxy=(high - low) / 2)
    method = entry.build(entry.options(noise=noise, epsilon=0.5), setting)
    assert method.p.noise == (high - low) / 0.5
    server = start(method, high - low)
    decision = server.announce(1)
    client = keyed_agent(method.node, method.p, Keyed(keys_of(seeds_of(0), 0), 0), high - low)
    client.know("server")
    client.hear(1, "server", decision)
    client.begin(1)
    while any(client.left):
        client.tell(client.ask()[0], 0)
    client.finish()
    server.hear(1, 0, client.speak(1))
    server.release()
    releasing = server if noise == "central" else client
    assert releasing.out.entries == 2
    for e in range(2):
        assert releasing.out.sensitivity[e] / releasing.out.price[e] == method.p.noise
        assert releasing.out.price[e] == 0.5


def test_the_shares_of_secure_aggregation_add_up_to_one_draw(said):
    """The sum of all reports has the noise of one Laplace draw of scale 1 / epsilon, and not of one per agent."""
    options = {"noise": "secagg", "epsilon": 0.5, "honest": AGENTS}
    whole = case(**options)
    pulls = first_pulls(whole)
    noise = noise_of_the_sum(whole._replace(horizon=ARMS * pulls).simulate(0, 0, 5 * RUNS), pulls)
    assert kstest(noise.ravel(), laplace(scale=2).cdf).pvalue > 1e-6
    assert noise.var() == pytest.approx(2 * 2**2, abs=5 * sqrt(20 * 2**4 / noise.size))  # the variance of x^2 is 20 b^4
    told = said(**options)
    assert told == promised(whole, 0.5)
    assert told["adversary"] == "anyone who is no agent, sees the sum of all reports, every arm and time, but no single report"
    assert "only if secure aggregation" in told["note"]


def test_a_trusted_server_receives_exact_sums_adds_one_draw_to_the_total_and_books_it(said):
    options = {"noise": "central", "epsilon": 0.5}
    whole = case(**options)
    pulls = first_pulls(whole)
    run = apart(whole, ARMS * pulls, 5 * RUNS)
    assert (run.secrets["total"][:, :, :ARMS] == UNIT * pulls * np.array(CERTAIN)).all()
    assert (run.opens["total"] == 0).all()  # an agent shows nothing of them, and acts on nothing of them
    assert (run.tallies["up_words"] == AGENTS * (1 + 3 * ARMS + 1)).all()  # its word; arm, pulls and sum of each; how many
    assert kstest(noise_of_the_sum(run, pulls).ravel(), laplace(scale=2).cdf).pvalue > 1e-6
    assert (loss_per_reward(run.server_ledgers) == 0.5).all()
    assert (run.ledgers["entries"] == 0).all()
    told = said(**options)
    assert told == promised(whole, 0.5)
    assert told["adversary"] == "anyone but the server, who sees its decisions, every arm and time, but no report"
    assert "the server is trusted" in told["note"]


# --- what is booked ---------------------------------------------------------------------------------------------


def test_many_rounds_cost_no_more_than_one():
    """A reward is in one sum only, so an agent's loss over the whole run is that of one release."""
    run = apart(case(epsilon=0.5, means=[0.5] * (ARMS - 1) + [0.52]), 100_000)
    entries = run.ledgers["entries"][0, :, :ARMS, 0]
    assert entries.min() >= 4
    assert (loss_per_reward(run.ledgers) == 0.5).all()


def test_arms_that_are_out_are_neither_noised_nor_sent():
    about = case(epsilon=0.5, means=[(k + 0.5) / ARMS for k in range(ARMS)])
    run = apart(about, 100_000)
    entries = run.ledgers["entries"][0, :, :ARMS, 0]
    assert (entries == entries[0]).all()
    assert (np.diff(entries[0]) >= 0).all() and entries[0, 0] < entries[0, -1] == run.tallies["rounds"][0]
    assert run.tallies["up_words"][0] == AGENTS * (run.tallies["rounds"][0] + entries[0].sum())


# --- what is said -------------------------------------------------------------------------------------------------

EVERYONE = "anyone who sees every message, count, arm and time, and may control all other agents"
TABLE = {
    "paper": ({"mode": "paper"}, 1.0, 50.0, False, EVERYONE),
    "paper noise in private mode": ({"noise": "paper"}, 1.0, 50.0, False, EVERYONE),
    "paper, one in five reports": ({"mode": "paper", "participation": 0.2}, 1.0, 10.0, False, EVERYONE),
    "local": ({}, 1.0, 1.0, True, EVERYONE),
    "local noise in paper mode": ({"mode": "paper", "noise": "local"}, 1.0, 1.0, True, EVERYONE),
    "local, one in five reports": ({"participation": 0.2}, 1.0, 1.0, True, EVERYONE),
    "none": ({"noise": "none"}, None, None, False, EVERYONE),
    "infinite": ({"epsilon": inf}, None, None, False, EVERYONE),
    "infinite, as printed": ({"epsilon": inf, "mode": "paper"}, None, None, False, EVERYONE),
}


@pytest.mark.parametrize("options, claimed, accounted, private, adversary", TABLE.values(), ids=TABLE)
def test_the_summary_says_what_is_claimed_what_is_true_and_against_whom(said, options, claimed, accounted, private, adversary):
    told = said(agents=50, **options)
    assert told["claimed"] == (claimed and {"epsilon": claimed, "delta": 0.0})
    assert told["accounted"]["epsilon"] == accounted
    assert (told["private"], told["adversary"], told["unit"]) == (private, adversary, "one reward of one agent")
    assert told["note"]


@pytest.mark.parametrize("name, network", [("ddp-mab", {}), ("hdp-mab", {"components": [20, 30]})])
def test_without_a_server_peers_and_sinks_see_single_messages_so_the_same_loss_counts(name, network):
    printed = case(agents=50, name=name, network=network, mode="paper")
    assert statement(printed.method.claim, printed.doors, 50.0)["private"] is False
    assert printed.method.p.price == 50.0
    assert case(agents=50, name=name, network=network).method.p.price == 1.0


def test_the_note_of_the_printed_noise_says_what_an_epsilon_of_one_means_for_fifty_agents(said):
    note = said(agents=50, mode="paper")["note"]
    assert "50 x 1 = 50, not 1" in note
    assert "scale 0.02" in note
    assert "reads the exact sum by rounding with probability 100 %" in note
    assert "More agents make it weaker" in note and "secure aggregation does not restore" in note


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.6])
def test_rounding_a_message_recovers_the_exact_sum_with_the_stated_probability(epsilon):
    """1 - exp(-1 / (2 b)) with b = 1 / (N epsilon), as measured and as the note says."""
    about = case(mode="paper", epsilon=epsilon)
    noise = noise_after_one_epoch(about, RUNS)
    promised = 1 - exp(-AGENTS * epsilon / 2)
    caught = np.rint(noise) == 0
    assert binomtest(int(caught.sum()), caught.size, promised).pvalue > 1e-6
    assert f"probability {100 * promised:.4g} %" in about.method.claim.note
