"""The command as a user meets it: what it prints, what it leaves, and how it fails."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

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
PLENTY = ["--set", "replications=4000", "--set", "horizon=100000000"]


@pytest.fixture
def study(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


def test_a_run_prints_a_table_and_leaves_its_files(study):
    """As a process; what follows calls the command in this one."""
    words = [Path(sys.executable).with_name("coterie"), "run", study]
    done = subprocess.run(words, cwd=study.parent, capture_output=True, text=True, env=os.environ | {"COLUMNS": "160"})
    assert done.returncode == 0, done.stderr
    assert "cdp-mab epsilon=1" in done.stdout
    folder = study.parent / re.search(r"page: (\S+)/report.html", done.stdout)[1]
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json", "results.parquet", "replications.parquet", "summary.json", "report.html"
    }
    assert folder.name.startswith("small-") and folder.parent.name == "runs"


def test_json_is_the_summary_and_nothing_else(study, command):
    done = command("run", study, "--json", "--out", "here")
    assert json.loads(done.stdout) == json.loads((study.parent / "here/summary.json").read_text())
    first, second = json.loads(done.stdout)["rows"]
    assert first["privacy"]["accounted"]["epsilon"] == first["privacy"]["claimed"]["epsilon"] == 1
    assert second["privacy"]["claimed"] is None and second["privacy"]["accounted"]["epsilon"] is None
    assert len(first["curve"]["round"]) == len(first["curve"]["mean"]) == len(first["curve"]["low"])
    assert first["curve"]["mean"][-1] == pytest.approx(first["regret"]["mean"])


def test_the_number_of_workers_does_not_change_a_byte(study, command):
    for workers in (1, 2):
        assert command("run", study, "--workers", workers, "--out", f"w{workers}").returncode == 0
    one, two = (study.parent / f"w{workers}/results.parquet" for workers in (1, 2))
    assert one.read_bytes() == two.read_bytes()
    assert pl.read_parquet(one).columns == ["row", "label", "replication", "round", "regret", "regret_per_agent"]


def test_an_interrupted_run_goes_on_where_it_stopped(study):
    command = [Path(sys.executable).with_name("coterie"), "run", study, "--out", "cut", *PLENTY]
    process = subprocess.Popen(command, cwd=study.parent, stderr=subprocess.PIPE, text=True)
    parts = study.parent / "cut/parts"
    while process.poll() is None and len(list(parts.glob("*.npz"))) < 3:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert "interrupted" in process.communicate()[1] and process.returncode == 130
    kept = {path: path.stat().st_mtime_ns for path in parts.glob("*.npz")}
    assert 3 <= len(kept) < 4000
    again = subprocess.Popen(command, cwd=study.parent, stderr=subprocess.PIPE, text=True)
    while again.poll() is None and len(list(parts.glob("*.npz"))) <= len(kept):
        time.sleep(0.02)
    again.send_signal(signal.SIGINT)
    again.communicate()
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(list(parts.glob("*.npz"))) > len(kept)


def test_what_was_finished_before_an_interruption_is_used(study, tmp_path, command):
    whole = command("run", study, "--out", "whole")
    assert whole.returncode == 0
    import coterie as package
    from coterie.studies.results import manifest
    from coterie.studies.running import run_batches
    from coterie.studies.store import open_folder

    specification = package.load_study(study).specification
    with open_folder(tmp_path / "resumed", manifest(specification)) as complete:
        assert not complete
        run_batches(specification, parts=tmp_path / "resumed/parts")
    assert command("run", study, "--out", "resumed").returncode == 0
    first, second = (tmp_path / name / "results.parquet" for name in ("whole", "resumed"))
    assert first.read_bytes() == second.read_bytes()
    assert not (tmp_path / "resumed/parts").exists()


def test_a_finished_run_is_shown_again_without_being_run(study, command):
    assert command("run", study, "--out", "once").returncode == 0
    before = (study.parent / "once/summary.json").stat().st_mtime_ns
    done = command("run", study, "--out", "once")
    assert done.returncode == 0 and "cdp-mab epsilon=1" in done.stdout
    assert (study.parent / "once/summary.json").stat().st_mtime_ns == before


def test_a_folder_of_another_study_is_left_alone(study, command):
    assert command("run", study, "--out", "taken").returncode == 0
    done = command("run", study, "--out", "taken", "--set", "horizon=1000")
    assert done.returncode == 4
    assert done.stderr.strip().startswith("coterie: taken: must be empty or hold a run of this study")


BAD = {
    ("--set", "algorithm.epsilon=0"): "algorithm[0].epsilon of cdp-mab must be a number in [1e-06, 1e+06] or inf",
    ("--set", "algorithm.epsilon=nan"): "epsilon of cdp-mab must be a number in [1e-06, 1e+06] or inf",
    ("--set", "algorithm.epsilon='1'"): "epsilon of cdp-mab must be a number in [1e-06, 1e+06] or inf",
    ("--set", "algorithm.epsilom=1"): "did you mean 'epsilon'?",
    ("--set", "horizon=0"): "horizon must be a whole number in [1, 1000000000000], got 0",
    ("--set", "replications=0"): "replications must be a whole number in [1, 100000000], got 0",
    ("--set", "algorithm.participation=2"): "participation of cdp-mab must be a number in (0, 1] (share of agents that report",
    ("--set", "problem.means=[0.5, 1.5]"): "problem.means[1] must be a number in [0, 1], got 1.5",
    ("--set", "network.edges=[[0, 1]]"): "network.edges must connect all agents, got the components [0, 1], [2], [3], [4]",
    ("--set", "algorithm.noise='secagg'", "--set", "algorithm.participation=0.5"): "participation must be 1 with noise",
    ("--workers", "0"): "--workers must be a whole number >= 1, got 0",
    ("--engine", "moon"): "--engine must be local or ray, got 'moon'",
    ("--bogus",): "No such option",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_line_and_creates_nothing(study, arguments, command):
    done = command("run", study, *arguments)
    assert done.returncode == 2
    assert BAD[arguments] in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and done.stdout == ""
    assert [path.name for path in study.parent.iterdir()] == ["small.toml"]


def test_an_unknown_study_or_command_is_bad_input(command):
    assert command("run", "quickstar").stderr.strip().endswith("did you mean 'quickstart'?")
    for arguments in (["run", "nothing"], ["run"], ["frobnicate"]):
        assert command(*arguments).returncode == 2


def test_help_of_every_command_shows_an_example(command):
    assert "coterie run hospitals" in command("--help").stdout
    for name in ("run", "studies", "audit", "plot", "compare", "scale", "reproduce", "claims"):
        example = command(name, "--help").stdout.partition("Example: ")[2]
        assert f"coterie {name}" in example


def test_built_in_studies_are_listed_with_their_titles(command):
    listed = json.loads(command("studies", "--json").stdout)
    assert "quickstart" in listed and all(listed.values())
    assert "quickstart" in command("studies").stdout


def test_an_algorithm_of_ones_own_is_one_file(study, command):
    example = Path(__file__).parents[2] / "examples/own_algorithm.py"
    (study.parent / "mine.py").write_text(example.read_text())
    (study.parent / "own.toml").write_text(SMALL + '[[algorithm]]\nname = "mine.py"\n')
    done = command("run", "own.toml", "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["rows"][-1]
    assert row["algorithm"] == "block-ucb" and row["privacy"]["private"] is True
