"""Scales and their ticks."""

import pytest

from coterie.report.axes import Scale, linear_scale, log_scale, needs_log_scale


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0, 10.4, False, [0, 2, 4, 6, 8, 10]),
        (-1, 1, False, [-1, -0.5, 0, 0.5, 1]),
        (1, 1000, True, [1, 10, 100, 1000]),
        (2, 40, True, [3, 10, 30]),
    ],
)
def test_ticks_are_round_numbers_inside_the_scale(low: float, high: float, log: bool, expected: list[float]) -> None:
    assert Scale(low, high, 0, 1, log).ticks() == pytest.approx(expected)


def test_values_outside_a_scale_stick_to_its_ends() -> None:
    scale = Scale(1, 100, 0, 50, True)
    assert [scale.at(value) for value in (0, 1, 10, 100, 1000)] == [0, 0, 25, 50, 50]


def test_a_linear_scale_holds_zero_and_every_value() -> None:
    assert linear_scale([2.0, 5.0], 0, 1)[:2] == (0.0, pytest.approx(5.2))
    assert linear_scale([-1.0, 1.0], 0, 1).low == -1.0
    assert linear_scale([0.0], 0, 1).high > 0


def test_a_logarithmic_scale_holds_the_values_above_zero() -> None:
    assert log_scale([0.0, 2.0, 8.0], 0, 1)[:2] == (2.0, 8.0)
    assert log_scale([2.0, 8.0], 0, 1, margin=2)[:2] == (1.0, 16.0)
    assert log_scale([3.0], 0, 1)[:2] == (1.5, 6.0)
    assert log_scale([0.0], 0, 1).low > 0


def test_means_that_differ_by_more_than_a_power_of_ten_need_a_logarithmic_scale() -> None:
    assert not needs_log_scale([10.0, 99.0])
    assert needs_log_scale([10.0, 101.0])
    assert not needs_log_scale([0.0, 101.0])
