"""Coterie: private federated bandits. Many agents learn together which arm is best, without handing over their data.

>>> import coterie
>>> study = coterie.load_study("quickstart")
>>> study.specification.problem.agents
20
"""

from typing import Any

from coterie.errors import CoterieError, StateError, StorageError, UsageError
from coterie.version import VERSION as __version__

__all__ = [
    "CoterieError", "StateError", "StorageError", "UsageError", "__version__", "builtin_studies", "load_study", "open_agent",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The compiler takes half a second to import: only those who run something pay for it."""
    if name == "load_study":
        from coterie.notebook import load_study

        return load_study
    if name == "builtin_studies":
        from coterie.studies import builtin_studies

        return builtin_studies
    if name == "open_agent":
        from coterie.deploy.opening import open_agent

        return open_agent
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
