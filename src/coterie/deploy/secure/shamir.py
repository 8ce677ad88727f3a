"""Shamir's shares of whole numbers: `threshold` pieces give them back, fewer say nothing at all.

The numbers are values at 0 of polynomials with random coefficients, modulo a prime; each holder has their values at a point of
its own. Pieces of several vectors add up to pieces of their sum.

Points are those of a hash. Small numbers such as 1, 2, ... fit into common factors, by which answers to different questions
could be put together into what nobody was to know.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from secrets import randbelow
from typing import Any

import numpy as np

PRIME = 2**64 - 59  # the largest that fits a word; sums lie within 62 bits
WORD = 8

Vector = tuple[int, ...]


class Contradiction(Exception):
    """Answers that do not lie on one polynomial: `liar` gave the false one, where more than one witness says so."""

    def __init__(self, liar: int | None):
        self.liar = liar


@cache
def points_of(run: bytes, names: tuple[str, ...]) -> tuple[int, ...]:
    """Of each holder, all different and none of them 0."""
    found = dict[int, str]()
    for name in names:
        hashes = (hashlib.sha256(b"%d %b %b" % (n, run, name.encode())).digest() for n in count())
        points = (int.from_bytes(data, "little") % PRIME for data in hashes)
        found[next(point for point in points if point and point not in found)] = name
    return tuple(found)


def split(values: Sequence[int], points: Sequence[int], threshold: int) -> list[Vector]:
    """The pieces of the holders at these points."""
    coefficients = [[value % PRIME, *(randbelow(PRIME) for _ in range(threshold - 1))] for value in values]
    powers = _table([[pow(x, j, PRIME) for j in range(threshold)] for x in points])
    pieces = powers @ _table(coefficients).T % PRIME if values else [[] for _ in points]
    return [tuple(row) for row in pieces]


def added(pieces: Sequence[Vector]) -> Vector:
    """Of several vectors, at one holder."""
    return tuple(sum(column) % PRIME for column in zip(*pieces, strict=True))


def opened(answers: Mapping[int, Vector], threshold: int) -> Vector:
    """The numbers whose pieces these are, by the point of their holder. More than `threshold` must agree."""
    if len(answers) < threshold:
        raise ValueError(f"a sum needs {threshold} answers, got {len(answers)}")
    if not agree(answers, threshold):
        raise Contradiction(_liar(answers, threshold))
    return tuple(value - PRIME if value > PRIME // 2 else value for value in _at(0, answers, threshold))


def agree(answers: Mapping[int, Vector], threshold: int) -> bool:
    further = sorted(answers)[threshold:]
    return all(_at(x, answers, threshold) == answers[x] for x in further)


def to_bytes(piece: Vector) -> bytes:
    return b"".join(value.to_bytes(WORD, "little") for value in piece)


def from_bytes(data: bytes) -> Vector:
    values = tuple(int.from_bytes(data[i : i + WORD], "little") for i in range(0, len(data), WORD))
    if len(data) % WORD or any(value >= PRIME for value in values):
        raise ValueError("pieces must be whole words below the prime")
    return values


def _at(x: int, answers: Mapping[int, Vector], threshold: int) -> Vector:
    """What the first `threshold` answers say that holder x must have; at 0 are the numbers themselves."""
    base = sorted(answers)[:threshold]
    weights = [_weight(base, holder, x) for holder in base]
    columns = zip(*(answers[holder] for holder in base), strict=True)
    return tuple(sum(w * value for w, value in zip(weights, column, strict=True)) % PRIME for column in columns)


def _weight(base: Sequence[int], holder: int, x: int) -> int:
    """Lagrange's, of one of the base points for the value at x."""
    over = under = 1
    for other in base:
        if other != holder:
            over, under = over * (x - other) % PRIME, under * (holder - other) % PRIME
    return over * pow(under, -1, PRIME) % PRIME


def _liar(answers: Mapping[int, Vector], threshold: int) -> int | None:
    """Without whom all others agree, if there is one such and at least two more than it takes say so."""
    without = [{x: piece for x, piece in answers.items() if x != each} for each in sorted(answers)]
    found = [min(answers.keys() - rest.keys()) for rest in without if len(rest) > threshold and agree(rest, threshold)]
    return found[0] if len(found) == 1 else None


def _table(rows: Sequence[Sequence[int]]) -> Any:
    """Python's own integers: products have 128 bits."""
    return np.array(rows, object)
