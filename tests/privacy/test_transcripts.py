"""Every algorithm passes the replay of `coterie.audit.replay`: one changed reward and the same released numbers, and nothing
visible differs but what was paid for. Leaks are planted at the end, to be found.
"""

from math import inf

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.algorithms.elimination import CLIENT, TRUSTED, report_record
from coterie.audit import replay
from coterie.audit.replay import booked, compare_agent, compare_server, relive
from coterie.contract import Setting, Terms, offer, order
from coterie.engines.rehearsal import rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links
from coterie.kernel import UNIT, capacity, record
from coterie.problem import bernoulli

AGENTS, ARMS, MEANS = 8, 3, np.array([[0.8, 0.68, 0.2]])
HORIZON = {"peers": 80}  # rounds; elimination is given enough for several epochs
SETTING = Setting(AGENTS, ARMS, 4000, gap=0.12, components=(5, 3), terms=Terms(np.ones((8, 3)), np.ones((8, 3)), 0.5, 1.0))


def live(method):
    """Agent 0 of a rehearsal and its server, if it has one, both taped."""
    horizon, worlds = HORIZON.get(method.structure, SETTING.horizon), bernoulli.world(MEANS)
    if method.structure == "peers":
        links = pairs_on_a_path(method.life or 1)._replace(meetings=method.meetings)
        return replay.live(lambda make: rehearse_mesh(method, bernoulli, worlds, AGENTS, horizon, links, seed=3, make=make))
    return replay.live(lambda make: rehearse_star(method, bernoulli, worlds, AGENTS, horizon, seed=3, make=make))


def pairs_on_a_path(life):
    """Agents in a row hear those within `life` hops."""
    hops = np.abs(np.subtract.outer(np.arange(AGENTS), np.arange(AGENTS)))
    receiver, sender = np.nonzero((hops > 0) & (hops <= life))
    edges = np.column_stack([np.arange(AGENTS - 1), np.arange(1, AGENTS)])
    return Links(np.searchsorted(receiver, np.arange(AGENTS + 1)), sender, hops[receiver, sender], edges)


def made(name, example):
    entry = entries()[name]
    return entry.build(entry.options(**example), SETTING)


CASES = [(name, example, made(name, example)) for name, entry in entries().items() for example in entry.examples]
CLAIMS = [case for case in CASES if case[2].claim.epsilon < inf and not case[2].claim.void]
OWN = [case for case in CLAIMS if case[2].claim.booked_by == "agents"]
SERVED = [case for case in CLAIMS if case[2].claim.booked_by == "server"]


def by_name(case):
    return f"{case[0]} {case[1]}"


@pytest.mark.parametrize("case", [case for case in OWN if not case[2].node.caveat], ids=by_name)
def test_a_changed_reward_shows_only_where_it_was_paid_for(case):
    """Methods with a caveat make choices that nobody may see; they are not asked to make the same ones."""
    first = live(case[2])[0]
    results = list(compare_agent(first))
    assert [wrong for wrong, _ in results if wrong] == []
    costs = [cost for _, cost in results]
    assert len(first.witness.passed) >= 2
    assert 0 < max(costs) <= booked(first) * (1 + 1e-12) < inf


@pytest.mark.parametrize("case", SERVED, ids=by_name)
def test_a_changed_reward_shows_behind_a_trusted_server_only_where_it_was_paid_for(case):
    first, server = live(case[2])
    results = list(compare_server(first, server))
    assert [wrong for wrong, _ in results if wrong] == []
    assert all(0 < cost <= booked(server) * (1 + 1e-12) < inf for _, cost in results)
    assert len(results) >= 2 * ARMS


UNPROTECTED = SERVED + [case for case in OWN if case[2].node.mechanism == "shares"]


@pytest.mark.parametrize("case", UNPROTECTED, ids=by_name)
def test_an_agent_whose_own_report_is_not_protected_plays_by_what_it_is_told_alone(case):
    """Its arms are seen. Neither raw sums nor sums with a share of the noise may show in them, also if all its rewards
    are turned round."""
    first = live(case[2])[0]
    turned = lambda name, arguments: (arguments[0], UNIT - arguments[1]) if name == "tell" else arguments  # noqa: E731
    _, _, seen = relive(first, turned, None)
    assert [after[0] for after in seen] == [before[0] for *_, before in first.tape]


# --- planted leaks ----------------------------------------------------------------------------------------


def release_into_the_open(secret, open, p, t, plan, out):
    open.total[plan.arm[0]] += secret.total[plan.arm[0]] // UNIT
    CLIENT.release(secret, open, p, t, plan, out)


def release_without_clearing(secret, open, p, t, plan, out):
    kept = secret.total.copy()
    CLIENT.release(secret, open, p, t, plan, out)
    secret.total[:] = kept


def release_twice_as_much(secret, open, p, t, plan, out):
    CLIENT.release(secret, open, p, t, plan, out)
    out.value[:] *= 2


def release_at_a_price_of_its_own(secret, open, p, t, plan, out):
    total = int(secret.total[plan.arm[0]]) // UNIT
    CLIENT.release(secret, open, p, t, plan, out)
    out.price[0] *= 1 + total % 2


def release_on_another_arm(secret, open, p, t, plan, out):
    for e in range(plan.entries):
        k = plan.arm[e]
        offer(out, ARMS - 1 - k, secret.total[k], 1.0, p.price, 0, open.samples + 1, open.samples + open.pulls)
        secret.total[k] = 0


def release_as_an_earlier_stretch(secret, open, p, t, plan, out):
    CLIENT.release(secret, open, p, t, plan, out)
    out.first[:], out.last[:] = -t, -t


def remembering(p):
    return record(ever=np.int64, total=(np.int64, capacity(p.arms)))


def observe_and_remember(secret, p, t, arm, pulls, total):
    secret.total[arm] += total
    secret.ever += total


def peek_at_the_sum(secret, open, p, t, die, plan):
    turned = secret.ever // UNIT % 2
    for e in range(open.survivors):
        order(plan, open.arm[open.survivors - 1 - e if turned else e], open.pulls)
    plan.rounds = open.survivors * open.pulls


PEEKING = {"secret": remembering, "observe": observe_and_remember, "peek": peek_at_the_sum, "caveat": "a planted leak"}
LEAKS = {
    "finish shows the reward": {"release": release_into_the_open},
    "begin shows the reward": PEEKING,
    "the ledger shows the reward": {"release": release_at_a_price_of_its_own},
    "an offer moves further than its sensitivity": {"release": release_twice_as_much},
    "an offer moves that does not cover the reward": {"release": release_without_clearing},
}


@pytest.mark.parametrize("finding", LEAKS)
def test_a_planted_leak_is_found(finding):
    method = made("cdp-mab", {})
    first = live(method._replace(node=CLIENT._replace(**LEAKS[finding])))[0]
    assert finding in {wrong for findings, _ in compare_agent(first) for wrong in findings}


@pytest.mark.parametrize("release", [release_on_another_arm, release_as_an_earlier_stretch])
def test_a_wrong_cover_is_found(release):
    first = live(made("cdp-mab", {})._replace(node=CLIENT._replace(release=release)))[0]
    found = {wrong for findings, _ in compare_agent(first) for wrong in findings}
    assert found == {"an offer moves that does not cover the reward"}


def release_reports_into_the_open(secret, open, p, t, plan, out):
    open.history[0] += secret.total[0] % 2 + secret.total[0] // UNIT
    TRUSTED.release(secret, open, p, t, plan, out)


def release_total_as_if_of_one_epoch(secret, open, p, t, plan, out):
    TRUSTED.release(secret, open, p, t, plan, out)
    secret.before[:] = 0


@pytest.mark.parametrize(
    ("release", "finding"),
    [
        (release_reports_into_the_open, "release shows the reward"),
        (release_total_as_if_of_one_epoch, "an offer moves that does not cover the reward"),
    ],
)
def test_a_leak_of_a_trusted_server_is_found(release, finding):
    method = made("cdp-mab", {"noise": "central"})
    leaky = method._replace(server=TRUSTED._replace(release=release))
    assert finding in {wrong for findings, _ in compare_server(*live(leaky)) for wrong in findings}


def test_a_report_is_the_message_that_a_server_collects():
    """The audit of a trusted server replaces reports byte by byte, so both ends must mean the same record."""
    method = made("cdp-mab", {"noise": "central"})
    assert method.node.message is method.server.hears is report_record
