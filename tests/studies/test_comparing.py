"""Runs side by side: the same numbers as one study with all rows, and refusals where nothing is common."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.studies import case, load_study
from coterie.studies.comparing import compare

BASE = {"title": "A question?", "horizon": 3000, "replications": 6, "problem": {"means": [0.7, 0.5, 0.3], "agents": 4}}
ROWS = [{"name": "cdp-mab", "epsilon": 0.3, "label": "one"}, {"name": "cdp-mab", "epsilon": 5.0, "label": "five"}]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, rows in (("both", ROWS), ("a", ROWS[:1]), ("b", ROWS[1:])):
        load_study(BASE | {"algorithm": rows}).run(out=folder / name)
    load_study(BASE | {"algorithm": ROWS, "network": {"graph": "ring"}}).run(out=folder / "ring")
    return folder


def test_two_runs_of_one_row_each_are_one_study_of_both(runs):
    found, whole = compare([runs / "a", runs / "b"]), load_study(BASE | {"algorithm": ROWS}).run()
    timed = {"seconds", "agent_rounds_per_second"}
    plain = [{key: value for key, value in row.items() if key not in timed} for row in found.summary["rows"]]
    assert plain == [{key: value for key, value in row.items() if key not in timed} for row in whole.summary]
    own = {"sentence", "verdict", "red"}
    plain_answer = {key: value for key, value in found.summary["answer"].items() if key not in own}
    assert plain_answer == {key: value for key, value in whole.document()["answer"].items() if key not in own}


def test_the_headline_is_what_the_runs_say_of_each_other(runs):
    (held,) = (found := compare([runs / "a", runs / "b"])).differences
    unit = found.summary["answer"]["unit"]
    less = f"{abs(held['mean']) * unit['decisions']:,.1f} ± {held['margin'] * unit['decisions']:,.1f} less"
    assert found.summary["answer"]["sentence"] == f"“five” loses {less} than “one”, {unit['text']}."
    several = compare([runs / "both", runs / "ring"]).summary["answer"]["sentence"]
    assert several == "Of 2 rows beside the first run, 2 are too close to call."
    all_others = compare([runs / "both", runs / "ring"], against="one (graph complete)").summary["answer"]["sentence"]
    assert all_others == "Of 3 rows beside “one (graph complete)”, 2 lose less and 1 is too close to call."


def test_a_promise_that_is_broken_in_two_runs_is_broken_once(tmp_path, monkeypatch):
    """As printed, Fed_UCB sends its first rewards as they are."""
    monkeypatch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
    rows = [{"name": "fed-ucb"}, *({"name": "fed-ucb", "mode": "paper", "epsilon": epsilon} for epsilon in (1, 5))]
    for name, graph in (("a", "complete"), ("b", "ring")):
        study = BASE | {"replications": 2, "horizon": 100, "algorithm": rows, "network": {"graph": graph}}
        load_study(study).run(out=tmp_path / name)
    both = compare([tmp_path / "a", tmp_path / "b"]).summary["answer"]["red"]
    assert both.replace("\xa0", " ") == "2 promises are broken: fed-ucb as printed promises ε = 1 to 5, but no limit holds."


def test_differences_are_those_of_scipy_run_by_run(runs):
    found, frame = compare([runs / "a", runs / "b"]), load_study(BASE | {"algorithm": ROWS}).run().frame()
    last = frame.filter(frame["round"] == 3000)
    first, second = (last.filter(last["row"] == row)["regret_per_agent"].to_numpy() / 3000 for row in (0, 1))
    test = stats.ttest_rel(second, first)
    (held,) = found.differences
    assert (held["row"], held["against"], held["mean"]) == (1, 0, pytest.approx(np.mean(second - first)))
    assert held["margin"] == pytest.approx((test.confidence_interval(0.95).high - test.confidence_interval(0.95).low) / 2)
    assert (held["verdict"] == "close") == (test.pvalue > 0.05)


def test_rows_of_the_same_name_are_held_against_each_other_and_told_apart(runs):
    found = compare([runs / "both", runs / "ring"])
    assert [row["label"] for row in found.summary["rows"]] == [
        "one (graph complete)", "five (graph complete)", "one (graph ring)", "five (graph ring)",
    ]  # fmt: skip
    assert [(held["row"], held["against"]) for held in found.differences] == [(1, 0), (2, 0), (3, 1)]
    assert found.differ == {"network.graph": ["complete", "ring"]}
    same = [held for held in found.differences if held["row"] > 1]
    assert all(held["mean"] == 0 and held["verdict"] == "close" for held in same)  # a server hears all, whatever the graph


def test_all_may_be_held_against_one_row(runs):
    found = compare([runs / "a", runs / "b"], against="five")
    assert [(held["row"], held["against"]) for held in found.differences] == [(0, 1)]
    with pytest.raises(UsageError, match="against must be the label of a row, one of 'one', 'five', got 'six'"):
        compare([runs / "a", runs / "b"], against="six")


def test_runs_that_share_no_seeds_are_not_compared(runs, tmp_path):
    load_study(BASE | {"algorithm": ROWS[:1], "seed": 4}).run(out=tmp_path / "other")
    with pytest.raises(UsageError, match=r"got another seed in .*other: 0 and 4"):
        compare([runs / "a", tmp_path / "other"])
    with pytest.raises(UsageError, match="at least 2, got 1"):
        compare([runs / "a"])
    with pytest.raises(UsageError, match="must be the folder that `coterie run` has written"):
        compare([runs / "a", tmp_path / "nowhere"])
