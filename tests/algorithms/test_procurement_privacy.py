"""The noise of the printed P-FCB: what it is made for, checked by two other accountants and by one changed order.

It is made for two histories that differ in one round's order and what came of it, and in nothing else. What messages lose where
orders follow from outcomes is in test_procurement_leak.py.
"""

from math import inf, log2, sqrt

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.algorithms.procurement_printed import price_of, publish, release
from coterie.building import doors_of
from coterie.contract import Setting, Terms, out_record
from coterie.errors import UsageError
from coterie.kernel import UNIT, one, stream
from coterie.privacy.accountant import accounted
from coterie.privacy.door import clear, look_up
from coterie.privacy.gauss import block_losses, delta_of, epsilon_of, mu_of
from coterie.privacy.ledger import ledger_record
from coterie.privacy.mechanisms import TRIANGLE
from coterie.privacy.secret import make_secrets, take_in
from coterie.privacy.statement import SEES_NO_CHOICES, statement
from coterie.studies import load_study

LIMIT, ARMS, HORIZON = 7, 2, 64
TERMS = Terms(np.full((2, ARMS), 0.3), np.full((2, ARMS), LIMIT), 0.4, 1.0)
FORMS = [{"calibration": "tight"}, {"calibration": "elliptic"}, {}, {"schedule": "literal"}]


def setting(horizon):
    return Setting(2, ARMS, horizon, terms=TERMS)


def built(horizon=100_000, **options):
    """The printed form, unless `mode` says otherwise."""
    entry = entries()["p-fcb"]
    return entry.build(entry.options(**{"mode": "paper"} | options), setting(horizon))


# --- stated and accounted -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [*FORMS, {"learning": "echo"}])
def test_the_printed_form_is_labelled_with_what_it_really_gives(options):
    method = built(**options)
    said = statement(method.claim, doors_of(method, setting(100_000)), booked=0.2)
    assert said["claimed"] == {"epsilon": 1.0, "delta": 0.01}
    assert said["accounted"]["epsilon"] is None
    assert not said["private"]
    assert said["adversary"] == SEES_NO_CHOICES
    assert "not private" in said["note"] and "at least epsilon 8 at delta 0.01 where 1 is stated" in said["note"]


def test_the_first_block_of_the_printed_form_loses_what_its_formula_gives():
    """By hand: sigma_1 = k sqrt(2 ln 125) / eps_1 and both numbers move by at most k, if orders were fixed."""
    method = built(100, window=(8, 64))
    first = 1 / (2 * log2(100)) + 1 / 4
    mu = sqrt(2) * first / sqrt(2 * np.log(125))
    assert method.facts["mu_event"] == pytest.approx(mu, rel=1e-12)
    assert method.facts["epsilon_event_at_0.01"] == pytest.approx(epsilon_of(mu, 0.01), rel=1e-9)
    assert method.facts["epsilon_sequential_at_0.01"] > method.facts["epsilon_event_at_0.01"]
    assert method.facts["epsilon_sum"] <= 1.0


def test_without_noise_nothing_is_claimed():
    method = built(epsilon=inf)
    said = statement(method.claim, doors_of(method, setting(100_000)), booked=inf)
    assert said["claimed"] is None
    assert said["accounted"]["epsilon"] is None
    assert not said["private"]


@pytest.mark.parametrize("options", FORMS)
def test_the_facts_of_a_row_are_those_of_its_prices(options):
    method = built(**options)
    count = int(method.facts["exchanges"])
    mus = [price_of(method.p, z) for z in range(1, count + 1)]
    assert count == (16 if options.get("schedule") == "literal" else 8)
    assert method.facts["mu_event"] == pytest.approx(max(mus))
    assert method.facts["mu_sequential"] == pytest.approx(np.linalg.norm(mus))
    assert method.facts["mu_round"] == pytest.approx(max(mus) * sqrt(ARMS))
    assert method.facts["mu_group"] == pytest.approx(10 * max(mus))


def test_the_exact_loss_has_the_value_of_the_specification():
    assert delta_of(1.0, 1.0) == pytest.approx(0.12693674, abs=5e-9)
    assert mu_of(epsilon_of(0.7, 1e-3), 1e-3) == pytest.approx(0.7, rel=1e-9)


@pytest.mark.parametrize(("mus", "delta"), [([0.13] * 1, 1e-2), ([0.53] * 8, 1e-5), ([0.3, 0.2, 0.1], 1e-3)])
def test_two_other_accountants_agree(mus, delta):
    """Of all blocks together. Privacy loss distributions agree to 1e-3; Renyi divergences can only be larger."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    found = epsilon_of(block_losses(mus, 1, 1)["sequential"], delta)
    event = dp_accounting.ComposedDpEvent([dp_accounting.GaussianDpEvent(1 / mu) for mu in mus])
    assert PLDAccountant().compose(event).get_epsilon(delta) == pytest.approx(found, abs=1e-3)
    assert RdpAccountant().compose(event).get_epsilon(delta) >= found - 1e-9


# --- one changed order ----------------------------------------------------------------------------------


def history(seed):
    """(units, good units) of each round and producer."""
    rng = np.random.default_rng(seed)
    units = rng.integers(0, LIMIT + 1, (HORIZON, ARMS))
    return np.stack([units, rng.binomial(units, 0.6)], axis=2)


def offers(method, rounds):
    """What passes the door when an agent lives through a history of orders, and its ledger."""
    rule, p = method.node, method.p
    secret = make_secrets(1, ARMS, rule.marks(p), np.full(ARMS, float(LIMIT))).view(np.recarray)[0]
    open, out = one(rule.open(p)), one(out_record(rule, p))
    ledger, found = one(ledger_record(p.arms, rule.chains(p))), []
    for field, values in method.known.items():
        open[field] = values[0]
    for t, order in enumerate(rounds, start=1):
        for k, (units, good) in enumerate(order.tolist()):
            take_in(secret, k, units, UNIT * good)
        clear(out)
        release(open, p, t, None, out)
        look_up(out, secret, ledger, ARMS, True)
        for e in range(out.entries):
            found.append((int(out.arm[e]), e % 2, int(out.first[e]), int(out.last[e]), float(out.price[e]),
                          float(out.sensitivity[e]), int(out.value[e])))  # fmt: skip
        rule.mechanism.book(out, ledger)
        publish(open, p, t, None, out)
    assert secret.refused == 0
    return found, ledger


@pytest.mark.parametrize("options", FORMS)
def test_a_changed_order_in_a_fixed_stream_moves_one_pair_within_what_was_paid_for(options):
    """This is all that the printed noise is made for: later orders stay as they are here, and in a run they do not."""
    method = built(HORIZON, window=(8, 64), **options)
    elliptic, worst = method.node.mechanism is TRIANGLE, 0.0
    first, ledger = offers(method, history(0))
    for t, new in [(1, (LIMIT, 0)), (9, (LIMIT, LIMIT)), (33, (LIMIT, 0)), (64, (LIMIT, LIMIT))]:
        for old in [(0, 0), (LIMIT, 0), (LIMIT, LIMIT)]:
            one_life, other_life = history(0), history(0)
            one_life[t - 1, 1], other_life[t - 1, 1] = old, new
            mine, theirs = offers(method, one_life)[0], offers(method, other_life)[0]
            assert [entry[4:6] for entry in mine] == [entry[4:6] for entry in theirs]
            moved = [(entry, (entry[6] - other[6]) / UNIT) for entry, other in zip(mine, theirs, strict=True)
                     if entry[6] != other[6]]  # fmt: skip
            assert {entry[0] for entry, _ in moved} <= {1}
            assert len({entry[4] for entry, _ in moved}) <= 1
            change = {entry[1]: step for entry, step in moved}
            a, b = change.get(0, 0.0), change.get(1, 0.0)
            assert (a, b) == (old[0] - new[0], old[1] - new[1])
            price = moved[0][0][4] if moved else 0.0
            worst = max(worst, (a * a - a * b + b * b if elliptic else (a * a + b * b) / 2) * (price / LIMIT) ** 2)
    paid = np.sqrt(ledger.squares.sum(axis=-1).max())
    assert np.sqrt(worst) <= paid * (1 + 1e-12)
    assert np.sqrt(worst) == pytest.approx(paid) or "calibration" not in options
    booked = accounted(np.array([ledger]).view(ledger.dtype), method.node.mechanism, 0.01)[0]
    assert booked == pytest.approx(epsilon_of(method.facts["mu_event"], 0.01), rel=1e-9)
    assert len({entry[2:4] for entry in first if entry[0] == 0}) == method.facts["exchanges"]


def test_an_echo_sends_nothing_but_noise():
    found, ledger = offers(built(HORIZON, window=(8, 64), learning="echo"), history(0))
    assert {entry[6] for entry in found} == {0}
    assert len(found) > 0
    assert not ledger.entries.any()


@pytest.mark.parametrize("options", [{"calibration": "tight"}, {"calibration": "elliptic"}])  # one of each mechanism
def test_noise_has_the_variance_of_its_price(options):
    """40,000 pairs: the variance is known to 0.7 %, so 5 % off happens with a probability below 1e-11."""
    method, pairs = built(**options), 500
    rule, p = method.node, method.p
    out, price, noise = one(out_record(rule, p._replace(arms=pairs))), price_of(p, 1), []
    for t in range(80):
        out.entries, out.sensitivity[:], out.price[:], out.value[:] = 2 * pairs, LIMIT, price, 0
        rule.mechanism.add(out, None, stream(5, 0, 1, t), stream(5, 0, 1, -1))
        noise.append(out.value[: 2 * pairs].reshape(pairs, 2) / UNIT)
    scale = (LIMIT / price) ** 2
    wanted = scale * (np.array([[4 / 3, 2 / 3], [2 / 3, 4 / 3]]) if rule.mechanism is TRIANGLE else 2 * np.eye(2))
    found = np.cov(np.concatenate(noise).T)
    assert np.allclose(found, wanted, atol=0.05 * wanted[0, 0])
    assert p.spread**2 * scale == pytest.approx(wanted[0, 0])
    assert p.correlation == pytest.approx(wanted[0, 1] / wanted[0, 0])


def test_elliptic_noise_blurs_the_quality_less_at_the_same_loss():
    """The variance of y - q w, in units of (k / mu)^2: 4/3 (1 - q + q^2) against 2 (1 + q^2)."""
    for q in (0.0, 0.3, 0.8, 1.0):
        direction = np.array([-q, 1.0])
        ellipse = np.array([[4 / 3, 2 / 3], [2 / 3, 4 / 3]])
        assert direction @ ellipse @ direction == pytest.approx(4 / 3 * (1 - q + q * q))
        assert direction @ ellipse @ direction < direction @ (2 * np.eye(2)) @ direction


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"delta": 0.0}, "delta must be > 0 in mode = 'paper', got 0"),
        ({"epsilon": 4.0}, "epsilon must be < 3.57 (or inf) for the paper's noise at horizon 100000"),
        ({"window": (300, 200)}, "window must be [first, last] with first <= last, got [300, 200]"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, line):
    with pytest.raises(UsageError) as refused:
        built(**options)
    assert str(refused.value).startswith(line)


def test_an_algorithm_for_orders_is_refused_where_arms_are_pulled_and_the_other_way_round():
    arms = {"horizon": 10, "problem": {"means": [0.1, 0.9], "agents": 2}, "algorithm": [{"name": "p-fcb"}]}
    with pytest.raises(UsageError, match=r"problem\.kind must be 'procurement' for p-fcb, got 'bernoulli'"):
        load_study(arms).run()
    orders = {"horizon": 10, "problem": {"kind": "procurement", "agents": 2, "producers": 3, "alpha": 0.0}}
    with pytest.raises(UsageError, match=r"must be 'bernoulli', 'bounded', 'gaussian' or 'logged' for fed-ucb, got"):
        load_study(orders | {"algorithm": [{"name": "fed-ucb"}]}).run()
