"""`coterie check`: what it prints, and that no file of a guest's takes the command down with it."""

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from coterie.checking import apart
from coterie.cli.main import main
from coterie.errors import AlgorithmError

EXAMPLE = (Path(__file__).parents[2] / "examples/own_algorithm.py").read_text()
PULLED = "    open.pulls[arm] += pulls\n"


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def coterie(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["coterie", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return Done(stopped.value.code, *capsys.readouterr())

    return run


def test_a_file_that_prints_is_checked_and_its_words_go_nowhere(coterie, tmp_path):
    (tmp_path / "mine.py").write_text('print("guest")\n' + EXAMPLE.replace(PULLED, PULLED + '    print("hook")\n'))
    done = coterie("check", "mine.py", "--quick")
    assert done.returncode == 0, done.stderr
    *ticks, last = done.stdout.replace("guest\n", "").splitlines()  # the command itself imports the file at its end
    assert last == "checked: block-ucb (3 forms)" and len(ticks) == 4 and all(tick.startswith("✓ ") for tick in ticks)


def test_json_is_what_was_checked_and_nothing_else(coterie, monkeypatch):
    monkeypatch.setattr(apart, "steps", lambda target, part: iter([f"{part} part of {target}"]))
    done = coterie("check", "ucb1", "--json")
    checked = ["interpreted part of ucb1", "compiled part of ucb1"]
    assert json.loads(done.stdout) == {"algorithm": "ucb1", "forms": 1, "compiled": True, "checked": checked}
    assert done.returncode == 0


HANGS = PULLED + "    while t > 2:\n        open.news += 0\n"
QUITS = PULLED + "    _exit(0)\n"
CRASHES = PULLED + "    _sigsegv()\n"
TOO_FAR = "argmax(open.index, 9)"


@pytest.mark.parametrize(("old", "new", "told", "at"), [
    (PULLED, HANGS, "choose takes too long, or has no end", ("while t > 2", "open.news += 0")),
    (PULLED, QUITS, "", ()),
    (PULLED, CRASHES, "choose stops the program, as code does that writes where it may not", ("    _sigsegv()",)),
    ("argmax(open.index, p.arms)", TOO_FAR, "choose asks for a place that does not exist", (TOO_FAR,)),
], ids=["a loop without end", "an end without a word", "a crash", "a place too far inside a compiled helper"])
def test_a_file_that_would_take_the_command_down_is_one_line(coterie, tmp_path, monkeypatch, old, new, told, at):
    monkeypatch.setattr(apart, "SECONDS", {"interpreted": 3})
    text = "from faulthandler import _sigsegv\nfrom os import _exit\n" + EXAMPLE.replace(old, new)
    (tmp_path / "mine.py").write_text(text)
    done = coterie("check", "mine.py", "--quick")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if any(part in line for part in at)]
    assert done.returncode == 2
    wanted = [f"coterie: mine.py:{number}: {told}" for number in lines] or ["coterie: mine.py: stops the program, as code does"]
    assert done.stderr.strip().splitlines()[-1].startswith(tuple(wanted))


STUDY = 'horizon = 20\n[problem]\nmeans = [0.5, 0.4]\nagents = 2\n[[algorithm]]\nname = "mine.py"\n'


@pytest.mark.parametrize("command", [["run", "own.toml"], ["budget", "own.toml"], ["budget", "mine.py"], ["audit", "mine.py"]])
def test_a_file_is_checked_before_it_is_used(coterie, tmp_path, monkeypatch, command):
    asked = []

    def steps(target, part):
        asked.append((Path(target).name, part))
        raise AlgorithmError("mine.py:1: not today")

    monkeypatch.setattr(apart, "steps", steps)
    (tmp_path / "mine.py").write_text(f"# {command}\nraise RuntimeError\n")
    (tmp_path / "own.toml").write_text(STUDY)
    done = coterie(*command)
    assert done.returncode == 2 and done.stderr.endswith("mine.py:1: not today\n") and asked == [("mine.py", "interpreted")]


@pytest.mark.slow
def test_what_the_compiler_refuses_is_one_line_of_ours(coterie, tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "steps", lambda target, part: iter(()))
    text = EXAMPLE.replace(PULLED, PULLED + '    open.news = int(f"{arm}")\n')
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "own.toml").write_text(STUDY)
    done = coterie("run", "own.toml", "--out", "out")
    line = text.splitlines().index('    open.news = int(f"{arm}")') + 1
    assert done.returncode == 2 and done.stderr.strip().endswith(f"mine.py:{line}: choose calls 'int' with what it cannot take")
    assert "numba" not in done.stderr and "Traceback" not in done.stderr


def test_what_fails_only_later_is_an_error_of_the_file_and_no_bug(coterie, tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "steps", lambda target, part: iter(()))
    text = EXAMPLE.replace(PULLED, PULLED + "    open.news = 1 // (t - 60)\n")
    (tmp_path / "mine.py").write_text(text)
    done = coterie("budget", "mine.py", "--horizon", 100)
    line = text.splitlines().index("    open.news = 1 // (t - 60)") + 1
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"coterie: mine.py:{line}: choose divides by zero")


def test_help_teaches_and_shows_an_example(coterie):
    text = " ".join(coterie("check", "--help").stdout.split())
    assert "Example: coterie check" in text and "exit code 2" in text and "coterie audit" in text
