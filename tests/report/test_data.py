"""What a study rests on."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from coterie.problem import diabetes
from coterie.report.data import notes, truth_of, truth_table, two_best
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]
DIABETES = {"dataset": "diabetes", "rule": "exclusive", "split": "order", "means": None}


def test_problems_that_are_not_made_of_data_need_no_notes() -> None:
    assert notes({"instance": "grid"}) == []


def test_the_notes_tell_truth_from_finding_draws_from_patients_and_name_the_source() -> None:
    finding, epsilon, source = notes(DIABETES)
    assert finding.heading == "Not a medical finding."
    told = "glipizide group and glyburide group, differ by 0.015; in the records this is not significant (z = 1.8)"
    assert told in finding.text
    assert epsilon.heading == "Epsilon is per draw, not per patient." and "m times epsilon" in epsilon.text
    for part in ("Diabetes 130-US Hospitals for Years 1999-2008", "UCI", "CC BY 4.0", "in the order of the file"):
        assert part in source.text
    assert "at random" in notes(DIABETES | {"split": "random"})[2].text
    assert "differ by" not in notes(DIABETES | {"rule": "multi"})[0].text  # of tables that are not built in


@pytest.mark.parametrize("split", ["order", "random"])
def test_the_gap_between_the_two_best_treatments_is_not_significant_in_the_records(split: str) -> None:
    first, second, gap, z = two_best(diabetes.EXCLUSIVE[split])
    assert (first, second) == ("glipizide group", "glyburide group") and 0.015 < gap < 0.017
    # All records of the two treatments, counted from the table of the specification.
    one, other = 2084 / 5311, 2425 / 6445
    assert z == pytest.approx((one - other) / math.sqrt(one * (1 - one) / 5311 + other * (1 - other) / 6445))
    assert z < 1.96


def test_hospital_2_prefers_another_treatment_than_all_together_if_records_are_split_by_order() -> None:
    found, shuffled = truth_of(DIABETES), truth_of(DIABETES | {"split": "random"})
    assert found is not None and shuffled is not None
    assert found.own_best == ["glipizide group", "glyburide group", "glipizide group"] and found.best == "glipizide group"
    assert set(shuffled.own_best) == {"glipizide group"}


def test_means_of_each_agent_are_averaged_as_the_study_weighs_them() -> None:
    means = [[0.9, 0.1], [0.2, 0.8]]
    even, uneven = truth_of({"means": means}), truth_of({"means": means, "weights": [0.1, 0.9]})
    assert even is not None and uneven is not None
    assert even.overall == pytest.approx([0.55, 0.45]) and even.best == "arm 0"
    assert uneven.overall == pytest.approx([0.27, 0.73]) and uneven.best == "arm 1"
    assert even.own_best == ["arm 0", "arm 1"]


@pytest.mark.parametrize("problem", [{"means": [0.1, 0.9]}, {"means": None}, DIABETES | {"rule": "multi"}])
def test_nothing_is_shown_where_agents_are_alike_or_the_means_are_not_known(problem: dict[str, object]) -> None:
    assert truth_of(problem) is None


def test_the_table_marks_the_best_arm_of_each_agent_and_of_all(row: MakeRow, summary: MakeSummary) -> None:
    def table(means: list[list[float]]) -> Any:
        problem = {"kind": "bernoulli", "means": means}
        return truth_table(View(summary([row(agents=2)], study={"problem": problem})))

    assert table([[0.9, 0.1], [0.25, 0.5]]) == [
        ("agent 0", [("0.900", True), ("0.100", False)]),
        ("agent 1", [("0.250", False), ("0.500", True)]),
        ("all agents", [("0.575", True), ("0.300", False)]),
    ]
    assert table([[0.5] * 13] * 2) == []
