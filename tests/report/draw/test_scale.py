"""Scales and tick marks."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.report.draw.scale import NARROW, Scale, fitting, linear, log, wide
from coterie.report.draw.svg import text_width


def test_a_linear_scale_begins_at_zero() -> None:
    scale = linear([2.0, 8.0], 0.0, 80.0, room=1.0)
    assert [scale.at(value) for value in (0, 2, 8, 99)] == [0.0, 20.0, 80.0, 80.0]
    assert linear([-1.0, 3.0], room=1.0).at(-1.0) == 0.0
    assert linear([0.0]).high > 0


def test_equal_ratios_are_equally_far_on_a_log_scale() -> None:
    scale = log([1.0, 100.0], 290.0, 0.0)
    assert [scale.at(value) for value in (1, 10, 100)] == pytest.approx([290.0, 145.0, 0.0])
    assert scale.at(0.0) == 290.0  # sticks to the end
    assert log([5.0]).low < 5 < log([5.0]).high


@pytest.mark.parametrize(
    ("scale", "most", "ticks"),
    [
        (Scale(0, 10), 5, [0, 2, 4, 6, 8, 10]),
        (Scale(0, 47), 5, [0, 10, 20, 30, 40]),
        (Scale(1, 100, log=True), 6, [1, 3, 10, 30, 100]),
        (Scale(1, 1e6, log=True), 4, [1, 100, 1e4, 1e6]),
        (Scale(2.1, 2.6, log=True), 6, [2.1, 2.2, 2.3, 2.4, 2.5, 2.6]),
    ],
)  # fmt: skip
def test_ticks_are_round(scale: Scale, most: int, ticks: list[float]) -> None:
    assert scale.ticks(most) == pytest.approx(ticks)


@given(st.floats(1e-6, 1e6), st.floats(1.001, 1e6), st.booleans(), st.integers(3, 8))
def test_ticks_lie_inside_and_are_few(low: float, times: float, logarithmic: bool, most: int) -> None:
    scale = Scale(low, low * times, log=logarithmic)
    ticks = scale.ticks(most)
    assert 1 <= len(ticks) <= most + 1
    assert all(low * (1 - 1e-6) <= tick <= low * times * (1 + 1e-6) for tick in ticks)
    assert ticks == sorted(set(ticks))


@given(st.lists(st.tuples(st.floats(0, 100), st.text("0123456789kM. ", min_size=1, max_size=8)), min_size=1, max_size=12))
def test_texts_of_ticks_never_touch_on_a_phone(marks: list[tuple[float, str]]) -> None:
    kept = fitting(sorted(marks))
    assert kept and kept[0] == sorted(marks)[0]
    for (before, one), (after, other) in itertools.pairwise(kept):
        assert (after - before) / 100 * NARROW >= (text_width(one, 12) + text_width(other, 12)) / 2


def test_only_numbers_of_ten_times_need_a_log_scale() -> None:
    assert wide([1.0, 10.0]) and not wide([1.0, 9.9]) and not wide([0.0, 5.0]) and not wide([])
