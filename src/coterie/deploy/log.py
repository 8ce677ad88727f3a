"""What a member logs: typed events, made of what may be seen of it and of nothing else.

An event is found by comparing two views (`View`), which have no field for a reward, a raw sum, a key or a person; so no line
can hold one. They go to the logger `coterie.member`, as lines for people or, with `--log json`, as JSON for a log store.
"""

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import ClassVar

from coterie.deploy.view import View

LOGGER = "coterie.member"


@dataclass(frozen=True)
class Event:
    level: ClassVar[int] = logging.INFO

    @property
    def type(self) -> str:
        return type(self).__name__.lower()

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.type}: " + ", ".join(f"{key} {value}" for key, value in asdict(self).items())


@dataclass(frozen=True)
class Started(Event):
    role: str
    run: str
    algorithm: str
    address: str


@dataclass(frozen=True)
class Stopped(Event):
    """`code` is the exit code; 0: it was stopped from outside."""

    code: int
    why: str


@dataclass(frozen=True)
class Connected(Event):
    """Whether the broker answers."""

    connected: bool


@dataclass(frozen=True)
class Released(Event):
    """So many noised sums have left, up to this turn; what the dearest reward has lost, and what is left for it."""

    sums: int
    turn: int
    spent: float
    left: float | None


@dataclass(frozen=True)
class Silenced(Event):
    """Nothing is reported any more: budget, withheld or horizon."""

    level = logging.WARNING
    why: str


@dataclass(frozen=True)
class Withheld(Event):
    level = logging.WARNING
    arm: str
    withheld: bool


@dataclass(frozen=True)
class Rejected(Event):
    """So many more words of others were not taken in, for this reason."""

    reason: str
    count: int


@dataclass(frozen=True)
class Missing(Event):
    """Who has not reported in an open epoch; nobody: it is complete."""

    members: tuple[str, ...]


@dataclass(frozen=True)
class Alarmed(Event):
    level = logging.WARNING
    kind: str
    text: str

    @property
    def words(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Calmed(Event):
    kind: str


EVENTS = (Started, Stopped, Connected, Released, Silenced, Withheld, Rejected, Missing, Alarmed, Calmed)


def changes(before: View, after: View) -> Iterator[Event]:
    """What has happened between two views of one member."""
    if after.connected is not None and after.connected != before.connected:
        yield Connected(after.connected)
    if after.released > before.released:
        yield Released(after.released - before.released, after.turn, after.budget.spent, after.budget.left)
    if after.silent is not None and after.silent != before.silent:
        yield Silenced(after.silent)
    for was, now in zip(before.arms, after.arms, strict=True):
        if was.withheld != now.withheld:
            yield Withheld(now.name, now.withheld)
    for reason, count in after.rejected.items():
        if (more := count - before.rejected.get(reason, 0)) > 0:
            yield Rejected(reason, more)
    if after.missing != before.missing:
        yield Missing(after.missing)
    were, are = ({(alarm.kind, alarm.text): None for alarm in view.alarms} for view in (before, after))
    yield from (Alarmed(*alarm) for alarm in reversed(are) if alarm not in were)
    kinds = {kind: None for kind, _ in were if kind not in {kind for kind, _ in are}}
    yield from (Calmed(kind) for kind in kinds)


def log(member: str, event: Event) -> None:
    logging.getLogger(LOGGER).log(event.level, "%s: %s", member, event.words, extra={"member": member, "event": event})


class JsonLines(logging.Formatter):
    """One object a line: when, how grave, what, whose, and the fields of the event."""

    def format(self, record: logging.LogRecord) -> str:
        event, at = record.event, datetime.fromtimestamp(record.created, UTC)  # type: ignore[attr-defined]
        about = {"at": at.isoformat(timespec="milliseconds"), "level": record.levelname.lower(), "event": event.type}
        return json.dumps(about | {"member": record.member} | asdict(event), allow_nan=False)  # type: ignore[attr-defined]
