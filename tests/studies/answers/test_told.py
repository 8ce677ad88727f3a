"""Units, decimals, and the row to speak of."""

import pytest

from coterie.studies.answers.told import unit_of


@pytest.mark.parametrize(
    ("mean", "decisions", "decimals"),
    [(0.0016, 1000, 1), (0.001, 1000, 1), (0.00099, 10_000, 1), (0.5, 10, 1), (3.0, 1, 1), (250.0, 1, 0), (0.0, 1, 1)],
)
def test_the_best_row_loses_at_least_one_in_the_unit(mean, decisions, decimals):
    found = unit_of([{"per_decision": {"mean": mean}}, {"per_decision": {"mean": 300.0}}])
    assert (found["decisions"], found["decimals"]) == ((1, 0) if mean == 0.0 else (decisions, decimals))
    assert mean * found["decisions"] >= 0.999999 or mean == 0


def test_numbers_that_differ_look_different_and_all_have_the_same_decimals(row, told):
    study = told([row("a", 1.62), row("b", 1.58), row("c", 9.0)])
    assert study.losses(0, 2) == ["1.6", "9.0"] and study.losses(0, 1) == ["1.62", "1.58"]
    assert study.losses(2) == ["9.00"]


def test_differences_are_kept_once_they_were_asked_for(row, told):
    study = told([row("a", 5.0), row("b", 4.0)])
    assert study.difference(1, 0)["verdict"] == "less" and study.difference(0, 1)["verdict"] == "more"
    assert list(study.asked) == [(1, 0), (0, 1)] and study.difference(1, 0)["mean"] == pytest.approx(-0.001)
