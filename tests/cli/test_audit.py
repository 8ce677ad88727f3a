"""`coterie audit`: what it prints, what it leaves, and its exit codes."""

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from coterie.cli.main import main

LEAKS = Path(__file__).parents[1] / "audit/leaks.py"


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def coterie(monkeypatch, capsys, tmp_path):
    """The command, in this process: engines are loaded once."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["coterie", "audit", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return Done(stopped.value.code, *capsys.readouterr())

    return run


def test_a_broken_promise_is_exit_code_1_and_leaves_a_page(coterie, tmp_path):
    done = coterie("cdp-mab", "--mode", "paper", "--epsilon", "1", "--trials", 300, "--out", "here")
    assert done.returncode == 1 and "broken: promised 1, 4 holds; at least ε = " in done.stdout
    assert "coterie audit cdp-mab --mode paper --epsilon 1 --view public --trials 300 --seed 0" in done.stdout
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"audit.html", "audit.json"}


def test_json_is_the_audit_and_nothing_else_and_a_pass_is_exit_code_0(coterie, tmp_path):
    done = coterie("cdp-mab", "--epsilon", "1", "--trials", 300, "--json", "--progress", "none")
    facts = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == "" and facts["violation"] is False
    assert facts["proven"]["epsilon"] < facts["limit"] == 1 and list(tmp_path.iterdir()) == []


def test_a_study_with_a_file_of_ones_own_is_audited_row_by_row(coterie, tmp_path):
    table = f'[[algorithm]]\nname = "{LEAKS}"\nleak = "dear"\n'
    (tmp_path / "mine.toml").write_text(f"horizon = 900\n[problem]\nmeans = [0.9, 0.5]\nagents = 3\n{table}")
    done = coterie("mine.toml", "--horizon", 80, "--quick", "--out", "here")
    assert done.returncode == 1, done.stderr
    assert "broken: promised 1, 50 holds" in done.stdout and "240 of 240 rewards changed" in done.stdout
    page = (tmp_path / "here/audit.html").read_text()
    assert "Rows that promise privacy" in page and "Promised and broken" in page and "<figure" not in page


BAD = {
    ("fed-uc",): "did you mean 'fed-ucb'?",
    ("nothing.py",): "got 'nothing.py'",
    ("fed-ucb", "--epsilon", "0"): "epsilon of fed-ucb must be a number in [1e-06, 1e+06] or inf",
    ("fed-ucb", "--mode", "loud"): "mode of fed-ucb must be",
    ("fed-ucb", "--view", "moon"): "--view must be one of public, messages, neighbour here, got 'moon'",
    ("fed-ucb", "--trials", "3"): "--trials must be a whole number >= 300, got 3",
    ("fed-ucb", "--quick", "--trials", "600"): "--trials must be left out with --quick",
    ("fed-ucb", "--horizon", "3"): "--horizon must be a whole number >= 24, got 3",
    ("hospitals", "--mode", "paper"): "--mode must be left out with a study, got paper",
    ("hospitals", "--trials", "600"): "--trials must be left out with a study, got 600",
    ("nothing.toml",): "nothing.toml",
    ("fed-ucb", "--seed", "-1"): "--seed must be a whole number >= 0, got -1",
    ("fed-ucb", "--set", "tree"): "--set must be KEY=VALUE",
    ("fed-ucb", "--set", "mechanisn=tree"): "did you mean",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_line_and_exit_code_2(coterie, arguments, tmp_path):
    done = coterie(*arguments)
    assert done.returncode == 2 and BAD[arguments] in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == "" and list(tmp_path.iterdir()) == []


def test_help_shows_an_example(coterie):
    assert "Example: coterie audit" in coterie("--help").stdout
