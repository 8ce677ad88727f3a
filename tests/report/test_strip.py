"""What became of promises, in words."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report.strip import as_sentences, guess_text, meaning, strip
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]


def plain(text: str) -> str:
    return " ".join(text.split())


def test_broken_promises_come_first_and_nothing_promised_last(row: MakeRow, summary: MakeSummary) -> None:
    rows = [
        row("alone", size=0.0),
        row("weak", claimed=5, accounted=5),
        row("kept", claimed=1, accounted=1),
        row("worse", claimed=1),
        row("more", claimed=1, accounted=50),
        row("open"),
    ]
    found = strip(View(summary(rows)))
    assert [(line.state, line.name, line.numbers) for line in found] == [
        ("broken", "more", [5]), ("broken", "worse", [4]), ("kept", "kept", [3]), ("weak", "weak", [2]),
        ("nothing", "alone", [1]), ("nothing", "open", [6]),
    ]  # fmt: skip
    texts = [plain(line.text) for line in found]
    assert texts[0] == "Promised ε = 1, but ε = 50 holds. Do not treat it as private."
    assert texts[1] == "Promised ε = 1, but no limit holds. Do not treat it as private."
    assert texts[2] == "Promised ε = 1, and ε = 1 holds."
    assert texts[3].startswith("Promised ε = 5, and ε = 5 holds. That is weak")
    assert texts[4].startswith("Nothing is sent, so no message can leak.")
    assert [plain(line.guess) for line in found] == [
        "right in over 99.9 %", "up to certainty", "right at most 73.2 %", "right at most 99.4 %", "no message to read",
        "up to certainty",
    ]  # fmt: skip


def test_rows_of_which_the_same_is_said_share_a_line(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row(f"x (z, {n} hops)", claimed=1, accounted=1) for n in range(3)] + [row("z", claimed=2, accounted=2)]
    first, second = strip(View(summary(rows)))
    assert (first.name, first.numbers) == ("x (z): 3 rows", [1, 2, 3]) and second.name == "z"
    pair = strip(View(summary([row("a", claimed=1, accounted=1), row("b", claimed=1, accounted=1)])))
    assert [line.name for line in pair] == ["a and b"]
    apart = strip(View(summary([row("a", claimed=1, size=0.0), row("b", claimed=1)])))  # only one sends what can be read
    assert [line.guess for line in apart] == ["no message to read", "up to certainty"]


def test_who_sends_nothing_has_neither_an_epsilon_nor_a_guess(row: MakeRow, summary: MakeSummary) -> None:
    (line,) = strip(View(summary([row("no limit", size=0.0), row("0", accounted=0, size=0.0)])))  # whatever is accounted
    assert line.text.startswith("Nothing is sent") and "ε" not in line.text and line.guess == "no message to read"


def test_units_and_adversaries_are_told_once_where_all_have_the_same(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("a", claimed=1, accounted=1), row("b", claimed=2, accounted=2)]
    words = {"words": {"agent": "shop", "arm": "offer"}}
    assert "Protected is one reward of one shop, from one who sees every message." in meaning(View(summary(rows, study=words)))
    assert "one who sees" not in strip(View(summary(rows)))[0].text
    rows[1]["privacy"]["adversary"] = "the server"
    assert "from" not in meaning(View(summary(rows))).partition(". ")[0]
    assert strip(View(summary(rows)))[1].text.endswith("Against the server.")
    assert meaning(View(summary([row("a")]))) == "No row promises anything."


@pytest.mark.parametrize(("guess", "text"), [(0.5, "50 %"), (0.73106, "73.2 %"), (0.9995, "over 99.9 %"), (None, "certainty")])
def test_a_guess_is_rounded_up(guess: float | None, text: str) -> None:
    assert plain(guess_text(guess)).endswith(text)


def test_notes_are_sentences() -> None:
    assert as_sentences("noise is added. each reward counts once") == "Noise is added. Each reward counts once."
    assert as_sentences("") == ""
