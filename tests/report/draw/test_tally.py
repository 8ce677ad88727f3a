"""Shares as ticks."""

import pytest

from coterie.report.draw.tally import tally


@pytest.mark.parametrize(("count", "cases"), [(19, 20), (1, 8), (8, 8)])
def test_few_cases_are_ticks_that_can_be_counted(count: int, cases: int) -> None:
    drawn = tally(count / cases, cases)
    assert f'd="M0 6H{3 * cases}"' in drawn and f'd="M0 6H{3 * count}"' in drawn
    assert drawn.count('stroke-dasharray="2 1"') == 2 and f'width="{3 * cases}"' in drawn


def test_many_cases_are_a_bar_and_none_has_no_mark() -> None:
    assert "dasharray" not in tally(0.5, 4000) and 'd="M0 6H30"' in tally(0.5, 4000)
    assert "yes" not in tally(0.0, 20)
