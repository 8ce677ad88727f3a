"""Shapes say what became of a promise."""

import pytest

from coterie.report.draw.marks import dashes, swatch, tag
from coterie.report.draw.svg import picture, source


@pytest.mark.parametrize(("state", "shape"), [("kept", "dot"), ("weak", "half"), ("broken", "cross"), ("nothing", "ring")])
def test_every_state_has_its_shape(state: str, shape: str) -> None:
    assert f'class="{shape}"' in swatch(state)  # type: ignore[arg-type]
    assert 'aria-hidden="true"' in swatch(state)  # type: ignore[arg-type]


def test_a_tag_is_round_and_grows_with_its_text() -> None:
    svg = picture(1, "")
    tag(svg, "12", 3.0, -17.0, 10.5)
    assert '<rect x="-7.5" y="-25.5" width="21.0" height="17" rx="8.5" class="tg" />' in source(svg)
    assert 'class="ref"' in dashes()
