"""One least epsilon for everyone, and room for every number that may be given."""

from math import inf

import numpy as np
import pytest
from typer.testing import CliRunner

from coterie.algorithms import find
from coterie.audit.auditing import audit, seconds_needed
from coterie.audit.stage import require_releases, small_case
from coterie.cli.asking import ask
from coterie.cli.main import app
from coterie.cli.progress import Waiting
from coterie.contract import Setting
from coterie.engines.faults import Weather
from coterie.engines.simulate import simulate_star
from coterie.errors import UsageError
from coterie.limits import EPSILON_LEAST
from coterie.privacy.door import FINEST
from coterie.privacy.statement import Claim
from coterie.problem import bernoulli
from coterie.studies import load_study
from coterie.studies.budget import price_algorithm, price_of_truth
from coterie.studies.case import make_case

STUDY = {"horizon": 100, "problem": {"means": [0.9, 0.1], "agents": 3}, "algorithm": [{"name": "cdp-mab"}]}
OWN = "examples/own_algorithm.py"
PRIVATE = ["cdp-mab", "ddp-mab", "hdp-mab", "single-mab", "fed-ucb", "private-ucb", "dp-ucb-int", "pr-ucb", "p-fcb", OWN]


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [1e-300, 0.99e-6, 2e6, 1e300])
def test_no_algorithm_takes_an_epsilon_that_cannot_be_had(name, epsilon):
    with pytest.raises(UsageError, match=r"epsilon of \S+ must be .*1e-06.*, got"):
        load_study(STUDY | {"algorithm": [{"name": name, "epsilon": epsilon}]})


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [EPSILON_LEAST, 1e6, inf])
def test_the_ends_of_the_range_belong_to_it(name, epsilon):
    (row,) = load_study(STUDY | {"algorithm": [{"name": name, "epsilon": epsilon}]}).specification.rows
    assert row.options.epsilon == epsilon


def test_a_claim_of_less_is_a_fault_whoever_makes_it():
    assert "1e-06" in Claim(1e-7).fault
    assert Claim(EPSILON_LEAST).fault == ""


def test_audit_and_budget_go_by_the_same_least_epsilon():
    with pytest.raises(UsageError, match=r"epsilon of cdp-mab must be a number in \[1e-06, 1e\+06\] or inf"):
        audit("cdp-mab", {"epsilon": 1e-7}, trials=300)
    with pytest.raises(UsageError, match=r"epsilon of fed-ucb must be a number in \[1e-06, 1e\+06\] or inf"):
        price_algorithm(find("fed-ucb"), {"epsilon": 1e-7}, Setting(3, 2, 100))


def test_no_true_epsilon_is_had_by_stating_less_than_may_be_stated():
    with pytest.raises(UsageError, match="--true-epsilon must be larger for cdp-mab, got 1e-06"):
        price_of_truth(find("cdp-mab"), {"mode": "paper"}, Setting(10, 2, 10**9, gap=0.1), 1e-6)


@pytest.mark.parametrize("algorithm", ["cdp-mab", "pr-ucb"])
def test_what_releases_nothing_cannot_be_audited(algorithm):
    case = small_case(algorithm, {"epsilon": 1e-6}, 100)
    with pytest.raises(UsageError, match=f"{algorithm} releases nothing within 100 rounds at epsilon = 1e-06"):
        require_releases(algorithm, case)


def test_what_releases_little_can_be_audited():
    require_releases("fed-ucb", small_case("fed-ucb", {"epsilon": 1e-6}, 100))


@pytest.mark.parametrize("key, value", [("trials", 299), ("trials", 10**7), ("horizon", 23), ("horizon", 10**7)])
def test_sizes_of_an_audit_have_a_range(key, value):
    with pytest.raises(UsageError, match=rf"--{key} must be a whole number in \[\d+, 1000000\], got {value}"):
        audit("fed-ucb", {}, **{key: value})


# --- numbers that overflowed -----------------------------------------------------------------------------------------


def test_epochs_that_are_longer_than_there_is_room_for_do_not_overflow():
    """A target of 1e-6 wants 10^14 samples, of which sums would leave 62 bits."""
    rows = [{"name": "cdp-mab", "rounds": 1, "gap": 1e-6}]
    study = load_study(STUDY | {"horizon": 10**12, "algorithm": rows}).specification
    case = make_case(study, study.rows[0], 0)
    with np.errstate(all="raise", under="ignore"):
        run = simulate_star(case.method, bernoulli, case.worlds, 3, 10**12, case.marks, weather=Weather(), compiled=False)
    assert 0 <= run.totals.max() <= 10**12
    assert (run.servers["samples"] > 0).all()


def test_prices_that_noise_cannot_be_drawn_for_are_found_before_a_run():
    setting = Setting(3, 2, 1_000_000)
    with pytest.raises(UsageError, match=r"epsilon must be >= \S+ where the last of [\d,]+ releases costs least of all"):
        price_algorithm(find("private-ucb"), {"epsilon": 1e-6}, setting)
    assert EPSILON_LEAST > 500 * FINEST


def test_a_contaminant_must_be_given_where_no_reward_is_highest():
    problem = {"kind": "gaussian", "means": [0.9, 0.1], "agents": 3}
    study = STUDY | {"problem": problem, "faults": {"contamination": 0.5}, "algorithm": [{"name": "coop-ucb"}]}
    with pytest.raises(UsageError, match=r"faults.contaminant \(or faults.range\) must be given"):
        load_study(study).run()
    loaded = load_study(study | {"faults": {"contamination": 0.5, "contaminant": 1.0}}).specification
    assert make_case(loaded, loaded.rows[0], 0).weather.contaminant == 1.0


def test_sums_of_large_rewards_limit_the_horizon():
    with pytest.raises(UsageError, match=r"horizon must be <= 70368\d+ where rewards may be as large as 1.00001e\+06"):
        load_study(STUDY | {"horizon": 10**9, "problem": {"kind": "gaussian", "means": [1e6, 0.0], "agents": 2}})


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("pr-ucb", "growth", 1.0001), ("pr-ucb", "batch", 2**62), ("pr-ucb", "explore", 1e200), ("gossip-ucb", "factor", 1e200),
        ("private-ucb", "nominal", 1e-300), ("cdp-mab", "gap", 1e-300), ("nf-cb", "xi", 1e-200), ("p-fcb", "window", (1, 2**62))
    ],
)  # fmt: skip
def test_options_that_size_things_have_a_range(name, option, value):
    with pytest.raises(UsageError, match=rf"{option}\S* of {name} must be .*\[.*\]|{option} of {name} must be .* in \["):
        load_study(STUDY | {"algorithm": [{"name": name, option: value}]})


# --- asking -----------------------------------------------------------------------------------------------------------


def test_a_long_run_needs_a_yes_where_nobody_can_be_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "zhu-2a", "--set", "horizon=1000000000000"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("this will take about ")
    assert "--yes" in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_a_long_budget_needs_a_yes_and_one_around_a_server_is_short():
    asked = CliRunner().invoke(app, ["budget", "fed-ucb", "--horizon", "1000000000000"])
    assert "--yes" in str(asked.exception)
    assert CliRunner().invoke(app, ["budget", "cdp-mab", "--horizon", "1000000000000"]).exit_code == 0


def test_short_work_is_not_asked_about_and_yes_answers():
    shown = Waiting("asking", "none")
    ask(599.0, False, shown)
    ask(1e9, True, shown)
    ask(seconds_needed(0, 30_000), False, shown)
    with pytest.raises(UsageError, match="this will take about 32 years: give --yes to go on"):
        ask(1e9, False, shown)
