"""Who sees what of a transcript.

    public      every message, card, arm, count and time of all nodes
    messages    every message and card, but no arm, count or time of an agent's own choices
    neighbour   what one other agent hears and is shown
    server      the reports a server receives

Two kinds of reports are special, because the statements about them say so. A trusted server is handed raw rewards: there is
nothing to find out about what it sees, so it has no view. Shares of noise are sealed: of their sums the
game sees what the server decides.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from coterie.audit.recorder import Recorded
from coterie.audit.stage import AGENTS, Stage
from coterie.contract import Method
from coterie.engines.simulate import Run
from coterie.errors import UsageError, hint

VIEWS = ("public", "messages", "neighbour", "server")
NEIGHBOUR = 1  # in the middle of the row, beside agent 0
CHOICES = ("choice", "idle")
SERVER = -1


class Place(NamedTuple):
    """Where a word of a transcript stands."""

    who: int  # an agent, or SERVER
    turn: int
    channel: str
    word: str
    shown: bool  # an integer; else the bits of a floating-point number
    change: bool = False  # its change since the last turn, in place of the word itself

    @property
    def is_length(self) -> bool:
        return self.word == "words"

    def __str__(self) -> str:
        who = "the server" if self.who == SERVER else "all agents" if self.who == AGENTS else f"agent {self.who}"
        what = "number of words" if self.is_length else self.word
        return f"{'change of ' if self.change else ''}{what} in the {self.channel} of {who}, turn {self.turn}"


def default_view(method: Method) -> str:
    """The widest one the promise covers: with a caveat, choices rest on raw rewards and are outside of it."""
    return "messages" if method.node.caveat else "public"


def covered(method: Method, view: str) -> bool:
    """Whether the promise is about someone who sees this: not about choices under a caveat."""
    return not (view == "public" and method.node.caveat)


def check_view(view: str, stage: Stage) -> None:
    method, structure = stage.case.method, stage.case.method.structure
    missing = {"server"} if stage.server is None or structure == "alone" or method.node.trusts else set()
    missing |= {"neighbour"} if structure == "alone" else set()
    known = [name for name in VIEWS if name not in missing]
    if view not in known:
        raise UsageError(f"--view must be one of {', '.join(known)} here, got {view!r}{hint(view, known)}")


class Part(NamedTuple):
    """What is seen of one node: some columns of its stretch of every turn."""

    who: int
    node: Recorded
    columns: tuple[int, ...]

    def read(self, run: Run) -> np.ndarray:
        """[replication, turn, column]"""
        if self.who == SERVER:
            assert run.servers is not None
            seen = run.servers["audit_seen"][:, 0]
        elif self.who == AGENTS:
            seen = run.opens["audit_seen"].sum(axis=1)
        else:
            seen = run.opens["audit_seen"][:, self.who]
        return seen.reshape(len(seen), self.node.turns, -1)[:, :, self.columns]

    @property
    def values(self) -> list[int]:
        """Which of the columns hold what was said; of these the changes are looked at, too."""
        columns = [self.node.columns[column] for column in self.columns]
        return [i for i, column in enumerate(columns) if column.channel in ("message", "card") and column.word != "words"]

    def places(self) -> Iterator[Place]:
        turns = range(self.node.first, self.node.first + self.node.turns)
        columns = [self.node.columns[column] for column in self.columns]
        yield from (Place(self.who, turn, *column) for turn in turns for column in columns)
        yield from (Place(self.who, turn, *columns[i], change=True) for turn in turns[1:] for i in self.values)


def visible(stage: Stage, view: str) -> list[Part]:
    """What a view sees of each node."""
    check_view(view, stage)
    method = stage.case.method
    reports = () if method.node.trusts else ("message",)
    told = {"public": (*CHOICES, *reports, "card"), "messages": (*reports, "card"), "neighbour": (*reports, "card")}
    channels, agents, server = told.get(view, reports), list(range(AGENTS)), view != "server"
    if view == "neighbour":
        agents = [] if method.structure == "server" else [i for i in agents if i != NEIGHBOUR]
    parts = []
    if not method.node.mechanism.single:
        parts.append(part(AGENTS, stage.agent, [channel for channel in channels if channel == "message"]))
        channels = tuple(channel for channel in channels if channel != "message")
    parts += [part(i, stage.agent, channels) for i in agents]
    if stage.server is not None and server:
        parts.append(part(SERVER, stage.server, ("message",)))
    return [one for one in parts if one.columns]


def part(who: int, node: Recorded, channels: Sequence[str]) -> Part:
    return Part(who, node, tuple(i for i, column in enumerate(node.columns) if column.channel in channels))


def read(parts: Sequence[Part], run: Run) -> np.ndarray:
    """The words a view sees, [replication, place], in the order of `places`."""
    words = [np.zeros((len(run.totals), 0), np.int64)]
    for one in parts:
        seen = one.read(run)
        words += [seen.reshape(len(seen), -1), changes(one, seen).reshape(len(seen), -1)]
    return np.concatenate(words, axis=1)


def changes(one: Part, seen: np.ndarray) -> np.ndarray:
    """From turn to turn, of numbers as numbers and of bits as those of the difference."""
    values = seen[:, :, one.values]
    moved = np.diff(values, axis=1)
    for i, column in enumerate(one.values):
        if not one.node.columns[one.columns[column]].shown:
            with np.errstate(invalid="ignore", over="ignore"):
                moved[:, :, i] = np.diff(np.ascontiguousarray(values[:, :, i]).view(np.float64), axis=1).view(np.int64)
    return moved
