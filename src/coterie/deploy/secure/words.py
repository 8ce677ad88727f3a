"""What is said for a secure sum, and its form on the wire."""

import hashlib
from typing import Annotated, TypeVar

import msgspec

ARMS_MOST = 2**20
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Arms = Annotated[tuple[Count, ...], msgspec.Meta(max_length=ARMS_MOST)]


class Share(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """A report: what may be read of it, and a sealed piece of its sums for each agent, in the order of the file."""

    said: bytes
    arms: Arms
    pulls: tuple[Count, ...]
    pieces: tuple[bytes, ...]


class Roll(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """To one holder: who is in the sum, by place in the file, and what each of these has sealed to it."""

    reporters: tuple[Count, ...]
    arms: Arms
    pieces: tuple[bytes, ...]

    @property
    def digest(self) -> bytes:
        """The same for all holders of one roll."""
        return hashlib.sha256(msgspec.msgpack.encode((self.reporters, self.arms))).digest()


class Sum(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """An answer to the roll of this digest: the sum of its pieces, or whose did not open."""

    roll: bytes
    total: bytes
    bad: tuple[Count, ...] = ()


encode = msgspec.msgpack.Encoder().encode
W = TypeVar("W", Share, Roll, Sum)


class Misformed(Exception):
    """Bytes that nobody honest sends."""


def decode(kind: type[W], data: bytes) -> W:
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Misformed(f"a {kind.__name__.lower()} of another form") from None
