"""Names of rows inside sentences: a user may call a row anything."""

from collections.abc import Callable
from typing import Any

from coterie.report.rows import all_named, emphasised
from coterie.studies.words import Words

MakeRow = Callable[..., dict[str, Any]]


def test_labels_with_commas_can_be_told_apart_in_a_list(row: MakeRow) -> None:
    rows = [row("each shop alone, no noise"), row("together, no noise"), row("as printed")]
    assert all_named(rows) == "“each shop alone, no noise”, “together, no noise” and “as printed”"


def test_the_page_shows_names_in_bold_type(row: MakeRow) -> None:
    rows = [row("together"), row("together, no noise")]
    text = "The lowest regret is that of “together, no noise”, not “together”."
    shown = "The lowest regret is that of <b>together, no noise</b>, not <b>together</b>."
    assert emphasised(text, [entry["label"] for entry in rows], Words()) == shown


def test_a_label_that_is_a_common_word_leaves_that_word_alone(row: MakeRow) -> None:
    assert emphasised("“private” is private.", ["private"], Words()) == "<b>private</b> is private."


def test_labels_are_escaped(row: MakeRow) -> None:
    assert emphasised("“<i>” & more", ["<i>"], Words()) == "<b>&lt;i&gt;</b> &amp; more"


def test_the_words_of_the_study_are_put_in_but_not_into_names(row: MakeRow) -> None:
    text = "“each agent alone” has 2 agents, and every agent drops arms."
    shown = "<b>each agent alone</b> has 2 hospitals, and every hospital drops a&lt;bs."
    assert emphasised(text, ["each agent alone"], Words("hospital", "a<b")) == shown
