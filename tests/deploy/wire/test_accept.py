"""What a member takes in: of honest words all, of others none, whatever the bytes are."""

import os
import pickle

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from parties import make_parties, public_line

from coterie.deploy.keys import load_keys
from coterie.deploy.message import Word
from coterie.deploy.wire.accept import Accepted, Gate, Refused
from coterie.deploy.wire.envelope import BYTES_MOST, SIGNATURE, VERSION, Envelope, decode, sealer, signed, unseal
from coterie.deploy.wire.lanes import Lanes

HEAD = bytes(32)


class Stage:
    """North hears what south says, honestly or not."""

    def __init__(self, folder):
        self.federation = make_parties(folder)
        self.gate, self.south = Gate(self.federation, "north"), load_keys(folder / "south")
        self.west = load_keys(folder / "west")
        self.subject = Lanes(self.federation, "south").subject("say")
        self.seal = sealer(self.federation, "south", 1)

    def envelope(self, **changes):
        honest = decode(self.seal("say", 1, Word("say", 1, b"body"), HEAD))
        return msgspec.msgpack.encode(msgspec.structs.replace(honest, **changes))

    def accept(self, raw, subject=None, key=None):
        """Signed with this key, south's if none is given."""
        return self.gate.accept(subject or self.subject, signed(key or self.south.sign, self.subject, raw))


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("stage"))


def test_an_honest_word_is_taken_as_it_is(stage):
    found = stage.accept(stage.envelope())
    assert isinstance(found, Accepted) and found.raw == stage.envelope()
    assert found.message == unseal("say.south", found.raw) == ("say.south", 1, "south", 1, "say", b"body")


def refusal(found):
    assert isinstance(found, Refused) and found.text and "\n" not in found.text
    return found.reason


def test_every_line_of_the_list_is_refused(stage):
    """Also those that a member signs itself: its key does not make it honest."""
    honest, key = stage.envelope(), stage.south.sign
    stranger = Ed25519PrivateKey.generate()
    data = signed(key, stage.subject, honest)
    accept = stage.gate.accept
    assert refusal(accept(stage.subject, honest)) == "signature"  # missing
    assert refusal(stage.accept(honest, key=stranger)) == "signature"  # forged
    assert refusal(stage.accept(honest, key=stage.west.sign)) == "signature"  # another member's
    assert refusal(accept(stage.subject, data[:-1] + bytes([data[-1] ^ 1]))) == "signature"  # altered after it was signed
    to_north = f"{stage.gate.lanes.prefix}.to.north.south"
    assert refusal(accept(to_north, data)) == "signature"  # moved into another lane
    assert refusal(accept(f"{stage.gate.lanes.prefix}.to.west.south", data)) == "lane"  # of another receiver
    assert refusal(accept(f"{stage.gate.lanes.prefix}.say.east", data)) == "lane"  # of nobody who takes part
    assert refusal(stage.accept(stage.envelope(sender="west"))) == "sender"  # right key, another's name
    assert refusal(stage.accept(stage.envelope(version=VERSION + 1))) == "version"
    assert str(VERSION + 1) in stage.accept(stage.envelope(version=VERSION + 1)).text  # names both
    assert refusal(stage.accept(stage.envelope(run=os.urandom(32)))) == "run"
    assert refusal(stage.accept(stage.envelope(turn=stage.federation.horizon + 1))) == "turn"  # beyond the window
    assert refusal(stage.accept(stage.envelope(body=bytes(BYTES_MOST)))) == "size"
    assert refusal(accept(stage.subject, bytes(BYTES_MOST + 1))) == "size"  # before anything is looked at


@pytest.mark.parametrize(
    "changes", [{"seq": 0}, {"seq": -1}, {"seq": 2**64 - 1}, {"turn": -1}, {"turn": 2**63}, {"incarnation": 0}, {"head": b""},
                {"run": b"short"}, {"kind": "shout"}, {"kind": None}, {"body": "text"}, {"seq": 1.5}, {"seq": float("nan")},
                {"sender": "x" * 41}, {"sender": 3}]
)  # fmt: skip
def test_other_forms_are_refused(stage, changes):
    assert refusal(stage.accept(stage.envelope(**changes))) == "form"


def test_what_is_no_envelope_is_refused(stage):
    fields = msgspec.msgpack.decode(stage.envelope())
    deep = b"\x91" * 20_000 + b"\xc0"
    wide = msgspec.msgpack.encode([fields] * 50)
    twice = msgspec.msgpack.encode(dict(zip(Envelope.__struct_fields__, fields, strict=True)))
    others = [b"", b"\x00", b"\xc1", deep, wide, twice, stage.envelope()[:-1], stage.envelope() + b"\x00"]
    others += [msgspec.msgpack.encode(fields[:-1]), msgspec.msgpack.encode([*fields, 1])]
    others += [pickle.dumps(fields), b"!!python/object/apply:os.system ['true']", b"PK\x03\x04", b"\x93NUMPY\x01\x00"]
    for raw in others:
        assert refusal(stage.accept(raw)) in ("form", "signature")


def test_a_word_of_an_earlier_start_is_refused_after_one_of_a_later(tmp_path):
    stage = Stage(tmp_path)
    later = stage.accept(stage.envelope(seq=5, incarnation=3))
    stage.gate.note("say.south", 5, 3)
    assert isinstance(later, Accepted)
    assert refusal(stage.accept(stage.envelope(seq=6, incarnation=2))) == "stale"
    assert refusal(stage.accept(stage.envelope(seq=4, incarnation=4))) == "stale"
    assert isinstance(stage.accept(stage.envelope(seq=4, incarnation=2)), Accepted)  # a gap is filled
    assert isinstance(stage.accept(stage.envelope(seq=6, incarnation=3)), Accepted)


def test_a_revoked_key_signs_nothing_any_more(tmp_path):
    stage = Stage(tmp_path)
    old = stage.accept(stage.envelope())
    (tmp_path / "south").rename(tmp_path / "south before")
    tables = stage.federation.tables
    tables["agents"] = [public_line(tmp_path, name) for name in ("north", "south", "west")]
    renewed = make_parties(tmp_path, **tables)
    assert isinstance(old, Accepted) and renewed.run == stage.federation.run
    gate = Gate(renewed, "north")
    data = signed(stage.south.sign, stage.subject, stage.envelope())
    assert refusal(gate.accept(stage.subject, data)) == "signature"
    data = signed(load_keys(tmp_path / "south").sign, stage.subject, stage.envelope())
    assert gate.accept(stage.subject, data) == old


@given(data=st.binary(max_size=300), subject=st.sampled_from(["say.south", "to.north.south", "say.west", "say", ">", ""]))
def test_no_bytes_make_it_raise(stage, data, subject):
    assert isinstance(stage.gate.accept(f"{stage.gate.lanes.prefix}.{subject}", data), Refused)


@given(cut=st.integers(0, 200), flips=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 255)), max_size=5))
def test_no_altered_word_is_taken(stage, cut, flips):
    honest = signed(stage.south.sign, stage.subject, stage.envelope())
    data = bytearray(honest[: len(honest) - cut] if cut < len(honest) else b"")
    for place, change in flips:
        if place < len(data):
            data[place] ^= change
    found = stage.gate.accept(stage.subject, bytes(data))
    assert isinstance(found, Accepted) == (bytes(data) == honest)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.binary(max_size=40) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=10) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=20,
)


@given(raw=st.binary(max_size=200) | JSON.map(msgspec.msgpack.encode))
def test_nothing_that_a_member_signs_makes_it_raise(stage, raw):
    found = stage.accept(raw)
    assert isinstance(found, Refused) or found.envelope.sender == "south"


@given(
    version=st.integers(-(2**63), 2**63), incarnation=st.integers(-1, 2**64 - 1), seq=st.integers(-1, 2**64 - 1),
    turn=st.integers(-1, 2**64 - 1), kind=st.sampled_from(["say", "hello", "x"]), body=st.binary(max_size=100),
)  # fmt: skip
def test_wild_numbers_in_a_sound_form_are_judged_by_the_rules(stage, **fields):
    found = stage.accept(stage.envelope(**fields))
    sound = (
        fields["version"] == VERSION
        and 1 <= fields["incarnation"] <= 2**53
        and 1 <= fields["seq"] <= 2**53
        and 0 <= fields["turn"] <= stage.federation.horizon
        and fields["kind"] != "x"
    )
    assert isinstance(found, Accepted) == sound


def test_the_signature_is_the_same_every_time(stage):
    one, other = (signed(stage.south.sign, stage.subject, stage.envelope()) for _ in range(2))
    assert one == other and len(one) == SIGNATURE + len(stage.envelope())
