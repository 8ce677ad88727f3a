"""What a ledger says: what was released, what it cost, what is left. Read from the file, also while its owner runs."""

from math import inf
from pathlib import Path
from typing import Any

from coterie.deploy.settings import load_settings, persons_path
from coterie.deploy.stores import ledger, persons
from coterie.deploy.stores.store import reading
from coterie.errors import CoterieError, StateError, UsageError
from coterie.kernel import UNIT
from coterie.privacy.accountant import spent
from coterie.privacy.events import Event


def summary_of(folder: Path) -> dict[str, Any]:
    """All of it, after every row was verified. Infinite numbers are None."""
    path = folder / "ledger.db"
    if not folder.is_dir():
        raise UsageError(
            f"{folder}: must be the folder of an agent or a coordinator, got {'a file' if folder.exists() else 'none'}"
        )
    if not path.is_file():
        raise UsageError(f"{folder}: must be the folder of a member that has run, got one without ledger.db")
    with reading(path, ledger.SCHEMA) as c:
        facts = ledger.whose(c)
        if facts is None:
            raise StateError(f"{path}: must say whose it is, and does not: its owner was stopped before its first turn")
        head, state = ledger.verify_chain(c), ledger.last_state(c)
        events, releases = ledger.spent(c), ledger.releases(c)
    lost = spent(events, facts.delta)
    left = None if facts.epsilon is None else max(0.0, facts.epsilon - lost)
    return {
        "name": facts.name,
        "run": facts.run.hex(),
        "algorithm": facts.algorithm,
        "turn": state.turn if state else None,
        "budget": {
            "epsilon": facts.epsilon, "delta": facts.delta, "spent": finite(lost), "left": left,
            "refused": bool(state and state.refused),
        },
        "arms": [arm_of(name, [event for event in events if event.arm == k], facts.delta) for k, name in enumerate(facts.arms)],
        "releases": [
            {
                "turn": turn, "arm": facts.arms[each.arm], "first": each.first, "last": each.last, "mechanism": each.mechanism,
                "price": finite(each.price), "sum": each.value / UNIT, "at": each.at,
            }
            for _, turn, each in releases
        ],
        "persons": persons_of(folder),
        "chain": {"links": len(releases), "head": head.hex()},
    }  # fmt: skip


def persons_of(folder: Path) -> dict[str, Any] | None:
    """What persons have lost over all runs, in numbers; None: they have no budget here. What is wrong with it is told, and
    says nothing against the ledger."""
    try:
        settings = load_settings(folder)
        path = persons_path(folder, settings)
        if settings.budget is None or path is None or not path.exists():
            return None
        with reading(path, persons.SCHEMA) as c:
            return {"epsilon": settings.budget.person, **persons.summary(c)}
    except CoterieError as error:
        return {"error": str(error)}


def arm_of(name: str, events: list[Event], delta: float) -> dict[str, Any]:
    """How much was told of an arm's rewards, and what the dearest of them has lost."""
    return {"arm": name, "releases": len(events), "rewards": covered(events), "spent": finite(spent(events, delta))}


def covered(events: list[Event]) -> int:
    """How many rewards any of them is about."""
    count = end = 0
    for event in sorted(events, key=lambda event: event.first):
        count += max(0, event.last - max(end, event.first - 1))
        end = max(end, event.last)
    return count


def finite(number: float) -> float | None:
    return None if number == inf else number
