"""The first word of a start, in every lane it may speak in: it claims the lane, so that of two who share a key one is stopped.

The nonce tells two copies of one folder apart, which would say the same otherwise. Later hellos say what has not come (`whole`:
the words of a lane that are there without a gap), and prove to a member that it is behind: by a word of its own that it does
not know any more. Without such a proof nobody stops for what another says.
"""

import os
from collections.abc import Callable, Mapping

import msgspec

from coterie.deploy.message import Word

NAMED_MOST = 400  # members that one hello can speak of


class Hello(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    nonce: bytes
    whole: dict[str, tuple[int, int]]  # of each sender: in its lane to all, and in its lane to whoever says hello
    proof: bytes = b""  # a signed word of the one it is sent to
    lane: str = ""  # in which that word was, as its sender calls it


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Hello).decode


def hello(
    turn: int, whole: Mapping[str, tuple[int, int]] | None = None, proof: bytes = b"", lane: str = "",
    entropy: Callable[[int], bytes] = os.urandom,
) -> Word:  # fmt: skip
    told = dict(list((whole or {}).items())[:NAMED_MOST])
    return Word("hello", turn, _encode(Hello(entropy(16), told, proof, lane)))


def read_hello(body: bytes) -> Hello | None:
    """None: it is none."""
    try:
        return _decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
