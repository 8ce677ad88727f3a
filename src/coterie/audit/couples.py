"""Two words taken together: a number under a mask says nothing by itself, and neither does the mask.

Coupled are the words of one message, and the same word of two messages that follow one another: their sum, their difference,
and the bits in which they differ.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from coterie.audit.views import Place

TOGETHER = 8  # words of one message that are coupled with each other
SIGNS = {"sum": "+", "difference": "-", "bits": "xor"}


class Couple(NamedTuple):
    one: int
    other: int
    kind: str
    place: Place

    def of(self, words: np.ndarray) -> np.ndarray:
        left, right = (np.ascontiguousarray(words[:, j]) for j in (self.one, self.other))
        if self.kind == "bits":
            return left ^ right
        if self.place.shown:
            return left + right if self.kind == "sum" else left - right
        with np.errstate(invalid="ignore", over="ignore"):
            left, right = left.view(float), right.view(float)
            return (left + right if self.kind == "sum" else left - right).view(np.int64)


def couples(places: Sequence[Place], changing: Sequence[int]) -> Iterator[Couple]:
    """Of the words that ever change."""
    messages: dict[tuple, list[int]] = {}
    for j in changing:
        place = places[j]
        if place.channel in ("message", "card") and not place.change and not place.is_length:
            messages.setdefault((place.who, place.channel, place.turn), []).append(j)
    for message in messages.values():
        yield from (made for one, other in combinations(message[:TOGETHER], 2) for made in together(places, one, other))
    last: dict[tuple, int] = {}
    for (who, channel, _), message in sorted(messages.items()):
        for j in message:
            before = last.get((who, channel, places[j].word))
            if before is not None:
                yield from (made for made in together(places, before, j) if made.kind != "difference")  # a change, already
            last[who, channel, places[j].word] = j


def together(places: Sequence[Place], one: int, other: int) -> Iterator[Couple]:
    first, second = places[one], places[other]
    if first.shown == second.shown:
        for kind, sign in SIGNS.items():
            word = f"{first.word} (turn {first.turn}) {sign} {second.word}"
            yield Couple(one, other, kind, second._replace(word=word, shown=second.shown or kind == "bits"))
