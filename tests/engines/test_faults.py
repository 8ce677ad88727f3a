"""What may go wrong, one fault at a time against its definition, and all at once in every way to run an algorithm."""

from collections import Counter
from math import inf, log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy import int64
from scipy.stats import binomtest, chisquare, kstest

from coterie.algorithms import find
from coterie.contract import Setting
from coterie.engines.attacks import ATTACKS, HONEST, invent, ranked
from coterie.engines.faults import Weather, contaminate, tale_record
from coterie.engines.rehearsal import compare, rehearse_mesh, rehearse_star
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.kernel import LIE, fold, one, stream
from coterie.network import erdos_renyi, ring
from coterie.problem import bernoulli
from coterie.studies.case import reach

NAMES = ("random", "promote-worst", "promote-second", "sign-flip", "inside-window", "sleeper")
RANDOM, WORST, SECOND, FLIP, INSIDE, SLEEPER = (ATTACKS[name].number for name in NAMES)
AGENTS, MEANS = 7, np.array([[0.6, 0.85, 0.2, 0.7, 0.4]])
TRUTH, ARMS, BEST, NEXT, LAST = MEANS[0], 5, 1, 3, 2
FEW = SimpleNamespace(arms=ARMS)  # all that a tale needs of parameters


def method_of(name, horizon=400, agents=AGENTS, **options):
    entry = find(name)
    return entry.build(entry.options(**options), Setting(agents, ARMS, horizon, reward_values=(0.0, 1.0, 10.0), liars=0.1))


def simulate(method, horizon, graph=None, life=2, weather=Weather(), compiled=False, **how):
    graph = graph or erdos_renyi(AGENTS, np.random.default_rng(0), 0.4)
    links = reach([graph], life, life)._replace(meetings=method.meetings)
    about = (method, bernoulli, bernoulli.world(MEANS), graph.nodes, horizon, np.arange(1, horizon + 1), links)
    return simulate_mesh(*about, weather=weather._replace(truth=TRUTH), seed=9, compiled=compiled, **how)


def liars(*which, agents=AGENTS):
    return np.isin(np.arange(agents), which).astype(int64)


# --- tales ------------------------------------------------------------------------------------------------


def tale_of(attack, t, horizon=1000, die=1):
    tale = one(tale_record(FEW))
    return (tale.arm, tale.shares, tale.value[:ARMS].tolist()) if invent(tale, FEW, t, t, horizon, attack, TRUTH, die) else None


@pytest.mark.parametrize("attack, hero", [(WORST, LAST), (SECOND, NEXT)])
def test_a_promoted_arm_is_worth_one_and_all_others_nothing(attack, hero):
    """Liars talk about it and about the best one in turn, and share their claimed pulls between the two."""
    values = [float(k == hero) for k in range(ARMS)]
    assert tale_of(attack, 10) == (hero, 2, values)
    assert tale_of(attack, 11) == (BEST, 2, values)


def test_a_flipped_sign_is_the_opposite_of_the_truth():
    arms = Counter()
    for die in range(400):
        arm, shares, values = tale_of(FLIP, 10, die=die)
        arms[arm] += 1
        assert shares == ARMS and values == pytest.approx(1 - TRUTH)
    assert chisquare([arms[k] for k in range(ARMS)]).pvalue > 1e-6


def test_random_tales_are_uniform_in_arms_and_values():
    """Chi-squared and Kolmogorov on 400 tales, each with a false alarm of 1e-6."""
    arms, values = Counter(), []
    for die in range(400):
        arm, shares, told = tale_of(RANDOM, 10, die=die)
        arms[arm] += 1
        values += told
        assert shares == ARMS
    assert chisquare([arms[k] for k in range(ARMS)]).pvalue > 1e-6
    assert kstest(values, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("t", [5, 40, 1000])
def test_inside_the_window_both_ends_move_by_the_radius_of_an_arms_share_of_rounds(t):
    """sqrt(ln(t + 1) / (2 t / K)), cut to [0, 1]; all other arms are told as they are."""
    radius, expected = sqrt(log(t + 1) / (2 * t / ARMS)), TRUTH.copy()
    expected[NEXT], expected[BEST] = min(1, TRUTH[NEXT] + radius), max(0, TRUTH[BEST] - radius)
    arm, shares, values = tale_of(INSIDE, t)
    assert (arm, shares) == (NEXT if t % 2 == 0 else BEST, 2)
    assert values == pytest.approx(expected, rel=1e-12)


def test_a_sleeper_is_honest_for_a_quarter_of_the_horizon_and_then_promotes_the_second():
    assert [tale_of(SLEEPER, t) for t in (1, 100, 249)] == [None] * 3
    assert [tale_of(SLEEPER, t) for t in (250, 251, 1000)] == [tale_of(SECOND, t) for t in (250, 251, 1000)]


def test_without_an_attack_nobody_has_a_tale():
    assert tale_of(HONEST, 500) is None
    assert len({attack.number for attack in ATTACKS.values()} | {HONEST}) == len(ATTACKS) + 1


def test_a_contaminated_message_keeps_its_arm():
    tale = one(tale_record(FEW))
    contaminate(tale, FEW, 0.3)
    assert tale.arm == -1 and tale.value[:ARMS].tolist() == [0.3] * ARMS


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=6))
def test_arms_are_ranked_by_their_means_and_ties_by_their_numbers(means):
    best, second, worst = ranked(np.array(means), len(means))
    order = sorted(range(len(means)), key=lambda k: (-means[k], k))
    assert (best, second) == (order[0], order[1])
    assert worst == means.index(min(means))


# --- contamination ----------------------------------------------------------------------------------------


def tens(ended):
    """Samples of the value 10 that each agent holds."""
    return (ended.opens["x"] + ended.opens["y"])[0, :, :, 2].sum(axis=1)


def test_every_message_is_contaminated_by_itself_with_the_given_probability():
    """On a ring a message is heard twice; 1393 messages have arrived. Binomial test, false alarm 1e-6."""
    rate, rounds = 0.15, 200
    found = tens(simulate(method_of("byzantine-ucb"), rounds, ring(AGENTS), 1, Weather(contamination=rate, contaminant=10.0)))
    assert found.sum() % 2 == 0
    assert binomtest(int(found.sum()) // 2, AGENTS * (rounds - 1), rate).pvalue > 1e-6


def test_own_samples_stay_clean():
    everything = Weather(contamination=1.0, contaminant=10.0)
    assert tens(simulate(method_of("byzantine-ucb"), 30, ring(AGENTS), 0, everything)).tolist() == [0] * AGENTS
    assert tens(simulate(method_of("byzantine-ucb"), 30, ring(AGENTS), 1, everything)).tolist() == [2 * 29] * AGENTS


def test_without_contamination_a_run_is_that_of_honest_agents():
    plain = simulate(method_of("byzantine-ucb"), 30)
    honest = simulate(method_of("byzantine-ucb"), 30, weather=Weather(liar=liars(0, 3), attack=HONEST))
    assert plain.opens.tobytes() == honest.opens.tobytes()


# --- dropouts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["byzantine-ucb", "pr-ucb"])
def test_who_sits_out_a_round_neither_pulls_nor_speaks_but_hears(name):
    """Pulls are binomial (false alarm 1e-6); nobody sits out the first round; every pull of byzantine-ucb is one message."""
    rate, rounds = 0.3, 120
    ended = simulate(method_of(name), rounds, ring(AGENTS), 1, Weather(dropout=rate))
    if name == "pr-ucb":
        pulls = ended.opens["pulls"][0].sum(axis=1)
    else:
        pulls = ended.ledgers["entries"][0].sum(axis=(1, 2))
        heard = ended.opens["samples"][0].sum(axis=1) - pulls
        assert ended.tallies["up_messages"][0] == pulls.sum()
        neighbours = np.roll(pulls, 1) + np.roll(pulls, -1)
        assert (heard <= neighbours).all() and (heard >= neighbours - 2).all()  # the last words are still under way
    assert binomtest(int(pulls.sum()) - AGENTS, AGENTS * (rounds - 1), 1 - rate).pvalue > 1e-6
    assert len(set(pulls.tolist())) > 1
    first = simulate(method_of(name), 1, ring(AGENTS), 1, Weather(dropout=0.999))
    assert first.late[0, :, 0].tolist() == [1] * AGENTS and first.totals[0] == pytest.approx([TRUTH[BEST] - TRUTH[0]] * AGENTS)


# --- whose regret counts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["coop-ucb", "pr-ucb", "gossip-ucb"])
def test_the_regret_of_liars_does_not_count_among_peers(name):
    ended = simulate(method_of(name), 60, weather=Weather(liar=liars(1, 4), attack=WORST))
    honest = liars(1, 4) == 0
    assert ended.curves[0, -1] == pytest.approx(ended.totals[0, honest].sum(), rel=1e-12)
    assert ended.totals[0, ~honest].min() > 0


def test_the_regret_of_liars_does_not_count_around_a_server():
    ended = around_a_server(method_of("cdp-mab", 5000), 5000, Weather(liar=liars(1, 4), attack=WORST))
    assert ended.curves[0, -1] == pytest.approx(ended.totals[0, liars(1, 4) == 0].sum(), rel=1e-12)


def around_a_server(method, horizon, weather, compiled=False, agents=AGENTS, **how):
    about = (method, bernoulli, bernoulli.world(MEANS), agents, horizon, np.array([horizon]))
    return simulate_star(*about, weather=weather._replace(truth=TRUTH), seed=9, compiled=compiled, **how)


def most_played(run):
    return set(run.late[0].argmax(axis=1).tolist())


# --- what lies do -----------------------------------------------------------------------------------------


def test_a_sleeper_changes_nothing_for_a_quarter_of_the_horizon():
    honest, sleeper, second = (
        simulate(method_of("coop-ucb"), 120, weather=Weather(liar=liars(2, 5), attack=attack)).curves[0]
        for attack in (HONEST, SLEEPER, SECOND)
    )
    assert sleeper[:30].tolist() == honest[:30].tolist()  # a lie told in round 30 is heard in round 31
    assert sleeper[-1] > 1.2 * honest[-1]
    assert second[:30].tolist() != honest[:30].tolist()


def test_liars_own_the_plain_mean_of_elimination_and_not_a_robust_one():
    """Three liars of 15 promote the second-best arm: 0.8 * 0.7 + 0.2 is more than 0.8 * 0.85. The arm that is left is seen."""
    lying = Weather(liar=liars(0, 6, 11, agents=15), attack=SECOND)
    last = {}
    for aggregation in ("mean", "median", "trimmed"):
        options = {"aggregation": aggregation, "epsilon": inf} | ({} if aggregation == "mean" else {"liars_assumed": 0.25})
        method = method_of("cdp-mab", 60_000, agents=15, **options)
        last[aggregation] = most_played(around_a_server(method, 60_000, lying, agents=15))
        assert most_played(around_a_server(method, 60_000, Weather(), agents=15)) == {BEST}
    assert BEST not in last["mean"]
    assert last["median"] == last["trimmed"] == {BEST}


def test_liars_mislead_gossip():
    """Gossip averages what it is shown: two liars of seven cost the honest ones more than twice their regret."""
    honest, lied_to = (
        simulate(method_of("gossip-ucb"), 120, weather=Weather(liar=liars(2, 5), attack=attack)) for attack in (HONEST, WORST)
    )
    assert lied_to.curves[0, -1] > 2 * honest.curves[0, -1]


def test_liars_are_not_misled_into_other_rewards():
    """What a liar says is false; what it pulls and books is not."""
    ended = simulate(method_of("pr-ucb", epsilon=2.0), 60, weather=Weather(liar=liars(0), attack=FLIP))
    assert ended.opens["pulls"][0].sum(axis=1).tolist() == [60] * AGENTS
    assert ended.ledgers["loss"].max() == 2.0


# --- all at once, in every way to run ---------------------------------------------------------------------

AWAY = np.array([[15, 30] if i in (2, 4) else [10**6, 10**6] for i in range(AGENTS)])
LYING = Weather(liar=liars(1, 5), attack=SECOND, contamination=0.1, contaminant=1.0)
TROUBLE = LYING._replace(loss=0.2, dropout=0.15)
PEERS = {
    "a mesh": ("gossip-ucb", {}, TROUBLE._replace(away=AWAY, one_way=1)),
    "a pool, one by one": ("private-ucb", {"mode": "paper", "epsilon": 1.0}, TROUBLE._replace(away=AWAY, attack=INSIDE)),
    "a pool": ("byzantine-ucb", {}, LYING._replace(attack=RANDOM)),
}


def differing(compiled, interpreted):
    fields = zip(compiled._fields, compiled, interpreted, strict=True)
    return [name for name, ours, theirs in fields if ours is not None and ours[1:2].tobytes() != theirs.tobytes()]


@pytest.mark.parametrize("engine", ["a mesh", "a pool, one by one", pytest.param("a pool", marks=pytest.mark.slow)])
def test_under_all_faults_compiled_interpreted_and_rehearsed_peers_end_in_the_same_bytes(engine):
    name, options, weather = PEERS[engine]
    method, weather = method_of(name, **options), weather._replace(truth=TRUTH)
    compiled = simulate(method, 40, weather=weather, compiled=True, replications=2)
    assert differing(compiled, simulate(method, 40, weather=weather, first=1)) == []
    assert compare(compiled, rehearse(method, 40, weather), 1) == []
    calm = simulate(method, 40, weather=Weather(away=weather.away), first=1)
    assert "opens" in differing(compiled, calm)


def rehearse(method, horizon, weather):
    links = reach([erdos_renyi(AGENTS, np.random.default_rng(0), 0.4)], 2, 2)._replace(meetings=method.meetings)
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, horizon, links)
    return rehearse_mesh(*about, weather=weather, seed=9, replication=1)


def test_under_all_faults_those_who_speak_seldom_end_in_the_bytes_of_their_rehearsal():
    """Interpreted; the engine is the mesh above, and it is compiled for this algorithm in the tests of its claims."""
    method, weather = method_of("pr-ucb", epsilon=2.0), TROUBLE._replace(away=AWAY, attack=RANDOM, truth=TRUTH)
    assert compare(simulate(method, 60, weather=weather, first=1), rehearse(method, 60, weather), 0) == []


def test_under_all_faults_compiled_interpreted_and_rehearsed_servers_end_in_the_same_bytes():
    method, horizon, weather = method_of("cdp-mab", 20_000, epsilon=5.0), 20_000, TROUBLE._replace(truth=TRUTH)
    compiled = around_a_server(method, horizon, weather, compiled=True, replications=2)
    assert differing(compiled, around_a_server(method, horizon, weather, first=1)) == []
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, horizon)
    assert compare(compiled, rehearse_star(*about, weather=weather, seed=9, replication=1), 1) == []
    assert compiled.tallies["up_messages"][0] < AGENTS * compiled.tallies["rounds"][0]


def test_a_liar_draws_lots_of_its_own():
    """Lies must not use up, or repeat, what rewards and noise are made of."""
    assert len({stream(fold(9, 0), 0, purpose, 1) for purpose in range(LIE + 1)}) == LIE + 1
