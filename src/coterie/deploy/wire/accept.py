"""May a word from the broker be stored? What an honest node cannot have sent is refused, counted, and changes nothing.

From cheap to dear, and nothing is parsed before it is known who signed it. Whether an algorithm can make sense of a word (its
hook `fits`) is asked when it is heard, as that depends on what was heard before.
"""

from typing import NamedTuple

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from coterie.deploy.federation import Federation
from coterie.deploy.message import Message
from coterie.deploy.wire.envelope import BYTES_MOST, SIGNATURE, VERSION, Envelope, decode, is_signed
from coterie.deploy.wire.lanes import Lanes

TO_ALL = {"own": {"say"}, "common": {"say"}, "epochs": {"decision", "report", "close"}}
TO_ONE = {"own": {"ask", "answer", "busy"}, "common": {"card"}, "epochs": {"report", "share", "roll", "sum"}}


class Accepted(NamedTuple):
    message: Message
    envelope: Envelope
    raw: bytes  # the envelope's bytes, without signature


class Refused(NamedTuple):
    """Why a word was not taken: a word to count it by, and a line for people."""

    reason: str
    text: str


class Gate:
    """What one member lets in."""

    def __init__(self, federation: Federation, name: str):
        self.lanes, self.run, self.horizon = Lanes(federation, name), federation.run, federation.horizon
        self.kinds = {"say": {"hello", *TO_ALL[federation.clock]}, "to": {"hello", *TO_ONE[federation.clock]}}
        self.keys = {
            member.name: Ed25519PublicKey.from_public_bytes(bytes.fromhex(member.signs)) for member in federation.members
        }
        self.latest: dict[str, tuple[int, int]] = {}  # of each lane: (seq, incarnation) of the furthest word

    def accept(self, subject: str, data: bytes) -> Accepted | Refused:
        """Never raises, whatever the bytes are."""
        if subject not in self.lanes.heard:
            return Refused("lane", "a word came in a lane that is not heard here")
        lane, sender = self.lanes.heard[subject]
        if len(data) > BYTES_MOST:
            return Refused("size", f"a word of {sender} must have at most {BYTES_MOST} bytes, got {len(data)}")
        if len(data) <= SIGNATURE or not is_signed(self.keys[sender], subject, data):
            lane = f"a word in the lane of {sender} is not signed with its key of this federation file"
            return Refused("signature", f"{lane}: it has other keys, or the broker's owner wrote it")
        raw = data[SIGNATURE:]
        try:
            envelope = decode(raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return Refused("form", f"a word of {sender} has another form than version {VERSION} of the wire")
        return self._judge(lane, sender, envelope) or Accepted(_message(lane, envelope), envelope, raw)

    def _judge(self, lane: str, sender: str, envelope: Envelope) -> Refused | None:
        if envelope.version != VERSION:
            return Refused("version", f"version of the wire must be {VERSION}, got {envelope.version} from {sender}")
        if envelope.run != self.run:
            mine, other = self.run.hex()[:16], envelope.run.hex()[:16]
            return Refused("run", f"run must be {mine}, got {other} from {sender}: compare federation files and versions")
        if envelope.sender != sender:
            return Refused("sender", f"a word in the lane of {sender} names another sender")
        if envelope.kind not in self.kinds[lane.partition(".")[0]]:
            return Refused("kind", f"a word of {sender} must be one of this clock and lane, got {envelope.kind!r}")
        if envelope.turn > self.horizon:
            return Refused("turn", f"turn of a word of {sender} must be in 0..{self.horizon}, got {envelope.turn}")
        seq, incarnation = self.latest.get(lane, (0, 0))
        if (envelope.seq > seq and envelope.incarnation < incarnation) or (
            envelope.seq < seq and envelope.incarnation > incarnation
        ):
            return Refused("stale", f"a word of {sender} is of an earlier start than one before it")
        return None

    def note(self, lane: str, seq: int, incarnation: int) -> None:
        """The first of its number counts: a later word of the lane cannot be of an earlier start."""
        if seq > self.latest.get(lane, (0, 0))[0]:
            self.latest[lane] = seq, incarnation


def _message(lane: str, envelope: Envelope) -> Message:
    return Message(lane, envelope.seq, envelope.sender, envelope.turn, envelope.kind, envelope.body)
