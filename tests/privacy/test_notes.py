"""Every proof note has its parts, names code that exists, and is named by that code."""

import pydoc
import re
from pathlib import Path

import pytest

import coterie.privacy

FOLDER = Path(coterie.privacy.__path__[0])
ROOT = Path(__file__).parents[2]
NOTES = sorted(FOLDER.rglob("*.md"), key=lambda note: note.name)
BACK = {  # the modules that point to a note
    "laplace.md": ["privacy/mechanisms/laplace.py", "privacy/mechanisms/shares.py", "privacy/exact.py", "privacy/budget.py"],
    "gauss.md": ["privacy/mechanisms/normal.py", "privacy/exact.py", "privacy/gauss.py"],
    "streams.md": ["privacy/mechanisms/streams.py"],
    "blocks.md": ["algorithms/gossip.py"],
    "tree.md": ["algorithms/gossip.py"],
}
PARTS = (
    "Precondition|What must hold", "Statement|What is guaranteed", "Proof|Why", "What the code must do", "What is not covered",
)  # fmt: skip


def test_there_is_a_note_for_each_kind_of_release():
    assert [note.name for note in NOTES] == sorted(BACK)


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_a_note_has_precondition_statement_proof_and_duties_of_the_code(note):
    headings = re.findall(r"^## (.*)$", note.read_text(), re.M)
    assert len(headings) == len(PARTS)
    assert all(re.fullmatch(part, heading) for part, heading in zip(PARTS, headings, strict=True))


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_what_a_note_names_exists(note):
    text = note.read_text()
    names = re.findall(r"`(coterie\.[\w.]+)`", text)
    assert names
    assert [name for name in names if pydoc.locate(name) is None] == []
    assert all((ROOT / path).is_file() for path in re.findall(r"`(tests/[\w/]+\.py)`", text))
    files = re.findall(r"\b(\w+\.md)\b", text) + re.findall(r"`(\w+\.py)`", text)
    assert files and all(list(FOLDER.rglob(name)) for name in files)


@pytest.mark.parametrize("note", BACK)
def test_code_names_its_note(note):
    assert [path for path in BACK[note] if note not in (FOLDER.parent / path).read_text()] == []
