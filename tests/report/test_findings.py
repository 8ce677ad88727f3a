"""The sentences on what came out, on small cases whose right wording can be said by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import findings

MakeRow = Callable[..., dict[str, Any]]
PRIVATE = {"claimed": 1, "accounted": 1}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


# Regret


def test_a_single_row_is_not_called_best(row: MakeRow) -> None:
    (finding,) = findings.regret_findings([row("a", 10.0)])
    assert plain(finding) == "The regret of “a” is 40.00 ± 0.40 in total, 10.00 ± 0.10 per agent."


def test_the_lowest_and_highest_regret_are_named_with_their_ratio(row: MakeRow) -> None:
    lowest, highest = map(plain, findings.regret_findings([row("a", 25.0), row("b", 10.0), row("c", 20.0)]))
    assert lowest == "The lowest regret is that of “b”: 40.00 ± 0.40 in total, 10.00 ± 0.10 per agent."
    end = "100.00 ± 0.40 in total, 25.00 ± 0.10 per agent, 2.50 times the lowest."
    assert highest == f"The highest is that of “a”: {end}"


@pytest.mark.parametrize(("other", "close"), [(10.39, True), (10.41, False)])
def test_two_rows_are_too_close_to_call_if_intervals_of_two_standard_errors_overlap(
    row: MakeRow, other: float, close: bool
) -> None:
    found = findings.regret_findings([row("a", 10.0), row("b", other)])
    assert found[0].endswith(" Too close to call: “b”.") is close
    assert (len(found) == 1) is close


def test_rows_too_close_to_the_highest_are_named_too(row: MakeRow) -> None:
    found = findings.regret_findings([row("a", 10.0), row("b", 20.0), row("c", 20.1)])
    assert found[1].startswith("The highest is that of “c”") and found[1].endswith("Too close to call: “b”.")


def test_where_no_row_can_be_told_from_the_lowest_they_are_not_listed(row: MakeRow) -> None:
    (finding,) = findings.regret_findings([row("a", 10.0), row("b", 10.1), row("c", 10.2)])
    assert finding.endswith("Too close to call: every other row.")


def test_equal_rows_are_called_the_same_and_nothing_is_called_highest(row: MakeRow) -> None:
    found = findings.regret_findings([row("a", 10.0), row("b", 10.0)])
    assert len(found) == 1 and found[0].endswith("Exactly the same: “b”.")


def test_zero_regret_gives_no_ratio(row: MakeRow) -> None:
    lowest, highest = findings.regret_findings([row("a", 0.0, sem=0.0), row("b", 3.0)])
    assert "0 ± 0 in total, 0 ± 0 per agent." in plain(lowest)
    assert "times" not in highest


def test_one_replication_gives_no_error_and_says_so_first(row: MakeRow) -> None:
    rows = [row(label, regret, sem=0.0, replications=1) for label, regret in (("a", 10.0), ("b", 11.0))]
    texts = [finding.text for finding in findings.findings(rows)]
    assert texts[0] == "Everything was run once, so no standard error is known: any difference below may be chance."
    assert not any("±" in text or "too close" in text.lower() for text in texts)


# The price of noise


def test_the_price_is_measured_against_the_row_without_noise(row: MakeRow) -> None:
    rows = [
        row("cdp-mab epsilon=0.1", 15.0, claimed=0.1, accounted=0.1, parameters={"epsilon": 0.1, "mode": "private"}),
        row("cdp-mab epsilon=1", 10.1, **PRIVATE, parameters={"epsilon": 1, "mode": "private"}),
        row("cdp-mab epsilon=inf", 10.0, parameters={"epsilon": None, "mode": "private"}),
    ]
    (price,) = findings.price_findings(rows)
    opening = "What the noise costs in regret, compared with “cdp-mab epsilon=inf” (10.00 ± 0.10 per agent):"
    assert plain(price.text) == opening
    assert tuple(map(plain, price.cases)) == (
        "“cdp-mab epsilon=0.1”: 1.50 times the regret (accounted epsilon 0.1)",
        "“cdp-mab epsilon=1”: too close to call (accounted epsilon 1)",
    )


def test_a_row_without_guarantee_has_no_price_of_privacy(row: MakeRow) -> None:
    rows = [row("fed-ucb", 15.0, claimed=1), row("gossip-ucb", 10.0)]
    (price,) = findings.price_findings(rows)
    assert price.text.startswith("None of these rows is private, so the noise buys no privacy.")
    assert plain(price.cases[0]) == "“fed-ucb”: 1.50 times the regret (not private: no finite epsilon holds)"


def test_the_row_with_the_same_settings_is_the_reference(row: MakeRow) -> None:
    noisy = row("a", algorithm="cdp-mab", parameters={"epsilon": 1, "rounds": 4}, **PRIVATE)
    plain_rows = [
        row(f"plain {rounds}", algorithm="cdp-mab", parameters={"epsilon": None, "rounds": rounds}) for rounds in (2, 4)
    ]
    assert findings.reference_of(noisy, [noisy, *plain_rows]) is plain_rows[1]


def test_a_counterpart_with_the_same_settings_goes_before_others(row: MakeRow) -> None:
    noisy = row("fed-ucb", parameters={"epsilon": 1, "isolated": False, "mechanism": None}, **PRIVATE)
    alone, together = (row(f"gossip-ucb {it}", parameters={"isolated": it}) for it in (True, False))
    assert findings.reference_of(noisy, [noisy, alone, together]) is together


def test_without_a_clear_reference_no_price_is_named(row: MakeRow) -> None:
    noisy = row("cdp-mab x", parameters={"rounds": 9}, **PRIVATE)
    plain_rows = [row(f"cdp-mab {rounds}", parameters={"rounds": rounds}) for rounds in (2, 4)]
    assert findings.price_findings([noisy, *plain_rows]) == []
    assert findings.price_findings([noisy, row("ucb1")]) == []


def test_a_reference_without_regret_gives_a_number_instead_of_a_ratio(row: MakeRow) -> None:
    rows = [row("fed-ucb", 3.0, **PRIVATE), row("gossip-ucb", 0.0, sem=0.0)]
    (case,) = findings.price_findings(rows)[0].cases
    assert plain(case) == "“fed-ucb”: 3.00 ± 0.10 per agent (accounted epsilon 1)"


# Privacy, communication and the best arm


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        ([{}, {}], "No row claims any privacy."),
        (
            [{"claimed": 1, "accounted": 50}, {}],
            "More privacy is lost than claimed in “row0” (claimed epsilon 1, accounted 50).",
        ),
        ([{"claimed": 1}], "The privacy claimed is not guaranteed in “row0”."),
        (
            [PRIVATE, {"claimed": 1}],
            "The privacy claimed is not guaranteed in “row1”. "
            "In the other row that claims privacy the accounted loss is within the claim.",
        ),
        (
            [PRIVATE, PRIVATE, {"claimed": 1, "accounted": 2}, {}],
            "More privacy is lost than claimed in “row2” (claimed epsilon 1, accounted 2). "
            "In the other 2 rows that claim privacy the accounted loss is within the claim.",
        ),
        (
            [PRIVATE, {}],
            "Every row that claims privacy has an accounted loss within the claim, "
            "against the adversary named under “Privacy in words”.",
        ),
    ],
)
def test_the_finding_on_privacy_flags_every_broken_claim(
    row: MakeRow, statements: list[dict[str, Any]], sentence: str
) -> None:
    rows = [row(f"row{index}", **statement) for index, statement in enumerate(statements)]
    assert plain(findings.privacy_finding(rows)) == sentence


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ([0, 0], "Nothing was sent: the agents did not communicate."),
        ([1000], "The agents sent 1 kB in 2 messages."),
        ([1000, 1005], "Every row sent about the same: 1 kB in 2 messages."),
        ([0, 3000], "Nothing was sent by “row0”. Most was sent by “row1”: 3 kB in 2 messages."),
        ([1000, 3000, 3000], "Most, 3.00 times as much data, was sent by “row1” and “row2”: 3 kB"),
        ([1, 9, 9, 9, 9], "by “row1” and 3 others: 9 bytes"),
    ],
)
def test_communication_is_compared_by_the_data_sent(row: MakeRow, sizes: list[float], sentence: str) -> None:
    rows = [row(f"row{index}", size=size) for index, size in enumerate(sizes)]
    assert sentence in plain(findings.communication_finding(rows))


def test_the_best_arm_is_said_to_be_found_only_if_all_found_it(row: MakeRow) -> None:
    found, missed, unknown = row("a"), row("b", best_arm_rate=0.75), row("c", best_arm_rate=None)
    everyone = "All agents ended on the best arm in every replication"
    assert findings.best_arm_finding([found, unknown]) == [f"{everyone}."]
    assert list(map(plain, findings.best_arm_finding([found, missed]))) == [f"{everyone}, except in “b” (75 %)."]
    assert list(map(plain, findings.best_arm_finding([missed, unknown]))) == [
        "Share of agents that ended on the best arm: “b” (75 %)."
    ]
    assert findings.best_arm_finding([unknown]) == []
