"""The section 'What came out': answers to the questions a reader has, for readers who have never seen the project.

Two rules hold throughout: a difference is called one only if it is beyond chance (see `regret.too_close` and
`agents.shares_too_close`), and a row is called private only if its `private` flag says so.
"""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.report.agents import together_finding, victims
from coterie.report.groups import spoken_of
from coterie.report.liars import liar_findings
from coterie.report.price import price_findings
from coterie.report.privacy import privacy_findings
from coterie.report.procurement import echo_findings, quality_findings, together_findings
from coterie.report.regret import regret_findings
from coterie.report.rows import Finding, Row, named
from coterie.report.theory import theory_findings
from coterie.report.traffic import traffic_finding
from coterie.studies.numbers import listed, percent


class Answer(NamedTuple):
    question: str
    findings: list[Finding]


def answers(rows: Sequence[Row], names: Sequence[str]) -> list[Answer]:
    """The questions to which the rows have an answer; `names` are those of the agents."""
    lies, rows = liar_findings(rows), spoken_of(rows)
    together = together_finding(rows, names)
    lowest, *highest = regret_findings(rows)
    best_arm = [] if victims(rows) else best_arm_findings(rows)
    regret = list(map(Finding, [lowest, *([] if together else highest), *best_arm]))
    asked = [
        Answer("Before reading on", _single_run_caveat(rows)),
        Answer("Does learning together help?", [together, *regret] if together else []),
        Answer("How large is the regret?", [] if together else regret),
        Answer("What do liars do?", lies),
        Answer("Is what is bought good enough?", quality_findings(rows, names)),
        Answer("Do agents learn from each other?", [*together_findings(rows), *echo_findings(rows)]),
        Answer("What does privacy cost?", price_findings(rows)),
        Answer("How private is it?", list(map(Finding, privacy_findings(rows)))),
        Answer("How much is said, and to whom?", [traffic_finding(rows)]),
        Answer("What does theory promise?", list(map(Finding, theory_findings(rows)))),
    ]
    return [answer for answer in asked if answer.findings]


def _single_run_caveat(rows: Sequence[Row]) -> list[Finding]:
    if rows[0]["replications"] > 1:
        return []
    return [Finding("Everything was run once, so no interval is known: any difference below may be chance.")]


def best_arm_findings(rows: Sequence[Row]) -> list[str]:
    """Nothing where no row knows a best arm (procurement has orders instead)."""
    known = [row for row in rows if row["best_arm_rate"] is not None]
    missed = [row for row in known if row["best_arm_rate"] < 1]
    shares = listed([f"{named(row)} ({percent(row['best_arm_rate'])})" for row in missed])
    if not known:
        return []
    if len(missed) == len(known):
        return [f"Share of agents that settled on the best arm: {shares}."]
    return ["All agents settled on the best arm in every run" + (f", except in {shares}." if missed else ".")]
