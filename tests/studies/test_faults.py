"""Faults and networks of a study: what is refused, what is done to the agents, and what it costs.

Effects are looked at in small interpreted runs, which end in the bytes of compiled ones.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf, nan
from time import sleep

import networkx
import numpy as np
import pytest

from coterie import cache
from coterie.algorithms.gossip import GOSSIP
from coterie.engines import bind, mesh
from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.files import write
from coterie.problem import bernoulli
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import PHASES, checkpoints, make_case
from coterie.studies.running import check_rows

MEANS = [[0.9, 0.1, 0.2], [0.2, 0.8, 0.1], [0.3, 0.7, 0.4], [0.4, 0.6, 0.3]]
AGENTS, ARMS, ROUNDS = 4, 3, 200


def study(problem=None, algorithm=None, horizon=ROUNDS, replications=2, **tables):
    problem = {"means": MEANS} if problem is None else problem
    about = {"horizon": horizon, "replications": replications, "seed": 3, "problem": problem, **tables}
    return load_study({**about, "algorithm": [{"name": "gossip-ucb", **(algorithm or {})}]})


def case(replication=0, **tables):
    about = study(**tables).specification
    return make_case(about, about.rows[0], replication)


@pytest.fixture
def run(monkeypatch):
    """The only row of a study, run interpreted."""
    monkeypatch.setattr(case_module, "simulate_mesh", partial(simulate_mesh, compiled=False))
    return lambda **tables: study(**tables).run(workers=1).summary[0]


# --- what is refused --------------------------------------------------------------------------------------


def faults(**table):
    return {"faults": table}


def network(**table):
    return {"network": table}


def weights(*shares):
    return {"problem": {"means": MEANS, "weights": list(shares)}}


def normal(**table):
    return {"problem": {"means": MEANS, "kind": "gaussian", **table}}


SWITCH = "network.switch_every must be a whole number in [1, 1000000000000] (rounds after which a random graph is drawn anew)"
FIXED = "network.switch_every must be left out unless graph is 'erdos-renyi'"
REFUSED = {
    "all is lost": (faults(loss=1.0), "faults.loss must be a number in [0, 1), got 1.0"),
    "loss negative": (faults(loss=-0.1), "faults.loss must be a number in [0, 1), got -0.1"),
    "loss NaN": (faults(loss=nan), "faults.loss must be a number in [0, 1), got NaN"),
    "loss text": (faults(loss="0.1"), "faults.loss must be a number in [0, 1), got '0.1' (text)"),
    "one_way a number": (faults(one_way=1), "faults.one_way must be true or false, got 1"),
    "churn above 1": (faults(churn=1.5), "faults.churn must be a number in [0, 1], got 1.5"),
    "misspelt fault": (faults(lost=0.1), "unknown key 'lost' in faults; did you mean 'loss'?"),
    "attack of nobody": (faults(attack="random"), "faults.attack must be left out without faults.liars, got 'random'"),
    "swept attack of nobody": (
        faults(sweep={"attack": ["random", "sleeper"]}),
        "faults.sweep.attack must be left out without faults.liars, got ['random', 'sleeper']",
    ),
    "contaminant of nothing": (
        faults(contaminant=1),
        "faults.contaminant must be left out without faults.contamination, got 1",
    ),
    "range of nothing": (faults(range=[0, 1]), "faults.range must be left out without faults.contamination, got [0, 1]"),
    "one way of no loss": (faults(one_way=True), "faults.one_way must be left out without faults.loss, got true"),
    "loss twice": (
        faults(sweep={"loss": [0.1, 0.1]}),
        "faults.sweep.loss[1] must be a value that was not there before, got 0.1",
    ),
    "faults no table": ({"faults": [0.1]}, "faults must be a table, got [0.1]"),
    "switch never": (network(graph="erdos-renyi", switch_every=0), f"{SWITCH}, got 0"),
    "switch by halves": (network(graph="erdos-renyi", switch_every=1.5), f"{SWITCH}, got 1.5"),
    "switch a ring": (network(graph="ring", switch_every=10), f"{FIXED}, got 10"),
    "switch by default": (network(switch_every=10), f"{FIXED}, got 10"),
    "switch listed edges": (network(edges=[[0, 1], [1, 2], [2, 3]], switch_every=10), f"{FIXED}, got 10"),
    "listed edges apart": (
        network(edges=[[0, 2], [1, 3]]),
        "network.edges must connect all agents, got the components [0, 2], [1, 3]",
    ),
    "an agent without edge": (
        network(edges=[[0, 1], [1, 3]]),
        "network.edges must connect all agents, got the components [0, 1, 3], [2]",
    ),
    "edge to nobody": (network(edges=[[0, 4]]), "network.edges[0] must join agents in 0..3, got [0, 4]"),
    "weights of too few": (weights(0.5, 0.5), "problem.weights must have 4 entries, one for each agent, got 2"),
    "weights above 1": (
        weights(0.4, 0.3, 0.2, 0.2),
        "problem.weights must sum to 1, got [0.4, 0.3, 0.2, 0.2] with sum 1.1",
    ),
    "weight negative": (weights(0.6, 0.6, 0.0, -0.2), "problem.weights[3] must be a number in [0, 1], got -0.2"),
    "mean of coins above 1": (
        {"problem": {"means": [[0.9, 1.2], [0.2, 0.8]]}},
        "problem.means[0][1] must be a number in [0, 1], got 1.2",
    ),
    "mean of coins negative": (
        {"problem": {"means": [[0.9, -0.2], [0.2, 0.8]]}},
        "problem.means[0][1] must be a number in [0, 1], got -0.2",
    ),
    "range turned round": (normal(clip=[1, 0]), "problem.clip must be [low, high] with low < high, got [1, 0]"),
    "range empty": (normal(clip=[0, 0]), "problem.clip must be [low, high] with low < high, got [0, 0]"),
    "range without end": (normal(clip=[0, inf]), "problem.clip[1] must be a finite number in [-1000000, 1000000], got inf"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_one_line(name):
    tables, line = REFUSED[name]
    with pytest.raises(UsageError) as caught:
        study(**tables)
    assert str(caught.value) == f"study: {line}"


def fed(**options):
    return {"name": "fed-ucb", **options}


UNFIT = {
    "components apart": (
        {"network": {"components": [2, 2]}, "algorithm": fed()},
        "fed-ucb: graph must be connected, got 2 components: {0, 1}, {2, 3}",
    ),
    "root for long": (
        {"algorithm": fed(mechanism="root"), "horizon": 50_001},
        "fed-ucb mechanism=root: horizon must be <= 50000 with mechanism = 'root', got 50001",
    ),
    "digits as printed": (
        {"algorithm": fed(mode="paper", mechanism="digits")},
        "fed-ucb mode=paper mechanism=digits: mechanism must be tree or blocks in mode = 'paper', got 'digits'",
    ),
    "root as printed": (
        {"algorithm": fed(mode="paper", mechanism="root")},
        "fed-ucb mode=paper mechanism=root: mechanism must be tree or blocks in mode = 'paper', got 'root'",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_together_is_refused_before_anything_runs(name):
    tables, line = UNFIT[name]
    with pytest.raises(UsageError) as caught:
        check_rows(study(**tables).specification)
    assert str(caught.value) == f"study: {line}"


def test_the_limits_themselves_are_accepted():
    check_rows(study(algorithm=fed(mechanism="root"), horizon=50_000).specification)
    check_rows(study(**faults(loss=0, one_way=True, churn=1)).specification)
    check_rows(study(**weights(1, 0, 0, 0)).specification)


def test_a_fault_that_is_switched_off_may_keep_what_describes_it():
    check_rows(study(**faults(one_way=False)).specification)
    check_rows(study(**faults(liars=0, attack="random", contamination=0, contaminant=0.5)).specification)
    check_rows(study(**faults(attack="random", sweep={"liars": [0, 0.25]})).specification)


# --- losses -----------------------------------------------------------------------------------------------


def test_a_loss_of_zero_is_no_loss(run):
    assert run(**faults(loss=0, one_way=True))["curve"] == run()["curve"]


def test_losses_change_the_run_and_not_what_is_said_or_spent(run):
    """A message that is lost was sent, and noise that was added was paid for."""
    plain, lossy = run(algorithm=fed()), run(algorithm=fed(), **faults(loss=0.5))
    assert lossy["curve"] != plain["curve"]
    assert lossy["communication"] == plain["communication"]
    assert lossy["privacy"] == plain["privacy"]
    assert plain["privacy"]["private"] is True


def test_beliefs_lag_further_behind_where_messages_are_lost():
    """By how much the largest count exceeds the smallest belief, on average over several rounds."""
    behind = {}
    for loss in (0.0, 0.5):
        made = case(network={"graph": "path"}, **faults(loss=loss))
        ends = [simulate(made._replace(horizon=horizon)).opens[0] for horizon in (20, 40, 60, 80, 100)]
        behind[loss] = np.mean([end["pulls"].max(axis=0) - end["belief"].min(axis=0) for end in ends])
    assert behind[0.0] < behind[0.5] < 10 * behind[0.0]


def simulate(made, replications=1, compiled=False):
    about = (made.method, made.problem, made.worlds, made.agents, made.horizon, made.marks, made.links)
    return simulate_mesh(*about, weather=made.weather, seed=3, replications=replications, compiled=compiled)


# --- churn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("churn, leaving", [(0.1, 0), (0.25, 1), (0.5, 2), (1.0, 4)])
def test_a_share_of_the_agents_goes_away_once_for_a_quarter_of_the_horizon(churn, leaving):
    for replication in range(5):
        made = case(replication, **faults(churn=churn))
        away = made.weather.away
        gone = away[:, 0] <= ROUNDS
        assert gone.sum() == leaving
        assert (away[gone, 1] - away[gone, 0] == ROUNDS // 4).all()
        assert (away[gone, 0] >= 1).all() and (away[gone, 0] < ROUNDS // 2).all()


def test_replications_have_leavers_of_their_own():
    about = faults(churn=0.5)
    assert len({case(replication, **about).weather.away.tobytes() for replication in range(8)}) == 8


def test_who_is_away_pulls_nothing_and_has_no_regret():
    made = case(**faults(churn=0.5))
    ended = simulate(made)
    away = np.clip(made.weather.away, 0, ROUNDS + 1)
    present = ROUNDS - (away[:, 1] - away[:, 0])
    assert ended.opens["pulls"][0].sum(axis=1).tolist() == (ARMS + present).tolist()
    assert len(set(present.tolist())) == 2
    pulls_after_the_start = ended.opens["pulls"][0][:, :ARMS] - 1
    assert ended.totals[0] == pytest.approx(pulls_after_the_start @ (made.quality.max() - made.quality))


def test_agents_that_come_and_go_still_agree_on_the_best_arm(run):
    row = run(horizon=600, **faults(churn=0.5))
    assert row["regret_per_agent"]["mean"] < 0.5 * 600 * 0.1  # the second best arm is 0.1 worse


# --- graphs that change -----------------------------------------------------------------------------------


def test_a_graph_that_changes_has_connected_phases_that_come_round_again():
    made = case(network={"graph": "erdos-renyi", "probability": 0.5, "switch_every": 7})
    links, ends = made.links, made.links.last_edge.tolist()
    assert links.period == 7 and len(links.first) == len(ends) == PHASES
    phases = [links.edges[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    for edges, first in zip(phases, links.first, strict=True):
        graph = networkx.Graph(edges.tolist())
        assert len(graph) == AGENTS and networkx.is_connected(graph)
        heard = {(i, int(j)) for i in range(AGENTS) for j in links.sender[first[i] : first[i + 1]]}
        assert heard == {(i, j) for edge in edges.tolist() for i, j in (edge, edge[::-1])}
    assert len({edges.tobytes() for edges in phases}) > 1


def test_without_switching_there_is_one_phase(run):
    assert len(np.atleast_2d(case(network={"graph": "erdos-renyi"}).links.first)) == 1
    fixed, changing = (
        run(network={"graph": "erdos-renyi", "probability": 0.4, **more}) for more in ({}, {"switch_every": 5})
    )
    assert fixed["curve"] != changing["curve"]


# --- weights ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares, best", [((0.25, 0.25, 0.25, 0.25), 1), ((0.7, 0.1, 0.1, 0.1), 0), ((0, 0, 0, 1), 1)])
def test_weights_say_whose_rewards_count(shares, best):
    made = case(horizon=20_000, **weights(*shares))
    assert made.quality == pytest.approx(np.array(shares) @ np.array(MEANS), rel=1e-12)
    ended = made.simulate(3, 0, 3)
    assert (ended.opens["pulls"].argmax(axis=2) == best).all()
    assert (ended.totals < 0.02 * 20_000).all()


def test_equal_weights_are_no_weights(run):
    assert run(**weights(0.25, 0.25, 0.25, 0.25))["curve"]["mean"] == pytest.approx(run()["curve"]["mean"])


def test_who_learns_alone_does_not_care_about_weights():
    """They say what counts in the regret; the rewards of one who learns alone are what they are."""
    plain, weighted = (simulate(case(algorithm={"isolated": True}, **more)) for more in ({}, weights(0.7, 0.1, 0.1, 0.1)))
    assert plain.opens["pulls"].tolist() == weighted.opens["pulls"].tolist()
    assert plain.totals.tolist() != weighted.totals.tolist()


# --- what is said -----------------------------------------------------------------------------------------


def test_counts_travel_over_every_edge_and_estimates_over_one_edge_a_round(run):
    """2 |E| messages of counts in every round, with round 0, and 2 of estimates from round 1 on; M words of 8 bytes each."""
    said = run(network={"graph": "path"})["communication"]
    messages = 2 * (AGENTS - 1) * (ROUNDS + 1) + 2 * ROUNDS
    assert said["messages"] == messages
    assert said["bytes"] == 8 * ARMS * messages


def test_lazy_edges_say_less_and_alone_nothing_is_said(run):
    """Two messages are saved in every other round. Over 12,000 rounds a tenth of that is 11 standard deviations."""
    rounds = 12_000
    made = [case(algorithm=algorithm, horizon=rounds) for algorithm in ({}, {"active": 0.5})]
    plain, lazy = (each.traffic(simulate(each, compiled=True).tallies).messages[0] for each in made)
    assert 0.9 * rounds < plain - lazy < 1.1 * rounds
    assert run(algorithm={"isolated": True})["communication"]["messages"] == 0


def test_a_single_agent_has_nobody_to_talk_to(run):
    row = run(problem={"means": [[0.2, 0.8, 0.1]]}, algorithm=fed())
    assert row["communication"]["messages"] == 0
    assert row["privacy"]["private"] is True


# --- workers ----------------------------------------------------------------------------------------------


def test_two_workers_may_be_the_first_to_need_an_engine(tmp_path, monkeypatch):
    """Both find an empty cache and write the same module. Writing is slowed down, so that they do it at once."""

    def slowly(path, text, durable):
        write(path, text, durable)
        sleep(0.2)

    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "write", slowly)
    node = GOSSIP._replace(name="needed_by_two")
    with ThreadPoolExecutor(2) as pool:
        engines = list(pool.map(lambda _: bind.bind(mesh, node, bernoulli, compiled=False), range(2)))
    assert engines[0] is engines[1]
    assert [path.suffix for path in tmp_path.iterdir() if path.is_file()] == [".py"]


@pytest.mark.parametrize("horizon", [1, 2, 20, 30])
def test_curves_of_short_studies_begin_with_the_first_round(horizon):
    """A mark at round 0, which peers do not count, kept all later marks empty, and regret at 0."""
    assert checkpoints(study(horizon=horizon).specification).tolist() == list(range(1, horizon + 1))
