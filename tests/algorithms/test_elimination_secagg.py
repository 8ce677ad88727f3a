"""Secure aggregation: the shares of as many honest agents as stated make a whole draw of noise, and nobody sees a report."""

from math import inf

import numpy as np
import pytest
from scipy import stats

from coterie.algorithms import find
from coterie.algorithms.elimination import SHARING
from coterie.building import build
from coterie.contract import Setting
from coterie.engines.rehearsal import compare, rehearse_star
from coterie.engines.simulate import simulate_star
from coterie.errors import AlgorithmError, UsageError
from coterie.kernel import UNIT, node
from coterie.studies import load_study
from coterie.studies.case import make_case

FALSE_ALARM = 1e-7


def case_of(options, faults=None, agents=10, means=(0.0, 0.0, 0.0), horizon=3000):
    study = {
        "title": "sums of shares",
        "horizon": horizon,
        "problem": {"means": list(means), "agents": agents},
        "algorithm": [{"name": "cdp-mab", "noise": "secagg"} | options],
        "faults": faults or {},
    }
    specification = load_study(study).specification
    return make_case(specification, specification.rows[0], 0)


def simulate(case, replications=1, **how):
    about = case.method, case.problem, case.worlds, case.agents, case.horizon, case.marks
    return simulate_star(*about, weather=case.weather, replications=replications, **how)


@pytest.mark.parametrize(("agents", "honest"), [(3, 2), (10, 9), (11, 9), (50, 45)])
def test_nine_agents_in_ten_are_taken_for_honest_and_at_least_two(agents, honest):
    case = case_of({}, agents=agents)
    assert case.method.holders == honest
    assert f"at least {honest} of {agents} agents" in case.doors.trust


@pytest.mark.parametrize(
    ("options", "faults", "agents", "said"),
    [
        ({"honest": 11}, {}, 10, r"honest must be a whole number in 2\.\.10"),
        ({}, {}, 2, "agents must be a whole number >= 3"),
        ({}, {"liars": 0.2, "attack": "random"}, 10, r"honest must be at most 8 \(10 agents, of whom 2 lie\), got 9"),
        ({"honest": 8}, {"contamination": 0.01}, 10, "faults.contamination must be 0"),
        ({"honest": 8}, {"loss": 0.01}, 10, "faults.loss must be 0 where the noise needs every report or a quorum below all"),
        ({"quorum": 9, "colluders": 1}, {"liars": 0.2, "attack": "random"}, 10, "honest must be at most 7 .10 agents"),
        ({"quorum": 9}, {"contamination": 0.01}, 10, "faults.contamination must be 0"),
        ({"quorum": 9, "noise": "central"}, {}, 10, "quorum is used only together with noise = 'secagg', got quorum = 9"),
        ({"colluders": 0, "noise": "local"}, {}, 10, "colluders is used only together with noise"),
        ({"honest": 8}, {"dropout": 0.01}, 10, "faults.dropout must be 0"),
        ({"honest": 8, "noise": "local"}, {}, 10, "honest is used only together with noise = 'secagg'"),
    ],
)
def test_fewer_honest_agents_than_stated_are_refused(options, faults, agents, said):
    with pytest.raises(UsageError, match=said):
        case_of(options, faults, agents)


def test_noise_in_shares_needs_a_server_that_adds_up_and_two_holders():
    entry, setting = find("cdp-mab"), Setting(agents=4, arms=2, horizon=1000)
    method = entry.build(entry.options(noise="secagg"), setting)
    for wrong in (method._replace(holders=1), method._replace(holders=5), method._replace(server=find_server("local"))):
        with pytest.raises(AlgorithmError, match="shares"):
            build(entry._replace(build=lambda options, s, wrong=wrong: wrong), None, setting)


def find_server(noise):
    entry = find("cdp-mab")
    return entry.build(entry.options(noise=noise), Setting(agents=4, arms=2, horizon=1000)).server


def opened_noise(honest, liars, agents, replications):
    """Of the first epoch's sums: all honest rewards are 0, and what liars say of an arm they do not promote is 0 too."""
    faults = {"liars": liars, "attack": "promote-worst"} if liars else {}
    case = case_of({"honest": honest, "rounds": 1, "gap": 0.5}, faults, agents)
    if liars:  # none of so few reports is lost: this is the engine that colluders need
        case = case._replace(weather=case.weather._replace(loss=1e-15))
    run = simulate(case, replications)
    assert (run.tallies["up_messages"] == agents).all()
    assert (run.tallies["rounds"] == 1).all()
    return run.servers["history"][:, 0, 1]


@pytest.mark.parametrize(("agents", "liars"), [(3, 0.0), pytest.param(3, 1 / 3, marks=pytest.mark.slow)])
def test_the_honest_shares_alone_make_one_draw_of_the_stated_noise(agents, liars):
    """As many tell the truth as shares are sized for, and a liar's share is missing: the law is still that of epsilon 1."""
    noise = opened_noise(2 if liars else 3, liars, agents, 3000)
    assert len(np.unique(noise)) > 2900
    assert stats.kstest(noise / UNIT, stats.laplace(scale=1.0).cdf).pvalue > FALSE_ALARM


def test_shares_of_more_agents_than_needed_are_more_noise_and_the_radius_knows():
    """Ten shares sized for five make two draws: twice the variance, and twice as many draws in the radius."""
    noise = opened_noise(5, 0.0, 10, 4000) / UNIT
    expected, error = 4.0, 4.0 * np.sqrt(7.0 / 4000)  # kurtosis of two draws is below 6
    assert abs(noise.var() - expected) < 5.4 * error  # 1e-7 of a normal number
    assert case_of({"honest": 5}).method.p.draws == 2.0


@node
def spy(open, p, t, plan, out):
    for e in range(out.entries):
        open.total[out.arm[e]] += abs(out.value[e])


def test_no_hook_of_an_agent_sees_its_own_nearly_raw_report():
    case = case_of({}, agents=4, means=(1.0, 1.0, 1.0))
    watched = case._replace(method=case.method._replace(node=SHARING._replace(publish=spy)))
    run = simulate(watched, compiled=False)
    assert run.servers["history"].any() and run.ledgers["entries"].any()
    assert not run.opens["total"].any()


def test_epoch_sums_are_sent_and_not_running_totals():
    """What is enclosed is empty after every report, and the server adds the epochs up."""
    case = case_of({}, agents=4, means=(0.4, 0.5, 0.6), horizon=60_000)
    run = simulate(case)
    assert run.tallies["rounds"][0] >= 2
    told, seen = run.servers["history"][0, 0, :3], run.secrets["total"][0, :, :3].sum(axis=0)
    survivors = int(run.servers["survivors"][0, 0])
    best = run.servers["arm"][0, 0, :survivors]
    assert (abs(told[best] - seen[best]) <= 40 * UNIT * run.tallies["rounds"][0]).all()


# --- agents that are away ----------------------------------------------------------------------------------------------


LOSSY = {"loss": 0.1, "dropout": 0.1}


@pytest.mark.parametrize("name", ["cdp-mab", "pooled-ucb"])
def test_a_run_with_losses_down_to_the_quorum_ends_in_the_bytes_of_its_rehearsal(name):
    case = case_of({"name": name, "quorum": 4, "colluders": 1}, LOSSY, agents=6, means=(0.2, 0.5, 0.8), horizon=600)
    run = simulate(case)
    told = rehearse_star(case.method, case.problem, case.worlds, case.agents, case.horizon, weather=case.weather)
    assert compare(run, told, 0) == []
    assert run.tallies["up_messages"][0] < 6 * run.tallies["rounds"][0]  # some were lost


def counted(run, name):
    return run.servers["counted" if name == "cdp-mab" else "count"][:, 0, :3]


@pytest.mark.parametrize("name", ["cdp-mab", "pooled-ucb"])
def test_the_server_counts_the_pulls_that_are_in_its_sums_and_no_others(name):
    """All rewards are 1 and noise is next to none: sums and counts agree, though reports are missing."""
    options = {"name": name, "quorum": 4, "epsilon": 1e6}
    case = case_of(options, LOSSY, agents=6, means=(1.0, 1.0, 1.0), horizon=20_000)
    run = simulate(case, 20)
    sums = run.servers["history" if name == "cdp-mab" else "total"][:, 0, :3]
    pulls = counted(run, name)
    assert (abs(sums - UNIT * pulls) <= 2000).all()
    assert (pulls.sum() < run.secrets["count"][:, :, :3].sum()).all()


@pytest.mark.parametrize("name", ["cdp-mab", "pooled-ucb"])
@pytest.mark.parametrize("quorum", [7, 9])
def test_of_fewer_reports_than_the_quorum_nothing_is_opened_and_the_draws_are_those_of_the_reports(name, quorum):
    """All the draws in an estimate come from epochs with a quorum, 1/holders of each report."""
    missing = {"loss": 0.2, "dropout": 0.125}  # three in ten
    case = case_of({"name": name, "quorum": quorum, "colluders": 2}, missing, means=(0.5, 0.5, 0.5), horizon=4000)
    run = simulate(case, 50)
    draws = run.servers["draws"][:, 0].reshape(50, -1)
    shares = draws * (quorum - 2)  # each report carries one
    assert abs(shares - shares.round()).max() < 1e-9
    opened = run.servers["history" if name == "cdp-mab" else "total"][:, 0].any(axis=1)
    assert (opened == (draws > 0).any(axis=1)).all()
    assert (shares[shares > 0] >= quorum - 1e-9).all()
    if quorum == 9 and name == "cdp-mab":  # of its few epochs each has too few with chance 0.85
        assert 0 < opened.mean() < 1


def test_a_sum_of_a_quorum_without_its_colluders_has_the_whole_noise():
    """Seven report of ten, two of these lie and leave their noise out: five honest shares are one draw of epsilon 1."""
    faults = {"liars": 0.2, "attack": "promote-worst", "loss": 0.4}
    case = case_of({"quorum": 7, "colluders": 2, "rounds": 1, "gap": 0.5}, faults)
    run = simulate(case, 12_000)
    least = np.isclose(run.servers["draws"][:, 0] * 5, 7) & (run.tallies["up_messages"] >= 7)
    noise = run.servers["history"][least, 0, 1] / UNIT
    assert len(noise) > 1000
    # With chance 0.6 ^ 2 both liars are among the seven: a draw. Else more shares are in the sum: its tails are no thinner.
    laplace = stats.laplace(scale=1.0)
    assert stats.kstest(abs(noise), stats.expon(scale=1.0).cdf, alternative="greater").pvalue > FALSE_ALARM
    assert noise.var() > laplace.var() * (1 - 5.4 * np.sqrt(5 / len(noise)))


def test_with_many_agents_a_secure_sum_costs_next_to_nothing():
    """50 agents, 4 arms, a quorum of 45 and no colluders: at epsilon 1 within 1.2 of no noise, on the same rewards."""
    rows = [{"name": "cdp-mab", "epsilon": inf}, {"name": "cdp-mab", "noise": "secagg", "quorum": 45, "colluders": 0}]
    study = {"horizon": 100_000, "replications": 10, "seed": 17, "algorithm": rows}
    study["problem"] = {"instance": "middle", "agents": 50, "arms": 4}
    specification = load_study(study).specification
    free, summed = (make_case(specification, row, 0) for row in specification.rows)
    lost = [case.simulate(17, 0, 40).totals.mean() for case in (free, summed)]
    assert lost[1] < 1.2 * lost[0]
