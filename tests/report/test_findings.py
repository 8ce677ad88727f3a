"""Which questions the page answers, and in which order."""

from collections.abc import Callable
from typing import Any

from coterie.report import findings

MakeRow = Callable[..., dict[str, Any]]
NAMES = [f"agent {number}" for number in range(4)]
SILENT = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def texts(rows: list[dict[str, Any]]) -> list[str]:
    return [plain(finding.text) for answer in findings.answers(rows, NAMES) for finding in answer.findings]


def test_only_questions_that_have_an_answer_are_asked(row: MakeRow) -> None:
    bounds = {"lambda_2": 0.5, "bound_per_agent": 9.0, "trivial_bound_per_agent": 8.0}
    rows = [row("gossip-ucb", extra=bounds), row("fed-ucb", 15.0, claimed=1, accounted=1)]
    usual = ["What does privacy cost?", "How private is it?", "How much is said, and to whom?"]
    asked = [answer.question for answer in findings.answers(rows, NAMES)]
    assert asked == ["How large is the regret?", *usual, "What does theory promise?"]
    alone = row("alone", 20.0, communication=SILENT, by_agent={"regret": 4 * [20.0], "found": [0.0, 1.0, 1.0, 1.0]})
    assert [answer.question for answer in findings.answers([alone, *rows[1:]], NAMES)] == [
        "Does learning together help?",
        *usual[1:],
    ]


def test_one_replication_gives_no_error_and_says_so_first(row: MakeRow) -> None:
    rows = [row(label, regret, margin=None, replications=1) for label, regret in (("a", 10.0), ("b", 11.0))]
    said = texts(rows)
    assert said[0] == "Everything was run once, so no interval is known: any difference below may be chance."
    assert not any("±" in text or "too close" in text.lower() for text in said)


def test_shares_are_told_once_where_an_agent_is_misled(row: MakeRow) -> None:
    alone = row("alone", 20.0, communication=SILENT, best_arm_rate=0.75)
    together = row("together")
    everyone = "All agents settled on the best arm in every run, except in “alone” (75 %)."
    assert everyone in texts([alone, together])
    alone["by_agent"] = {"regret": 4 * [20.0], "found": [0.0, 1.0, 1.0, 1.0]}
    assert everyone not in texts([alone, together])


def test_the_best_arm_is_said_to_be_found_only_if_all_found_it(row: MakeRow) -> None:
    found, missed, unknown = row("a"), row("b", best_arm_rate=0.75), row("c", best_arm_rate=None)
    everyone = "All agents settled on the best arm in every run"
    assert findings.best_arm_findings([found, unknown]) == [f"{everyone}."]
    assert list(map(plain, findings.best_arm_findings([found, missed]))) == [f"{everyone}, except in “b” (75 %)."]
    assert list(map(plain, findings.best_arm_findings([missed, unknown]))) == [
        "Share of agents that settled on the best arm: “b” (75 %)."
    ]
    assert findings.best_arm_findings([unknown]) == []
