"""Regret against epsilon and against data sent."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

from coterie.report.trade import trade, upward
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


def places(picture: str) -> dict[str, float]:
    """Percent across, by row."""
    found = {}
    for group in fromstring(picture).iter("g"):
        if (group.get("class") or "").startswith("pt"):
            (inside,) = [part for part in group if part.tag == "svg"]
            found[group.get("data-row", "")] = float(inside.get("x", "").rstrip("%"))
    return found


def test_the_smaller_epsilon_is_further_left_and_lanes_have_what_no_scale_can_show(row: MakeRow, summary: MakeSummary) -> None:
    rows = [
        row("alone", 9.0, size=0.0),
        row("kept", 3.0, claimed=1, accounted=1),
        row("broken", 2.0, claimed=1, accounted=20, size=4e6),
        row("nothing lost", 4.0, claimed=1, accounted=0),
        row("open", 5.0),
    ]
    found = trade(View(summary(rows)))
    assert found is not None
    privacy, sent = (places(panel.picture) for panel in found.panels)
    assert privacy["4"] == 11 < privacy["2"] == 30 < privacy["3"] == 56 < privacy["5"] == 73 < privacy["1"] == 91
    assert sent["1"] == 11 < sent["2"] == sent["4"] == 30 < sent["3"] == 92
    assert "no limit" in found.panels[0].picture and "off the scale of ε" in found.caption
    assert found.panels[0].picture.count('class="dotted"') == 2  # from what was promised to what holds
    assert [text for _, text in found.shapes] == ["promise kept", "promise broken", "nothing promised"]
    assert [" ".join(entry.numbers.split()) for entry in found.key][2] == "2.0 (1.9–2.1) · ε = 20 · 1 MB sent"  # noqa: RUF001
    assert found.numbers.splitlines()[1:4] == [
        "1,alone,9,0.1,nothing,sends nothing,0", "2,kept,3,0.1,1,1,250", "3,broken,2,0.1,1,20,1e+06"
    ]  # fmt: skip
    opened = trade(View(summary([row("a", 3.0), row("b", 3.0, claimed=1, accounted=1)])))
    assert opened is not None and opened.numbers.splitlines()[1] == "1,a,3,0.1,nothing,no limit,250"


def test_who_sends_nothing_is_called_so_and_stands_on_no_private_side(row: MakeRow, summary: MakeSummary) -> None:
    found = trade(View(summary([row("alone", 9.0, size=0.0), row("kept", 3.0, claimed=1, accounted=1)])))
    assert found is not None
    assert places(found.panels[0].picture)["1"] > places(found.panels[0].picture)["2"]
    texts = [text.text for panel in found.panels for text in fromstring(panel.picture).iter("text")]
    assert texts.count("sends") == texts.count("nothing") == 2
    assert " ".join(found.key[0].numbers.split()).endswith("· sends nothing") and ",sends nothing," in found.numbers


def test_a_weak_promise_is_not_shown_as_one_that_is_kept(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a", 3.0, claimed=1, accounted=1), row("b", 2.0, claimed=5, accounted=5)]
    found = trade(View(summary(rows)))
    assert found is not None and [text for _, text in found.shapes] == ["promise kept", "kept, but weak"]
    assert found.key[0].swatch != found.key[1].swatch


def test_intervals_are_drawn_as_far_as_they_reach(row: MakeRow, summary: MakeSummary) -> None:
    view = View(summary([row("a", 12.3, 27.9, claimed=1, accounted=1), row("b", 12.0, 0.1, claimed=2, accounted=2)]))
    axis = upward(view).scale
    assert axis.at(40.2) > axis.end and axis.at(11.9) < axis.start


def test_only_what_differs_from_nothing_is_drawn(row: MakeRow, summary: MakeSummary) -> None:
    assert trade(View(summary([row("one")]))) is None
    assert trade(View(summary([row("a", size=0.0), row("b", size=0.0)]))) is None
    open_rows = trade(View(summary([row("a"), row("b", size=0.0)])))
    assert open_rows is not None and [panel.heading for panel in open_rows.panels] == ["Regret and communication"]
    silent = trade(View(summary([row("a", claimed=1, accounted=1, size=0.0), row("b", size=0.0)])))
    assert silent is not None and silent.heading == "What less regret costs: privacy"


def test_rows_that_send_about_as_much_have_no_panel_for_it(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a", claimed=1, accounted=1, size=4000.0), row("b", claimed=2, accounted=2, size=4400.0)]
    found = trade(View(summary(rows)))
    assert found is not None and [panel.heading for panel in found.panels] == ["Regret and privacy"]
    assert " ".join(found.note.split()) == "All send about as much: 1.1 kB by each agent at most."
    rows[1]["communication"]["bytes"] = 5000.0
    apart = trade(View(summary(rows)))
    assert apart is not None and len(apart.panels) == 2 and apart.note == ""


def test_of_many_rows_some_are_tagged_and_the_rest_is_faint(row: MakeRow, summary: MakeSummary) -> None:
    found = trade(View(summary([row(f"r{n}", 5.0 + n, claimed=1, accounted=1.0 + n) for n in range(30)])))
    assert found is not None
    tags = found.panels[0].picture.count('class="tn"')
    assert tags == len(found.key) < 12 and found.panels[0].picture.count(" faint") == 30 - tags
    assert "which are in the table of all numbers" in found.caption
