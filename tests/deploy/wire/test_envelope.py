"""An envelope holds what was said; a signature holds for one subject and one key."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from nodes import make_federation

from coterie.deploy.message import Message, Word
from coterie.deploy.wire.envelope import SIGNATURE, decode, is_signed, sealer, signed, unseal

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
HEAD = bytes(32)


def test_what_is_sealed_is_unsealed(tmp_path):
    federation = make_federation(tmp_path)
    raw = sealer(federation, "north", 3)("say", 7, Word("say", 5, b"body"), HEAD)
    assert unseal("say.north", raw) == Message("say.north", 7, "north", 5, "say", b"body")
    found = decode(raw)
    assert (found.run, found.incarnation, found.head, found.version) == (federation.run, 3, HEAD, 1)


def test_before_its_first_turn_a_node_speaks_as_of_turn_0(tmp_path):
    """Where turns are counted from 0 on the one before is -1, which no envelope can hold."""
    raw = sealer(make_federation(tmp_path), "north", 1)("say", 1, Word("busy", -1, b""), HEAD)
    assert decode(raw).turn == 0


def test_a_word_is_small(tmp_path):
    """What surrounds a body costs less than 200 bytes."""
    raw = sealer(make_federation(tmp_path), "north", 3)("say", 7, Word("say", 5, b""), HEAD)
    assert len(signed(KEY, "c.0123456789abcdef.say.north", raw)) < 200


@given(st.text(max_size=20), st.text(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_a_signature_holds_for_its_subject_and_envelope_only(subject, other_subject, envelope, other_envelope):
    data = signed(KEY, subject, envelope)
    assert is_signed(KEY.public_key(), subject, data) and data[SIGNATURE:] == envelope
    if "\0" not in subject + other_subject:
        assert is_signed(KEY.public_key(), other_subject, data) == (other_subject == subject)
    assert is_signed(KEY.public_key(), subject, data[:SIGNATURE] + other_envelope) == (other_envelope == envelope)
    assert not is_signed(Ed25519PrivateKey.generate().public_key(), subject, data)


def test_what_is_too_short_is_not_signed():
    assert not any(is_signed(KEY.public_key(), "say", bytes(n)) for n in (0, 1, 63, 64))
