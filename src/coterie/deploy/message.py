"""What a node says and hears, apart from how it travels."""

from typing import NamedTuple


class Word(NamedTuple):
    """To be said of a turn: to all who may hear it, or to one."""

    kind: str
    turn: int
    body: bytes
    to: str | None = None

    @property
    def lane(self) -> str:
        return "say" if self.to is None else f"to.{self.to}"


class Message(NamedTuple):
    """Heard from another: number `seq` of its lane, from 1 on."""

    lane: str
    seq: int
    sender: str
    turn: int
    kind: str
    body: bytes
