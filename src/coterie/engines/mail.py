"""What travels between deployed nodes, as bytes. What is malformed is refused before anything is changed.

A message is the first words of its record. Where a server adds up, an envelope follows it: (arm, pulls, sum) of each arm with
news, then the number of these.
"""

from math import inf
from typing import Any

import numpy as np

from coterie.errors import ProtocolError
from coterie.kernel.records import named
from coterie.privacy.secret import empty

WORD = 8
SUMS_AT_MOST = 1 << 62
News = list[tuple[int, int, int]]  # (arm, pulls, sum)


def read(data: Any, kind: np.dtype) -> Any:
    """A message is the first words of its record; the rest reads as zeros."""
    if not isinstance(data, bytes):
        raise ProtocolError(f"a message must be bytes, got {type(data).__name__}")
    if len(data) > kind.itemsize or len(data) % WORD:
        raise ProtocolError(f"a message must have at most {kind.itemsize} bytes, in whole words of 8, got {len(data)}")
    return named(np.frombuffer(data.ljust(kind.itemsize, b"\0"), kind))[0]


def pack_news(envelope: Any) -> bytes:
    """What is enclosed; the envelope is empty then."""
    arms = [k for k in range(len(envelope.count)) if envelope.count[k] > 0 or envelope.total[k] != 0]
    news = [(k, int(envelope.count[k]), int(envelope.total[k])) for k in arms]
    empty(envelope)
    return pack_rows(news)


def pack_rows(news: News) -> bytes:
    return np.array([*(number for row in news for number in row), len(news)], np.int64).tobytes()


def unpack_news(data: Any, secret: Any, arms: int, least: float, most: float) -> tuple[bytes, News]:
    """The message, and the news behind it. One reward is in `least` .. `most`."""
    if not isinstance(data, bytes) or len(data) < WORD or len(data) % WORD:
        raise ProtocolError("a report with raw rewards must be bytes, in whole words of 8 and at least one of them")
    number = int(np.frombuffer(data[-WORD:], np.int64)[0])
    rest = len(data) - WORD - 3 * WORD * number
    if not 0 <= number <= arms or rest < 0:
        raise ProtocolError(f"raw rewards must be of at most {arms} arms, and as many as there are words for")
    rows = np.frombuffer(data[rest:-WORD], np.int64).reshape(-1, 3).tolist()
    news = [(arm, pulls, total) for arm, pulls, total in rows]
    places = [arm for arm, _, _ in news]
    if places != sorted(set(places)) or not all(0 <= arm < arms for arm in places):
        raise ProtocolError(f"arms of raw rewards must be in 0..{arms - 1}, in order and each once")
    for arm, pulls, total in news:
        fits = pulls > 0 and pulls * least <= total <= pulls * most if least > -inf else pulls >= 0  # a share of noise alone
        if not fits or max(int(secret.count[arm]) + pulls, abs(int(secret.total[arm]) + total)) >= SUMS_AT_MOST:
            raise ProtocolError("pulls of raw rewards must be above 0, and their sum within the range of so many rewards")
    return data[:rest], news


class Sums:
    """Of messages that add up, by arm, until they are heard. `replaces`: a sender's word replaces its former one on an arm."""

    def __init__(self, arms: int, replaces: bool):
        self.arms, self.replaces = arms, replaces
        self.amounts: dict[int, np.ndarray] = {}
        self.former: dict[tuple[int, int], np.ndarray] = {}

    def add(self, place: int, data: bytes, message: Any) -> None:
        """What the message of sender number `place` changes in the sum of all messages on its arm."""
        words = np.frombuffer(message.tobytes(), np.int64)
        arm = int(words[0])
        if not data or not 0 <= arm < self.arms:
            raise ProtocolError(f"arm of a message must be in 0..{self.arms - 1}, got {arm if data else 'none'}")
        before = self.former.get((place, arm), 0) if self.replaces else 0
        self.amounts[arm] = self.amounts.get(arm, 0) + words - before
        self.former[place, arm] = words

    def take_out(self, kind: np.dtype) -> list[Any]:
        """A message for each arm there is news about, in the order of arms."""
        messages = []
        for arm in sorted(self.amounts):
            amounts = self.amounts.pop(arm)
            amounts[0] = arm
            messages.append(read(amounts.tobytes(), kind))
        return messages
