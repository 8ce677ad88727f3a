"""Does an algorithm keep its word about privacy? Its ledgers, one replay that is exact, and a game that proves what leaks."""

from coterie.audit.auditing import TRIALS, TRIALS_QUICK, Audit, audit
from coterie.audit.documents import document, study_document
from coterie.audit.rows import StudyAudit, audit_study
from coterie.audit.views import VIEWS

__all__ = [
    "TRIALS", "TRIALS_QUICK", "VIEWS", "Audit", "StudyAudit", "audit", "audit_study",
    "document", "study_document",
]  # fmt: skip
