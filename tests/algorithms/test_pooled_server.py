"""Pooled UCB around a server: epochs, reports, who adds the noise, and agents that share one record.

Engines are compiled for four arms only, and interpreted where that is enough.
"""

from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from coterie.algorithms import entries
from coterie.algorithms.pooled import SERVER, account_record, level_out, server_open
from coterie.contract import Setting
from coterie.engines.faults import Weather
from coterie.engines.simulate import simulate_star
from coterie.errors import UsageError
from coterie.kernel import UNIT, one
from coterie.privacy.ledger import loss_per_reward
from coterie.problem import bernoulli
from coterie.studies import load_study
from coterie.studies.case import make_case

MEANS = np.array([0.8, 0.6, 0.4, 0.1])
CERTAIN = np.array([1.0, 0.0, 1.0, 0.0])


def made(agents, horizon=3000, **options):
    entry = entries()["pooled-ucb"]
    return entry.build(entry.options(**options), Setting(agents=agents, arms=4, horizon=horizon))


def run(method, agents, horizon=3000, means=MEANS, replications=1, **how):
    marks = np.unique(np.geomspace(1, horizon, 20).astype(np.int64))
    worlds = bernoulli.world(np.atleast_2d(means))
    return simulate_star(method, bernoulli, worlds, agents, horizon, marks, seed=2, replications=replications, **how)


def counted(open, secrets):
    """[arm]: pulls that were reported, and pulls that there were."""
    return open["count"][:4], secrets["count"][:, :4].sum(axis=0)


# --- what the server knows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("play", ["apart", "together"])
@pytest.mark.parametrize("noise", ["local", "secagg", "central"])
def test_without_noise_to_speak_of_the_server_has_the_sums_of_all_released_rewards(noise, play):
    """At epsilon 1e6 noise is below 1e-3 of a reward."""
    method = made(6, epsilon=1e6, noise=noise, play=play)
    done = run(method, 6, means=CERTAIN, compiled=False)
    open = done.servers[0, 0]
    known, pulled = counted(open, done.secrets[0])
    assert (known <= pulled).all() and (known > 0).all() and known.sum() > pulled.sum() / 2
    assert_allclose(open["total"][:4] / UNIT, known * CERTAIN, atol=0.5)


def test_an_arm_is_released_when_it_has_grown_by_half_and_every_agent_pays_once():
    """Releases of the best arm: about ln(T / b0) / ln 1.5 of them, whoever pulled it."""
    done = run(made(6), 6, horizon=50_000)
    draws, count = done.servers["draws"][0, 0, :4], done.servers["count"][0, 0, :4]
    assert loss_per_reward(done.ledgers)[0].tolist() == [1.0] * 6
    assert (draws[1:] < 200).all() and 15 <= done.ledgers["entries"][0, :, 0, 0].max() <= 60
    assert count[0] > 0.6 * 6 * 50_000
    assert done.tallies["up_messages"][0] <= 6 * done.tallies["rounds"][0]


def test_idle_agents_play_the_arm_with_the_best_lower_bound():
    """With a delay so long that waiting is most of the run, nearly all of it is spent on the best arm."""
    quick, slow = (run(made(6), 6, horizon=20_000, delay=delay) for delay in (0, 500))
    assert slow.tallies["rounds"][0] < quick.tallies["rounds"][0]
    late = slow.late[0].sum(axis=0)
    assert late.argmax() == 0 and late[0] > 0.9 * late.sum()


def test_reports_that_are_lost_are_not_counted():
    done = run(made(6), 6, weather=Weather(loss=0.5), compiled=False)
    known, pulled = counted(done.servers[0, 0], done.secrets[0])
    assert 0.2 * pulled.sum() < known.sum() < 0.8 * pulled.sum()


@pytest.mark.parametrize("delay", [0, 1, 400])
def test_every_report_counts_however_long_messages_take(delay):
    """Pulls of idle agents are in no report. What the server does not know yet is what agents wait to be asked for."""
    done = run(made(6, horizon=8000), 6, horizon=8000, delay=delay, compiled=False)
    known, pulled = counted(done.servers[0, 0], done.secrets[0])
    waiting = done.opens["waiting"][0, :, :4].copy()
    cut = done.servers["now"][0, 0] - pulled.sum() // 6  # rounds of a last plan that the horizon cut
    waiting[np.arange(6), done.opens["arm"][0]] -= cut
    assert cut in (0, done.opens["rounds"][0, 0]) and done.tallies["rounds"][0] > 10
    assert (known + waiting.sum(axis=0)).tolist() == pulled.tolist()


UNLIKE = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])


def unlike(**options):
    entry = entries()["pooled-ucb"]
    return entry.build(entry.options(**options), Setting(agents=4, arms=4, horizon=3000, homogeneous=False))


@pytest.mark.parametrize("weather", [Weather(), Weather(loss=0.4), Weather(dropout=0.4)], ids=["fair", "loss", "dropout"])
def test_where_agents_differ_an_estimate_is_their_average_also_where_reports_are_lost(weather):
    """Rewards are certain, and there is no noise: the estimate is exact, but for the grid."""
    open = run(unlike(epsilon=inf), 4, means=UNLIKE, weather=weather, compiled=False).servers[0, 0]
    assert (open["count"][:4] > 0).all()
    assert_allclose(open["total"][:4] / (UNIT * open["count"][:4]), UNLIKE.mean(axis=0), atol=4 / UNIT)


def test_where_no_report_is_lost_agents_that_differ_end_in_the_same_bytes_as_if_sums_were_added_up():
    method = unlike()
    filed, added = (run(each, 4, means=MEANS * UNLIKE, compiled=False) for each in (method, method._replace(server=SERVER)))
    assert method.server is not SERVER
    assert filed.servers.tobytes() == added.servers.tobytes() and filed.curves.tobytes() == added.curves.tobytes()


def test_an_estimate_of_unequal_counts_weighs_agents_alike():
    """By hand: counts 10, 40 and 20 with means .5, .25 and 1; of 70 pulls 30 count, and 1 + 4 / 16 + 2 / 4 draws."""
    p = unlike().p
    open, accounts = one(server_open(p)), np.zeros(3, account_record(p)).view(np.recarray)
    open.asked, open.due[0] = 1, 2
    for account, count, total, draws in zip(accounts, (10, 40, 20), (5, 10, 20), (1, 4, 2), strict=True):
        account.count[2], account.total[2], account.draws[2] = count, total * UNIT, draws
    level_out(open, accounts, p, 2)
    assert (open.count[2], open.total[2], open.draws[2]) == (30, round(17.5 * UNIT), 1.75)
    accounts[1].count[2] = 0
    level_out(open, accounts, p, 2)
    assert (open.count[2], open.total[2], open.draws[2]) == (0, 0, 0.0)


def test_a_run_that_is_too_long_for_its_sums_settles_on_the_leader():
    method = made(6, horizon=10**12)
    done = run(method, 6, horizon=10**12)
    assert (np.abs(done.servers["total"]) < 2.0**62).all() and method.p.pulls_most < 6e12 * 16
    assert done.late[0].sum(axis=0).argmax() == 0


# --- who adds the noise ------------------------------------------------------------------------------------------


def first_sums(noise, play, replications=3000, agents=8):
    """What the server knows of one arm after the first epoch, where all rewards are 0: [replication], in rewards."""
    method = made(agents, horizon=10_000, noise=noise, play=play, batch=7, **({"honest": agents} if noise == "secagg" else {}))
    done = run(method, agents, horizon=7, means=np.zeros(4), replications=replications)
    assert (done.tallies["rounds"] == 1).all() and (done.servers["count"][:, 0, 0] > 0).all()
    return done.servers["total"][:, 0, 0] / UNIT, done.servers["draws"][0, 0, 0]


@pytest.mark.parametrize("play", ["apart", "together"])
@pytest.mark.parametrize("noise", ["secagg", "central"])
def test_one_whole_draw_is_in_a_sum_whoever_has_played_the_arm(noise, play):
    """Apart, two of eight agents play an arm, and the other six add their shares all the same. False alarm 1e-7."""
    sums, draws = first_sums(noise, play)
    assert draws == 1.0
    assert stats.kstest(sums, stats.laplace(scale=1.0).cdf).pvalue > 1e-7


def test_local_noise_is_one_draw_of_each_who_reports():
    """Two agents of eight have played the arm: the variance is that of two draws, 4. Five and a half standard errors."""
    sums, draws = first_sums("local", "apart")
    assert draws == 2.0
    assert abs(sums.var() - 4.0) < 5.5 * 4.0 * np.sqrt((4.5 - 1) / len(sums))


def test_shares_sized_for_nine_in_ten_are_counted_as_more_than_one_draw():
    assert made(20, noise="secagg").p.draws == 20 / 18


# --- crowds: agents that act alike share one record ------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"play": "together"}], ids=str)
def test_where_nothing_is_left_to_chance_crowds_end_in_the_same_bytes(options):
    """Rewards are certain and there is no noise. 130 agents in 44 groups, the last one smaller."""
    method = made(130, epsilon=inf, **options)
    assert method.crowds == ((130,) if options else (3,) * 43 + (1,))
    plain, crowded = (run(method, 130, means=CERTAIN, crowded=crowds) for crowds in (False, True))
    for field in ("count", "total", "draws", "pending", "seats", "index", "now"):
        assert plain.servers[field].tolist() == crowded.servers[field].tolist()
    assert plain.tallies.tolist() == crowded.tallies.tolist()
    assert_allclose(plain.curves, crowded.curves, rtol=1e-12)
    voices = crowded.secrets["voices"][0]
    assert np.repeat(crowded.totals[0], voices).tolist() == plain.totals[0].tolist()
    assert crowded.secrets["count"][0].sum() == plain.secrets["count"][0].sum()


def test_crowds_are_the_same_run_in_law():
    """The regret of many runs, plain and in crowds: false alarm 1e-7."""
    method, close = made(130, horizon=500), np.array([0.6, 0.57, 0.54, 0.51])
    how = {"horizon": 500, "means": close, "replications": 600}
    plain, crowded = (run(method, 130, crowded=crowds, **how).curves[:, -1].round(6) for crowds in (False, True))
    assert len(np.unique(plain)) > 50
    assert stats.ks_2samp(plain, crowded).pvalue > 1e-7


def test_crowds_are_used_where_agents_are_alike_and_the_weather_is_fair():
    def records(faults=None, problem=None, **options):
        about = {"instance": "middle", "agents": 256, "arms": 4} | (problem or {})
        study = load_study({"horizon": 1000, "problem": about, "algorithm": [{"name": "pooled-ucb", **options}],
                            "faults": faults or {}}).specification  # fmt: skip
        return make_case(study, study.rows[0], 0).simulate(0, 0, 0, compiled=False).totals.shape[1]

    assert records() == 64
    assert records(play="together") == 1
    assert records({"liars": 0.1, "attack": "random"}) == 256
    assert records(problem={"heterogeneity": 0.1}) == 256


# --- what makes no sense ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "setting", "said"),
    [
        ({"noise": "secagg", "through": "peers"}, {}, "noise must be local with through = 'peers', where single"),
        ({"noise": "central", "through": "components"}, {}, "noise must be local with through = 'components'"),
        ({"honest": 3}, {}, "honest is used only together with noise = 'secagg', got honest = 3"),
        ({"honest": 9, "noise": "secagg"}, {}, r"honest must be a whole number in 2..5 \(the agents\), got 9"),
        ({"noise": "secagg"}, {"agents": 2}, "agents must be a whole number >= 3 with noise = 'secagg', got 2"),
        ({}, {"low": -inf, "high": inf}, r"rewards must be bounded for a pooled index: give problem.clip = \[low, high\]"),
        ({}, {"weights": (0.2,) * 5}, "problem.weights must be left out"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(options, setting, said):
    entry = entries()["pooled-ucb"]
    with pytest.raises(UsageError, match=said) as caught:
        entry.build(entry.options(**options), Setting(**({"agents": 5, "arms": 4, "horizon": 100} | setting)))
    assert "\n" not in str(caught.value)


def test_reports_cannot_travel_among_peers_that_are_not_connected():
    study = load_study({"horizon": 100, "problem": {"means": [0.5, 0.4], "agents": 4}, "network": {"components": [2, 2]},
                        "algorithm": [{"name": "pooled-ucb", "through": "peers"}]}).specification  # fmt: skip
    with pytest.raises(UsageError, match=r"pooled-ucb through=peers: graph must be connected, got 2 components"):
        make_case(study, study.rows[0], 0)


def test_play_apart_warns_where_agents_differ_and_is_not_the_default_there():
    entry, unlike = entries()["pooled-ucb"], Setting(agents=5, arms=4, horizon=100, homogeneous=False)
    assert entry.build(entry.options(), unlike).p.portion == 5
    assert entry.build(entry.options(), unlike).warnings == ()
    [warning] = entry.build(entry.options(play="apart"), unlike).warnings
    assert warning.startswith("play = 'apart' estimates the mean of those who played an arm")
    assert entry.build(entry.options(play="apart"), unlike._replace(homogeneous=True)).warnings == ()


def test_a_range_far_wider_than_rewards_and_a_batch_longer_than_the_run_are_told():
    setting = Setting(10, 3, 1000, low=-10.0, high=11.0, proxy=0.1)
    for name in ("pooled-ucb", "peer-ucb"):
        entry = entries()[name]
        wide, long = entry.build(entry.options(batch=334), setting).warnings
        assert wide.startswith("rewards differ by 0.1 or so within a range of 21") and "problem.clip" in wide
        assert long == "batch = 334 is more than every arm can have: first batches end after 333"
        assert entry.build(entry.options(batch=333), setting._replace(low=0.0, high=0.8)).warnings == ()
