"""A run told again: every event of a node's roles, as it happened, with the chance that fell and the rewards that were used.

A journal is a list of notes (role, event, arguments). It holds no reward, only their places in rewards.db; and no clock is
needed to tell it again. `replay` runs it through agents in memory, which must end in the bytes of the run.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import msgpack

from coterie.engines.agent import Agent
from coterie.engines.chance import Chance
from coterie.errors import StateError
from coterie.privacy.mechanisms import Mechanism

Note = Sequence[Any]
EVENTS = ("hear", "begin", "finish", "rest", "speak", "announce", "release", "greet", "meet")


class Notes:
    """Of one role, since the last commit. All roles of a node write into one list."""

    def __init__(self, role: str, written: list[Note]):
        self.role, self.written = role, written

    def note(self, event: str, *arguments: Any) -> None:
        self.written.append((self.role, event, *arguments))


class NotedAgent(Agent):
    """An agent whose events are noted, once they have happened."""

    notes: Notes


def _noted(event: str) -> Callable[..., Any]:
    plain = getattr(Agent, event)

    def call(self: NotedAgent, *arguments: Any) -> Any:
        answer = plain(self, *arguments)
        self.notes.note(event, *(arguments[:1] if event == "finish" else arguments))  # sums are raw
        return answer

    return call


for _event in EVENTS:
    setattr(NotedAgent, _event, _noted(_event))


class NotedChance:
    """Chance that is noted as it falls: dice, and sums after their noise."""

    def __init__(self, chance: Chance, notes: Notes):
        self.chance, self.notes, self.rehearsed = chance, notes, chance.rehearsed

    def die(self, t: int) -> Any:
        die = self.chance.die(t)
        self.notes.note("die", int(die))
        return die

    def idle_die(self, t: int) -> Any:
        return self.chance.idle_die(t)

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None:
        self.chance.noise(mechanism, secret, t, out)
        values = out.value[: out.entries] if mechanism.single else [0] * out.entries  # no hook sees one that is sealed
        self.notes.note("noise", [int(value) for value in values])


class ToldChance:
    """What fell before falls again."""

    rehearsed = False

    def __init__(self, notes: Sequence[Note]):
        self.fell = {event: iter([note[2] for note in notes if note[1] == event]) for event in ("die", "noise")}

    def die(self, t: int) -> Any:
        return next(self.fell["die"])

    idle_die = die

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None:
        for e, value in enumerate(next(self.fell["noise"])):
            out.value[e] = value


def pack(notes: Sequence[Note]) -> bytes:
    return msgpack.encode(notes)


def unpack(written: Sequence[bytes]) -> list[Note]:
    return [note for each in written for note in msgpack.decode(each)]


def replay(notes: Sequence[Note], roles: Mapping[str, Agent], rewards: Mapping[int, tuple[int, int]]) -> None:
    """Tell the notes to fresh roles. `rewards`: (arm, steps) of each place that was used."""
    used: list[int] = []
    for role, event, *arguments in notes:
        if event == "used":
            (used,) = arguments
        elif event == "finish":
            roles[role].finish(arguments[0], _sums(used, rewards))
        elif event in EVENTS:
            getattr(roles[role], event)(*arguments)


def _sums(places: Sequence[int], rewards: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    sums: dict[int, tuple[int, int]] = {}
    for place in places:
        if place not in rewards:
            raise StateError("a run can be told again while all its rewards are kept, and some were erased")
        arm, steps = rewards[place]
        pulls, total = sums.get(arm, (0, 0))
        sums[arm] = pulls + 1, total + steps
    return sums
