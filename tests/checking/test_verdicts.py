"""What a row says of a file of one's own: that it was checked, and whether an audit of it is known."""

from math import inf
from pathlib import Path

import pytest

from coterie.algorithms import find
from coterie.checking import verdicts
from coterie.studies import load_study
from coterie.studies.results import own_file, own_file_warnings
from coterie.studies.spec import Row

EXAMPLE = (Path(__file__).parents[2] / "examples/own_algorithm.py").read_text()


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path))
    (tmp_path / "mine.py").write_text(EXAMPLE)
    return str(tmp_path / "mine.py")


SIZES = 3, 2
STUDY = load_study({"horizon": 9, "problem": {"means": [0.2, 0.8], "agents": 3}, "algorithm": [{"name": "ucb1"}]}).specification


def row(path, **options):
    return Row(name="mine", reference=path, label="mine", options=find(path).options(**options), content="its hash")


def test_an_audit_that_found_nothing_is_remembered_for_its_options_and_sizes_only(mine):
    assert own_file(STUDY, row(mine)) == {"checked": True, "audited": False}
    verdicts.note_audit(mine, {}, *SIZES, failed=False)
    assert own_file(STUDY, row(mine)) == own_file(STUDY, row(mine, epsilon=1.0)) == {"checked": True, "audited": True}
    assert own_file(STUDY, row(mine, epsilon=inf))["audited"] is False
    more = STUDY.model_copy(update={"problem": STUDY.problem.model_copy(update={"agents": 4})})
    assert own_file(more, row(mine))["audited"] is False
    assert own_file_warnings(STUDY, row(mine)) == [] and "no audit" in own_file_warnings(STUDY, row(mine, epsilon=inf))[0]


def test_a_failed_audit_is_none_and_another_text_is_another_file(mine):
    verdicts.note_audit(mine, {}, *SIZES, failed=False)
    verdicts.note_audit(mine, {}, *SIZES, failed=True)
    assert own_file(STUDY, row(mine))["audited"] is False
    verdicts.note_audit(mine, {}, *SIZES, failed=False)
    Path(mine).write_text(EXAMPLE + "# changed\n")
    assert own_file(STUDY, row(mine))["audited"] is False


def test_damaged_notes_are_no_audit(mine, tmp_path):
    verdicts.note_audit(mine, {}, *SIZES, failed=False)
    next(tmp_path.glob("audited_*")).write_text("{")
    assert own_file(STUDY, row(mine))["audited"] is False


def test_a_built_in_algorithm_says_nothing_of_files():
    options = find("ucb1").options()
    assert own_file_warnings(STUDY, Row(name="ucb1", reference="ucb1", label="ucb1", options=options)) == []
