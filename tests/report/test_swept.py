"""Dots in the order of what is swept."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from coterie.report.swept import sweep
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


def across(picture: str) -> list[float]:
    svg = fromstring(picture)
    inside = [
        part for group in svg.iter("g") if (group.get("class") or "").startswith("pt") for part in group if part.tag == "svg"
    ]
    return [float(part.get("x", "").rstrip("%")) for part in inside]


def test_one_line_has_a_tag_for_each_row_and_the_row_without_a_value_is_a_dashed_line(
    row: MakeRow, summary: MakeSummary
) -> None:
    rows = [row(f"ucb {e}", 4.0 - e, claimed=e, accounted=e) for e in (0.1, 1.0)] + [row("ucb no noise", 2.0)]
    swept = {"key": "epsilon", "values": [0.1, 1.0, None], "log": True}
    groups = [{"name": "ucb", "rows": [0, 1]}, {"name": "ucb no noise", "rows": [2]}]
    found = sweep(View(summary(rows, kind="sweep", swept=swept, groups=groups)))
    assert found is not None
    assert across(found.picture) == [7, 93]
    assert found.picture.count('class="tn"') == 2 and found.picture.count('class="ref"') == 1
    assert [(entry.shown.number, entry.name) for entry in found.key] == [(1, "ucb 0.1"), (2, "ucb 1.0"), (3, "ucb no noise")]
    assert found.across == "by the ε promised" and "Logarithmic: ε" in found.caption
    assert found.numbers.splitlines()[1:] == ["1,ucb 0.1,0.1,3.9,0.1", "2,ucb 1.0,1,3,0.1", "3,ucb no noise,,2,0.1"]


def test_several_lines_are_tagged_at_their_ends(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row(f"{name} {hops}", 9.0 - hops) for name in ("a", "b") for hops in (2, 0)]
    swept = {"key": "life", "values": [2, 0, 2, 0], "log": False}
    groups = [{"name": "a", "rows": [0, 1]}, {"name": "b", "rows": [2, 3]}]
    found = sweep(View(summary(rows, kind="hops", swept=swept, groups=groups)))
    assert found is not None and found.across == "by hops"
    assert [(entry.shown.number, entry.name, entry.numbers.partition("\N{NO-BREAK SPACE}")[0]) for entry in found.key] == [
        (1, "a", "from 9.0 to 7.0"), (3, "b", "from 9.0 to 7.0")
    ]  # fmt: skip
    assert found.picture.count('class="tn"') == 2 and found.picture.count("ln thin") == 2


@pytest.mark.parametrize("values", [["half-diameter", "diameter"], [1, 1], [None, 3], [True, False]])
def test_what_has_no_two_numbers_is_not_drawn_on_a_scale(row: MakeRow, summary: MakeSummary, values: list[Any]) -> None:
    swept = {"key": "life", "values": values, "log": False}
    assert sweep(View(summary([row("a"), row("b")], swept=swept))) is None
    assert sweep(View(summary([row("a"), row("b")]))) is None
