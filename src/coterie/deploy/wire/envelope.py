"""What travels: a signature, then a word with all that is needed to judge it.

The signature covers the subject, so that a word cannot be moved into another lane. The envelope is what is kept: it is signed
whenever it is sent, which gives the same bytes each time as long as the key is the same.
"""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from coterie.deploy.federation import Federation
from coterie.deploy.message import Message, Word

VERSION = 1  # of the wire
BYTES_MOST = 65536
SIGNATURE = 64
DOMAIN = b"coterie/1\0"
Kind = Literal["hello", "say", "ask", "answer", "busy", "card", "decision", "report", "close", "share", "roll", "sum"]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Number = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
Hash = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]


class Envelope(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    version: int
    run: Hash
    sender: Annotated[str, msgspec.Meta(max_length=40)]
    incarnation: Number  # of the sender's starts, the one in which this was committed
    seq: Number  # in its lane
    turn: Count
    head: Hash  # of the sender's chain of releases
    kind: Kind
    body: bytes


_encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Envelope).decode


def sealer(federation: Federation, name: str, incarnation: int) -> Callable[[str, int, Word, bytes], bytes]:
    """What a node calls in the commit that says something: seal(lane, seq, word, head).

    Before its first turn, which may be number 0, a node speaks as of turn 0.
    """
    run = federation.run

    def seal(lane: str, seq: int, word: Word, head: bytes) -> bytes:
        return _encode(Envelope(VERSION, run, name, incarnation, seq, max(0, word.turn), head, word.kind, word.body))  # type: ignore[arg-type]

    return seal


def unseal(lane: str, envelope: bytes) -> Message:
    """A word from the own inbox, where only accepted ones lie."""
    found = decode(envelope)
    return Message(lane, found.seq, found.sender, found.turn, found.kind, found.body)


def signed(key: Ed25519PrivateKey, subject: str, envelope: bytes) -> bytes:
    return key.sign(covered(subject, envelope)) + envelope


def is_signed(key: Ed25519PublicKey, subject: str, data: bytes) -> bool:
    try:
        key.verify(data[:SIGNATURE], covered(subject, data[SIGNATURE:]))
    except InvalidSignature:
        return False
    return True


def covered(subject: str, envelope: bytes) -> bytes:
    return DOMAIN + subject.encode() + b"\0" + envelope
