"""Scales, their round tick marks, and the axes of a picture."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from coterie.report.svg import HEIGHT, LEFT, add
from coterie.studies.numbers import compact


class Scale(NamedTuple):
    """Maps low..high to pixels start..end. Values outside (zero on a logarithmic scale) stick to the ends."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.logarithmic else _linear_ticks(self.low, self.high)


def linear_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """From zero (or the lowest value below it) to a little above the largest value."""
    values = [0.0, *values]
    low, high = min(values), max(values)
    return Scale(low, high + 0.04 * (high - low) or 1.0, start, end)


def log_scale(values: Iterable[float], start: float, end: float, margin: float = 1.0) -> Scale:
    """Over the values above zero, which are all it can show, and `margin` times as far at either end."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive) / margin, max(positive) * margin
    return Scale(low, high, start, end, True) if high > low else Scale(low / 2, high * 2, start, end, True)


def needs_log_scale(means: Sequence[float]) -> bool:
    """Would a linear scale flatten the smallest to nothing?"""
    return 0 < 10 * min(means) < max(means)


def _linear_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 7
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * count for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        ticks = [factor * 10.0**decade for decade in decades for factor in factors]
        ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(ticks) >= 3:
            break
    return ticks[:: math.ceil(len(ticks) / 8)] if ticks else [low, high]


def draw_axes(
    svg: Element, across: Scale, up: Scale, title_across: str, title_up: str, marks: Sequence[float] | None = None
) -> None:
    """`marks` are the values that are marked across, if not round ones."""
    axes = add(svg, "g", class_="axes")
    for tick in up.ticks():
        add(axes, "line", x1=across.start, x2=across.end, y1=up.at(tick), y2=up.at(tick))
        add(axes, "text", compact(tick), x=LEFT - 8, y=up.at(tick) + 4, text_anchor="end")
    add(axes, "line", x1=across.start, x2=across.end, y1=up.start, y2=up.start, class_="base")
    for tick in across.ticks() if marks is None else marks:
        add(axes, "line", x1=across.at(tick), x2=across.at(tick), y1=up.start, y2=up.start + 5, class_="base")
        add(axes, "text", compact(tick), x=across.at(tick), y=up.start + 19, text_anchor="middle")
    add(axes, "text", title_up, x=4, y=14, class_="title")
    add(axes, "text", title_across, x=across.end, y=HEIGHT - 8, text_anchor="end", class_="title")
