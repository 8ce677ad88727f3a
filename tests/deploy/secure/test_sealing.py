"""A sealed piece opens at its holder, in its place, and nowhere else."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from coterie.deploy.secure.sealing import Box, DoesNotOpen, Place, sealed_size

NAMES = ("north", "south", "east")
KEYS = {name: X25519PrivateKey.from_private_bytes(bytes([i + 1]) * 32) for i, name in enumerate(NAMES)}
PUBLIC = {name: key.public_key().public_bytes_raw() for name, key in KEYS.items()}
BOXES = {name: Box(name, key, PUBLIC) for name, key in KEYS.items()}
PLACE = Place(b"r" * 32, 3, (0, 2))


def test_a_piece_opens_at_its_holder():
    sealed = BOXES["north"].seal(PLACE, "south", b"sixteen bytes..!")
    assert BOXES["south"].open(PLACE, "north", sealed) == b"sixteen bytes..!"
    assert len(sealed) == sealed_size(2)
    assert BOXES["north"].seal(PLACE, "south", b"sixteen bytes..!") != sealed  # no nonce is used twice


def test_one_also_holds_a_piece_of_its_own():
    assert BOXES["north"].open(PLACE, "north", BOXES["north"].seal(PLACE, "north", b"own")) == b"own"


@pytest.mark.parametrize(
    "place",
    [PLACE._replace(run=b"s" * 32), PLACE._replace(epoch=4), PLACE._replace(arms=(0, 1)), PLACE._replace(arms=(0, 2, 3))],
)
def test_a_piece_that_was_moved_does_not_open(place):
    with pytest.raises(DoesNotOpen, match="a piece of north does not open"):
        BOXES["south"].open(place, "north", BOXES["north"].seal(PLACE, "south", b"x"))


def test_nobody_else_opens_it_or_can_have_made_it():
    sealed = BOXES["north"].seal(PLACE, "south", b"x")
    for holder, sender in (("east", "north"), ("south", "east"), ("south", "south")):
        with pytest.raises(DoesNotOpen):
            BOXES[holder].open(PLACE, sender, sealed)


@pytest.mark.parametrize("at", [0, 11, 12, -1])
def test_an_altered_piece_does_not_open(at):
    sealed = bytearray(BOXES["north"].seal(PLACE, "south", b"x"))
    sealed[at] ^= 1
    with pytest.raises(DoesNotOpen):
        BOXES["south"].open(PLACE, "north", bytes(sealed))


@pytest.mark.parametrize("data", [b"", b"short", bytes(12), bytes(28)])
def test_what_is_no_sealed_piece_does_not_open(data):
    with pytest.raises(DoesNotOpen):
        BOXES["south"].open(PLACE, "north", data)
