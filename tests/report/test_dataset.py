"""What is said about people's records."""

import math

import pytest

from coterie.problem import diabetes
from coterie.report import dataset

DIABETES = {"dataset": "diabetes", "rule": "exclusive", "split": "order"}


def test_problems_that_are_not_made_of_data_need_no_notes() -> None:
    assert dataset.notes({"instance": "grid"}) == []


def test_the_notes_tell_truth_from_finding_draws_from_patients_and_name_the_source() -> None:
    finding, epsilon, source = dataset.notes(DIABETES)
    assert finding.heading == "Not a medical finding."
    assert (
        "glipizide group and glyburide group, differ by 0.015; in the records this is not significant (z = 1.8)"
        in finding.text
    )
    assert epsilon.heading == "Epsilon is per draw, not per patient." and "m times epsilon" in epsilon.text
    for part in ("Diabetes 130-US Hospitals for Years 1999-2008", "UCI", "CC BY 4.0", "in the order of the file"):
        assert part in source.text
    assert "at random" in dataset.notes(DIABETES | {"split": "random"})[2].text


def test_numbers_of_tables_that_are_not_built_in_are_not_told() -> None:
    assert "differ by" not in dataset.notes(DIABETES | {"rule": "multi"})[0].text


@pytest.mark.parametrize("split", ["order", "random"])
def test_the_gap_between_the_two_best_treatments_is_not_significant_in_the_records(split: str) -> None:
    table = diabetes.EXCLUSIVE[split]
    first, second, gap, z = dataset.two_best(table)
    assert (first, second) == ("glipizide group", "glyburide group") and 0.015 < gap < 0.017
    # All records of the two treatments, counted from the table of the specification.
    one, other = 2084 / 5311, 2425 / 6445
    assert z == pytest.approx((one - other) / math.sqrt(one * (1 - one) / 5311 + other * (1 - other) / 6445))
    assert z < 1.96
