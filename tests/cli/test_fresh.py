"""A run's folder as the command meets it: damaged, full, or not a folder at all."""

import json
import sys
from math import inf

import pytest

from coterie import studies
from coterie.cli.main import main
from coterie.studies import running

SMALL = """
horizon = 2000
replications = 6
seed = 3
[problem]
means = [0.9, 0.6, 0.3, 0.1]
agents = 5
[[algorithm]]
name = "cdp-mab"
sweep.epsilon = [1, inf]
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command in this folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["coterie", "run", "small.toml", "--out", "here", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        said = capsys.readouterr()
        return stopped.value.code, said.out, said.err

    return called


def test_damage_is_one_line_with_a_remedy_that_works(run, tmp_path):
    assert run("--json")[0] == 0
    (tmp_path / "here/summary.json").write_text('{"rows": [1]}')
    (tmp_path / "here/notes.txt").write_text("mine")
    code, out, err = run("--json")
    assert (code, out) == (4, "")
    assert err == "coterie: here/summary.json: damaged, it is not what was written: --fresh starts again\n"
    code, out, err = run("--json", "--fresh")
    assert (code, err) == (0, "") and json.loads(out) == json.loads((tmp_path / "here/summary.json").read_text())
    assert (tmp_path / "here/notes.txt").read_text() == "mine" and (tmp_path / "here/report.html").exists()


def test_a_full_disk_at_the_page_is_one_line_and_leaves_no_half_of_it(run, tmp_path, full_disk, monkeypatch):
    monkeypatch.setattr(running, "KEPT_EVERY", inf)
    full_disk(5)  # a manifest, three results, and the manifest with their checksums
    assert run() == (7, "", "coterie: here/report.html: cannot be written: No space left on device\n")
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == [
        "manifest.json", "replications.parquet", "results.parquet", "summary.json"
    ]
    full_disk(1)
    assert run()[0] == 0 and (tmp_path / "here/report.html").exists()


def test_a_file_in_the_place_of_the_folder_is_one_line(run, tmp_path):
    (tmp_path / "here").write_text("a file")
    for more in ([], ["--fresh"]):
        assert run(*more) == (7, "", "coterie: here: cannot be made: it is a file, and no folder\n")
    assert (tmp_path / "here").read_text() == "a file"


def never(*arguments, **named):
    raise AssertionError("run again")


def test_another_title_or_label_is_told_everywhere_and_nothing_is_run_again(run, tmp_path, monkeypatch):
    assert run("--json")[0] == 0
    before = json.loads((tmp_path / "here/summary.json").read_text())
    monkeypatch.setattr(studies, "run_batches", never)
    code, out, _ = run("--json", "--set", "title=Other", "--set", "algorithm.0.label=changed")
    after = json.loads((tmp_path / "here/summary.json").read_text())
    assert code == 0 and json.loads(out) == after and after["study"]["title"] == "Other"
    assert [row["label"] for row in after["rows"]] == ["changed epsilon=1", "changed epsilon=inf"]
    assert "changed" in (tmp_path / "here/report.html").read_text()
    assert [row["regret"] for row in after["rows"]] == [row["regret"] for row in before["rows"]]
    assert json.loads((tmp_path / "here/manifest.json").read_text())["study"] == after["study"]
    assert run("--json", "--set", "title=Other", "--set", "algorithm.0.label=changed")[0] == 0
