"""`coterie show` and `coterie algorithms`, and what a shell completes."""

import json

import pytest

from coterie.algorithms import entries
from coterie.cli.completing import algorithm_names, settings, study_names
from coterie.studies import builtin_names, load_study
from coterie.studies.reading import BUILTIN


def test_a_study_is_shown_as_it_is_written_and_runs_as_a_copy(command, tmp_path):
    done = command("show", "quickstart")
    assert done.returncode == 0 and done.stdout == (BUILTIN / "quickstart.toml").read_text()
    (tmp_path / "mine.toml").write_text(done.stdout)
    assert load_study(tmp_path / "mine.toml").specification.digest == load_study("quickstart").specification.digest
    assert command("show", "mine.toml").stdout == done.stdout


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("quikstart", "got 'quikstart'; did you mean 'quickstart'?"),
        ("", "got ''; `coterie studies` lists them"),
    ],
)
def test_a_study_that_is_not_there(command, name, line):
    wanted = "coterie: study must be the path of a TOML file or the name of a built-in study"
    done = command("show", name)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{wanted}, {line}\n")


def test_what_is_wrong_with_a_file_is_said_instead_of_showing_it(command, tmp_path):
    (tmp_path / "bad.toml").write_text("horizon = 0\n[problem]\nmeans = [0.1, 0.2]\nagents = 2\n[[algorithm]]\nname = 'ucb1'\n")
    done = command("show", "bad.toml")
    assert (done.returncode, done.stdout) == (2, "") and "horizon must be" in done.stderr


def test_algorithms_are_listed(command):
    found = json.loads(command("algorithms", "--json").stdout)
    assert found == {name: entry.summary for name, entry in entries().items()}
    printed = command("algorithms").stdout
    assert all(name in printed for name in found)


def test_options_of_one_algorithm_are_listed(command):
    told = json.loads(command("algorithms", "fed-ucb", "--json").stdout)
    assert [key["name"] for key in told["options"]] == list(entries()["fed-ucb"].options.model_fields)
    printed = command("algorithms", "fed-ucb").stdout
    for key in told["options"]:
        assert all(part in printed for part in (key["name"], key["meaning"], key["default"]))


def test_an_algorithm_that_is_not_there(command):
    done = command("algorithms", "fed-ubc")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.endswith("did you mean 'fed-ucb'?\n")


def test_an_own_file_has_options_too(command, tmp_path):
    from pathlib import Path

    example = Path(__file__).parents[2] / "examples/own_algorithm.py"
    (tmp_path / "own.py").write_text(example.read_text())
    told = json.loads(command("algorithms", "own.py", "--json").stdout)
    assert told["options"] and all(key["takes"] for key in told["options"])


def test_a_shell_completes_names_and_keys():
    assert study_names("") == builtin_names() and study_names("quick") == ["quickstart"]
    assert algorithm_names("fed") == ["fed-ucb"]
    assert settings("hor") == ["horizon="] and "problem.agents=" in settings("problem.")


def test_the_command_tells_the_formula_that_an_option_enters(command):
    told = " ".join(command("algorithms", "pr-ucb").stdout.split())
    assert "takes a number in [0, 0.5); default 0.3 of n votes floor(beta n) may lie" in told
