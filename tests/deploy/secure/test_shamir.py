"""Shamir's shares: every set of enough holders opens the same numbers, fewer know nothing, a false answer is noticed."""

from itertools import combinations, product

import pytest
from scipy import stats

from coterie.deploy.secure import shamir
from coterie.deploy.secure.shamir import PRIME, Contradiction, added, from_bytes, opened, points_of, split, to_bytes

VALUES = (0, 1, -1, 2**62 - 1, -(2**62), 12345)


def test_the_modulus_is_a_prime():
    """By Fermat's and Miller's test with the bases that decide it below 2^64."""
    odd, twos = PRIME - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(base, odd, PRIME)
        assert x in (1, PRIME - 1) or any(pow(x, 2**j, PRIME) == PRIME - 1 for j in range(twos))


@pytest.mark.parametrize("threshold", [2, 3, 4, 6])
def test_every_set_of_enough_holders_opens_the_numbers(threshold):
    pieces = dict(enumerate(split(VALUES, range(1, 7), threshold), 1))
    for size in range(threshold, 7):
        for holders in combinations(pieces, size):
            assert opened({x: pieces[x] for x in holders}, threshold) == VALUES
    with pytest.raises(ValueError, match=f"a sum needs {threshold} answers, got {threshold - 1}"):
        opened({x: pieces[x] for x in range(1, threshold)}, threshold)


def test_pieces_of_several_vectors_add_up_to_pieces_of_their_sum():
    vectors = [(5, -7), (2**61, -(2**61)), (-3, 2)]
    split_up = [split(vector, range(1, 6), 3) for vector in vectors]
    answers = {x: added([pieces[x - 1] for pieces in split_up]) for x in (1, 3, 5)}
    assert opened(answers, 3) == tuple(map(sum, zip(*vectors, strict=True)))


def test_fewer_pieces_than_it_takes_fit_every_number_equally_well(monkeypatch):
    """In a field of 7, with all 49 choices of coefficients: two of three pieces have the same law whatever the number."""
    monkeypatch.setattr(shamir, "PRIME", 7)
    laws = []
    for number in range(7):
        seen = []
        for coefficients in product(range(7), repeat=2):
            drawn = iter(coefficients)
            monkeypatch.setattr(shamir, "randbelow", lambda below, drawn=drawn: next(drawn))
            pieces = split([number], (1, 2, 3), 3)
            seen.append((pieces[0], pieces[2]))
        laws.append(sorted(seen))
    assert all(law == laws[0] for law in laws)


def test_a_piece_is_uniform_in_the_field():
    """Eight classes of 8,000 draws. False alarm 1e-6."""
    counts = [0] * 8
    for piece in split([3] * 4000, (1, 2), 2):
        for value in piece:
            counts[value * 8 // PRIME] += 1
    assert stats.chisquare(counts).pvalue > 1e-6


def test_a_false_answer_is_noticed_and_with_two_witnesses_more_than_it_takes_it_is_named():
    pieces = dict(enumerate(split(VALUES, range(1, 7), 3), 1))
    for liar in pieces:
        lies = pieces | {liar: (1, *pieces[liar][1:])}
        with pytest.raises(Contradiction) as found:
            opened(lies, 3)
        assert found.value.liar == liar
        four = {x: lies[x] for x in (liar, *sorted(pieces.keys() - {liar})[:3])}
        with pytest.raises(Contradiction) as found:
            opened(four, 3)
        assert found.value.liar is None  # any one of four may be the false one


def test_numbers_travel_as_words_and_others_are_refused():
    piece = (0, PRIME - 1, 17)
    assert from_bytes(to_bytes(piece)) == piece
    for wrong in (b"1234567", (PRIME).to_bytes(8, "little")):
        with pytest.raises(ValueError, match="whole words below the prime"):
            from_bytes(wrong)


def test_a_vector_of_nothing_has_empty_pieces():
    assert split((), (1, 2, 3), 2) == [(), (), ()]
    assert opened({1: (), 2: (), 3: ()}, 2) == ()


def test_points_are_those_of_a_hash_all_different_and_of_one_run(monkeypatch):
    names = tuple(f"agent {i}" for i in range(400))
    points = points_of(b"run", names)
    assert len({*points, *range(1000)}) == 1400 and max(points) < PRIME
    assert not {*points} & {*points_of(b"other run", names)}
    monkeypatch.setattr(shamir, "PRIME", 401)  # all but 0 are needed
    assert sorted(points_of(b"few", names)) == list(range(1, 401))
