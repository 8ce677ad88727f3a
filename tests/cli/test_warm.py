"""`coterie warm`: what it compiles, what it says, and what it refuses."""

import pytest

from coterie.cli import warm as command
from coterie.studies import ahead

STUDY = """
horizon = 20
replications = 1
[problem]
means = [0.9, 0.5]
agents = 2
[[algorithm]]
name = "ucb1"
"""


@pytest.fixture
def given(monkeypatch, tmp_path):
    """The names of the studies that would be compiled."""
    found = []
    monkeypatch.setattr(ahead, "warm", lambda studies, workers, progress: found.extend(one.name for one in studies) or 3)
    monkeypatch.chdir(tmp_path)
    return found


def call(study=None, every=False):
    command.warm(study, every, None, "none")


def test_without_a_name_it_is_what_most_people_begin_with(given, capsys):
    call()
    assert given == ["hospitals", "quickstart"] and capsys.readouterr().out == "compiled 3 engines: hospitals, quickstart\n"


def test_all_are_all_built_in_studies(given, capsys):
    from coterie.studies import builtin_names

    call(every=True)
    assert given == builtin_names() and "all built-in studies" in capsys.readouterr().out


def test_a_study_and_all_studies_exclude_each_other():
    with pytest.raises(command.UsageError, match="--all must be left out where a study is named"):
        call("quickstart", every=True)


def test_what_is_there_is_not_compiled_again(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(STUDY)
    call(str(tmp_path / "mine.toml"))
    call(str(tmp_path / "mine.toml"))
    assert capsys.readouterr().out.splitlines()[-1].startswith("nothing was left to compile: ")
