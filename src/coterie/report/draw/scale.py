"""Scales and their round tick marks."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from coterie.report.draw.svg import text_width

NARROW = 270  # the least width of a picture in pixels, on a phone of 360: what fits there fits everywhere


class Scale(NamedTuple):
    """Maps low..high to start..end: percent across, pixels up. Values outside (zero on a log scale) stick to the ends."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0
    log: bool = False

    def at(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        return _log_ticks(self.low, self.high, most) if self.log else _linear_ticks(self.low, self.high, most)


def linear(values: Iterable[float], start: float = 0.0, end: float = 100.0, room: float = 1.06) -> Scale:
    """From zero (or the lowest value below it) to a little above the largest value."""
    values = [0.0, *values]
    low, high = min(values), max(values)
    return Scale(low, low + room * (high - low) or 1.0, start, end)


def log(values: Iterable[float], start: float = 0.0, end: float = 100.0, room: float = 1.0) -> Scale:
    """Over the values above zero, which are all it can show, and `room` times as far at either end."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive) / room, max(positive) * room
    return Scale(low, high, start, end, True) if high > low * 1.0001 else Scale(low / 2, high * 2, start, end, True)


def wide(values: Iterable[float]) -> bool:
    """Would a linear scale flatten the smallest to nothing?"""
    positive = [value for value in values if value > 0]
    return bool(positive) and 10 * min(positive) <= max(positive)


def fitting(marks: Sequence[tuple[float, str]], size: float = 12, gap: float = 8) -> list[tuple[float, str]]:
    """Of tick marks (percent across, text) as many as stand apart on a phone: all, every second, every third, ..."""
    for stride in range(1, len(marks)):
        kept = list(marks[::stride])
        room = [(after - before) / 100 * NARROW for (before, _), (after, _) in pairwise(kept)]
        wide = [(text_width(one, size) + text_width(other, size)) / 2 + gap for (_, one), (_, other) in pairwise(kept)]
        if all(have >= want for have, want in zip(room, wide, strict=True)):
            return kept
    return list(marks[:1])


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{step * count:.12g}") for count in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """The finest of the usual series that has no more than `most` marks in the range; evenly spaced in a short one."""
    if high < 3 * low:
        return _linear_ticks(low, high, most)
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for factors in ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        marks = [float(f"{factor * 10.0**decade:.6g}") for decade in decades for factor in factors]
        marks = [mark for mark in marks if low * (1 - 1e-9) <= mark <= high * (1 + 1e-9)]
        if len(marks) <= most:
            return marks
    return marks[:: math.ceil(len(marks) / most)]
