"""Off-policy estimates: against the Open Bandit Pipeline, a loop over the rows and enumeration; and what is refused.

The numbers of OBP were made by version 0.4.1 of the package `obp` on examples/log.csv: `InverseProbabilityWeighting`,
`SelfNormalizedInverseProbabilityWeighting` and `DoublyRobust`, each by `estimate_policy_value` with the log's rewards, arms
and probabilities (as reward, action, pscore), the policy's shares of the row's agent as `action_dist`, and MODEL of that agent
as `estimated_rewards_by_reg_model`.
"""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import UsageError
from coterie.problem.offpolicy import (
    answer,
    doubly_robust,
    effective_rows,
    ips,
    model_of,
    policy_of,
    read_log,
    snips,
    why_not,
)

LOG = Path(__file__).parents[2] / "examples/log.csv"
MODEL = (
    "agent,arm,reward\nRiverside,old,0.4\nRiverside,new,0.6\nRiverside,mixed,0.5\n"
    "Hilltop,old,0.3\nHilltop,new,0.5\nHilltop,mixed,0.6\n"
)
TABLE = "agent,arm,probability\nRiverside,new,0.9\nRiverside,old,0.1\nHilltop,mixed,1\n"
OBP = {  # ips, snips, dr
    "uniform": (0.40777777777777774, 0.41235955056179774, 0.4126666666666667),
    "new": (0.5, 0.48859934853420195, 0.4853333333333334),
    "old=0.5,mixed=0.5": (0.3616666666666667, 0.37221269296740994, 0.3763333333333333),
    "table": (0.49133333333333334, 0.47304236200256733, 0.4678),
}


@pytest.fixture
def write(tmp_path):
    def made(text, name="log.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return made


@pytest.mark.parametrize("name", OBP)
def test_estimates_are_those_of_the_open_bandit_pipeline(write, name):
    log = read_log(str(LOG))
    policy = policy_of(write(TABLE, "policy.csv") if name == "table" else name, log)
    model = model_of(write(MODEL, "model.csv"), log)
    found = (ips(log, policy).value, snips(log, policy).value, doubly_robust(log, policy, model).value)
    assert found == pytest.approx(OBP[name], abs=1e-9, rel=0)


rows_of = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from("xy"), st.floats(-3, 3), st.floats(0.1, 1)), min_size=2, max_size=30
)


@settings(max_examples=40, deadline=None)
@given(rows_of, st.floats(0.05, 0.95))
def test_values_errors_and_sizes_are_those_of_a_loop_over_the_rows(tmp_path_factory, rows, share):
    """Probabilities of one arm differ from row to row here, so that nothing is said of their sum."""
    rows = [*rows, *((agent, arm, 1.0, p) for agent in "AB" for arm in "xy" for p in (0.3, 0.4))]
    file = tmp_path_factory.mktemp("log") / "log.csv"
    with file.open("w", newline="") as text:
        csv.writer(text).writerows([("agent", "arm", "reward", "probability"), *rows])
    log = read_log(str(file))
    policy = policy_of(f"x={share},y={1 - share}", log)
    model = np.array([[0.3, -0.2], [1.0, 0.4]])
    place = [(log.agents.index(agent), log.arms.index(arm)) for agent, arm, _, _ in rows]
    w = np.array([policy[cell] / p for cell, (_, _, _, p) in zip(place, rows, strict=True)])
    r, n = np.array([row[2] for row in rows]), len(rows)
    robust = np.array([policy[i] @ model[i] + w[t] * (r[t] - model[i, k]) for t, (i, k) in enumerate(place)])
    for found, values in ((ips(log, policy), w * r), (doubly_robust(log, policy, model), robust)):
        assert found.value == pytest.approx(values.mean(), abs=1e-10)
        assert found.error == pytest.approx(values.std() / np.sqrt(n), abs=1e-7)
    found = snips(log, policy)
    assert found.value == pytest.approx((w * r).sum() / w.sum(), abs=1e-10)
    assert found.error == pytest.approx(np.sqrt((w**2 * (r - found.value) ** 2).sum()) / w.sum(), abs=1e-6)
    assert effective_rows(log, policy) == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert log.earned == pytest.approx(r.mean(), abs=1e-10)


def test_inverse_propensity_and_doubly_robust_are_right_on_average_over_every_log_there_can_be(write):
    """Two contexts that the log does not show, in which probabilities and rewards differ: all logs of 2 rows."""
    probability = {0: {"x": 0.25, "y": 0.75}, 1: {"x": 0.6, "y": 0.4}}
    reward = {0: {"x": 1.0, "y": 0.0}, 1: {"x": -1.0, "y": 2.0}}
    truth = {"x": 0.0, "y": 1.0}  # the mean over the two contexts
    rows = [(context, arm) for context in (0, 1) for arm in "xy"]
    found, chances = {"x": np.zeros(2), "y": np.zeros(2)}, 0.0
    for first, second in itertools.product(rows, rows):
        chance = np.prod([0.5 * probability[context][arm] for context, arm in (first, second)])
        lines = [f"{arm},{reward[context][arm]},{probability[context][arm]}" for context, arm in (first, second)]
        log = read_log(write("\n".join(["arm,reward,probability", *lines])))
        for arm in log.arms:
            policy = policy_of(arm, log)
            model = np.array([[0.7 if name == "x" else -0.4 for name in log.arms]])
            found[arm] += chance * np.array([ips(log, policy).value, doubly_robust(log, policy, model).value])
        for arm in {"x", "y"} - set(log.arms):  # never chosen: nothing, and what the model says
            found[arm] += chance * np.array([0.0, 0.7 if arm == "x" else -0.4])
        chances += chance
    assert chances == pytest.approx(1.0)
    for arm, value in truth.items():
        assert found[arm] == pytest.approx([value, value], abs=1e-12)


def test_the_mean_of_rows_that_were_chosen_so_is_none_of_the_truth_but_the_estimate_is():
    """In the example a risk steers both: the mean reward of the rows of `new` is too high."""
    log = read_log(str(LOG))
    policy, k = policy_of("new", log), log.arms.index("new")
    truth = 0.56 - 0.4 * 0.2  # of both clinics, less what the risk takes
    naive = log.sums["r"][:, k].sum() / log.sums["n"][:, k].sum()
    low, high = snips(log, policy).interval
    assert low < truth < high
    assert abs(snips(log, policy).value - truth) < abs(naive - truth)


# When a log cannot answer


def even(rows, p=0.5, **other):
    """So many rows of x and y in turn."""
    lines = [f"{'xy'[n % 2]},{n % 3 % 2},{other.get('xy'[n % 2], p)}" for n in range(rows)]
    return "\n".join(["arm,reward,probability", *lines])


def test_a_good_log_answers(write):
    log = read_log(write(even(400)))
    assert why_not(log, policy_of("x", log)) == ""
    assert answer(log, policy_of("x", log))["answered"]


def test_what_was_never_chosen_is_not_judged(write):
    lines = [f"{'AB'[n % 2]},{'x' if n % 2 else 'xy'[n // 2 % 2]},1,{1.0 if n % 2 else 0.5}" for n in range(400)]
    log = read_log(write("\n".join(["agent,arm,reward,probability", *lines])))
    assert why_not(log, policy_of("y", log)) == "the log never chose 'y' for agent 'B'"
    told = answer(log, policy_of("y", log))
    assert (told["answered"], told["estimates"]) == (False, None)
    assert why_not(log, policy_of("x", log)) == ""


def test_few_effective_rows_are_no_answer(write):
    log = read_log(write(even(60)))
    assert why_not(log, policy_of("x", log)).startswith("its rows tell as much as 30 equally likely ones, and 50 are needed")


def test_a_heavy_row_is_no_answer_even_where_there_are_enough_others(write):
    lines = [f"x,1,{0.5 + n % 2 / 1000}" for n in range(1000)]
    lines += [*(f"y,1,{0.5 + n % 2 / 1000}" for n in range(900)), "y,0,0.0036"]
    log = read_log(write("\n".join(["arm,reward,probability", *lines])))
    assert why_not(log, policy_of("y", log)).startswith("one row has 13")


def test_weights_that_do_not_average_to_one_are_no_answer(write):
    """Some choices had no probability of x at all: what was seen of it says nothing about them."""
    lines = [f"{'xyy'[n % 3]},1,{0.5 + n % 2 / 1000}" for n in range(3000)]
    log = read_log(write("\n".join(["arm,reward,probability", *lines])))
    assert why_not(log, policy_of("x", log)).startswith("its rows stand for 0.66")


def test_good_logs_are_hardly_ever_refused():
    """50 logs with even probabilities: five standard errors each, false alarm below 1e-4 over all; seeds are fixed."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n = np.bincount(rng.integers(0, 4, 1000), minlength=4).astype(float)
        weight = abs(n * 4 / 1000 - 1)
        assert (weight < 5 * np.sqrt(3 / 1000)).all()


# What is refused

REFUSED = [
    (even(400, x=0.5, y=0.3), "LOG must have probabilities that sum to 1 over the arms, got 0.8 in 'log.csv'"),
    (even(400, x=0.9, y=0.3), "LOG must have probabilities that sum to 1 over the arms, got 1.2 in 'log.csv'"),
    (even(4, x=0.5, y=0), "LOG must have a number in [1e-12, 1] as probability in row 2, got '0' in 'log.csv'"),
    (even(4).replace("x,0,0.5", "x,,0.5"), "as reward in row 1, got nothing in 'log.csv'"),
    ("arm,reward\nx,1\ny,0\n", "LOG must have the columns arm, reward and probability, got only 'arm', 'reward' in 'log.csv'"),
    ("arm,successes,trials\nx,1,1\n", "LOG must have the columns arm, reward and probability, got only"),
    ("arm,reward,probability\n", "LOG must have rows, got none in 'log.csv'"),
]


@pytest.mark.parametrize(("text", "told"), REFUSED, ids=[told[:70] for _, told in REFUSED])
def test_a_log_that_does_not_fit_is_refused_in_one_line(write, text, told):
    with pytest.raises(UsageError) as caught:
        read_log(write(text))
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_an_arm_that_may_never_have_come_up_is_no_reason_to_refuse(write):
    """With 20 rows and a probability of 0.2 for all others, one in a hundred logs has none of them."""
    assert read_log(write(even(20, x=0.5, y=0.3))).rows == 20


POLICIES = [
    ("old=0.5,new=0.4", "--policy must have shares >= 0 that sum to 1, got 0.9"),
    ("old=1.5,new=-0.5", "--policy must have a number in [0, 1] for 'old', got '1.5'"),
    ("old=0.9,old=0.5,new=0.5", "--policy must name each arm once, got 'old' twice"),
    ("old=half,new=0.5", "--policy must have a number in [0, 1] for 'old', got 'half'"),
    ("odl=1", "--policy must name arms of the log, got 'odl'; did you mean 'old'?"),
    ("nwe", "or the path of a table, got 'nwe'; did you mean 'new'?"),
    ("none.csv", "--policy must be the path of a CSV or Parquet table, got 'none.csv', which cannot be read"),
    (TABLE.replace("0.9", "0.8"), "--policy must have shares >= 0 that sum to 1 for agent 'Riverside', got 0.9"),
    (TABLE.replace("0.9", "nine"), "must be a table of arm and probability"),
    (TABLE.replace("0.9", ""), "must have a number in [0, 1] as probability in row 1, got nothing"),
    (TABLE.replace("mixed", "other"), "must have an arm of the log as arm in row 3, got 'other'"),
    (TABLE.replace("Hilltop", "Hill"), "must have an agent of the log as agent in row 3, got 'Hill'"),
    ("arm,share\nold,1\n", "must be a table of arm and probability"),
]


@pytest.mark.parametrize(("text", "told"), POLICIES, ids=[told[-50:] for _, told in POLICIES])
def test_a_policy_that_does_not_fit_is_refused_in_one_line(write, text, told):
    with pytest.raises(UsageError) as caught:
        policy_of(write(text, "policy.csv") if "\n" in text else text, read_log(str(LOG)))
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_a_model_must_know_all_agents_and_arms(write):
    log = read_log(str(LOG))
    with pytest.raises(UsageError, match=r"--model must have all agents and arms of the log, got none called 'new' in"):
        model_of(write("arm,reward\nold,1\nmixed,0\n", "m.csv"), log)
    assert model_of(write("arm,reward\nold,1\nmixed,0\nnew,0.5\n", "m.csv"), log).tolist() == [[1.0, 0.0, 0.5]]
    alike = read_log(write("arm,reward,probability\n" + "a,1,0.5\nb,0,0.5\n" * 60, "alike.csv"))
    with pytest.raises(UsageError, match="--model must have no column agent, as the log has none, got agent 'X' in"):
        model_of(write("agent,arm,reward\nX,a,1\nX,b,0\n", "m.csv"), alike)


def test_probabilities_of_two_digits_may_miss_one(write):
    thirds = read_log(write("arm,reward,probability\n" + "a,1,0.33\nb,0,0.33\nc,1,0.33\n" * 100, "thirds.csv"))
    assert answer(thirds, policy_of("uniform", thirds))["estimates"]["snips"]["value"] == pytest.approx(2 / 3)
