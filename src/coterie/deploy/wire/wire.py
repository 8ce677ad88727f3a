"""What a wire does: it appends to a lane if nobody else has, tells its last word, and delivers until it is acknowledged."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol


class Passed(Exception):
    """The lane has moved on since it was last looked at: nothing was appended."""


class Unreachable(Exception):
    """Nobody knows whether the broker has it: it is away, slow, or full. The text says which."""


class Last(NamedTuple):
    """The last word of a lane, and its number in the stream; no data and 0 where the lane is empty.

    beyond: what was appended with it, the mark of a word that was to follow.
    """

    number: int = 0
    data: bytes = b""
    beyond: str = ""


class Delivery(NamedTuple):
    subject: str
    data: bytes
    acknowledge: Callable[[], Awaitable[None]]


class Wire(Protocol):
    async def append(self, subject: str, data: bytes, after: int, beyond: str = "") -> int:
        """Append if the lane's last word has this number in the stream; returns the new one. Passed, Unreachable."""

    async def last(self, subject: str) -> Last:
        """Of an own lane. Unreachable."""

    async def receive(self, wait: bool) -> list[Delivery]:
        """Words in the lanes that are heard: each at least once until it is acknowledged, in no certain order. Unreachable.

        None at all: nothing is there now, or nothing came for a while.
        """

    async def renewal(self) -> None:
        """Returns when the connection is a new one, or the stream was gone: there may be less in it than before."""

    async def close(self) -> None: ...
