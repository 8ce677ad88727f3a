"""The rows that a run leaves have the type that pages and tables read them by."""

from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import pytest
from scipy import stats

from coterie.engines.simulate import simulate_mesh
from coterie.studies import case, load_study
from coterie.studies.results import make_result, promise_of
from coterie.studies.rows import Summary, SummaryRow
from coterie.studies.running import run_batches

BUYING = {"kind": "procurement", "quality": [0.9, 0.6, 0.3], "cost": [0.2, 0.3, 0.1], "capacity": [5, 4, 3], "agents": 2}


@pytest.fixture(scope="module")
def rows():
    """Interpreted: a few rounds are not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        return run_rows()


def run_rows():
    plain = {"horizon": 40, "problem": {"means": [0.2, 0.5, 0.8], "agents": 3}, "algorithm": [{"name": "coop-ucb"}]}
    buying = {"horizon": 60, "replications": 2, "problem": BUYING, "algorithm": [{"name": "nf-cb"}, {"name": "fcb"}]}
    return [row for study in (plain, buying) for row in load_study(study).run(workers=1).summary]


def misfits(kind: Any, value: Any, place: str = "row") -> list[str]:
    """Where a value is not of a type: keys of records exactly, entries of lists and tables one by one."""
    origin, inside = get_origin(kind), get_args(kind)
    if is_typeddict(kind) and isinstance(value, dict):
        hints = get_type_hints(kind, include_extras=True)
        needed = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
        odd = [f"{place}.{key}" for key in (needed - value.keys()) | (value.keys() - hints.keys())]
        plain = get_type_hints(kind)
        return odd + [text for key in value.keys() & plain.keys() for text in misfits(plain[key], value[key], f"{place}.{key}")]
    if origin is Literal:
        return [] if value in inside else [place]
    if origin in (Union, UnionType):
        return [] if any(not misfits(one, value) for one in inside) else [place]
    if origin is list and isinstance(value, list):
        return [text for entry in value for text in misfits(inside[0], entry, f"{place}[]")]
    if origin is dict and isinstance(value, dict):
        return [text for entry in value.values() for text in misfits(inside[1], entry, f"{place}{{}}")]
    if kind is Any:
        return []
    wanted = {float: (int, float), None: NoneType}.get(kind, kind)
    return [] if origin is None and not is_typeddict(kind) and isinstance(value, wanted) else [place]


def test_rows_of_a_run_have_all_keys_of_their_type_and_no_others(rows):
    assert ["procurement" in row for row in rows] == [False, True, True]
    for row in rows:
        assert misfits(SummaryRow, row) == []


def test_a_key_that_the_type_does_not_know_or_that_is_missing_is_seen(rows):
    assert misfits(SummaryRow, rows[0] | {"surprise": 1}) == ["row.surprise"]
    assert misfits(SummaryRow, {key: value for key, value in rows[0].items() if key != "curve"}) == ["row.curve"]
    assert misfits(SummaryRow, rows[0] | {"agents": "three"}) == ["row.agents"]


# --- what is reckoned of single runs --------------------------------------------------------------------------

LIED_TO = {
    "horizon": 60, "replications": 6, "checkpoints": 7, "problem": {"instance": "uniform", "agents": 5, "arms": 3},
    "network": {"graph": "complete"}, "faults": {"liars": 0.2, "attack": "random"}, "algorithm": [{"name": "coop-ucb"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def lied_to():
    """A row, and the numbers of its runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        study = load_study(LIED_TO).specification
        batches = run_batches(study, 1)
        result = make_result(study, batches)
    columns = {name: np.concatenate([found[name] for found in batches.values()]) for name in ("curves", "totals", "found")}
    return result, columns


def test_regret_per_decision_is_that_of_honest_agents_at_every_mark(lied_to):
    result, columns = lied_to
    row, honest = result.summary[0], 4
    marks = row["curve"]["round"]
    for place, mark in enumerate(marks):
        runs = columns["curves"][:, place] / honest / mark
        low, high = stats.t.interval(0.95, len(runs) - 1, runs.mean(), stats.sem(runs))
        assert row["curve"]["per_decision"][place] == pytest.approx(runs.mean())
        assert row["curve"]["per_decision_margin"][place] == pytest.approx((high - low) / 2)
        assert row["curve"]["margin"][place] == pytest.approx((high - low) / 2 * honest * mark)
    assert row["per_decision"]["mean"] == pytest.approx(row["curve"]["per_decision"][-1])
    assert row["regret_per_agent"]["mean"] == pytest.approx(row["per_decision"]["mean"] * marks[-1])


def test_every_agent_has_its_interval_and_its_count_over_the_runs_in_which_it_was_honest(lied_to):
    result, columns = lied_to
    told, of = result.summary[0]["by_agent"], 0
    for agent in range(5):
        known = columns["totals"][:, agent][~np.isnan(columns["totals"][:, agent])]
        found = columns["found"][:, agent][~np.isnan(columns["found"][:, agent])]
        assert told["regret"][agent] == pytest.approx(known.mean()) and told["of"][agent] == len(known) < 7
        assert told["margin"][agent] == pytest.approx(stats.t.ppf(0.975, len(known) - 1) * stats.sem(known))
        assert told["count"][agent] == sum(found == 1)
        of += len(known)
    assert of == 6 * 4


def test_shares_are_counts_too(lied_to):
    result, columns = lied_to
    row, runs = result.summary[0], columns["found"]
    assert row["found"] == {"count": sum(all(run[~np.isnan(run)] == 1) for run in runs), "of": 6}
    assert row["found_by"] == {"count": int(sum(row["by_agent"]["count"])), "of": 24}


def test_agents_that_are_folded_into_one_are_all_counted():
    study = {"horizon": 3000, "replications": 2, "problem": {"means": [0.9, 0.1], "agents": 7}}
    row = load_study(study | {"algorithm": [{"name": "cdp-mab"}]}).run(1).summary[0]
    assert len(row["by_agent"]["found"]) == 1 and row["found_by"]["of"] == 14
    assert row["found_by"]["count"] == 7 * row["found"]["count"]


@pytest.mark.parametrize(
    ("claimed", "holds", "private", "state"),
    [(1.0, 1.0, True, "kept"), (5.0, 5.0, True, "weak"), (0.1, 5.0, False, "broken"), (1.0, None, False, "broken"),
     (None, None, False, "nothing")],
)  # fmt: skip
def test_a_promise_has_one_of_four_ends(claimed, holds, private, state):
    said = {"claimed": claimed and {"epsilon": claimed, "delta": 0.0}, "accounted": {"epsilon": holds, "delta": 0.0}}
    found = promise_of(said | {"private": private})
    assert (found["state"], found["promised"], found["holds"]) == (state, claimed, holds)
    assert found["guess"] == (None if holds is None else pytest.approx(np.exp(holds) / (1 + np.exp(holds))))


def test_the_whole_document_has_the_keys_of_its_type(lied_to):
    assert misfits(Summary, lied_to[0].document()) == []


def test_a_run_that_is_read_again_has_the_same_answer_in_its_new_words(tmp_path):
    study = LIED_TO | {"faults": {}, "algorithm": [{"name": "ucb1", "label": "a"}, {"name": "coop-ucb", "label": "b"}]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        first = load_study(study).run(1, tmp_path / "run").document()
        again = load_study(study).run(1, tmp_path / "run").document()
    worded = load_study(study | {"words": {"agent": "shop"}}).run(1, tmp_path / "run").document()["answer"]["sentence"]
    assert again == first and "an agent" in first["answer"]["sentence"]
    assert worded == first["answer"]["sentence"].replace("an agent", "a shop")
