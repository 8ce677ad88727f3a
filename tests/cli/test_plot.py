"""`coterie plot`, `coterie compare` and `coterie scale`."""

import json
import sys

import pytest

from coterie.version import VERSION

STUDY = """
title = "Does noise cost much?"
horizon = 300
replications = 5
[problem]
means = [0.9, 0.5]
agents = 3
[[algorithm]]
name = "cdp-mab"
sweep.epsilon = [1, 5]
"""


@pytest.fixture
def finished(command, tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY)
    assert command("run", "mine.toml", "--out", "a", "--progress", "none").returncode == 0
    return command


def test_a_picture_and_its_numbers(finished, tmp_path):
    done = finished("plot", "a")
    assert (done.returncode, done.stdout) == (0, "picture: a/regret.pdf\nnumbers: a/regret.csv\n")
    assert (tmp_path / "a/regret.pdf").read_bytes().startswith(b"%PDF")
    assert finished("plot", "a", "--figure", "bars", "--out", "bars.svg").stdout.startswith("picture: bars.svg")
    assert finished("run", "mine.toml", "--out", "a", "--progress", "none").returncode == 0  # pictures do no harm there


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("",), "RUN must be the folder of a finished run, got ''"),
        (("nowhere",), "a run must be the folder that `coterie run` has written, got 'nowhere'"),
        (("a", "--figure", "bar"), "--figure must be regret or tradeoff or sweep or bars, got 'bar'; did you mean 'bars'?"),
        (("a", "--format", "gif"), "--format must be pdf or svg or png, got 'gif'"),
        (("a", "--format", "svg", "--out", "x.pdf"), "--out must have a name that ends in .svg, as --format says, got 'x.pdf'"),
        (("a", "--out", "x"), "--out must have a name that ends in .pdf or .svg or .png, got 'x'"),
        (("a", "--out", "no/x.pdf"), "--out must be in a folder that exists, got 'no/x.pdf'"),
    ],
)
def test_wrong_words(finished, words, line):
    done = finished("plot", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"coterie: {line}\n")


def test_without_the_library_one_line_says_what_to_install(finished, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = finished("plot", "a")
    assert (done.returncode, done.stderr) == (2, "coterie: pictures need matplotlib: pip install 'coterie[plot]'\n")


def test_two_runs_are_compared(finished, tmp_path):
    finished("run", "mine.toml", "--out", "b", "--set", "algorithm.sweep.epsilon=[2]", "--progress", "none")
    done = finished("compare", "a", "b", "--out", "both.html")
    assert done.returncode == 0 and "Differences run by run" in done.stdout and (tmp_path / "both.html").exists()
    found = json.loads(finished("compare", "a", "b", "--json").stdout)
    assert len(found["rows"]) == 3 and len(found["differences"]) == 2
    assert finished("compare", "a").returncode == 2
    assert finished("compare", "a", "").stderr == "coterie: RUN must be the folder of a finished run, got ''\n"


@pytest.mark.parametrize("words", [("plot", "a"), ("compare", "a", "b")])
def test_a_run_of_another_version_is_said_to_be_one(finished, tmp_path, words):
    path = tmp_path / "a/manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "0.0.1"}))
    done = finished(*words)
    wanted = f"must hold a run of version {VERSION}, got a run of version 0.0.1, whose numbers are others: run its study again"
    assert done.returncode != 0 and done.stderr == f"coterie: a: {wanted}\n"


def test_a_study_is_scaled(finished, tmp_path):
    done = finished("scale", "mine.toml", "--over", "problem.agents=2,4", "--picture", "growth.svg", "--progress", "none")
    assert done.returncode == 0 and "exponent" in done.stdout and (tmp_path / "growth.csv").exists()
    found = json.loads(finished("scale", "mine.toml", "--over", "problem.agents=2,4", "--json", "--progress", "none").stdout)
    assert (found["key"], found["values"], len(found["rows"])) == ("problem.agents", [2, 4], 2)
    assert "--over must be" in finished("scale", "mine.toml", "--over", "problem.agents=2").stderr
