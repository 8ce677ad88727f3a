"""What is said for a secure sum, on the wire."""

import pytest

from coterie.deploy.secure.words import Misformed, Roll, Share, Sum, decode, encode

WORDS = [
    Share(b"said", (0, 3), (7, 9), (b"piece", b"other")),
    Roll((0, 2), (0, 3), (b"piece", b"other")),
    Sum(b"digest", b"total"),
    Sum(b"digest", b"", (1, 2)),
]


@pytest.mark.parametrize("word", WORDS, ids=lambda word: type(word).__name__)
def test_a_word_is_read_as_it_was_written(word):
    assert decode(type(word), encode(word)) == word


@pytest.mark.parametrize("data", [b"", b"\x90", b"\xc1", b"\x91" * 2000, encode(WORDS[0])[:-1], encode((-1, 2, 3, 4)), b"junk"])
@pytest.mark.parametrize("kind", [Share, Roll, Sum])
def test_anything_else_is_refused(kind, data):
    with pytest.raises(Misformed, match=f"a {kind.__name__.lower()} of another form"):
        decode(kind, data)


def test_the_digest_of_a_roll_is_of_who_and_what_and_not_of_one_holders_pieces():
    roll = WORDS[1]
    assert roll.digest == Roll(roll.reporters, roll.arms, (b"x", b"y")).digest
    assert roll.digest != Roll((0, 1), roll.arms, roll.pieces).digest
    assert roll.digest != Roll(roll.reporters, (0, 4), roll.pieces).digest
