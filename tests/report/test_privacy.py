"""Verdicts on privacy, and what they mean in words."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from coterie.privacy.statement import epsilon_text
from coterie.report import privacy
from coterie.report.privacy import Verdict

MakeRow = Callable[..., dict[str, Any]]
PRIVATE = {"claimed": 1, "accounted": 1}
PROTECTED = "What is protected is one reward of one agent; “Privacy in words” says from whom."


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ({}, Verdict.UNCLAIMED),
        ({"accounted": 1}, Verdict.UNCLAIMED),
        ({"claimed": 1, "accounted": 1}, Verdict.WITHIN),
        ({"claimed": 1, "accounted": 1 + 1e-12, "private": True}, Verdict.WITHIN),
        ({"claimed": 1, "accounted": 0.5}, Verdict.WITHIN),
        ({"claimed": 1, "accounted": 50}, Verdict.ABOVE),
        ({"claimed": 1, "accounted": 50, "private": True}, Verdict.ABOVE),
        ({"claimed": 1, "accounted": 1, "delta": 1e-6}, Verdict.ABOVE),
        ({"claimed": 1}, Verdict.UNSUPPORTED),
        ({"claimed": 3, "accounted": 3}, Verdict.WITHIN),
        ({"claimed": 5, "accounted": 5}, Verdict.WEAK),
        ({"claimed": 5, "accounted": 1}, Verdict.WITHIN),
    ],
)
def test_the_verdict_compares_what_holds_with_what_is_promised(
    row: MakeRow, statement: dict[str, Any], expected: Verdict
) -> None:
    assert privacy.verdict(row(**statement)) is expected
    assert privacy.claims_privacy(row(**statement)) is ("claimed" in statement)


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (None, "nothing"),
        ({"epsilon": None, "delta": 0.0}, "no limit"),
        ({"epsilon": 1.0, "delta": 0.0}, "1"),
        ({"epsilon": 0.1 + 0.2, "delta": 0.0}, "0.3"),
        ({"epsilon": 47.9912, "delta": 0.0}, "48"),
        ({"epsilon": 0.12341, "delta": 1e-5}, "0.1235, delta 1e-05"),
        ({"epsilon": 20000, "delta": 0}, "20,000"),
    ],
)
def test_epsilon_is_rounded_up_but_not_by_float_error(guarantee: dict[str, Any] | None, text: str) -> None:
    assert epsilon_text(guarantee) == text


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_bound_on_guessing_is_reached_by_the_worst_mechanism(epsilon: float, delta: float) -> None:
    # Randomised response that confesses with probability delta is the worst mechanism allowed.
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    right = delta + (1 - delta) * truth
    assert privacy.success_bound({"epsilon": epsilon, "delta": delta}) == pytest.approx(right)


def test_a_huge_epsilon_bounds_nothing() -> None:
    assert privacy.success_bound({"epsilon": 20_000.0, "delta": 0.0}) == 1


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ({"claimed": 1, "accounted": 1}, "ε = 1 promised and kept: an observer's guess is right in at most 73.2 % of cases"),
        ({"claimed": 1, "accounted": 0}, "ε = 1 promised and kept (0 holds): an observer's guess is right in at most 50 %"),
        ({"claimed": 5, "accounted": 5}, "ε = 5 kept, but weak: an observer's guess is right in at most 99.4 % of cases"),
        ({"claimed": 50, "accounted": 50}, "more than 99.9 % of cases, in practice no protection"),
        ({"claimed": 0.1, "accounted": 5}, "broken: promised 0.1, 5 holds: an observer's guess is right in at most 99.4 %"),
        ({"claimed": 5}, "broken: promised 5, no limit holds: nothing is guaranteed"),
        ({}, "nothing promised, no limit: nothing is guaranteed"),
        ({"accounted": 0.5}, "nothing promised, 0.5 holds: an observer's guess is right in at most 62.3 % of cases"),
    ],
)
def test_what_is_promised_and_holds_is_said_with_what_it_means(row: MakeRow, statement: dict[str, Any], text: str) -> None:
    assert text in " ".join(privacy.privacy_text(row(**statement)).split())


def test_an_epsilon_means_the_same_whatever_was_promised(row: MakeRow) -> None:
    texts = [privacy.privacy_text(row(claimed=claimed, accounted=5)) for claimed in (None, 0.1, 5)]
    assert len({text.rpartition(": ")[2] for text in texts}) == 1


# The findings


@pytest.mark.parametrize(
    ("statements", "sentences"),
    [
        ([{}, {}], ["No row promises any privacy."]),
        ([{"claimed": 1, "accounted": 50}, {}], ["The promise is broken in “row0” (promised 1, 50 holds)."]),
        ([{"claimed": 1}], ["The promise is broken, and no limit holds, in “row0”."]),
        (
            [PRIVATE, {"claimed": 1}, {"claimed": 1, "accounted": 2}, {}, {"claimed": 5, "accounted": 5}],
            [
                "The promise is broken, and no limit holds, in “row1”.",
                "The promise is broken in “row2” (promised 1, 2 holds).",
                "The promise is kept, but weak (an epsilon above 3), in “row4”.",
                f"The promise is kept in “row0”. {PROTECTED}",
            ],
        ),
        ([PRIVATE, {}], [f"The promise is kept in every row that promises privacy. {PROTECTED}"]),
    ],
)
def test_the_findings_on_privacy_flag_every_broken_promise(
    row: MakeRow, statements: list[dict[str, Any]], sentences: list[str]
) -> None:
    rows = [row(f"row{index}", **statement) for index, statement in enumerate(statements)]
    assert [" ".join(text.split()) for text in privacy.privacy_findings(rows)] == sentences


def test_rows_without_guarantee_are_labelled_by_their_notes(row: MakeRow) -> None:
    rows = [row(label, claimed=1) for label in "abcd"]
    for entry, note in zip(
        rows, ["first reward without noise", "not bounded", "first reward without noise", ""], strict=True
    ):
        entry["privacy"]["note"] = note
    (sentence,) = privacy.privacy_findings(rows)
    assert sentence.endswith(" in “a” and “c” (first reward without noise), “b” (not bounded) and “d”.")


def test_a_row_that_promises_nothing_is_never_called_private(row: MakeRow) -> None:
    rows = [row("private, says its label", accounted=0.5), row("b", claimed=1, accounted=1)]
    assert "says its label" not in " ".join(privacy.privacy_findings(rows))
