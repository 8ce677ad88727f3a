"""How far the best guess gets."""

import pytest

from coterie.report.draw.gauge import gauge


@pytest.mark.parametrize(("guess", "width"), [(0.5, "0%"), (0.75, "50%"), (1.0, "100%"), (None, "100%")])
def test_a_blind_guess_is_empty_and_certainty_is_full(guess: float | None, width: str) -> None:
    assert f'width="{width}" height="6" class="gf"' in gauge(guess)
