"""What an own file may say about its ways out: noise nobody has proved, servers that are handed what they should not be."""

from functools import partial
from math import inf
from pathlib import Path

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.building import build, is_silent
from coterie.contract import Claim, Setting, offer, offer_all
from coterie.engines.forecast import forecast
from coterie.engines.simulate import Links, simulate_mesh
from coterie.errors import AlgorithmError
from coterie.kernel import node
from coterie.privacy.accountant import WITHOUT_NOISE, accounted
from coterie.privacy.ledger import ledger_record
from coterie.privacy.mechanisms import GAUSS, LAPLACE, SHARES, SUMS
from coterie.privacy.statement import Guarantee
from coterie.problem import bernoulli
from coterie.report import statement
from coterie.studies import case, load_study
from coterie.studies.budget import price_study
from coterie.studies.case import make_case

SETTING = Setting(agents=4, arms=2, horizon=1000)
ENTRY = find("cdp-mab")


@node
def no_noise(out, secret, die, lasting):
    """It says nothing and adds nothing."""


def method_of(noise):
    return ENTRY.build(ENTRY.options(noise=noise), SETTING)


def changed(noise, node=None, server=None, **facts):
    method = method_of(noise)
    roles = {"node": method.node._replace(**(node or {})), "server": method.server._replace(**(server or {}))}
    return method._replace(**roles, **facts)


WRONG = {
    "noise of its own": (lambda: changed("local", {"mechanism": LAPLACE._replace(add=no_noise)}), "nobody has proved it"),
    "a server's own noise": (lambda: changed("central", server={"mechanism": LAPLACE._replace(add=no_noise)}), "proved"),
    "raw sums past the ledger": (lambda: changed("central", server={"mechanism": SUMS}), "must go together"),
    "an agent that books nothing": (lambda: changed("local", {"mechanism": SUMS}), "must go together"),
    "shares that are shown one by one": (lambda: changed("local", {"mechanism": SHARES}), "must go together"),
    "an agent that is handed raw rewards": (lambda: changed("central", {"trusted": True}), "only a server is handed"),
    "trust and shares at once": (lambda: changed("secagg", {"trusts": True}, {"trusted": True}), "either trusts its server"),
    "trust on one side": (lambda: changed("central", {"trusts": False}), "both set or neither"),
    "a sum of one report": (lambda: changed("secagg", structure="alone"), "all agents report"),
    "reports that everyone gets": (lambda: changed("secagg", structure="synchronise"), "all agents report"),
    "a sum of some reports": (lambda: changed("secagg", reporters=2), "all agents report"),
    "more holders than agents": (lambda: changed("secagg", holders=5), r"holders must be in 2\.\.4"),
    "releases beside a trusted server": (
        lambda: changed("central", {"release": method_of("local").node.release}), "nobody accounts for it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_ways_out_that_nobody_accounts_for_are_refused(name):
    make, said = WRONG[name]
    with pytest.raises(AlgorithmError, match=said):
        build(ENTRY._replace(build=lambda options, setting: make()), None, SETTING)


@pytest.mark.parametrize("noise", ["local", "central", "secagg", "none"])
def test_the_ways_out_of_the_built_in_forms_are_accounted_for(noise):
    assert build(ENTRY, ENTRY.options(noise=noise), SETTING).claim.fault == ""


def test_noise_in_shares_is_not_for_own_files():
    with pytest.raises(AlgorithmError, match="nobody counts whose shares are in a sum"):
        build(ENTRY._replace(build=lambda options, setting: method_of("secagg")), None, SETTING)


def test_who_hands_over_or_lies_is_not_silent():
    method = find("fed-ucb").build(find("fed-ucb").options(isolated=True), SETTING)
    assert is_silent(method)
    for hook in ("leave", "lie", "speak"):
        loud = getattr(find("fed-ucb").build(find("fed-ucb").options(), SETTING).node, hook)
        assert not is_silent(method._replace(node=method.node._replace(**{hook: loud})))


@node
def two_prices(open, p, t, plan, out):
    """One draw of a stream at two scales: twice the one less the other would be the raw sum."""
    offer_all(out, plan.arm[0], p.price)
    offer_all(out, plan.arm[0], p.price / 2)


def test_a_stream_has_one_price_also_within_a_turn():
    method = find("fed-ucb").build(find("fed-ucb").options(mechanism="digits"), SETTING)
    loud = method._replace(node=method.node._replace(name="two_prices", release=two_prices, width=2))
    nobody = Links(np.zeros(2, int), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 2), int))
    known = {field: values[:1] for field, values in loud.known.items()}
    about = loud._replace(known=known, meetings=0), bernoulli, bernoulli.world(np.ones((1, 2))), 1, 5, np.array([5]), nobody
    with pytest.raises(AlgorithmError, match="changes its price"):
        simulate_mesh(*about, compiled=False)


def dear_arms(prices):
    """A method whose arms cost differently, by a field that is known beforehand."""
    method = find("fed-ucb").build(find("fed-ucb").options(), SETTING)
    return method._replace(node=method.node._replace(release=prices))


@node
def raw_arm_one(open, p, t, plan, out):
    for e in range(plan.entries):
        offer(out, plan.arm[e], p.price if plan.arm[e] == 0 else inf)


def test_an_arm_that_costs_more_than_the_first_is_forecast():
    assert forecast(dear_arms(raw_arm_one), 50).agent.loss == WITHOUT_NOISE


def test_normal_noise_keeps_no_promise_without_a_delta():
    ledgers = np.zeros((1, 1), ledger_record(2, 1))
    assert accounted(ledgers, GAUSS, 0.0)[0, 0] == 0
    ledgers["squares"][..., 0, 0] = 0.01
    assert accounted(ledgers, GAUSS, 0.0)[0, 0] == inf
    assert 0 < accounted(ledgers, GAUSS, 1e-6)[0, 0] < 1


def test_a_delta_that_protects_nothing_cannot_be_promised_and_is_not_called_nothing():
    assert Claim(0.1, 0.999).fault == "delta of a claim must be a number in [0, 0.01], got 0.999"
    assert "learns nothing" not in Guarantee("Eve", "all", "one reward", "nobody", 0.0, 0.005).words()


EXAMPLE = Path(__file__).parents[2] / "examples/own_algorithm.py"


def own_study():
    problem = {"means": [0.2, 0.8], "agents": 3}
    return load_study({"horizon": 40, "problem": problem, "algorithm": [{"name": str(EXAMPLE)}]}).specification


def test_clients_of_an_own_file_are_never_folded(monkeypatch):
    """Whether its clients may share one record, of which one books for all, is a claim about its text."""
    study = own_study()
    assert make_case(study, study.rows[0], 0).method.folds is False
    whole = case.build
    monkeypatch.setattr(case, "build", lambda *about: whole(*about)._replace(folds=True))
    assert make_case(study, study.rows[0], 0).method.folds is False


DEAR = {
    "    arm = (t - 1) % p.arms if t <= p.arms else argmax(open.index, p.arms)\n": "    arm = (t // 20) % p.arms\n",
    "    if open.pulls[k] >= 2 * open.covered[k]:\n": "    if t % 20 == 19:\n",
    "        offer(out, k, p.epsilon)": "        offer(out, k, PRICE)",
}  # blocks of twenty rounds, one arm after the other


@pytest.mark.parametrize(
    ("price", "horizon"),
    [
        ("50.0 * p.epsilon if plan.arm[0] == 2 else p.epsilon", 120),  # of one arm
        ("50.0 * p.epsilon if t > 400 and plan.arm[0] == 1 else p.epsilon", 600),  # late
        ("50.0 * p.epsilon if p.arms > 2 else p.epsilon", 120),
    ],
)
def test_what_an_own_file_costs_is_told_of_all_its_arms(tmp_path, monkeypatch, price, horizon):
    """It was told of one arm that is played in every round, which is the dearest path of our own texts."""
    monkeypatch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
    monkeypatch.chdir(tmp_path)
    source = EXAMPLE.read_text()
    for old, new in DEAR.items():
        assert old in source
        source = source.replace(old, new.replace("PRICE", price))
    (tmp_path / "dear.py").write_text(source)
    tables = {"problem": {"means": [0.9, 0.5, 0.4], "agents": 3}, "algorithm": [{"name": str(tmp_path / "dear.py")}]}
    [found] = price_study(load_study({"horizon": horizon, **tables}).specification)
    assert found.epsilon == 50.0 and not found.statement()["private"]
    assert {one.epsilon for one in found.guarantees()} == {50.0}


def test_an_own_file_is_signed_for_only_after_an_audit(monkeypatch):
    monkeypatch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
    prices = price_study(study := own_study())
    told = statement.facts(study, prices, 0)
    assert told["privacy"]["private"] and not told["to_sign"]
    assert statement.unsigned(told) == "nothing to sign: an own file is audited first"
    assert statement.facts(study, prices, 0, audit=statement.Verdict("no leak found", False))["to_sign"]
    monkeypatch.setattr(statement, "audited", lambda path, options, agents, arms: True)
    assert statement.facts(study, prices, 0)["to_sign"]
