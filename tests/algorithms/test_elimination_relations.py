"""What must hold exactly between the structures of the elimination family, and inside every run.

A run is taken apart epoch by epoch by ending it early: the horizon of the schedule stays, only the simulation stops.
From the pieces the slots of a run are written out by brute force, with the arm of every agent in every slot.
"""

import itertools
from math import ceil, inf
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import chisquare

from coterie.algorithms.elimination import CLIENT
from coterie.engines.simulate import simulate_star
from coterie.kernel import IDLE, UNIT, fold, one, stream
from coterie.network import GRAPHS, diameter
from coterie.studies import load_study
from coterie.studies.case import make_case

HORIZON, AGENTS, ARMS, SEED = 30_000, 8, 10, 3


def study(*algorithms, heterogeneity=0.0, components=None, graph="complete", horizon=HORIZON, replications=3):
    network = {"graph": graph} | ({"components": components} if components else {})
    return load_study(
        {
            "horizon": horizon,
            "replications": replications,
            "seed": SEED,
            "network": network,
            "problem": {"instance": "grid", "agents": AGENTS, "arms": ARMS, "heterogeneity": heterogeneity},
            "algorithm": list(algorithms),
        }
    )


def case(name, heterogeneity=0.0, components=None, graph="complete", horizon=HORIZON, **options):
    about = study({"name": name, **options}, heterogeneity=heterogeneity, components=components, graph=graph, horizon=horizon)
    return make_case(about.specification, about.specification.rows[0], 0)


def simulate(case, horizon=HORIZON, replication=0, marks=(), worlds=None):
    """One replication in which every agent has its own record."""
    worlds = case.worlds if worlds is None else worlds
    return simulate_star(
        case.method,
        case.problem,
        worlds,
        case.agents,
        horizon,
        np.array(marks, np.int64),
        seed=SEED,
        first=replication,
        delay=case.delay,
    )


class Epoch(NamedTuple):
    arms: tuple[int, ...]
    pulls: int
    before: int  # samples of an arm
    ends: int  # last slot of exploring
    totals: np.ndarray  # [agent, arm] after the epoch


def epochs(case, horizon=HORIZON, replication=0):
    """All epochs that end by the horizon, of a case without delay, and the arms that are active after them."""
    found, now = [], 0
    while now < horizon:
        heard = simulate(case, now + 1, replication).opens[0, 0]
        arms = tuple(map(int, heard["arm"][: heard["survivors"]]))
        now += len(arms) * int(heard["pulls"])
        if len(arms) == 1 or now > horizon:
            return found, arms
        totals = simulate(case, now, replication).opens[0]["total"]
        found.append(Epoch(arms, int(heard["pulls"]), int(heard["samples"]), now, totals))
    return found, arms


def plays_of_the_last_tenth(played):
    """[agent, arm], of [slot, agent]."""
    return [np.bincount(own, minlength=ARMS) for own in played[-ceil(len(played) / 10) :].T]


def slots(case, delay=0, replication=0):
    """The arm of every agent in every slot, [slot, agent], by the specification."""
    found, last = epochs(case, HORIZON, replication)
    played = []
    for epoch in found:
        played += [np.tile(np.tile(epoch.arms, epoch.pulls), (case.agents, 1)).T]
        own = epoch.totals[:, list(epoch.arms)]
        assert (np.sort(own, axis=1)[:, -1] > np.sort(own, axis=1)[:, -2]).all()  # no ties, so no chance
        played += [np.tile(np.array(epoch.arms)[own.argmax(axis=1)], (delay, 1))]
    done = np.concatenate(played)
    left = HORIZON - len(done)
    return np.concatenate([done, np.tile(np.resize(last, left), (case.agents, 1)).T])[:HORIZON]


def means(case):
    return case.worlds["means"][:, :ARMS]


def gaps(case):
    overall = means(case).mean(axis=0)
    return overall.max() - overall


def parts(run):
    return [part.tobytes() for part in run if part is not None]


def server_bytes(run):
    return run.servers.tobytes(), run.tallies["rounds"].tolist()


# --- 1: the same algorithm in three structures -----------------------------------------------------------


@pytest.mark.parametrize("heterogeneity", [0.0, 1.0])
@pytest.mark.parametrize("options", [{}, {"mode": "paper"}, {"rounds": 3, "gap": "true"}], ids=str)
def test_a_server_a_complete_graph_and_singletons_give_the_same_curves(options, heterogeneity):
    centre, graph, single = (
        study({"name": name, **options}, heterogeneity=heterogeneity, components=components).run()
        for name, components in (("cdp-mab", None), ("ddp-mab", None), ("hdp-mab", [1] * AGENTS))
    )
    for other in (graph, single):
        assert other.frame()["regret"].equals(centre.frame()["regret"])
        same = ["replication", "best_arm_rate", "rounds", "epsilon"]
        assert other.replications.select(same).equals(centre.replications.select(same))


# --- 2: delays add slots and change nothing else -----------------------------------------------------------


@pytest.mark.parametrize("heterogeneity", [0.0, 1.0])
@pytest.mark.parametrize("graph", ["star", "ring", "path", "erdos-renyi"])
def test_on_any_graph_the_decisions_are_the_servers_and_regret_differs_by_the_delay_slots(graph, heterogeneity):
    centre = case("cdp-mab", heterogeneity)
    peers = case("ddp-mab", heterogeneity, graph=graph)
    if graph != "erdos-renyi":
        assert peers.delay == max(0, diameter(GRAPHS[graph].made(AGENTS, np.random.default_rng())) - 1)
    assert peers.delay > 0
    more = []
    for replication in range(2):
        marks = np.arange(1, HORIZON + 1)
        central, delayed = simulate(centre, HORIZON, replication, marks), simulate(peers, HORIZON, replication, marks)
        assert server_bytes(delayed) == server_bytes(central)
        assert delayed.ledgers.tobytes() == central.ledgers.tobytes()
        played = slots(centre, peers.delay, replication)
        regret = gaps(centre)[played].sum(axis=1).cumsum()
        np.testing.assert_allclose(delayed.curves[0], regret, rtol=1e-9, atol=1e-9)
        more.append(delayed.curves[0, -1] - central.curves[0, -1])
    assert max(more) > 0.05
    assert min(more) > (1.0 if heterogeneity else -1e-9)  # where agents are alike, all may wait on the best arm


def test_components_wait_for_the_largest_radius():
    hybrid = case("hdp-mab", 1.0, components=[5, 2, 1], graph="path")
    assert hybrid.delay == 2
    marks = np.arange(1, HORIZON + 1)
    run, centre = simulate(hybrid, marks=marks), case("cdp-mab", 1.0)
    assert server_bytes(run) == server_bytes(simulate(centre))
    np.testing.assert_allclose(run.curves[0], gaps(centre)[slots(centre, 2)].sum(axis=1).cumsum(), rtol=1e-9, atol=1e-9)


def test_while_waiting_ties_are_broken_evenly():
    """Three of five survivors tie at the top; chi-square over 6,000 dice, false alarm 1e-6."""
    p = case("ddp-mab").method.p
    client = one(CLIENT.open(p))
    client.survivors = 5
    client.arm[:5] = [1, 3, 4, 7, 8]
    client.total[:] = 9  # arms that are out must not count
    client.total[[1, 3, 4, 7, 8]] = [5, 8, 8, 2, 8]
    key = fold(1, 2)
    arms = [CLIENT.idle(client, p, t, stream(key, 0, IDLE, t)) for t in range(6000)]
    chosen, counts = np.unique(arms, return_counts=True)
    assert chosen.tolist() == [3, 4, 8]
    assert chisquare(counts).pvalue > 1e-6


# --- 3 and the settings that are one ------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["printed", "subexp", "chernoff"])
def test_paper_noise_at_a_share_of_epsilon_is_local_noise_at_epsilon(form):
    printed = case("cdp-mab", 1.0, mode="paper", epsilon=2.0 / AGENTS, radius=form)
    local = case("cdp-mab", 1.0, mode="private", epsilon=2.0, radius=form)
    assert printed.method.p._replace(epsilon=2.0) == local.method.p
    marks = np.arange(1, HORIZON, 7)
    assert parts(simulate(printed, marks=marks)) == parts(simulate(local, marks=marks))


def test_an_infinite_epsilon_is_no_noise():
    free, bare = case("cdp-mab", epsilon=inf), case("cdp-mab", epsilon=0.1, noise="none")
    assert parts(simulate(free)) == parts(simulate(bare))


# --- 4: shape of every run -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"mode": "paper"}, {"rounds": 2, "gap": "true"}, {"epsilon": 0.2}], ids=str)
def test_samples_grow_active_sets_are_nested_and_never_empty(options):
    for replication in range(3):
        found, last = epochs(case("cdp-mab", **options), HORIZON, replication)
        active = [set(epoch.arms) for epoch in found] + [set(last)]
        samples = [epoch.before for epoch in found] + [found[-1].before + found[-1].pulls]
        assert all(later <= earlier for earlier, later in itertools.pairwise(active))
        assert all(active)
        assert all(list(epoch.arms) == sorted(epoch.arms) for epoch in found)
        assert samples[0] == 0 and all(np.diff(samples) > 0)
        assert len(found) <= options.get("rounds", inf)
        if "rounds" in options:
            assert len(last) == 1


STRUCTURES = [
    ("cdp-mab", {}),
    ("cdp-mab", {"participation": 0.5}),
    ("ddp-mab", {"graph": "ring"}),
    ("hdp-mab", {"graph": "ring", "components": [5, 3]}),
    ("single-mab", {}),
]


@pytest.mark.parametrize("name, options", STRUCTURES, ids=str)
@pytest.mark.parametrize("horizon", [500, HORIZON])
def test_every_agent_pulls_one_arm_in_every_slot(name, options, horizon):
    """If every pull cost 1, regret would count the slots."""
    about = case(name, **options)
    worlds = about.worlds.copy()
    worlds["gaps"] = 1.0
    marks = np.arange(1, horizon + 1)
    run = simulate(about, horizon, marks=marks, worlds=worlds)
    assert (run.curves[0] == AGENTS * marks).all()


# --- 5: regret ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heterogeneity", [0.0, 1.0])
def test_regret_is_exact_in_every_slot(heterogeneity):
    """Arms in increasing order, round after round, as brute force lays them out; the horizon may fall anywhere."""
    about, marks = case("cdp-mab", heterogeneity), np.arange(1, HORIZON + 1)
    regret = gaps(about)[slots(about)].sum(axis=1).cumsum()
    np.testing.assert_allclose(simulate(about, marks=marks).curves[0], regret, rtol=1e-9, atol=1e-9)
    for horizon in (1, 9, 10, 777, 5001):
        np.testing.assert_allclose(simulate(about, horizon, marks=[horizon]).curves[0, -1], regret[horizon - 1], rtol=1e-9)


@pytest.mark.parametrize("name, options", STRUCTURES, ids=str)
def test_regret_never_falls_and_stands_still_after_a_right_commitment(name, options):
    about, marks = case(name, mode="paper", **options), np.arange(1, HORIZON + 1)
    run = simulate(about, marks=marks)
    steps = np.diff(run.curves[0], prepend=0.0)
    assert (steps >= -1e-9).all()
    assert (run.late.argmax(axis=2) == ARMS - 1).all()
    assert np.abs(steps[-2000:]).max() < 1e-9
    assert run.curves[0, -1] == pytest.approx(run.totals.sum(), rel=1e-12)


def test_the_summary_is_the_end_of_the_curve():
    result = study({"name": "cdp-mab", "mode": "paper"}).run()
    row, last = result.summary[0], result.frame().filter(result.frame()["round"] == HORIZON)
    assert row["regret"]["mean"] == pytest.approx(last["regret"].mean(), rel=1e-12)
    assert row["regret_per_agent"]["mean"] == pytest.approx(row["regret"]["mean"] / AGENTS, rel=1e-12)
    assert row["curve"]["mean"][-1] == pytest.approx(row["regret"]["mean"], rel=1e-12)


def test_alone_every_agent_is_a_federation_of_one():
    """Agent 0 of the lonely ones draws what the only agent of a federation draws."""
    alone = simulate(case("single-mab", 1.0))
    about = case("single-mab", 1.0)
    one_agent = load_study(
        {
            "horizon": HORIZON,
            "seed": SEED,
            "problem": {"means": [means(about)[0].tolist()]},
            "algorithm": [{"name": "cdp-mab"}],
        }
    ).specification
    centre = make_case(one_agent, one_agent.rows[0], 0)
    run = simulate(centre, worlds=about.worlds[:1])
    for field in ("survivors", "samples", "arm", "score"):
        assert np.array_equal(run.servers[field][0, 0], alone.servers[field][0, 0])


# --- the horizon ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", [{"name": "cdp-mab"}, {"name": "ddp-mab", "graph": "ring"}], ids=str)
def test_an_epoch_that_the_horizon_cuts_says_nothing_costs_nothing_and_is_no_round(structure):
    about = case(**structure)
    first = epochs(case("cdp-mab"))[0][0].ends
    cut, whole = simulate(about, first - 1), simulate(about, first)
    for run, rounds in ((cut, 0), (whole, 1)):
        traffic = about.traffic(run.tallies)
        assert run.tallies["rounds"].tolist() == traffic.rounds.tolist() == [rounds]
        assert run.tallies["up_messages"].tolist() == [rounds * AGENTS]
        assert (traffic.cost > 0).tolist() == [rounds == 1]
        assert (run.ledgers["entries"][..., :ARMS, :] == rounds).all()
        assert (run.opens["total"][..., :ARMS] != 0).any() == (rounds == 1)
    assert (cut.late[0] == plays_of_the_last_tenth(np.arange(first - 1)[:, None] % ARMS)).all()


def test_waiting_may_be_cut_by_the_horizon():
    peers, first = case("ddp-mab", graph="ring"), epochs(case("cdp-mab"))[0][0].ends
    assert peers.delay == 3
    played, regret = slots(case("cdp-mab"), 3), gaps(peers)
    for horizon in range(first, first + 6):
        run = simulate(peers, horizon, marks=[horizon])
        assert run.curves[0, 0] == pytest.approx(regret[played[:horizon]].sum(), rel=1e-9)
        assert (run.late[0] == plays_of_the_last_tenth(played[:horizon])).all()


# --- 7 and the reports -----------------------------------------------------------------------------------------------


def test_heterogeneous_agents_keep_the_mean_of_every_arm():
    drawn = means(case("cdp-mab", 1.0))
    assert drawn.shape == (AGENTS, ARMS)
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert np.abs(drawn.mean(axis=0) - (np.arange(ARMS) + 0.5) / ARMS).max() < 1e-12
    assert (drawn.std(axis=0) > 0.01).all()


def test_a_report_is_the_history_of_all_epochs():
    """S(r) ybar(r) = S(r-1) ybar(r-1) + n_r yhat(r): without noise the total counts all successes since the start."""
    found, _ = epochs(case("cdp-mab", epsilon=inf))
    assert len(found) >= 3
    for earlier, later in itertools.pairwise(found):
        grown = (later.totals - earlier.totals)[:, list(later.arms)]
        assert ((grown >= 0) & (grown <= UNIT * later.pulls) & (grown % UNIT == 0)).all()
        assert grown.max() > 0
        out = [k for k in range(ARMS) if k not in later.arms]
        assert (later.totals[:, out] == earlier.totals[:, out]).all()
