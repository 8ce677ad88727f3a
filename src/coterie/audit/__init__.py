"""Does an algorithm keep its word about privacy? One replay that is exact, and a game that proves how much really leaks."""

from coterie.audit.auditing import TRIALS, TRIALS_QUICK, Audit, audit, document
from coterie.audit.views import VIEWS

__all__ = ["TRIALS", "TRIALS_QUICK", "VIEWS", "Audit", "audit", "document"]
