"""Every command and every piece of code that the documents show is run, as it stands or smaller.

A comment before a block says what is done with it: `file: NAME` writes it down, `smaller: ...` changes keys of its study or
options of its command, and `not run: WHY` leaves it out. docs/deploy.md and operations.md have tests of their own in
tests/deploy.
"""

import functools
import re
import shlex
import shutil
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

import coterie
from coterie.cli.main import main
from coterie.studies import case, planning

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OWN_TESTS = {  # of the last: test_contributing.py
    "deploy.md": {"sh", "toml", "python"}, "operations.md": {"sh", "toml"}, "CONTRIBUTING.md": {"python"},
}  # fmt: skip
BLOCK = re.compile(r"(?:^ *<!-- ([^\n]*) -->\n)?^ *```(\w+)\n(.*?)^ *```$", re.M | re.S)
SET_UP = ("python3 -m venv ", "pip install ", ". .venv/")  # whoever runs this has done so
REST = {"horizon": 20, "replications": 1, "problem": {"means": [0.2, 0.5, 0.6], "agents": 6}}  # of a study shown in part


class Block(NamedTuple):
    mark: str
    kind: str
    text: str

    def told(self, word):
        """What follows `word:` in the comment before it."""
        return self.mark.partition(f"{word}: ")[2] if self.mark.startswith(f"{word}: ") else ""

    @property
    def left_out(self):
        return bool(self.told("not run")) or self.mark == "test command"


def blocks(page):
    found = [Block(mark, kind, dedent(text)) for mark, kind, text in BLOCK.findall(page.read_text())]
    return [block for block in found if block.kind not in OWN_TESTS.get(page.name, ())]


class Reader:
    """Somebody who does what a page says, from its top to its end, in a folder."""

    def __init__(self, monkeypatch):
        self.monkeypatch, self.names = monkeypatch, {"__name__": "page"}

    def follow(self, block):
        if name := block.told("file"):
            Path(name).write_text(block.text)  # commands that follow use it
            return
        {"sh": self.command, "python": self.code, "toml": self.study}.get(block.kind, lambda block: None)(block)

    def command(self, block):
        for line in block.text.replace("\\\n", " ").splitlines():
            for part in line.partition(" #")[0].strip().split(" && "):
                part = part.replace(".venv/bin/", "", 1) if not part.startswith(". ") else part
                if part.startswith("cp "):
                    shutil.copy(*shlex.split(part)[1:])
                elif part and not part.startswith(SET_UP):
                    assert part.startswith("coterie "), f"no test can run {part!r}"
                    self.coterie(smaller(shlex.split(part)[1:], shlex.split(block.told("smaller"))), part)

    def coterie(self, words, shown):
        self.monkeypatch.setattr(sys, "argv", ["coterie", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0, shown

    def code(self, block):
        sets = block.told("smaller").split()
        self.monkeypatch.setattr(coterie, "load_study", functools.partial(coterie.load_study, sets=sets))
        exec(compile(block.text, "page", "exec"), self.names)

    def study(self, block):
        written = tomllib.loads(block.text)
        study = written if "horizon" in written else REST | written
        sets = block.told("smaller").split() or ["horizon=20", "replications=1"]
        assert coterie.load_study(study, sets).run(workers=1).summary


def smaller(words, changes):
    """Keys of a study are set, where the command has one; options that the command has get another value."""
    words = list(words)
    for option, value in pairwise(changes):
        if option.startswith("--") and option in words:
            words[words.index(option) + 1] = value
    if words[0] in ("run", "scale", "statement"):
        words += [word for change in changes if "=" in change for word in ("--set", change)]
    return words


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With what the pages take for granted; nothing is compiled."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs/pictures").mkdir(parents=True)
    (tmp_path / "path/to").mkdir(parents=True)
    shutil.copy(ROOT / "examples/own_algorithm.py", tmp_path / "path/to/mine.py")
    monkeypatch.setattr(planning, "RUNS", 2)
    monkeypatch.setattr(planning, "FEW", 2)
    for name in ("simulate_mesh", "simulate_star"):
        monkeypatch.setattr(case, name, functools.partial(getattr(case, name), compiled=False))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_what_a_page_shows_works(page, folder, monkeypatch):
    reader = Reader(monkeypatch)
    for block in blocks(page):
        if not block.left_out:
            reader.follow(block)


def test_few_blocks_are_not_run_and_each_says_why():
    left_out = [(page.name, block.text) for page in PAGES for block in blocks(page) if block.left_out]
    assert len(left_out) == 13, left_out


def test_no_command_hides_outside_of_a_block_and_no_mark_is_misspelt():
    for page in PAGES:
        if page.name not in OWN_TESTS:
            assert not re.search(r"^(    |\t)\s*(coterie|pip|python3?) ", re.sub(BLOCK, "", page.read_text()), re.M), page.name
        for block in blocks(page):
            known = block.left_out or block.told("file") or block.told("smaller")
            assert known or not block.mark, (page.name, block.mark)
