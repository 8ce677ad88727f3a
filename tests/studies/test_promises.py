"""What a run says about privacy is what was said before it, and no private row costs more than it states.

The budget goes the dearest path; a run goes its own, interpreted and small. A file of one's own has no more say in it than a
built-in algorithm.
"""

import itertools
from functools import partial
from math import inf
from pathlib import Path

import pytest

from coterie.algorithms import entries, find
from coterie.contract import Setting
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.errors import AlgorithmError
from coterie.studies import builtin_studies, case, load_study
from coterie.studies.budget import price_algorithm, price_study

OWN = (Path(__file__).parents[2] / "examples/own_algorithm.py").read_text()
CLAIM = "Claim(options.epsilon)"
ROOM = 1 + 1e-12
SLOW = pytest.mark.slow


@pytest.fixture
def interpreted(monkeypatch):
    for name, simulate in (("simulate_mesh", simulate_mesh), ("simulate_star", simulate_star)):
        monkeypatch.setattr(case, name, partial(simulate, compiled=False))


@pytest.fixture
def own_file(tmp_path):
    """The path of an own algorithm with this claim. A file is checked in a process of its own."""

    def write(claim=CLAIM):
        assert OWN.count(CLAIM) == 1
        path = tmp_path / "mine.py"
        first = "    epsilon: float"
        path.write_text(OWN.replace(CLAIM, claim).replace(first, f"    promised: float = 1.0\n{first}"))
        return str(path)

    return write


def one_row(name, options, problem=None, horizon=40):
    """A study of four agents with one row. Agents differ, so that no two of them do the same."""
    bernoulli = {"means": [[0.9, 0.4, 0.2], [0.8, 0.5, 0.2], [0.7, 0.5, 0.3], [0.9, 0.6, 0.1]]}
    table = {"name": name, **options}
    return load_study({"horizon": horizon, "replications": 2, "seed": 8, "problem": problem or bernoulli, "algorithm": [table]})


def said_twice(study):
    """The privacy of the only row, as the budget has it and as the run has it."""
    [price] = price_study(study.specification)
    return price.document(1)["privacy"], study.run(workers=1).summary[0]["privacy"]


def assert_agreed(before, after):
    """All but the loss is the same, and the run has lost no more than was foreseen."""
    assert_foreseen(before, after)
    assert before["private"] is after["private"]


def assert_foreseen(before, after):
    """A form whose noise does not follow what it states may keep to it on a cheap path, and not on the dearest one."""
    apart = {"accounted": None, "private": None}
    assert before | apart == after | apart
    assert after["private"] or not before["private"]
    foreseen, booked = before["accounted"]["epsilon"], after["accounted"]["epsilon"]
    assert before["accounted"]["delta"] == after["accounted"]["delta"]
    assert (foreseen is None) == (booked is None)
    assert foreseen is None or booked <= foreseen * ROOM


# --- files of one's own -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim, complaint",
    [
        ("Claim(-1.0)", "epsilon of a claim must be a number in [1e-06, 1e+06] or inf, got -1"),
        pytest.param("Claim(0.0)", "epsilon of a claim must be a number in [1e-06, 1e+06] or inf, got 0", marks=SLOW),
        ("Claim(float('nan'))", "epsilon of a claim must be a number in [1e-06, 1e+06] or inf, got nan"),
        pytest.param("Claim(1.0, delta=-0.5)", "delta of a claim must be a number in [0, 0.01], got -0.5", marks=SLOW),
        pytest.param("Claim(1.0, delta=float('nan'))", "delta of a claim must be a number in [0, 0.01], got nan", marks=SLOW),
        ("Claim(1.0, delta=1.0)", "delta of a claim must be a number in [0, 0.01], got 1.0"),
    ],
)
def test_a_promise_that_is_no_number_is_refused_by_its_name(claim, complaint, own_file):
    path = own_file(claim)
    with pytest.raises(AlgorithmError) as refused:
        one_row(path, {})
    assert "mine.py: build" in str(refused.value) and complaint in str(refused.value)
    with pytest.raises(AlgorithmError) as refused:
        price_algorithm(find(path), {}, Setting(4, 3, 40))
    assert "block-ucb" in str(refused.value) and complaint in str(refused.value)


def test_an_own_file_is_private_only_if_it_promises_what_it_pays(own_file, interpreted):
    """It pays 1, and the ledger knows, whatever its file says."""
    path = own_file("Claim(options.promised)")
    for promised in (inf, 2.0, 1.0, 0.5):
        before, after = said_twice(one_row(path, {"epsilon": 1.0, "promised": promised}))
        assert_agreed(before, after)
        assert before["private"] is after["private"] is (1.0 <= promised < inf)
        assert before["accounted"]["epsilon"] == after["accounted"]["epsilon"] == 1.0


NORMAL = {"kind": "gaussian", "means": [0.9, 0.4, 0.2], "agents": 4}


@pytest.mark.parametrize("claim", [pytest.param(CLAIM, marks=SLOW), "Claim(options.epsilon, note='all is well')"])
def test_an_own_file_cannot_promise_anything_about_rewards_without_bounds(claim, own_file, interpreted):
    path = own_file(claim)
    before, after = said_twice(one_row(path, {}, NORMAL))
    assert_agreed(before, after)
    assert before["private"] is after["private"] is False
    assert after["accounted"]["epsilon"] is None
    assert after["note"].endswith("noise level, not a guarantee: rewards are not bounded")
    clipped, run = said_twice(one_row(path, {}, NORMAL | {"clip": [-2, 3]}))
    assert_agreed(clipped, run)
    assert clipped["private"] is run["private"] is True


# --- forms that no price protects -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["private", "corrected"])
def test_noise_that_is_kept_is_void_before_a_run_and_after_it(mode, interpreted):
    before, after = said_twice(one_row("private-ucb", {"mode": mode, "noise": "kept"}))
    assert_agreed(before, after)
    assert before["private"] is after["private"] is False
    assert before["accounted"]["epsilon"] is after["accounted"]["epsilon"] is None
    assert "one draw of noise for all releases of an arm cancels out between them" in after["note"]


def test_choices_that_rest_on_raw_rewards_are_void_before_a_run_and_after_it(interpreted):
    before, after = said_twice(one_row("private-ucb", {"mode": "paper"}))
    assert_agreed(before, after)
    assert before["private"] is after["private"] is False
    assert before["accounted"]["epsilon"] is after["accounted"]["epsilon"] is None
    assert "what is sent rests on choices, and these rest on raw rewards" in after["note"]


# --- every algorithm with every one of its examples --------------------------------------------------------

BUYERS = {"kind": "procurement", "agents": 4, "producers": 3, "instances": 1}
EXAMPLES = [(name, example) for name, entry in sorted(entries().items()) for example in entry.examples]


@pytest.mark.parametrize("name, example", EXAMPLES, ids=str)
def test_a_run_and_its_budget_say_the_same(name, example, interpreted):
    entry = find(name)
    buys = entry.problem == "procurement"
    study = one_row(name, example, BUYERS if buys else None, 3000 if name.endswith("-mab") else 40)
    before, after = said_twice(study)
    assert_agreed(before, after)
    claimed, booked = after["claimed"], after["accounted"]["epsilon"]
    if claimed:
        for said in (before, after):
            within = said["accounted"]["epsilon"] is not None and said["accounted"]["epsilon"] <= claimed["epsilon"] * ROOM
            assert said["private"] is within
        assert booked is None or booked > 0  # something was released


# --- every row of every built-in study ---------------------------------------------------------------------

SMALLER = {
    "dubey-": ["horizon=40", "problem.agents=12", "network.probability=0.4"],
    "li-song-": ["horizon=3000"],
    "solanki-exp2": ["horizon=80"],  # as printed, an epsilon of 3 needs that many rounds
    "solanki-": ["horizon=30"],
    "suppliers": ["horizon=30"],
    "": ["horizon=200"],
}


def tiny(name):
    return load_study(name, ["replications=1", *next(less for start, less in SMALLER.items() if name.startswith(start))])


def states_its_loss(row):
    """Whether a row is of the form that is to hold what it states: not as printed, and not for study."""
    mode, noise = getattr(row.options, "mode", None), getattr(row.options, "noise", None)
    meant = mode in ("private", None) and noise not in ("paper", "none", "kept")
    return meant and getattr(row.options, "epsilon", inf) < inf


@pytest.mark.parametrize("name", sorted(builtin_studies()))
def test_no_row_of_a_built_in_study_is_to_cost_more_than_it_states(name):
    study = tiny(name).specification
    for row, price in zip(study.rows, price_study(study), strict=True):
        check_row(row, price.document(1)["privacy"])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(builtin_studies()))
def test_no_row_of_a_built_in_study_has_cost_more_than_it_states(name):
    study = tiny(name)
    prices = price_study(study.specification)
    for row, price, done in zip(study.specification.rows, prices, study.run().summary, strict=True):
        check_row(row, done["privacy"])
        compare = assert_agreed if states_its_loss(row) else assert_foreseen
        compare(price.document(1)["privacy"], done["privacy"])


def check_row(row, said):
    stated = getattr(row.options, "epsilon", inf)
    assert said["claimed"] == (None if stated == inf else said["claimed"] | {"epsilon": stated}), row.label
    if states_its_loss(row):
        assert said["private"] is True, row.label
        assert 0 <= said["accounted"]["epsilon"] <= stated * ROOM, row.label
    elif stated < inf and find(row.reference).problem == "procurement":  # as printed, orders rest on raw sums
        assert (said["private"], said["accounted"]["epsilon"]) == (False, None), row.label


def test_built_in_studies_have_rows_of_both_kinds():
    """Else the tests above would look at nothing."""
    rows = list(itertools.chain(*(load_study(name).specification.rows for name in builtin_studies())))
    assert sum(map(states_its_loss, rows)) > 30
    assert sum(not states_its_loss(row) for row in rows) > 100
