"""`coterie statement` as a user meets it."""

import json
import sys
from types import SimpleNamespace

import pytest

import coterie.audit
from coterie.cli.main import main

STUDY = """
horizon = 400
[problem]
means = [0.9, 0.5]
agents = 4
[[algorithm]]
name = "cdp-mab"
sweep.epsilon = [1, 0.5, inf]
"""

BUYING = """
horizon = 30
[problem]
kind = "procurement"
agents = 3
producers = 4
alpha = 0.5
[[algorithm]]
name = "nf-cb"
"""


@pytest.fixture
def statement(monkeypatch, capsys, tmp_path):
    """The command in this process, in a folder with two studies: (returncode, stdout, stderr)."""
    (tmp_path / "small.toml").write_text(STUDY)
    (tmp_path / "buying.toml").write_text(BUYING)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["coterie", "statement", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return SimpleNamespace(returncode=ended.value.code, **capsys.readouterr()._asdict())

    return run


def test_the_example_of_the_help_runs_and_leaves_its_page(statement, tmp_path):
    text = " ".join(statement("--help").out.split())
    example = text[text.index("Example: coterie statement") :].split()[3:8]
    assert example == ["quickstart", "--row", "4", "--rewards", "30"]
    done = statement(*example)
    assert done.returncode == 0, done.err
    assert "row 4 of 9: together, private epsilon=1" in done.out and "a person with 30 rewards" in done.out
    assert done.out.rstrip().endswith("page: quickstart-statement.html")
    assert "Signature" in (tmp_path / "quickstart-statement.html").read_text()


def test_json_is_everything_and_nothing_else(statement, tmp_path):
    done = statement("small.toml", "--json", "--times", "small.toml")
    found = json.loads(done.out)
    assert found["row"] == {"number": 2, "label": "cdp-mab epsilon=0.5"} and found["to_sign"] is True
    assert found["privacy"]["accounted"] == {"epsilon": 0.5, "delta": 0.0}
    assert found["added_up"][-1]["epsilon"] is None and "all rows of small" in found["added_up"][-1]["what"]
    assert {path.name for path in tmp_path.iterdir()} == {"small.toml", "buying.toml"}
    statement("small.toml", "--json", "--out", "deep/page.html")
    assert (tmp_path / "deep/page.html").exists()


def test_a_row_without_a_promise_is_told_and_is_no_error(statement, tmp_path):
    done = statement("small.toml", "--row", "3")
    assert done.returncode == 0 and "no finite ε holds" in " ".join(done.out.split())
    assert "Signature" not in (tmp_path / "small-statement.html").read_text()


def test_an_audit_is_made_of_this_row_and_its_verdict_told(statement, monkeypatch):
    asked = []
    monkeypatch.setattr(coterie.audit, "audit", lambda *about, **how: asked.append((about, how["trials"])))
    monkeypatch.setattr(coterie.audit, "document", lambda _: {"verdict": "a leak was found", "failed": True})
    done = statement("small.toml", "--row", "2", "--audit")
    assert asked == [(("cdp-mab", {"epsilon": 0.5}), coterie.audit.TRIALS_QUICK)]
    assert "audited: a leak was found" in done.out and "nothing to sign: the audit has failed" in done.out


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["small.toml", "--row", "9"], "--row must be a number in 1..3 or one of", 2),
        (["small.toml", "--rewards", "0"], "--rewards must be a whole number in [1, 1000000000000], got 0", 2),
        (["small.toml", "--times", "buying.toml"], "--times must name studies that protect the same", 2),
        (["quickstar"], "did you mean 'quickstart'?", 2),
        (["small.toml", "--out", "small.toml/page.html"], "small.toml/page.html: cannot be written", 7),
    ],
)
def test_bad_input_is_one_line(arguments, message, code, statement, tmp_path):
    done = statement(*arguments)
    assert done.returncode == code
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1 and done.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"small.toml", "buying.toml"}
