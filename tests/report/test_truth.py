"""What a simulation takes for true, as far as the study says it."""

import pytest

from coterie.report import truth

DIABETES = {"dataset": "diabetes", "rule": "exclusive", "split": "order", "means": None}


def test_hospital_2_prefers_another_treatment_than_all_together_if_records_are_split_by_order() -> None:
    found = truth.truth_of(DIABETES)
    assert found is not None
    assert found.own_best == ["glipizide group", "glyburide group", "glipizide group"]
    assert found.best == "glipizide group"
    shuffled = truth.truth_of(DIABETES | {"split": "random"})
    assert shuffled is not None and set(shuffled.own_best) == {"glipizide group"}


def test_means_of_each_agent_are_averaged_as_the_study_weighs_them() -> None:
    means = [[0.9, 0.1], [0.2, 0.8]]
    even, uneven = truth.truth_of({"means": means}), truth.truth_of({"means": means, "weights": [0.1, 0.9]})
    assert even is not None and uneven is not None
    assert even.overall == pytest.approx([0.55, 0.45]) and even.best == "arm 0"
    assert uneven.overall == pytest.approx([0.27, 0.73]) and uneven.best == "arm 1"
    assert even.own_best == ["arm 0", "arm 1"]


@pytest.mark.parametrize("problem", [{"means": [0.1, 0.9]}, {"means": None}, DIABETES | {"rule": "multi"}])
def test_nothing_is_shown_where_agents_are_alike_or_the_means_are_not_known(problem: dict[str, object]) -> None:
    assert truth.truth_of(problem) is None
    assert truth.table(None, ["agent 0"]) == []


def test_the_table_marks_the_best_arm_of_each_agent_and_of_all() -> None:
    lines = truth.table(truth.truth_of({"means": [[0.9, 0.1], [0.25, 0.5]]}), ["agent 0", "agent 1"])
    assert lines == [
        ("agent 0", [("0.900", True), ("0.100", False)]),
        ("agent 1", [("0.250", False), ("0.500", True)]),
        ("all agents", [("0.575", True), ("0.300", False)]),
    ]
    assert truth.table(truth.truth_of({"means": 2 * [13 * [0.5]]}), ["agent 0", "agent 1"]) == []


def test_agents_are_numbered_as_in_the_study_file_and_hospitals_of_the_data_from_1() -> None:
    assert truth.agent_names({}, 2) == ["agent 0", "agent 1"]
    assert truth.agent_names(DIABETES, 3) == ["agent 1", "agent 2", "agent 3"]
