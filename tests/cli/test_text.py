"""What a user wrote is text, in a terminal and on a page: never markup, an emoji, a control code or a tag."""

from pathlib import Path

import pytest
from rich.table import Table

from coterie.algorithms import find
from coterie.audit.recorder import record_agent
from coterie.building import build
from coterie.cli import console
from coterie.cli.audit import _print as print_audit
from coterie.cli.pace import View, bar
from coterie.cli.table import summary_lines
from coterie.contract import Setting
from coterie.report import audit as audit_page
from coterie.report import statement as statement_page
from coterie.studies import load_study
from coterie.studies.budget import price_study

EXAMPLE = (Path(__file__).parents[2] / "examples/own_algorithm.py").read_text()
HOSTILE = "a [/b] [red]x[/red] :warning: </script><script>alert(1)</script> {x} {horizon.real} {0} & \\"
ESCAPED = "a [/b] [red]x[/red] :warning: &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; {x} {horizon.real} {0} &amp; \\"
STUDY = """
title = '{text}'
horizon = 200
replications = 2
[words]
agent = '{text}'
[problem]
means = [0.9, 0.5]
agents = 4
[[algorithm]]
name = "cdp-mab"
label = '{text}'
"""


@pytest.fixture
def hostile(tmp_path):
    (tmp_path / "small.toml").write_text(STUDY.replace("{text}", HOSTILE))
    return tmp_path / "small.toml"


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")


def test_a_budget_shows_a_label_as_it_was_written(command, hostile, wide):
    assert command("budget", "small.toml").stdout.splitlines()[0].strip() == f"{HOSTILE}: ε = 1 promised and kept"


def test_a_statement_and_its_page_show_title_and_label_as_they_were_written(command, hostile, tmp_path):
    done = command("statement", "small.toml")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert text.startswith(f"{HOSTILE} row 1 of 1: {HOSTILE}")
    page = (tmp_path / "small-statement.html").read_text()
    assert page.count(f"<h1>{ESCAPED}</h1>") == 1 and "<script>alert" not in page


def test_the_page_of_a_statement_escapes_all_that_a_user_can_write(hostile):
    study = load_study(hostile).specification
    prices = price_study(study)
    other = statement_page.Beside(study.model_copy(update={"name": HOSTILE}), prices)
    facts = statement_page.facts(study, prices, 0, others=[other], audit=statement_page.Verdict(HOSTILE, True))
    page = statement_page.render(facts)
    assert "<script>alert" not in page and page.count(ESCAPED) > 5


def audited(**changes):
    """Of a study, with hostile text wherever a user's text may stand."""
    told = {"rewards": 1, "rewards_in_all": 1, "pairs": 1, "faults": [HOSTILE], "left_out": 0, "together": 1, "price": 1.0,
            "findings": [HOSTILE], "excused": []}  # fmt: skip
    one = {"epsilon": 1.0, "delta": 0.0}
    said = {"claimed": one, "accounted": one, "private": True, "unit": "u", "adversary": "a", "note": ""}
    row = {"label": HOSTILE, "agents": 1, "arms": 2, "horizon": 9, "privacy": said, "replay": told, "failed": False,
           "verdict": HOSTILE}  # fmt: skip
    return {"study": HOSTILE, "rows": [row], "failed": False, "verdict": HOSTILE, "seed": 0, "command": HOSTILE} | changes


def test_an_audit_and_its_page_show_text_as_it_was_written(capsys, wide):
    print_audit(audited(), Path(HOSTILE))
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert first == f"{HOSTILE}: {HOSTILE}" and second == f"row         {HOSTILE}: {HOSTILE}"
    assert last == f"page: {Path(HOSTILE) / 'audit.html'}"
    page = audit_page.render(audited())
    assert "<script>alert" not in page and page.count(ESCAPED) > 5


def test_the_page_of_an_audit_does_not_praise_where_nothing_is_promised():
    praise = '<li class="kept">'
    assert praise in audit_page.render(audited()) and praise not in audit_page.render(audited(rows=[]))
    broken = [row | {"failed": True} for row in audited()["rows"]]
    assert praise not in audit_page.render(audited(rows=broken, failed=True))


ANSWER = {"sentence": f"With {HOSTILE} all is well.", "red": f"{HOSTILE}.", "groups": [],
          "unit": {"decisions": 1, "text": "per decision", "decimals": 1}}  # fmt: skip


def test_the_table_of_a_run_shows_title_and_label_as_they_were_written(capsys, wide):
    privacy = {"claimed": None, "accounted": {"epsilon": None, "delta": 0.0}, "private": False, "unit": "u"}
    row = {"label": HOSTILE, "agents": 4, "arms": 3, "horizon": 9, "replications": 1, "found": None, "privacy": privacy,
           "per_decision": {"mean": 10.0, "sem": 0.1, "margin": 0.2},
           "alone": False, "communication": {"messages": 2, "bytes": 9.0}}  # fmt: skip
    printed = console.output()
    study = {"title": HOSTILE, "words": {}, "problem": {}}
    for line in summary_lines({"study": study, "answer": ANSWER, "rows": [row]}, printed.width):
        printed.print(line)
    text = capsys.readouterr().out
    assert text.splitlines()[0].strip() == HOSTILE and text.count(HOSTILE) == 4


def test_the_label_beside_a_bar_is_no_markup():
    assert bar(View("running", HOSTILE + "\x1b[2J", 1, 2, 3.0), 200).startswith(f"{HOSTILE} [2J ")


def test_a_control_code_is_shown_and_not_obeyed(capsys):
    table = Table(title="\x1b[2Ja\x07")
    table.add_column("x")
    table.add_row("b\x9b1m\ud800")
    console.output().print(table)
    text = capsys.readouterr().out
    assert r"\x1b[2Ja\x07" in text and r"b\x9b1m\ud800" in text and not set("\x1b\x07\x9b") & set(text)


def test_an_error_about_a_file_shows_its_name_on_one_line(command):
    done = command("run", "no [/b]\n\x1b[2J.toml")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "no [/b]" in done.stderr and "\x1b" not in done.stderr


@pytest.mark.parametrize("stem", ["my-algo", "my algo v2.1", "größe", "gro\u0308ße", "2nd"])
def test_any_name_of_a_file_may_be_that_of_an_algorithm_and_of_a_study(tmp_path, stem):
    """Text that is written for an audit imports the file's hooks, which a name with a hyphen once broke."""
    file = tmp_path / f"{stem}.py"
    file.write_text(EXAMPLE)
    entry = find(str(file))
    method = build(entry, entry.options(), Setting(3, 2, 50))
    recorded = record_agent(method.node, method.p, 5)
    assert recorded.algorithm.choose is not method.node.choose and recorded.columns
    study = tmp_path / f"{stem}-study.v2.toml"
    study.write_text('horizon = 50\n[problem]\nmeans = [0.9, 0.5]\nagents = 2\n[[algorithm]]\nname = "cdp-mab"\n')
    assert load_study(study).folder.name.startswith(f"{stem}-study.v2-")


def test_words_of_a_study_are_no_control_codes_and_a_title_stays_on_its_line(capsys, wide):
    privacy = {"claimed": None, "accounted": {"epsilon": None, "delta": 0.0}, "private": False, "unit": "u"}
    row = {"label": "a\nb\u202ec", "agents": 4, "arms": 3, "horizon": 9, "replications": 1, "found": None,
           "privacy": privacy, "per_decision": {"mean": 10.0, "sem": None, "margin": None},
           "alone": False, "communication": {"messages": 2, "bytes": 9.0}}  # fmt: skip
    printed, study = console.output(), {"title": "one\ntwo", "words": {"arm": "x\x1b[31m"}, "problem": {}}
    for line in summary_lines({"study": study, "answer": ANSWER, "rows": [row]}, printed.width):
        printed.print(line)
    text = capsys.readouterr().out
    assert text.splitlines()[0].strip() == "one two" and r"a b\u202ec" in text
    assert not set("\x1b\u202e") & set(text) and r"\x1b[31m" in text
