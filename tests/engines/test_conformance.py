"""Compiled, interpreted and rehearsed runs end in the same bytes: every algorithm, on every structure it may meet.

A run does not depend on how it was cut into batches either, nor on whether all agents share one record (folded). Among
peers a small algorithm of this file joins the built-in ones: it uses what they do not, and its messages take up to
three rounds.
"""

from functools import cache
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy import float64, int64

from coterie.algorithms import entries
from coterie.contract import Algorithm, Claim, Method, Setting, Terms, offer, order
from coterie.engines.rehearsal import compare, rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links, Run, Weather, simulate_mesh, simulate_star
from coterie.kernel import UNIT, argmax, capacity, node, pick, record, uniform
from coterie.network import collect, disjoint, path, synchronise
from coterie.problem import bernoulli, gaussian, procurement

AGENTS, ARMS, SEED = 5, 4, 8
MEANS = np.array([0.9, 0.7, 0.4, 0.1])
UNLIKE = MEANS + 0.1 * np.array([[-1, 1, -1, 1], [1, -1, 1, -1], [0.5, 0, -0.5, 0], [-0.5, 0, 0.5, 0], [0, 0, 0, 0]])
COSTS = 0.2 + 0.6 * np.abs(np.sin(np.arange(AGENTS * ARMS))).reshape(AGENTS, ARMS)
LIMITS = 1 + np.arange(AGENTS * ARMS).reshape(AGENTS, ARMS) ** 2 % 9
ALPHA, RHO = 0.75, 1.5  # the constraint binds for some agents
SHORT = {"pooled_client": 4000}  # who reports often has said enough by then
DELAYS = {
    "synchronise": synchronise(path(AGENTS)).slots - 1,
    "hybrid": collect(disjoint([path(3), path(2)])).delay,
}


# --- a small algorithm among peers --------------------------------------------------------------------


class Params(NamedTuple):
    arms: int = ARMS
    block: int = 3
    price: float = 2.0
    wander: float = 0.2


def inner_record(p):
    return record(peeked=int64, overheard=int64)


def open_record(p):
    n, sums = capacity(p.arms), ("pulls", "count", "total")
    return record(said=int64, heard=int64, estimate=int64, **dict.fromkeys(sums, (int64, n)), score=(float64, n))


def word_record(p):
    return record(arm=int64, count=int64, total=int64)


def peer_record(p):
    n = capacity(p.arms)
    return record(count=(int64, n), total=(int64, n))


def card_record(p):
    return record(estimate=int64)


@node
def weigh(open, peers, p, t):
    """Pool what all senders have said."""
    for k in range(p.arms):
        count, total = open.count[k], open.total[k]
        for i in range(len(peers)):
            count += peers[i].count[k]
            total += peers[i].total[k]
        open.score[k] = float(total) / (UNIT * float(max(count, 1)))


@node
def choose(open, p, t, die, plan):
    if t == 0:
        for k in range(p.arms):
            order(plan, k, 1)
    elif uniform(die, 0) < p.wander:
        order(plan, pick(die, 1, p.arms), 1)
    else:
        order(plan, argmax(open.score, p.arms), 1)


@node
def peek(secret, inner, open, p, t, die, plan):
    """As choose, but an arm with rewards that were not released yet is finished first."""
    for k in range(p.arms):
        if secret.total[k] > secret.mark_total[k, 0]:
            inner.peeked += 1
            order(plan, k, 1)
            return
    choose(open, p, t, die, plan)


@node
def release(open, p, t, plan, out):
    for e in range(plan.entries):
        k = plan.arm[e]
        if open.pulls[k] + plan.pulls[e] >= open.count[k] + p.block:
            offer(out, k, p.price)


@node
def publish(open, p, t, plan, out):
    for e in range(plan.entries):
        open.pulls[plan.arm[e]] += plan.pulls[e]
    open.said = -1
    for e in range(out.entries):
        k = out.arm[e]
        open.count[k] += out.last[e] - out.first[e] + 1
        open.total[k] += out.value[e]
        open.estimate += out.value[e]
        open.said = k


@node
def speak(open, p, t, message):
    """Only about news: most rounds are silent."""
    if open.said < 0:
        return 0
    message.arm, message.count, message.total = open.said, open.count[open.said], open.total[open.said]
    return 3


@node
def hear(open, peer, p, t, message):
    peer.count[message.arm], peer.total[message.arm] = message.count, message.total
    open.heard += t * message.count


@node
def overhear(secret, inner, open, peer, p, t, message):
    """How often others speak of arms that one has pulled oneself."""
    inner.overheard += t if secret.count[message.arm] > 0 else 0


@node
def greet(open, p, t, card):
    card.estimate = open.estimate
    return 1


@node
def meet(open, p, t, mine, theirs):
    """Both ends move by the same amount, towards each other."""
    difference = theirs.estimate - mine.estimate
    open.estimate += difference // 2 if difference >= 0 else -(-difference // 2)


SMALL = Algorithm(
    "small", open_record, word_record, peer_record, card_record, choose=choose, release=release, publish=publish,
    speak=speak, hear=hear, greet=greet, meet=meet, weigh=weigh, first_round=0,
)  # fmt: skip
PEEKING = SMALL._replace(name="peeking", inner=inner_record, peek=peek, overhear=overhear, caveat="this is a test")


# --- the cases ----------------------------------------------------------------------------------------


class Case(NamedTuple):
    method: Method
    problem: Any = bernoulli
    alike: bool = True
    links: Links | None = None
    clip: tuple[float, float] = (-inf, inf)
    weather: Weather = Weather()

    @property
    def horizon(self):
        return 80 if self.links is not None else SHORT.get(self.method.node.name, 20_000)

    @property
    def delay(self):
        return DELAYS.get(self.method.structure, 0)

    def about(self):
        if self.problem is procurement:
            terms = terms_of(self.alike)
            worlds = procurement.world(MEANS, terms.cost, terms.limit, terms.alpha, terms.rho)
            return self.method, self.problem, worlds, AGENTS, self.horizon
        means = MEANS[None] if self.alike else UNLIKE
        shape = {"sigma": 0.5, "low": self.clip[0], "high": self.clip[1]} if self.problem is gaussian else {}
        return self.method, self.problem, self.problem.world(means, **shape), AGENTS, self.horizon

    def simulate(self, first=0, replications=3, delay=None, **how):
        marks = np.unique(np.geomspace(1, self.horizon, 30).astype(int64))
        how |= {"seed": SEED, "first": first, "replications": replications}
        if self.links is not None:
            return simulate_mesh(*self.about(), marks, self.links, weather=self.weather, **how)
        return simulate_star(*self.about(), marks, delay=self.delay if delay is None else delay, **how)

    def rehearse(self, replication):
        how = {"seed": SEED, "replication": replication}
        if self.links is not None:
            return rehearse_mesh(*self.about(), self.links, weather=self.weather, **how)
        return rehearse_star(*self.about(), delay=self.delay, **how)


def hops_on_a_path(life, meetings):
    """Agents in a row hear those within `life` hops, or all, after as many rounds."""
    hops = np.abs(np.subtract.outer(np.arange(AGENTS), np.arange(AGENTS)))
    receiver, sender = np.nonzero((hops > 0) & (hops <= (AGENTS if life == "diameter" else life)))
    first = np.searchsorted(receiver, np.arange(AGENTS + 1))
    return Links(first, sender, hops[receiver, sender], path(AGENTS).edges, meetings)


def built(name, example, problem=bernoulli, alike=True, clip=(-inf, inf)):
    low, high = (0.0, 1.0) if problem is bernoulli else clip
    facts = {"homogeneous": alike, "gap": 0.2, "low": low, "high": high, "components": (3, 2)}
    facts |= {"reward_values": (0.0, 1.0)} if problem is bernoulli else {}
    setting = Setting(agents=AGENTS, arms=ARMS, horizon=20_000, **facts)
    entry = entries()[name]
    if entry.problem == "procurement":
        problem, setting = procurement, setting._replace(terms=terms_of(alike))
    method = entry.build(entry.options(**example), setting)
    if method.structure != "peers":
        return Case(method, problem, alike, clip=clip)
    links = hops_on_a_path(method.life or 2, method.meetings)
    return Case(method, problem, alike, links, clip, Weather(active=method.active))


def terms_of(alike):
    """All agents have the costs and limits of the first, or each its own."""
    rows = np.zeros(AGENTS, int64) if alike else np.arange(AGENTS)
    return Terms(COSTS[rows], LIMITS[rows], ALPHA, RHO)


def among_peers(algorithm, meetings, weather):
    method = Method(algorithm, Params(), Claim(inf))
    return Case(method, alike=False, links=hops_on_a_path(3, meetings), weather=weather)


AWAY = np.array([[200, 200], [200, 200], [30, 50], [1, 60], [200, 200]])
MAKERS = {
    f"{name} {example} {'alike' if alike else 'unlike'}": (built, name, example, bernoulli, alike)
    for name, entry in entries().items()
    for example in entry.examples
    for alike in (True, False)
    if alike or example == entry.examples[0]  # worlds of their own are the engine's business
}
MAKERS |= {
    "normal rewards": (built, "cdp-mab", {}, gaussian, True),
    "normal rewards, clipped": (built, "cdp-mab", {}, gaussian, False, (-1.0, 2.0)),
    "small": (among_peers, SMALL, 0, Weather()),
    "small, meeting": (among_peers, SMALL, 2, Weather()),
    "small, meeting now and then": (among_peers, SMALL, 2, Weather(active=0.5)),
    "peeking, coming and going": (among_peers, PEEKING, 2, Weather(loss=0.3, away=AWAY)),
    "peeking, coming and going, losing one way": (among_peers, PEEKING, 2, Weather(loss=0.3, one_way=1, away=AWAY)),
}


@cache
def case(name):
    maker, *about = MAKERS[name]
    return maker(*about)


@cache
def compiled(name):
    return case(name).simulate()


def part(run, replication):
    return Run(*(None if array is None else array[replication : replication + 1] for array in run))


def differing(one, other):
    pairs = zip(one._fields, one, other, strict=True)
    return [name for name, ours, theirs in pairs if ours is not None and ours.tobytes() != theirs.tobytes()]


# --- the battery --------------------------------------------------------------------------------------


FURTHER = [f"{name} {example} alike" for name, entry in entries().items() for example in entry.examples[1:]]
KIN = ("ucb1", "private-ucb", "dp-ucb-int", "fcb", "fcb-periodic", "nf-cb")  # of coop-ucb, byzantine-ucb, fed-ucb and p-fcb
UNLIKE_BY_DEFAULT = ("cdp-mab", "ddp-mab", "hdp-mab", "single-mab", "pooled-ucb", "coop-ucb", "gossip-ucb", "peer-ucb", "p-fcb")


def seldom(name):
    """Further forms, kin, and all but one of every engine in worlds of their own: run by hand."""
    entry = name.split()[0]
    return name in FURTHER or entry in KIN or (name.endswith(" unlike") and entry not in UNLIKE_BY_DEFAULT)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * seldom(name)) for name in MAKERS])
def test_all_ways_to_run_a_replication_end_in_the_same_bytes(name):
    run = compiled(name)
    assert differing(part(run, 1), case(name).simulate(first=1, replications=1, compiled=False)) == []
    assert compare(run, case(name).rehearse(1), 1) == []
    assert differing(part(run, 2), case(name).simulate(first=2, replications=1)) == []
    assert differing(part(run, 2), part(run, 1)) != []
    assert says_something(name, run)


def says_something(name, run):
    """Several epochs, or several releases and words among peers, and arms other than the best."""
    node, nothing = case(name).method.node, Algorithm("nothing")
    silent, closed = node.speak is nothing.speak, node.release is nothing.release or "echo" in name  # which is noise alone
    releases = run.ledgers["entries"].max(axis=(2, 3)).max(axis=1).min()
    return (closed or releases >= 2) and run.curves.max() > 0 and (silent or run.tallies["up_messages"].min() > 0)


FOLDING = [name for name in MAKERS if case(name).method.folds and "normal" not in name]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * ("secagg" in name)) for name in FOLDING])
def test_agents_that_share_one_record_lead_the_server_to_the_same_bytes(name):
    plain, folded = (case(name).simulate(delay=0, folded=shared) for shared in (False, True))
    assert plain.servers.tobytes() == folded.servers.tobytes()
    assert plain.tallies.tobytes() == folded.tallies.tobytes()
    assert np.allclose(plain.curves, folded.curves, rtol=1e-12, atol=1e-9)
    assert np.allclose(plain.totals.sum(axis=1), AGENTS * folded.totals[:, 0], rtol=1e-12, atol=1e-9)
    assert plain.ledgers["loss"].max(axis=1).tolist() == folded.ledgers["loss"][:, 0].tolist()
    assert (plain.late == folded.late).all()


def test_what_is_derived_from_the_secret_is_kept_and_changes_nothing_that_was_heard():
    run = compiled("peeking, coming and going")
    assert run.inners["peeked"].min() > 0 and run.inners["overheard"].min() > 0
    assert not run.opens["heard"].any()


def test_a_rehearsal_of_another_replication_is_told_apart():
    assert len(compare(compiled("small"), case("small").rehearse(0), 1)) > AGENTS


def test_meetings_move_both_ends_by_opposite_amounts():
    opens = compiled("small, meeting").opens
    assert (opens["estimate"].sum(axis=1) == opens["total"].sum(axis=(1, 2))).all()
    assert (opens["estimate"] != opens["total"].sum(axis=2)).any()


def test_words_arrive_after_as_many_rounds_as_there_are_hops():
    """`heard` adds up round * count, which tells when every word arrived. Replayed from what was said, and when."""
    links, method = case("small").links, case("small").method
    shorter = (simulate_mesh(*case("small").about()[:4], t, np.array([1]), links, seed=SEED) for t in range(41))
    opens = dict(enumerate(run.opens[0] for run in shorter))
    heard = np.zeros(AGENTS, int64)
    for t in range(1, 41):
        for i in range(AGENTS):
            for link in range(links.first[i], links.first[i + 1]):
                j, sent = links.sender[link], t - links.delay[link]
                if sent >= method.node.first_round and opens[sent][j]["said"] >= 0:
                    heard[i] += t * opens[sent][j]["count"][opens[sent][j]["said"]]
    assert heard.tolist() == opens[40]["heard"].tolist()
    assert heard.min() > 0
