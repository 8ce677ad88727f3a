"""What goes wrong in a user's own file, in one line."""

from pathlib import Path

import pytest

from coterie.guests import LONGEST, blamed, place_of, reason_of, shown

REASONS = {
    "1 / 0": "divides by zero",
    "import nowhere_at_all": "imports 'nowhere_at_all', which is not installed",
    "[][1]": "asks for a place that does not exist",
    "missing": "uses 'missing', which is not defined",
    "1e308 ** 2": "computes a number that is too large",
    "raise SystemExit": "must not stop the program, got SystemExit",
    "raise ValueError('two\\n lines')": "ValueError: two lines",
    "raise ValueError": "ValueError",
    "(": "must be Python, got '(' was never closed",
}


def error_of(text: str, file: str) -> BaseException:
    try:
        exec(compile(text, file, "exec"), {"__name__": "coterie_own_mine"})
    except BaseException as error:
        return error
    raise AssertionError("nothing went wrong")


@pytest.mark.parametrize("text", REASONS)
def test_an_error_is_told_in_words_about_the_file(text):
    assert reason_of(error_of(text, "mine.py")) == REASONS[text]


def test_a_long_text_is_cut_and_addresses_are_left_out():
    assert len(reason_of(ValueError("x" * 1000))) == LONGEST
    assert reason_of(TypeError("<object at 0x7f00aa> is odd")) == "TypeError: <object> is odd"


def test_the_place_is_the_innermost_call_in_the_file(tmp_path):
    file = tmp_path / "mine.py"
    error = error_of("def hook():\n    return [][1]\n\nhook()\n", str(file))
    assert place_of(error, file).endswith("mine.py:2: hook")
    assert place_of(error, tmp_path / "other.py").endswith("other.py")
    assert blamed(error).endswith("mine.py:2: hook asks for a place that does not exist")
    assert blamed(ValueError("of ours")) == ""


def test_a_path_is_as_short_as_it_can_be_read_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "b.py") == str(Path("a/b.py"))
    assert shown("/elsewhere/b.py") == "/elsewhere/b.py"
