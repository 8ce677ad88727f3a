"""The sentences of the report on small cases whose right wording can be said by hand."""

import math
from typing import Any

import pytest

from coterie.report import words
from coterie.report.words import Verdict

NO_CLAIM = {"claimed": None, "accounted": None, "private": False}


def privacy(claimed: float | None, accounted: float | None, private: bool = True, delta: float = 0.0) -> dict[str, Any]:
    return {
        "claimed": None if claimed is None else {"epsilon": claimed, "delta": 0.0},
        "accounted": {"epsilon": accounted, "delta": delta},
        "private": private,
    }


def row(
    label: str, per_agent: float = 10.0, sem: float = 0.1, replications: int = 20, **changes: Any
) -> dict[str, Any]:
    """A row of four agents."""
    return {
        "label": label,
        "algorithm": label.split()[0],
        "parameters": {},
        "agents": 4,
        "arms": 3,
        "horizon": 1000,
        "replications": replications,
        "regret": {"mean": 4 * per_agent, "sem": 4 * sem},
        "regret_per_agent": {"mean": per_agent, "sem": sem},
        "best_arm_rate": 1.0,
        "communication": {"rounds": 5, "messages": 20, "bytes": 1000, "cost": 7.0},
        "privacy": NO_CLAIM,
    } | changes


# Numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (4.567, "4.57"),
        (100, "100"),
        (127.6, "128"),
        (1234567.8, "1,234,568"),
        (-25.0, "-25"),
    ],
)
def test_a_number_has_three_digits_and_is_whole_from_a_thousand_on(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("mean", "sem", "replications", "text"),
    [
        (1234.5, 12.3, 20, "1,234 ± 12"),
        (24.71, 0.246, 20, "24.71 ± 0.25"),
        (24.71, 0.0, 1, "24.7"),
        (24.71, 0.0, 20, "24.7 ± 0"),
        (0.0, 0.0, 20, "0 ± 0"),
    ],
)
def test_a_mean_is_given_as_precisely_as_its_error_allows(
    mean: float, sem: float, replications: int, text: str
) -> None:
    assert words.measured({"mean": mean, "sem": sem}, replications) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (980, "980 bytes"), (999.7, "1 kB"), (12_500, "12.5 kB"), (3.1e6, "3.1 MB"), (2.5e9, "2.5 GB")],
)
def test_data_is_given_in_units_people_use(count: float, text: str) -> None:
    assert words.data_size(count) == text


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_is_read_aloud(items: list[str], text: str) -> None:
    assert words.listed(items) == text


@pytest.mark.parametrize(
    ("share", "text"), [(1, "100 %"), (0, "0 %"), (2 / 3, "66.7 %"), (0.99999, "over 99.9 %"), (1e-5, "under 0.1 %")]
)
def test_percent_says_all_or_nothing_only_if_it_is(share: float, text: str) -> None:
    assert words.percent(share) == text


# Privacy


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (NO_CLAIM, Verdict.UNCLAIMED),
        (
            {"claimed": {"epsilon": None, "delta": 0.0}, "accounted": {"epsilon": None}, "private": False},
            Verdict.UNCLAIMED,
        ),
        (privacy(1, 1), Verdict.WITHIN),
        (privacy(1, 1 + 1e-12), Verdict.WITHIN),
        (privacy(1, 0.5), Verdict.WITHIN),
        (privacy(1, 50), Verdict.ABOVE),
        (privacy(1, 50, private=False), Verdict.ABOVE),
        (privacy(1, 1, delta=1e-6), Verdict.ABOVE),
        (privacy(1, None, private=False), Verdict.UNSUPPORTED),
        (privacy(1, 1, private=False), Verdict.UNSUPPORTED),
    ],
)
def test_the_verdict_compares_what_is_accounted_with_what_is_claimed(
    statement: dict[str, Any], expected: Verdict
) -> None:
    assert words.verdict(statement) is expected


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (None, "none"),
        ({"epsilon": None, "delta": 0.0}, "none"),
        ({"epsilon": 1.0, "delta": 0.0}, "1"),
        ({"epsilon": 0.1 + 0.2, "delta": 0.0}, "0.3"),
        ({"epsilon": 47.9912, "delta": 0.0}, "48"),
        ({"epsilon": 0.12341, "delta": 1e-5}, "0.1235, delta 1e-05"),
        ({"epsilon": 20000, "delta": 0}, "20000"),
    ],
)
def test_epsilon_is_rounded_up_but_not_by_float_error(guarantee: dict[str, Any] | None, text: str) -> None:
    assert words.epsilon_text(guarantee) == text


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_bound_on_guessing_is_reached_by_the_worst_mechanism(epsilon: float, delta: float) -> None:
    # Randomised response that confesses with probability delta is the worst mechanism allowed.
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    right = delta + (1 - delta) * truth
    assert words.success_bound({"epsilon": epsilon, "delta": delta}) == pytest.approx(right)


def test_what_epsilon_means_is_said_in_percent_rounded_up() -> None:
    assert "at most 73.2 % of cases" in words.protection(privacy(1, 1))
    assert "at most 50 % of cases" in words.protection(privacy(1, 0))
    assert "in practice no protection" in words.protection(privacy(1, 50))


def test_a_row_that_is_not_private_is_never_said_to_protect() -> None:
    for statement in (NO_CLAIM, privacy(1, None, private=False), privacy(1, 1, private=False)):
        line = words.privacy_line(row("a", privacy=statement))
        assert "at most" not in line
        assert "nothing is guaranteed" in line or "no protection" in line


def test_a_privacy_line_sets_the_claim_against_the_account() -> None:
    line = words.privacy_line(row("a", privacy=privacy(1, 50)))
    assert line.startswith("claimed epsilon 1; really accounted epsilon 50;")
    assert "no finite epsilon holds" in words.privacy_line(row("a", privacy=privacy(1, None, private=False)))


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        ([NO_CLAIM, NO_CLAIM], "No row claims any privacy."),
        ([privacy(1, 50), NO_CLAIM], "More is lost than claimed in row0 (claimed 1, accounted 50)."),
        ([privacy(1, None, private=False)], "The privacy claimed is not guaranteed in row0."),
        ([privacy(1, 1), privacy(2, 2)], "All 2 rows that claim privacy have an accounted loss within the claim"),
        ([privacy(1, 1), NO_CLAIM], "The one row that claims privacy has an accounted loss within the claim"),
        ([privacy(1, 1), privacy(1, 2)], "The accounted loss is within the claim in 1 of 2 rows that claim privacy."),
    ],
)
def test_the_finding_on_privacy_flags_every_broken_claim(statements: list[dict[str, Any]], sentence: str) -> None:
    rows = [row(f"row{index}", privacy=statement) for index, statement in enumerate(statements)]
    assert sentence in words.privacy_finding(rows)


# Comparing regret


def test_a_single_row_is_not_called_best() -> None:
    (finding,) = words.regret_findings([row("a", 10.0)])
    assert finding == "The regret of a is 40.00 ± 0.40 in total, 10.00 ± 0.10 per agent."


def test_the_lowest_and_highest_regret_are_named_with_their_ratio() -> None:
    lowest, highest = words.regret_findings([row("a", 25.0), row("b", 10.0), row("c", 20.0)])
    assert lowest == "b has the lowest regret: 40.00 ± 0.40 in total, 10.00 ± 0.10 per agent."
    assert highest == "a has the highest: 100.00 ± 0.40 in total, 25.00 ± 0.10 per agent, 2.50 times as much."


@pytest.mark.parametrize(("other", "close"), [(10.39, True), (10.41, False)])
def test_within_noise_means_that_intervals_of_two_standard_errors_overlap(other: float, close: bool) -> None:
    findings = words.regret_findings([row("a", 10.0), row("b", other)])
    assert ("Within noise of it: b." in findings[0]) is close
    assert (len(findings) == 1) is close


def test_rows_within_noise_of_the_highest_are_named_too() -> None:
    findings = words.regret_findings([row("a", 10.0), row("b", 20.0), row("c", 20.1)])
    assert findings[1].startswith("c has the highest") and findings[1].endswith("Within noise of it: b.")


def test_equal_rows_are_called_the_same_and_nothing_is_called_highest() -> None:
    findings = words.regret_findings([row("a", 10.0), row("b", 10.0)])
    assert len(findings) == 1 and findings[0].endswith("Exactly the same: b.")


def test_zero_regret_gives_no_ratio() -> None:
    findings = words.regret_findings([row("a", 0.0, sem=0.0), row("b", 3.0)])
    assert findings[0].startswith("a has the lowest regret: 0 ± 0 in total, 0 ± 0 per agent.")
    assert "times" not in findings[1]


def test_one_replication_gives_no_error_and_says_so_first() -> None:
    rows = [row("a", 10.0, sem=0.0, replications=1), row("b", 11.0, sem=0.0, replications=1)]
    texts = [finding.text for finding in words.findings(rows)]
    assert texts[0] == "Everything was run once, so no standard error is known: any difference below may be chance."
    assert not any("±" in text or "noise" in text for text in texts)


# The price of privacy


def test_the_price_is_measured_against_the_row_without_noise() -> None:
    rows = [
        row("cdp-mab epsilon=0.1", 15.0, privacy=privacy(0.1, 0.1), parameters={"epsilon": 0.1, "mode": "private"}),
        row("cdp-mab epsilon=1", 10.1, privacy=privacy(1, 1), parameters={"epsilon": 1, "mode": "private"}),
        row("cdp-mab epsilon=inf", 10.0, parameters={"epsilon": None}),
    ]
    (price,) = words.price_findings(rows)
    assert price.text == "Price of the noise, against cdp-mab epsilon=inf without privacy (10.00 ± 0.10 per agent):"
    assert price.cases == (
        "cdp-mab epsilon=0.1 has 1.50 times its regret (accounted epsilon 0.1)",
        "cdp-mab epsilon=1 is within noise of it (accounted epsilon 1)",
    )


def test_a_row_without_guarantee_has_no_price_of_privacy() -> None:
    rows = [row("fed-ucb", 15.0, privacy=privacy(1, None, private=False)), row("gossip-ucb", 10.0)]
    (price,) = words.price_findings(rows)
    assert "this is no price of privacy" in price.text
    assert price.cases == ("fed-ucb has 1.50 times its regret (not private: no finite epsilon holds)",)


def test_the_row_with_the_same_settings_is_the_reference() -> None:
    noisy = row("a", algorithm="cdp-mab", parameters={"epsilon": 1, "rounds": 4}, privacy=privacy(1, 1))
    plain = [
        row(f"plain {rounds}", algorithm="cdp-mab", parameters={"epsilon": None, "rounds": rounds}) for rounds in (2, 4)
    ]
    assert words.reference_of(noisy, [noisy, *plain]) is plain[1]


def test_without_a_clear_reference_no_price_is_named() -> None:
    noisy = row("cdp-mab x", privacy=privacy(1, 1), parameters={"rounds": 9})
    plain = [row(f"cdp-mab {rounds}", parameters={"rounds": rounds}) for rounds in (2, 4)]
    assert words.price_findings([noisy, *plain]) == []
    assert words.price_findings([noisy, row("ucb1")]) == []


def test_a_reference_without_regret_gives_a_difference_instead_of_a_ratio() -> None:
    rows = [row("fed-ucb", 3.0, privacy=privacy(1, 1)), row("gossip-ucb", 0.0, sem=0.0)]
    assert words.price_findings(rows)[0].cases == ("fed-ucb has 3.00 ± 0.10 per agent (accounted epsilon 1)",)


# Communication and the best arm


def sent(label: str, count: float) -> dict[str, Any]:
    return row(label, communication={"rounds": 1, "messages": 2, "bytes": count, "cost": 0.0})


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([0, 0], "Nothing was sent: the agents did not communicate."),
        ([1000], "row0 sent 1 kB in 2 messages, over 1 round of communication."),
        ([1000, 1005], "Every row sent about the same: 1 kB in 2 messages, over 1 round of communication."),
        ([0, 3000], "Nothing was sent by row0; most by row1: 3 kB in 2 messages, over 1 round of communication."),
        ([1000, 3000, 3000], "Most, 3.00 times as much data, by row1 and row2: 3 kB"),
        ([1, 9, 9, 9, 9], "by row1 and 3 others: 9 bytes"),
    ],
)
def test_communication_is_compared_by_the_data_sent(counts: list[float], sentence: str) -> None:
    assert sentence in words.communication_finding([sent(f"row{index}", count) for index, count in enumerate(counts)])


def test_the_best_arm_is_said_to_be_found_only_if_all_found_it() -> None:
    found, missed, unknown = row("a"), row("b", best_arm_rate=0.75), row("c", best_arm_rate=None)
    assert words.best_arm_finding([found]) == ["In every row all agents ended on the best arm in every replication."]
    assert words.best_arm_finding([found, unknown])[0].startswith("In every row for which it is known")
    assert words.best_arm_finding([found, missed])[0].endswith(": b (75 %).")
    assert words.best_arm_finding([unknown]) == []


# What was asked


def test_the_question_names_agents_arms_rounds_network_and_repetitions() -> None:
    study = {
        "seed": 7,
        "problem": {"kind": "bernoulli", "instance": "grid", "heterogeneity": 0.5},
        "network": {"graph": "erdos-renyi", "probability": 0.1, "link_cost": {"server": 25, "peer": 1}},
        "faults": {"liars": 0.2, "attack": "sign-flip", "loss": 0.05},
    }
    text = " ".join(words.question(study, [row("a")]))
    assert "4 agents choose one of 3 arms in each of 1,000 rounds." in text
    assert "evenly spaced between 0 and 1; agents see different means (heterogeneity 0.5); an arm counts" in text
    assert "links are drawn at random, each with probability 0.1." in text
    assert "25 for a link to a server and 1 for a link between agents" in text
    assert "Faults: 20 % of the agents lie (attack “sign-flip”) and a message is lost with probability 0.05." in text
    assert "Everything was run 20 times with fresh random numbers (seed 7)" in text


def test_the_question_of_a_bare_study_still_reads_as_sentences() -> None:
    paragraphs = words.question({}, [row("a", agents=1, replications=1)])
    assert paragraphs[0].startswith("1 agent chooses one of 3 arms")
    assert paragraphs[1:] == ["", "Everything was run once."]


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ({"means": [0.1, 0.9]}, "a reward of 0 or 1; the arms' mean rewards are given in the study."),
        ({"means": [[0.1, 0.9], [0.2, 0.3]]}, "given in the study; an arm counts by its average over agents."),
        (
            {"dataset": "diabetes", "split": "order"},
            "come from the data set “diabetes”, split “order”; an arm counts by",
        ),
        (
            {"kind": "gaussian", "clip": [0, 1], "instance": "middle"},
            "normal noise, cut to 0..1; the arms' mean rewards",
        ),
    ],
)
def test_the_rewards_are_described_as_the_study_gives_them(problem: dict[str, Any], text: str) -> None:
    assert text in words.problem_text(problem)


def test_procurement_is_asked_in_its_own_words() -> None:
    text = words.question({"problem": {"kind": "procurement", "alpha": 0.7}}, [row("a")])[0]
    assert text.startswith("4 agents order from 3 producers") and "average quality of at least 0.7" in text


def test_short_labels_drop_what_all_share_and_stay_distinct() -> None:
    assert words.short_labels(["cdp-mab epsilon=0.1", "cdp-mab epsilon=inf"]) == ["ε=0.1", "ε=inf"]
    assert words.short_labels(["cdp-mab", "cdp-mab rounds=4"]) == ["cdp-mab", "cdp-mab rounds=4"]
    assert words.short_labels(["fed-ucb mechanism=tree", "gossip-ucb"]) == ["fed-ucb tree", "gossip-ucb"]
    assert words.short_labels(["a noise=paper", "a mode=paper"]) == ["a noise=paper", "a mode=paper"]
    assert words.short_labels(["only one"]) == ["only one"]
