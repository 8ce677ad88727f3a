"""`coterie replay`: numbers beside each other, and a word where a log cannot answer."""

import json
from pathlib import Path

LOG = str(Path(__file__).parents[2] / "examples/log.csv")


def test_policies_stand_side_by_side_with_their_intervals(command):
    done = command("replay", LOG, "--policy", "uniform", "--policy", "new")
    assert done.returncode == 0
    assert "600 choices of 2 agents among 3 arms earned 0.405 each." in done.stdout
    assert "0.4886 ± 0.066" in done.stdout and "219" in done.stdout


def test_json_has_every_estimate(command, tmp_path):
    model = tmp_path / "model.csv"
    model.write_text("arm,reward\nold,0.4\nnew,0.5\nmixed,0.5\n")
    told = json.loads(command("replay", LOG, "--model", str(model), "--json").stdout)
    assert [one["policy"] for one in told["policies"]] == ["uniform", "old", "mixed", "new"]
    assert set(told["policies"][0]["estimates"]) == {"ips", "snips", "dr"}


def test_a_log_that_cannot_answer_says_why_and_no_number(command, tmp_path):
    log = tmp_path / "short.csv"
    log.write_text("".join(Path(LOG).read_text().splitlines(keepends=True)[:41]))
    done = command("replay", str(log), "--policy", "new")
    assert done.returncode == 0 and "±" not in done.stdout
    assert "cannot answer new: its rows tell as much as" in done.stdout


def test_what_is_wrong_is_one_line(command, tmp_path):
    done = command("replay", str(tmp_path))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "LOG must be the path of a CSV or Parquet table" in done.stderr and "which is a directory" in done.stderr


def test_a_policy_is_asked_about_once(command, tmp_path):
    done = command("replay", tmp_path / "log.csv", "--policy", "new", "--policy", "new")
    assert done.returncode == 2 and done.stderr == "coterie: --policy new must be given once, got it 2 times\n"
