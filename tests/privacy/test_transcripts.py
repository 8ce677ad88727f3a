"""One changed reward and the same transcript: nothing visible may differ, and only what was paid for differs behind it.

An agent lives once in a rehearsal, where everything that is done to it goes on a tape. It then lives again by the tape
with one reward changed, and is handed the noised numbers of its first life. Plans, messages and the open state must be
the same; what it offers to the door may differ only where it covers that reward, by no more than the declared
sensitivity, at the booked price. This is exact: no luck is involved. Leaks are planted at the end, to be found.
"""

from math import inf
from typing import NamedTuple

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.algorithms.elimination import CLIENT, TRUSTED, report_record
from coterie.contract import Setting, offer, order
from coterie.engines import rehearsal
from coterie.engines.agent import Agent
from coterie.engines.simulate import Links
from coterie.kernel import UNIT, capacity, record
from coterie.privacy.door import BOOKS
from coterie.privacy.ledger import loss_per_reward
from coterie.problem import bernoulli

AGENTS, ARMS, MEANS = 8, 3, np.array([[0.8, 0.68, 0.2]])
HORIZON = {"peers": 80}  # rounds; elimination is given enough for several epochs
SETTING = Setting(AGENTS, ARMS, 4000, gap=0.12, components=(5, 3))
STREAMS = ("digits", "root")  # mechanisms in which an arm's offers are paid for all together
CALLS = {"know", "hear", "begin", "ask", "tell", "finish", "release", "speak", "announce", "greet", "meet"}


class Offer(NamedTuple):
    t: int
    arm: int
    value: int
    sensitivity: float
    price: float
    chain: int
    first: int
    last: int


class Witness:
    """The chance of an agent. Its door keeps what was offered and what came back, or hands out what another kept."""

    rehearsed = True

    def __init__(self, chance, script=None):
        self.chance, self.die, self.idle_die = chance, chance.die, chance.idle_die
        self.offers, self.passed, self.script = [], [], script

    def door(self, algorithm, p, t, out, ledger):
        n = out.entries
        columns = [getattr(out, field)[:n].tolist() for field in Offer._fields[1:]]
        self.offers += [Offer(t, *row) for row in zip(*columns, strict=True)]
        if self.script is None:
            self.chance.door(algorithm, p, t, out, ledger)
        else:
            BOOKS[algorithm.mechanism](out, ledger)
            out.value[:n] = self.script[len(self.passed)]
        self.passed.append(out.value[:n].copy())


class Taped:
    """An agent in a rehearsal, and a tape of (call, its arguments, what could be seen of it)."""

    def __init__(self, role, p, chance):
        self.witness, self.tape, self.start = Witness(chance), [], None
        self.agent = Agent(role, p, self.witness, rehearsal=True)

    def __getattr__(self, name):
        return self.play(name) if name in CALLS else getattr(self.agent, name)

    def play(self, name):
        def call(*arguments, **facts):
            if not self.tape:
                self.start = self.agent.open.copy()  # with what it knows beforehand
            answer, seen = act(self.agent, name, arguments, facts)
            self.tape.append((name, arguments, facts, seen))
            return answer

        return call


def act(agent, name, arguments, facts):
    """What is answered, and what can be seen: (choices, message, open state)."""
    answer, plan = getattr(agent, name)(*arguments, **facts), agent.plan
    if name in ("ask", "tell"):
        return answer, (answer, None, None)
    pulls = plan.arm[: plan.entries].tolist(), plan.pulls[: plan.entries].tolist(), int(plan.rounds)
    return answer, (pulls, answer, agent.open.tobytes())


def live(method, monkeypatch):
    """Agent 0 of a rehearsal and its server, if it has one, both taped."""
    taped = []

    def agent(role, p, chance, rehearsal):
        if chance.node > 0:
            return Agent(role, p, chance, rehearsal)
        taped.append(Taped(role, p, chance))
        return taped[-1]

    monkeypatch.setattr(rehearsal, "Agent", agent)
    horizon, worlds = HORIZON.get(method.structure, SETTING.horizon), bernoulli.world(MEANS)
    if method.structure == "peers":
        links = pairs_on_a_path(method.life or 1)._replace(meetings=method.meetings)
        rehearsal.rehearse_mesh(method, bernoulli, worlds, AGENTS, horizon, links, seed=3)
    else:
        rehearsal.rehearse_star(method, bernoulli, worlds, AGENTS, horizon, seed=3)
    return taped[:2]


def pairs_on_a_path(life):
    """Agents in a row hear those within `life` hops."""
    hops = np.abs(np.subtract.outer(np.arange(AGENTS), np.arange(AGENTS)))
    receiver, sender = np.nonzero((hops > 0) & (hops <= life))
    edges = np.column_stack([np.arange(AGENTS - 1), np.arange(1, AGENTS)])
    return Links(np.searchsorted(receiver, np.arange(AGENTS + 1)), sender, hops[receiver, sender], edges)


def relive(first, change, script):
    """The second life: (agent, its witness, what could be seen of every call up to another choice, if there is one)."""
    witness = Witness(first.chance.chance, script)
    agent, seen = Agent(first.algorithm, first.p, witness, rehearsal=True), []
    for field in first.start.dtype.names:
        agent.open[field] = first.start[field]
    for name, arguments, facts, before in first.tape:
        seen.append(act(agent, name, change(name, arguments), facts)[1])
        if seen[-1][0] != before[0]:
            break  # another choice: the rest of the tape belongs to another life
    return agent, witness, seen


def rewards(first):
    """{ticket: (arm, its number among the arm's rewards, turn)}"""
    found, count, t = {}, dict.fromkeys(range(ARMS), 0), 0
    for name, arguments, _, seen in first.tape:
        t = arguments[0] if name == "begin" else t
        if name == "ask" and seen[0][0] is not None:
            ticket, arm = seen[0]
            count[arm] += 1
            found[ticket] = arm, count[arm], t
    return found


def flip(ticket):
    """The change of one reward, 0 to 1 or 1 to 0."""

    def change(name, arguments):
        return (ticket, UNIT - arguments[1]) if name == "tell" and arguments[0] == ticket else arguments

    return change


def chosen(found):
    """Of every arm that was pulled the first reward, one from the middle, and the last."""
    for arm in sorted({about[0] for about in found.values()}):
        tickets = [ticket for ticket, about in found.items() if about[0] == arm]
        yield from sorted({tickets[0], tickets[len(tickets) // 2], tickets[-1]})


def audit(first, change, reward):
    """What is wrong with the first life, given one change: a list of findings, and what the change has cost."""
    agent, second, seen = relive(first, change, first.witness.passed)
    for (name, *_, before), after in zip(first.tape, seen, strict=False):
        if before != after:
            return [f"{name} shows the reward"], inf
    if agent.ledger.tobytes() != first.agent.ledger.tobytes():
        return ["the ledger shows the reward"], inf
    pairs, stream = list(zip(first.witness.offers, second.offers, strict=True)), agent.algorithm.mechanism in STREAMS
    moved = [one for one, other in pairs if one.value != other.value]
    far = [one for one, other in pairs if abs(one.value - other.value) > one.sensitivity * UNIT]
    wrong = ["an offer moves further than its sensitivity"] * bool(far)
    if not any(all(covers(one, reward[0], clock, stream) for one in moved) for clock in reward[1:]):
        wrong.append("an offer moves that does not cover the reward")
    cost = (max if stream else sum)([0.0, *(one.price for one in moved)])
    if cost > booked(first) * (1 + 1e-12):
        wrong.append("more is lost than was booked")
    return wrong, cost


def covers(offer, arm, clock, stream):
    """An arm's own clock counts its rewards or the turns. An offer of a stream is the sum of all up to its first."""
    return offer.arm == arm and (clock <= offer.first if stream else offer.first <= clock <= offer.last)


def booked(first):
    return loss_per_reward(np.array([first.agent.ledger]).view(first.agent.ledger.dtype))[0]


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
def test_a_changed_reward_shows_only_where_it_was_paid_for(case, monkeypatch):
    """Methods with a caveat make choices that nobody may see; they are not asked to make the same ones."""
    first = live(case[2], monkeypatch)[0]
    found = rewards(first)
    costs = []
    for ticket in chosen(found):
        wrong, cost = audit(first, flip(ticket), found[ticket])
        assert wrong == []
        costs.append(cost)
    assert len(first.witness.passed) >= 2
    assert 0 < max(costs) <= booked(first) * (1 + 1e-12) < inf


def audit_server(method, monkeypatch):
    """The reward of one agent changes its raw reports to the end; the server's door is the one that counts."""
    first, server = live(method, monkeypatch)
    found = rewards(first)
    for ticket in chosen(found):
        _, _, seen = relive(first, flip(ticket), None)
        reports = {tape[1][0]: after[1] for tape, after in zip(first.tape, seen, strict=True) if tape[0] == "speak"}
        yield audit(server, report_anew(reports), found[ticket]), booked(server)


def report_anew(reports):
    """The change of all reports of agent 0: {turn: report}."""

    def change(name, arguments):
        return (*arguments[:2], reports[arguments[0]]) if name == "hear" and arguments[1] == 0 else arguments

    return change


@pytest.mark.parametrize("case", SERVED, ids=by_name)
def test_a_changed_reward_shows_behind_a_trusted_server_only_where_it_was_paid_for(case, monkeypatch):
    audits = list(audit_server(case[2], monkeypatch))
    assert [wrong for (wrong, _), _ in audits if wrong] == []
    assert all(0 < cost <= spent * (1 + 1e-12) < inf for (_, cost), spent in audits)
    assert len(audits) >= 2 * ARMS


UNPROTECTED = SERVED + [case for case in OWN if case[2].node.mechanism == "shares"]


@pytest.mark.parametrize("case", UNPROTECTED, ids=by_name)
def test_an_agent_whose_own_report_is_not_protected_plays_by_what_it_is_told_alone(case, monkeypatch):
    """Its arms are seen. Neither raw sums nor sums with a share of the noise may show in them, also if all its rewards
    are turned round."""
    first = live(case[2], monkeypatch)[0]
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
def test_a_planted_leak_is_found(finding, monkeypatch):
    method = made("cdp-mab", {})
    first = live(method._replace(node=CLIENT._replace(**LEAKS[finding])), monkeypatch)[0]
    found = rewards(first)
    findings = {wrong for ticket in chosen(found) for wrong in audit(first, flip(ticket), found[ticket])[0]}
    assert finding in findings


@pytest.mark.parametrize("release", [release_on_another_arm, release_as_an_earlier_stretch])
def test_a_wrong_cover_is_found(release, monkeypatch):
    first = live(made("cdp-mab", {})._replace(node=CLIENT._replace(release=release)), monkeypatch)[0]
    found = rewards(first)
    findings = {wrong for ticket in chosen(found) for wrong in audit(first, flip(ticket), found[ticket])[0]}
    assert findings == {"an offer moves that does not cover the reward"}


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
def test_a_leak_of_a_trusted_server_is_found(release, finding, monkeypatch):
    method = made("cdp-mab", {"noise": "central"})
    leaky = method._replace(server=TRUSTED._replace(release=release))
    assert finding in {wrong for (findings, _), _ in audit_server(leaky, monkeypatch) for wrong in findings}


def test_a_report_is_the_message_that_a_server_collects():
    """The audit of a trusted server replaces reports byte by byte, so both ends must mean the same record."""
    method = made("cdp-mab", {"noise": "central"})
    assert method.node.message is method.server.hears is report_record
