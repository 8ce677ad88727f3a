"""NF, FCB and the printed P-FCB round by round: when they exchange, what they send and learn, and what they order."""

from itertools import pairwise
from math import ceil, inf, log, log2, sqrt
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from coterie.algorithms.procurement_orders import exchange_rounds, exploration
from coterie.algorithms.procurement_printed import agrees, inner_record, overhear, spending, worth
from coterie.contract import Setting
from coterie.kernel import UNIT, one
from coterie.privacy.secret import make_secrets

WINDOW = (200, 40_000)
SHORT = {"window": [16, 256]}
PRINTED = {"mode": "paper", "calibration": "tight"}


class State(NamedTuple):
    """Of all agents at the end of a run, or after some rounds of it."""

    secret: np.ndarray
    inner: np.ndarray
    open: np.ndarray


def state(case, horizon=None):
    run = case._replace(horizon=horizon or case.horizon).simulate(1, 0, 1)
    return State(run.secrets[0], run.inners[0], run.opens[0])


# --- when ------------------------------------------------------------------------------------------------


def test_exchanges_are_at_powers_of_two_or_double_from_the_start_or_burst_as_printed():
    assert exchange_rounds("powers", WINDOW, 100_000) == [256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
    assert exchange_rounds("start", WINDOW, 100_000) == [200 * 2**i for i in range(8)]
    powers = [2**i for i in range(8, 16)]
    assert exchange_rounds("literal", WINDOW, 100_000) == [*range(200, 208), *powers]
    assert exchange_rounds("powers", WINDOW, 1000) == [256, 512]
    assert exchange_rounds("powers", WINDOW, 100) == []


@pytest.mark.parametrize("schedule", ["powers", "start", "literal"])
@pytest.mark.parametrize("window", [(1, 64), (16, 250), (20, 300)])
def test_a_run_exchanges_in_the_rounds_of_its_schedule(purchase, schedule, window):
    rounds = exchange_rounds(schedule, window, 300)
    case = purchase("p-fcb", schedule=schedule, window=list(window))
    assert case.simulate(1, 0, 1).tallies["rounds"].tolist() == [len(rounds)]
    before = state(case, rounds[-1] - 1).open
    assert before["exchanges"].tolist() == [len(rounds) - 1] * 5


def test_the_spending_of_the_paper_falls_and_stays_within_epsilon():
    levels = log2(100_000)
    spent = [spending(1.0, levels, z) for z in range(1, 17)]
    assert all(later < sooner for sooner, later in pairwise(spent))
    assert spent[0] == pytest.approx(0.28010, abs=5e-6)
    assert sqrt(2 * log(1.25 / 0.01)) / spent[0] == pytest.approx(11.094, abs=5e-4)
    for horizon in (10, 1000, 100_000, 10**8):
        whole = int(log2(horizon))
        assert sum(spending(2.0, log2(horizon), z) for z in range(1, whole + 1)) <= 2.0
    assert sum(spending(1.0, log(100_000), z) for z in range(1, 17)) == pytest.approx(1.195, abs=5e-4)


def test_the_exploration_is_long_enough_for_the_pool_or_for_each():
    options = SimpleNamespace(exploration="common", xi=0.3)
    setting = Setting(10, 30, 100_000)
    assert exploration(options, setting) == exploration(options, setting, alone=True) == ceil(3 * log(1e6) / (20 * 0.09))
    own = SimpleNamespace(exploration="own", xi=0.3)
    assert exploration(own, setting, alone=True) == ceil(3 * log(1e5) / (2 * 0.09))
    assert exploration(own, setting) == exploration(options, setting)
    assert exploration(options, Setting(1, 30, 50)) == 50


def test_explorers_order_a_few_units_of_every_producer(purchase):
    for probe in (3, None):
        made = state(purchase("nf-cb", probe=probe), 10)
        assert made.secret["count"][:, :4].tolist() == (10 * np.minimum(probe or 1, made.open["limit"][:, :4])).tolist()


# --- what is ordered -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "n", "kappa"),
    [("nf-cb", {}, 1, 1.0), ("nf-cb", {"count_agents": True, "kappa": 0.3}, 5, 0.3), ("fcb", {}, 5, 1.0),
     ("fcb", {"double_n": True}, 5, 1 / sqrt(5)), ("p-fcb", PRINTED | {"count_agents": False}, 1, 1.0)],
)  # fmt: skip
def test_bounds_are_those_of_the_units_known_before_the_round(purchase, name, options, n, kappa):
    case = purchase(name, **options)
    before, after = state(case, 199), state(case, 200)
    units = before.secret["count"] + before.inner["learned_units"]
    good = before.secret["total"] / UNIT + before.inner["learned_good"]
    if name == "fcb":  # what was seen in round 199 arrives before the orders of round 200
        units, good = (np.broadcast_to(x.sum(axis=0), x.shape) for x in (before.secret["count"], before.secret["total"] / UNIT))
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = np.minimum(1.0, good / units + kappa * np.sqrt(3 * log(n * 200) / (2 * units)))
    assert np.allclose(after.inner["upper"][:, :4], upper[:, :4], rtol=1e-12)


def test_gamma_asks_for_more_quality(purchase):
    binding = {"distribution": "normal", "rho": 2.0, "producers": 30}
    violated = [purchase("nf-cb", 2000, binding, gamma=gamma).simulate(1, 0, 1).violations.sum() for gamma in (0.0, 0.05)]
    assert violated[1] < violated[0]


def test_a_safe_oracle_violates_less_where_the_constraint_binds(purchase):
    binding = {"distribution": "normal", "rho": 2.0, "producers": 30}
    rows = {kind: purchase("nf-cb", 2000, binding, oracle=kind, exploration=1000) for kind in ("optimistic", "safe")}
    runs = {kind: case.simulate(1, 0, 1) for kind, case in rows.items()}
    explored = rows["safe"]._replace(horizon=1000).simulate(1, 0, 1).violations
    after = {kind: (run.violations - explored).sum() for kind, run in runs.items()}
    assert after["safe"] < 0.05 * after["optimistic"]


def test_early_regret_and_violations_are_those_of_the_exploration(purchase):
    case = purchase("nf-cb", 100, {"distribution": "normal", "alpha": 0.45})
    run, explored = case.simulate(1, 0, 1), case._replace(horizon=10).simulate(1, 0, 1)
    assert run.early.tolist() == explored.totals.tolist() == explored.early.tolist()
    assert (run.totals > run.early).all()
    assert (run.violations >= explored.violations).all()


# --- what is told ------------------------------------------------------------------------------------------


def test_agents_with_a_pool_know_all_that_was_seen_before_the_last_round(purchase):
    case = purchase("fcb")
    last, before = state(case).inner, state(case, 299).secret
    for own, known, grid in (("count", "learned_units", 1), ("total", "learned_good", UNIT)):
        others = before[own].sum(axis=0) - before[own]
        assert np.array_equal(last[known], others / grid)
    assert last["learned_units"].sum() > 0


@pytest.mark.parametrize("learning", ["check", "naive", "invvar"])
def test_blocks_add_up_to_the_own_units_and_hold_nothing_learned(purchase, learning):
    case = purchase("fcb-periodic", learning=learning, omega1=100.0, **SHORT)
    rounds = exchange_rounds("powers", (16, 256), 300)
    blocks = [state(case, t).open["units"][:, :4] for t in rounds]
    at_the_last, learned = state(case, rounds[-1]).secret["count"][:, :4], state(case).inner["learned_units"]
    assert np.array_equal(sum(blocks), at_the_last)
    assert learned.sum() > 0


def test_producers_that_do_not_sell_to_an_agent_are_neither_told_of_nor_learned(purchase):
    capacity = np.full((5, 4), 9)
    capacity[0, 2] = capacity[3, :3] = 0
    fixed = {"instances": None, "quality": [0.9, 0.7, 0.6, 0.4], "cost": [0.1] * 4, "capacity": capacity.tolist()}
    for name, options in (("fcb", {}), ("p-fcb", SHORT), ("p-fcb", SHORT | {"mode": "paper", "learning": "naive"})):
        made, shut = state(purchase(name, problem=fixed, **options)), capacity == 0
        private = "learned_units" in made.open.dtype.names
        learned = (made.open if private else made.inner)["learned_units"][:, :4]
        assert not made.secret["count"][:, :4][shut].any()
        assert not learned[shut].any()
        assert not made.open["told_units" if private else "units"][:, :4][shut].any()
        assert learned[~shut].any()


# --- what is made of it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"omega2": 0.0}, {"omega1": 0.0}])
def test_who_accepts_nothing_orders_as_if_alone(purchase, options):
    """With noise nothing agrees exactly. Alone, but with the number of agents in the logarithm."""
    noisy = state(purchase("p-fcb", learning="check", epsilon=1.0, **PRINTED, **SHORT, **options))
    alone = state(purchase("nf-cb", count_agents=True))
    for field in ("upper", "amount"):
        assert np.array_equal(noisy.inner[field], alone.inner[field])
    for field in ("count", "total"):
        assert np.array_equal(noisy.secret[field], alone.secret[field])


def test_an_agent_by_itself_does_not_depend_on_how_many_others_there_are(purchase):
    few, many = (state(purchase("nf-cb", problem={"agents": n, "agents_drawn": 9})) for n in (3, 9))
    assert [part.tobytes() for part in few] == [part[:3].tobytes() for part in many]


def parameters(**changes):
    plain = {"arms": 1, "slots": 4, "agents": 10.0, "omega1": 0.1, "omega2": 10.0, "own_window": 0, "guard": 1, "echo": 0,
             "learning": 0, "correlation": 0.0}  # fmt: skip
    return SimpleNamespace(**plain | changes)


def heard(p, own, message, block=(0.0, 0.0), t=401):
    """What one agent that has seen (units, good) of one producer learns of a message (units, good, scale of the noise)."""
    secret, inner = secret_of(own), one(inner_record(p))
    secret.mark_count[0, 0], secret.mark_total[0, 0] = block[0], block[1] * UNIT
    wire = SimpleNamespace(units=[message[0]] * 4, good=[message[1]] * 4, scale=[message[2]] * 4)
    overhear(secret, inner, SimpleNamespace(limit=np.array([50.0])), None, p, t, wire)
    return float(inner.learned_units[0]), float(inner.learned_good[0])


def secret_of(own):
    """Of one producer, with (units, good)."""
    secret = make_secrets(1, 1, 2, 50.0).view(np.recarray)[0]
    secret.count[0], secret.total[0] = own[0], own[1] * UNIT
    return secret


def test_a_message_is_accepted_within_the_window_of_the_round_it_was_sent_in():
    """By hand: 1000 units, half of them good; at round 400 with 10 agents the window is 0.1 sqrt(1.5 ln 4000 / 1000)."""
    window = 0.1 * sqrt(1.5 * log(4000) / 1000)
    p, own = parameters(), (1000.0, 500.0)
    assert heard(p, own, (100.0, 100 * (0.5 + 0.99 * window), 0.0)) == pytest.approx((1000, 500 + 990 * window), rel=1e-4)
    assert heard(p, own, (100.0, 100 * (0.5 - 0.99 * window), 0.0)) == pytest.approx((1000, 500 - 990 * window), rel=1e-4)
    assert heard(p, own, (100.0, 100 * (0.5 + 1.01 * window), 0.0)) == (0.0, 0.0)
    assert heard(p, own, (-100.0, -50.0, 0.0)) == (0.0, 0.0)
    assert heard(parameters(guard=0), own, (-100.0, -50.0, 0.0)) == (-1000.0, -500.0)
    assert heard(p, (0.0, 0.0), (100.0, 50.0, 0.0)) == (0.0, 0.0)


def test_messages_may_be_judged_by_the_own_units_alone():
    secret, inner = secret_of((100, 50)), one(inner_record(parameters()))
    inner.learned_units[0], inner.learned_good[0] = 900, 100
    assert agrees(secret, inner, parameters(own_window=1), 0, 10.0, 5.0, 0.1)
    assert not agrees(secret, inner, parameters(), 0, 10.0, 5.0, 0.1)
    assert agrees(secret, inner, parameters(), 0, 100.0, 15.0, 0.1)


def test_an_echo_hears_its_own_block_with_the_noise_of_the_sender():
    own = (1000.0, 500.0)
    assert heard(parameters(echo=1), own, (3.0, 1.5, 7.0), block=(100.0, 50.0)) == pytest.approx((1030.0, 515.0))
    assert heard(parameters(echo=1), own, (3.0, 40.0, 7.0), block=(100.0, 50.0)) == (0.0, 0.0)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize(("units", "share", "scale"), [(500.0, 0.3, 20.0), (80.0, 0.7, 39.0), (60.0, 0.999, 5.0)])
def test_a_message_counts_for_as_many_units_as_its_variance_is_worth(correlation, units, share, scale):
    """The delta method, written with the gradient (-q, 1) / w and the covariance of (w, y)."""
    q = min(share, 0.98)
    gradient = np.array([-q, 1.0]) / units
    noise = scale**2 * np.array([[1.0, correlation], [correlation, 1.0]])
    variance = q * (1 - q) / units + gradient @ noise @ gradient
    weight = worth(parameters(correlation=correlation), units, share * units, scale)
    assert weight * units == pytest.approx(q * (1 - q) / variance, rel=1e-12)
    assert weight < 1
    assert worth(parameters(), units, share * units, 0.0) == pytest.approx(1.0)
    assert worth(parameters(), units, share * units, 0.51 * units) == 0.0


def test_weighted_messages_are_added_with_a_share_within_bounds():
    p = parameters(learning=1)
    weight = worth(p, 100.0, 120.0, 10.0)
    assert heard(p, (50.0, 25.0), (100.0, 120.0, 10.0)) == pytest.approx((100 * weight, 100 * weight))
    assert heard(p, (50.0, 25.0), (100.0, -3.0, 10.0))[1] == 0.0
    assert heard(parameters(learning=2), (50.0, 25.0), (100.0, 120.0, 10.0)) == (100.0, 120.0)


def test_without_noise_weighted_and_plain_messages_are_the_same(purchase):
    rows = [purchase("p-fcb", epsilon=inf, learning=learning, **PRINTED, **SHORT) for learning in ("naive", "invvar")]
    naive, weighted = (state(case).inner["learned_units"] for case in rows)
    assert np.allclose(naive, weighted, rtol=1e-9)
    assert naive.sum() > 0
