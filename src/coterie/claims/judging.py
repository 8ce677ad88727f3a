"""What runs say of a claim, beside what is recorded of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from coterie.claims.claim import Check, Claim, Paper
from coterie.claims.lab import Lab, run_all
from coterie.claims.measures import MEASURES, Finding
from coterie.studies.ahead import Progress

ABOUT = {  # what numbers are of, where it is not the regret of all agents
    "extra_regret_after_exploration": "of all agents, after the exploration",
    "procurement.median_after": "of the median agent, after the exploration",
}


class Judged(NamedTuple):
    claim: Claim
    findings: list[Finding]
    confirmed: bool  # the runs agree with the verdict that is recorded

    @property
    def text(self) -> str:
        return "; ".join(dict.fromkeys(finding.text for finding in self.findings)) or self.claim.why


def judge(claim: Claim, lab: Lab) -> Judged:
    """A check that `fails` must not come out; all others must. One that does not hold has such checks only."""
    findings = [measured(lab, check) for check in claim.check]
    agree = [finding.holds != check.fails for finding, check in zip(findings, claim.check, strict=True)]
    return Judged(claim, findings, all(agree))


def measured(lab: Lab, check: Check) -> Finding:
    found = MEASURES[check.measure](lab, check)
    return found._replace(text=f"{ABOUT[check.quantity]}: {found.text}") if check.quantity in ABOUT else found


def judge_papers(
    papers: Sequence[Paper], whole: bool, out: Path | None, workers: int | None = None, progress: Progress | None = None
) -> list[list[Judged]]:
    """All claims of these papers, in their order. Studies that several papers need are run once."""
    labs = [Lab(paper, whole, out, workers=workers) for paper in papers]
    run_all(labs, progress)
    return [[judge(claim, lab) for claim in lab.paper.claim] for lab in labs]
