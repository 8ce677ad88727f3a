"""What liars do."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report.attacks import attacks, said_of, shares, table
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


@pytest.fixture
def view(row: MakeRow, summary: MakeSummary) -> View:
    """Two methods and learning alone, without liars and with 10 and 20 % of them in two attacks."""
    faults = [{}, *({"liars": share, "attack": name} for share in (0.1, 0.2) for name in ("random", "sleeper"))]
    rows, groups = [], []
    for method, base in (("alone", 10.0), ("weak", 2.0), ("strong", 3.0)):
        groups.append({"name": method, "rows": list(range(len(rows), len(rows) + 5))})
        for one in faults:
            harm = 0.0 if method == "alone" else 100 * one.get("liars", 0.0) * (3 if one.get("attack") == "sleeper" else 1)
            rows.append(row(f"{method} {one}", base + (harm if method == "weak" else harm / 20), faults=one,
                            method=method, size=0.0 if method == "alone" else 9.0))  # fmt: skip
    swept = {"key": "liars", "values": [one["faults"].get("liars", 0.0) for one in rows], "log": False}
    return View(summary(rows, kind="liars", alone=0, groups=groups, swept=swept))


def test_each_method_that_listens_has_a_panel_with_its_worst_attack(view: View) -> None:
    found = attacks(view)
    assert found is not None
    assert [panel.heading for panel in found.panels] == ["weak", "strong"]
    assert [" ".join(panel.note.split()) for panel in found.panels] == [
        "62.0 with 20 % liars, attack “sleeper”", "6.0 with 20 % liars, attack “sleeper”"
    ]  # fmt: skip
    for panel in found.panels:
        assert panel.picture.count('class="ln"') == 1 and panel.picture.count('class="ref"') == 1
        assert panel.picture.count('class="ctx"') == 2
    assert "Dashed: learning alone, 10.0." in found.caption and found.numbers.count("\n") == 16


def test_the_table_has_all_attacks_and_marks_the_worst(view: View) -> None:
    alone, weak, _ = table(view)
    assert [line.attack for line in alone.lines] == ["any attack"] and not any(
        cell.worst for cell in alone.lines[0].cells if cell
    )
    assert [line.attack for line in weak.lines] == ["random", "sleeper"]
    assert weak.calm is not None and weak.calm.text == "2.0"
    assert [[cell and (cell.text, cell.worst) for cell in line.cells] for line in weak.lines] == [
        [("12.0", False), ("22.0", False)], [("32.0", True), ("62.0", True)]
    ]  # fmt: skip
    assert weak.lines[0].sentence  # what liars say in it
    assert shares(view) == [0.1, 0.2]


def test_forged_messages_are_told_as_such_and_honest_rows_have_neither(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a"), row("a forged", 12.0, faults={"contamination": 0.001})]
    view = View(summary(rows, kind="liars", groups=[{"name": "a", "rows": [0, 1]}]))
    found = attacks(view)
    assert found is not None and "of the messages forged" in found.panels[0].note
    assert " ".join(said_of(view, 0.001).split()) == "0.1 % of the messages forged"
    honest = View(summary([row("a"), row("b")]))
    assert attacks(honest) is None and table(honest) == []
