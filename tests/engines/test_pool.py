"""Messages that add up: who holds what when, against flooding; pooled sums against one message after another.

A small algorithm of this file says in every round who speaks and when, so that sums tell every single message apart.
Everything is interpreted: compiled runs end in the same bytes (test_conformance, test_faults).
"""

from functools import cache
from math import inf

import networkx
import numpy as np
import pytest
from numpy import int64

from coterie.algorithms import find
from coterie.contract import Algorithm, Claim, Method, Setting, order
from coterie.engines import simulate as engine
from coterie.engines.attacks import ATTACKS
from coterie.engines.faults import Weather
from coterie.engines.simulate import Wires, simulate_mesh
from coterie.kernel import node, record
from coterie.network import complete, distances, erdos_renyi, from_edges, path, ring
from coterie.problem import bernoulli
from coterie.studies.case import reach

MEANS = np.array([[0.8, 0.65, 0.5, 0.35, 0.2]])
ARMS = MEANS.shape[1]


def simulate(method, graph, life, horizon, seed=5, **weather):
    links, marks = reach([graph], life, "diameter"), np.array([horizon])
    how = {"weather": Weather(truth=MEANS[0], **weather), "seed": seed, "compiled": False}
    return simulate_mesh(method, bernoulli, bernoulli.world(MEANS), graph.nodes, horizon, marks, links, **how)


def build(name, agents, **options):
    entry = find(name)
    return entry.build(entry.options(**options), Setting(agents, ARMS, 1000, reward_values=(0.0, 1.0)))


def differing(one, other):
    pairs = zip(one._fields, one, other, strict=True)
    return [name for name, ours, theirs in pairs if ours is not None and ours.tobytes() != theirs.tobytes()]


# --- who holds what when ----------------------------------------------------------------------------------

AGENTS, ROUNDS = 9, 12
SECOND = ATTACKS["promote-second"].number


class Params:
    arms = 2


def diary(p):
    """What was heard up to every round, from every sender."""
    return record(me=int64, total=(int64, AGENTS), diary=(int64, (ROUNDS + 1, AGENTS)))


def signed_message(p):
    """A place for every sender."""
    return record(arm=int64, word=(int64, AGENTS))


@node
def choose(open, p, t, die, plan):
    open.diary[t] = open.total
    order(plan, t % 2, 1)


@node
def speak(open, p, t, message):
    """In an arm of its own for everybody: words replace former ones on the same arm only."""
    message.arm = 0
    message.word[:] = 0
    message.word[open.me] = t
    return 1 + AGENTS


@node
def hear(open, peer, p, t, message):
    open.total += message.word


SIGNED = Algorithm("signed", open=diary, message=signed_message, choose=choose, speak=speak, hear=hear)


def heard(graph, life, additive, **weather):
    """[receiver, round, sender]: the sum of the rounds in which those messages were made that the receiver holds."""
    rule = SIGNED._replace(name=f"signed_{additive}", additive=additive)
    method = Method(rule, Params(), Claim(inf), known={"me": np.arange(AGENTS)})
    return simulate(method, graph, life, ROUNDS, **weather).opens[0]["diary"]


def flood(graph, life):
    """[receiver, round, sender]: the rounds of the messages it holds when it decides.

    Plain flooding: everyone hands a new message to all neighbours, with one hop less to live, and forwards what it has not
    seen before. Its own message that comes back is not new.
    """
    neighbours = networkx.Graph(graph.edges.tolist()).adj
    seen = [set() for _ in range(graph.nodes)]
    held = [[[set() for _ in range(graph.nodes)] for _ in range(ROUNDS + 1)] for _ in range(graph.nodes)]
    under_way = [[] for _ in range(graph.nodes)]
    for t in range(1, ROUNDS + 1):
        arriving, under_way = under_way, [[] for _ in range(graph.nodes)]
        for i in range(graph.nodes):
            fresh = {message: left for message, left in arriving[i] if message not in seen[i]}
            seen[i] |= fresh.keys()
            for j in range(graph.nodes):
                held[i][t][j] = {sent for sender, sent in seen[i] if sender == j != i}
            seen[i].add((i, t))
            for message, left in [*fresh.items(), ((i, t), life)]:
                for other in neighbours[i] if left > 0 else ():
                    under_way[other].append((message, left - 1))
    return held


GRAPHS = {
    "path": path(AGENTS),
    "ring": ring(AGENTS),
    "random": erdos_renyi(AGENTS, np.random.default_rng(4), 0.3),
    "triangles": from_edges(AGENTS, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6), (6, 7), (7, 8)]),
}


@cache
def flooded(name, life):
    return flood(GRAPHS[name], life)


@pytest.mark.parametrize("life", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("name", GRAPHS)
def test_flooding_gives_everyone_what_is_older_than_its_distance(name, life):
    """Agent i decides in round t from the messages of j up to round t - d(i, j), if d(i, j) <= life."""
    hops, held = distances(GRAPHS[name]), flooded(name, life)
    for i in range(AGENTS):
        for j in range(AGENTS):
            within = 1 <= hops[i, j] <= life
            for t in range(1, ROUNDS + 1):
                assert held[i][t][j] == (set(range(1, t - hops[i, j] + 1)) if within else set())


@pytest.mark.parametrize("life", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_news_arrive_as_flooding_brings_them_each_once(name, life, one_by_one):
    expected = [[[sum(sent) for sent in by_sender] for by_sender in rounds] for rounds in flooded(name, life)]
    assert heard(GRAPHS[name], life, "news", **(UNUSED_HOLIDAY if one_by_one else {})).tolist() == expected


@pytest.mark.parametrize("life", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_of_words_only_the_latest_of_every_sender_counts(name, life, one_by_one):
    expected = [[[max(sent, default=0) for sent in by_sender] for by_sender in rounds] for rounds in flooded(name, life)]
    assert heard(GRAPHS[name], life, "words", **(UNUSED_HOLIDAY if one_by_one else {})).tolist() == expected


UNUSED_HOLIDAY = {"away": np.full((AGENTS, 2), 10**6)}  # nobody ever goes, but the engine has to look at every link


# --- sums in the fastest order are sums -------------------------------------------------------------------

CROWD = 70  # more senders than bits in a word
POOLED = {
    "coop-ucb": ("coop-ucb", {}),
    "private-ucb": ("private-ucb", {"epsilon": 20.0, "nominal": 1.0}),
    "private-ucb as printed": ("private-ucb", {"mode": "paper", "epsilon": 1.0}),
    "byzantine-ucb": ("byzantine-ucb", {"liars_assumed": 0.01}),
}


@pytest.mark.parametrize("name", POOLED)
def test_pooled_messages_have_the_effect_of_single_ones(name):
    algorithm, options = POOLED[name]
    method = build(algorithm, CROWD, **options)
    graph = erdos_renyi(CROWD, np.random.default_rng(1), 0.08)
    lies = name in ("private-ucb", "byzantine-ucb")
    faults = {"liar": (np.arange(CROWD) % 9 == 4).astype(int64), "attack": SECOND, "dropout": 0.1} if lies else {}
    pooled = simulate(method, graph, 2, 8, **faults)
    singly = simulate(method, graph, 2, 8, away=np.full((CROWD, 2), 10**6), **faults)
    assert differing(pooled, singly) == []
    views = pooled.inners if "index" in pooled.inners.dtype.names else pooled.opens  # as printed, choices rest on raw rewards
    assert views["index"].any()


# --- what is held is what was said ------------------------------------------------------------------------


@cache
def opens_after(name, horizon):
    algorithm, options = POOLED[name]
    return simulate(build(algorithm, AGENTS, **options), GRAPHS["random"], 2, horizon).opens[0]


@pytest.mark.parametrize("name", ["coop-ucb", "private-ucb"])
def test_an_agent_holds_the_counts_and_sums_of_all_within_reach_as_old_as_they_are_far(name):
    """Conservation, in every round: nothing is counted twice, and nothing is lost."""
    hops = distances(GRAPHS["random"])
    for t in range(2, 15):
        now = opens_after(name, t)
        for said, held in (("count", "heard_count"), ("total", "heard_total")):
            total = np.zeros((AGENTS, 8), int64)
            for d in (1, 2):
                if t > d:
                    total += (hops == d).astype(int64) @ opens_after(name, t - d)[said]
            assert now[held].tolist() == total.tolist()
    assert now["heard_count"].sum() > 0 and hops.max() > 2


# --- the seldom path --------------------------------------------------------------------------------------

HOLIDAYS = np.array([[10, 30] if i % 3 == 0 else [10**6, 10**6] for i in range(AGENTS)])
TROUBLES = {
    "none": {},
    "losses": {"loss": 0.3},
    "holidays": {"away": HOLIDAYS},
    "losses, holidays, dropouts and liars": {
        "loss": 0.2, "away": HOLIDAYS, "dropout": 0.2, "liar": (np.arange(AGENTS) == 1).astype(int64), "attack": SECOND,
    },
}  # fmt: skip


@pytest.mark.parametrize("trouble", TROUBLES)
def test_messages_brought_to_their_hearers_arrive_as_if_everyone_looked_for_them(trouble):
    method = build("pr-ucb", AGENTS, epsilon=2.0)
    brought, looked_for = (
        simulate(method._replace(node=method.node._replace(seldom=seldom)), GRAPHS["random"], 2, 45, **TROUBLES[trouble])
        for seldom in (True, False)
    )
    assert differing(brought, looked_for) == []
    assert brought.opens["votes"].max() > 2


# --- a graph that changes ---------------------------------------------------------------------------------


def changing(name, life=1, **options):
    """Two phases of five rounds with different neighbours."""
    agents = 9
    graphs = [ring(agents), from_edges(agents, np.array([[0, i] for i in range(1, agents)]))]
    method, links = build(name, agents, **options), reach(graphs, life, life)._replace(period=5)
    how = {"seed": 3, "compiled": False}
    run = simulate_mesh(method, bernoulli, bernoulli.world(MEANS), agents, 40, np.array([40]), links, **how)
    return run, [{int(j) for first in links.first for j in links.sender[first[i] : first[i + 1]]} for i in range(agents)]


def test_words_of_a_sender_count_once_whatever_the_phase_in_which_they_came():
    run, senders = changing("coop-ucb")
    for i, heard in enumerate(run.opens["heard_count"][0]):
        said = sum(run.opens["count"][0, j] for j in senders[i])
        assert (heard <= said).all() and heard.sum() > 0


def test_every_origin_has_one_vote_whatever_the_phase_in_which_it_came():
    run, senders = changing("pr-ucb", batch=2)
    votes = run.opens["votes"][0, :, :ARMS]
    assert (votes <= 1 + np.array([len(found) for found in senders])[:, None]).all()
    assert votes.max() > 3


# --- sparse networks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("life", [1, 3])
def test_where_few_pairs_talk_no_mask_is_made_and_the_bytes_are_the_same(monkeypatch, life):
    runs = []
    for factor in (1e-9, 1e9):  # links count for nothing, for everything
        monkeypatch.setattr(engine, "SPARSE", factor)
        made = Wires(reach([ring(20)], life, "diameter"), 20)
        method = build("coop-ucb", 20)
        about = (method, bernoulli, bernoulli.world(MEANS), 20, 30, np.array([30]), made)
        runs.append(simulate_mesh(*about, seed=2, compiled=False))
        assert made.sparse == (factor < 1) and ("masks" in vars(made)) == (factor > 1)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(*runs, strict=True) if one is not None)
    assert runs[0].tallies["up_messages"] > 0


def test_a_large_ring_is_sparse_and_a_complete_graph_is_not():
    assert Wires(reach([ring(2000)], 2, 2), 2000).sparse
    assert not Wires(reach([complete(50)], 1, 1), 50).sparse
    assert not Wires(reach([ring(30)], 2, 2), 30).sparse
