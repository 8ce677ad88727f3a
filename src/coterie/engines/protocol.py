"""When a deployed node may do what: two tables of states and events. What a table does not have is refused.

The table of turns has two ways from its start: an agent begins, a server announces. A meeting goes on beside the turns.
Of a peer that commits to plans of many rounds, all that comes from others may come in the middle of one.
"""

from collections.abc import Callable
from enum import Enum, StrEnum, auto
from functools import wraps
from operator import index
from typing import Any, Concatenate, ParamSpec, TypeVar

from coterie.errors import ProtocolError

TURNS_AT_MOST = 1 << 60
P = ParamSpec("P")
R = TypeVar("R")


class Event(StrEnum):
    """The calls of an agent."""

    KNOW = auto()
    HEAR = auto()
    BEGIN = auto()
    ASK = auto()
    TELL = auto()
    FINISH = auto()
    REST = auto()
    SPEAK = auto()
    ANNOUNCE = auto()
    RELEASE = auto()
    GREET = auto()
    MEET = auto()
    LEAVE = auto()
    INHERIT = auto()


class Turn(Enum):
    FRESH = auto()  # neither begun nor announced
    PLAYING = auto()  # a plan is under way
    DONE = auto()  # its rewards are booked, and what may leave has passed the door
    QUIET = auto()  # nothing is left to be said of the last turn
    HEARING = auto()  # a server has announced its decision and hears reports
    CLOSED = auto()  # a server has let out what it lets out
    FAILED = auto()  # the algorithm broke the contract


class Meeting(Enum):
    APART = auto()
    SHOWN = auto()  # a card was shown, and the other end's may come


E, T, M = Event, Turn, Meeting
TURNS: dict[Turn, dict[Event, Turn]] = {
    T.FRESH: {
        **dict.fromkeys((E.KNOW, E.HEAR, E.ASK, E.TELL, E.GREET, E.MEET, E.LEAVE, E.INHERIT), T.FRESH),
        E.BEGIN: T.PLAYING, E.REST: T.QUIET, E.ANNOUNCE: T.HEARING,
    },
    T.PLAYING: {E.ASK: T.PLAYING, E.TELL: T.PLAYING, E.FINISH: T.DONE},
    T.DONE: {
        **dict.fromkeys((E.KNOW, E.ASK, E.TELL, E.GREET, E.MEET), T.DONE),
        **dict.fromkeys((E.SPEAK, E.HEAR, E.LEAVE, E.INHERIT, E.REST), T.QUIET), E.BEGIN: T.PLAYING,
    },
    T.QUIET: {
        **dict.fromkeys((E.KNOW, E.HEAR, E.ASK, E.TELL, E.GREET, E.MEET, E.LEAVE, E.INHERIT, E.REST), T.QUIET),
        E.BEGIN: T.PLAYING,
    },
    T.HEARING: {**dict.fromkeys((E.KNOW, E.HEAR, E.ANNOUNCE), T.HEARING), E.RELEASE: T.CLOSED},
    T.CLOSED: {E.KNOW: T.CLOSED, E.ANNOUNCE: T.HEARING},
    T.FAILED: {},
}  # fmt: skip
OTHERS = (E.KNOW, E.HEAR, E.GREET, E.MEET, E.LEAVE, E.INHERIT)
COMMITTED = TURNS | {T.PLAYING: TURNS[T.PLAYING] | dict.fromkeys(OTHERS, T.PLAYING)}  # in a plan of many rounds others go on
MEETINGS: dict[Meeting, dict[Event, Meeting]] = {
    M.APART: {E.GREET: M.SHOWN, E.LEAVE: M.APART, E.INHERIT: M.APART},
    M.SHOWN: {E.GREET: M.SHOWN, E.MEET: M.APART, E.LEAVE: M.APART, E.INHERIT: M.APART},
}
TABLES: tuple[dict[Any, dict[Event, Any]], ...] = (TURNS, MEETINGS)
CONCERNS = tuple({event for row in table.values() for event in row} for table in TABLES)  # what each table is about


class Protocol:
    """Where a node stands."""

    def __init__(self, commits: bool = False) -> None:
        self.turn, self.meeting = Turn.FRESH, Meeting.APART
        self.tables: tuple[dict[Any, dict[Event, Any]], ...] = (COMMITTED if commits else TURNS, MEETINGS)

    def check(self, event: Event) -> None:
        for table, events, now in zip(self.tables, CONCERNS, (self.turn, self.meeting), strict=True):
            if event in events and event not in table[now]:
                allowed = ", ".join(table[now]) or "nothing"
                raise ProtocolError(f"{event} is not allowed in state {now.name}; allowed: {allowed}")

    def move(self, event: Event) -> None:
        self.turn = self.tables[0][self.turn][event]
        self.meeting = MEETINGS[self.meeting].get(event, self.meeting)

    def give(self) -> tuple[int, int]:
        return self.turn.value, self.meeting.value

    def take(self, turn: int, meeting: int) -> None:
        self.turn, self.meeting = Turn(turn), Meeting(meeting)

    def fail(self) -> None:
        self.turn = Turn.FAILED


def step(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A call that is an event: checked before, and a step of the table when it was done."""
    kind = Event(method.__name__)

    @wraps(method)
    def call(self: Any, /, *arguments: P.args, **named: P.kwargs) -> R:
        self.protocol.check(kind)
        answer = method(self, *arguments, **named)
        self.protocol.move(kind)
        return answer

    return call


def turn_number(t: Any, least: int, most: int = TURNS_AT_MOST) -> int:
    """A turn between these two."""
    try:
        number = index(t)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        allowed = f"{least}" if least == most else f"{least} or later"
        raise ProtocolError(f"t must be the number of a turn, {allowed}, got {t!r:.20}")
    return number
