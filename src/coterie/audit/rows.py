"""The rows of a study that promise privacy, each at its own agents and arms: what their ledgers say, and the replay.

There is no game here: it needs thousands of trials of one reward, and is played on the small stage. A replay meets every kind
of fault, whatever a row's own faults are: rows that differ in these only share one.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from coterie.audit.auditing import broken_promise, check_numbers
from coterie.audit.replay import REWARDS_AT_MOST, REWARDS_QUICK, Replay, Work, live_twice, prepare
from coterie.audit.stage import promising_cases
from coterie.checking.verdicts import note_audit
from coterie.privacy.statement import statement
from coterie.studies import load_study
from coterie.studies.case import Case
from coterie.studies.spec import Row

Progress = Callable[[int, int, str], None]


class AuditedRow(NamedTuple):
    label: str
    agents: int
    arms: int
    horizon: int
    statement: dict[str, Any]
    replay: Replay

    @property
    def failed(self) -> bool:
        return bool(broken_promise(self.statement) or self.replay.findings)

    @property
    def verdict(self) -> str:
        broken = broken_promise(self.statement)
        if broken:
            return f"broken: {broken}"
        return f"broken: {'; '.join(self.replay.findings)}" if self.failed else "No leak found; that is no proof"


class StudyAudit(NamedTuple):
    study: str
    sets: tuple[str, ...]
    rows: list[AuditedRow]
    seed: int
    horizon: int
    quick: bool = False

    @property
    def failed(self) -> bool:
        return any(row.failed for row in self.rows)

    @property
    def verdict(self) -> str:
        if not self.rows:
            return "no row promises privacy"
        broken = sum(row.failed for row in self.rows)
        said = f"{broken} of {len(self.rows)} rows that promise privacy break it"
        return said if broken else f"No leak found in {len(self.rows)} rows; that is no proof"


def audit_study(
    study: str,
    sets: tuple[str, ...] = (),
    *,
    horizon: int = 0,
    seed: int = 0,
    quick: bool = False,
    label: str | None = None,
    progress: Progress = lambda done, total, label: None,
    ask: Callable[[float], None] = lambda seconds: None,
) -> StudyAudit:
    """`horizon` 0: 200 rounds, and around a server as many as two epochs need. `label`: of this row alone.

    `ask` is told how many seconds it will take, before lives are compared, and may raise.
    """
    check_numbers(seed, horizon)
    rows, most = [], REWARDS_QUICK if quick else REWARDS_AT_MOST
    promising = promising_cases(load_study(study, sets).specification, horizon)
    cases = [(row, case) for row, case in promising if label in (None, row.label)]
    work: dict[tuple[Any, ...], Work] = {}
    for row, case in cases:
        progress(0, 1, row.label)
        same = but_for_faults(row, case)
        work[same] = work.get(same) or prepare(case, seed, most)
    ask(sum(todo.seconds() for todo in work.values()))
    done: dict[tuple[Any, ...], Replay] = {}
    for row, case in cases:
        same = but_for_faults(row, case)
        if same not in done:
            done[same] = live_twice(work[same], partial(_under, progress, row.label))
        said = statement(case.method.claim, case.doors, done[same].booked)
        rows.append(AuditedRow(row.label, case.agents, case.method.p.arms, case.horizon, said, done[same]))
        if row.content:
            note_audit(row.reference, row.options.model_dump(), case.agents, case.method.p.arms, rows[-1].failed)
    return StudyAudit(study, sets, rows, seed, horizon, quick)


def but_for_faults(row: Row, case: Case) -> tuple[Any, ...]:
    """All that a replay depends on in a row. An algorithm that is told how many lie has other parameters, or other doors."""
    return row.reference, row.options, case.horizon, case.method.claim, case.doors, repr(case.method.p)


def _under(progress: Progress, label: str, done: int, total: int) -> None:
    progress(done, total, label)
