"""Secure aggregation: the shares of as many honest agents as stated make a whole draw of noise, and nobody sees a report."""

import numpy as np
import pytest
from scipy import stats

from coterie.algorithms import find
from coterie.algorithms.elimination import SHARING
from coterie.building import build
from coterie.contract import Setting
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
        "algorithm": [{"name": "cdp-mab", "noise": "secagg", **options}],
        "faults": faults or {},
    }
    specification = load_study(study).specification
    return make_case(specification, specification.rows[0], 0)


def simulate(case, replications=1, **how):
    about = case.method, case.problem, case.worlds, case.agents, case.horizon, case.marks
    return simulate_star(*about, weather=case.weather, replications=replications, **how)


@pytest.mark.parametrize(("agents", "honest"), [(2, 2), (3, 2), (10, 9), (11, 9), (50, 45)])
def test_nine_agents_in_ten_are_taken_for_honest_and_at_least_two(agents, honest):
    case = case_of({}, agents=agents)
    assert case.method.holders == honest
    assert f"at least {honest} of {agents} agents" in case.doors.trust


@pytest.mark.parametrize(
    ("options", "faults", "agents", "said"),
    [
        ({"honest": 11}, {}, 10, r"honest must be a whole number in 2\.\.10"),
        ({}, {}, 1, "agents must be a whole number >= 2"),
        ({}, {"liars": 0.2, "attack": "random"}, 10, r"honest must be at most 8 \(10 agents, of whom 2 lie\), got 9"),
        ({"honest": 8}, {"contamination": 0.01}, 10, "faults.contamination must be 0"),
        ({"honest": 8}, {"loss": 0.01}, 10, "faults.loss must be 0"),
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
    run = simulate(case, replications)
    assert (run.tallies["rounds"] == 1).all()
    return run.servers["history"][:, 0, 1]


@pytest.mark.parametrize(("agents", "liars"), [(2, 0.0), (3, 1 / 3)])
def test_the_honest_shares_alone_make_one_draw_of_the_stated_noise(agents, liars):
    """As many tell the truth as shares are sized for, and a liar's share is missing: the law is still that of epsilon 1."""
    noise = opened_noise(2, liars, agents, 3000)
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
    case = case_of({}, agents=4, means=(0.2, 0.5, 0.8), horizon=60_000)
    run = simulate(case)
    assert run.tallies["rounds"][0] >= 2
    told, seen = run.servers["history"][0, 0, :3], run.secrets["total"][0, :, :3].sum(axis=0)
    survivors = int(run.servers["survivors"][0, 0])
    best = run.servers["arm"][0, 0, :survivors]
    assert (abs(told[best] - seen[best]) <= 40 * UNIT * run.tallies["rounds"][0]).all()
