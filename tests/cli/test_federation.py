"""`coterie federation`: what a file says, in a few lines, and what a broker needs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "deploy"))

from parties import broker_of, make_parties

from coterie.cli.federation import budget_of, clock_of, rewards_of, span


def test_a_good_file_is_told_in_a_few_lines(command, tmp_path):
    hours = {"quorum": 2, "within": "1 hour"}
    made = make_parties(tmp_path, "pooled-ucb", title="Three hospitals", rewards={"within": "28 days"}, epochs=hours)
    code, out, err = command("federation", "check", str(tmp_path / "federation.toml"))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"Three hospitals, run {made.run.hex()[:16]}" and len(lines) < 10
    assert "north, south, west, around the coordinator centre" in out
    assert "pooled-ucb on 3 arms: aspirin, ibuprofen, placebo" in out
    assert "with the reports of all 3, or with 2 after 1 hour" in out
    assert "each counts 28 days after the decision; one that has not come counts as 0" in out
    assert "epsilon 1 for every reward" in out


def test_a_bad_file_is_one_line_and_nothing_is_made(command, tmp_path):
    make_parties(tmp_path)
    path = tmp_path / "federation.toml"
    path.write_text(path.read_text().replace("within", "withn"))
    before = set(tmp_path.rglob("*"))
    for words in (("check", str(path)), ("broker", str(path), str(tmp_path / "broker"))):
        code, out, err = command("federation", *words)
        assert (code, out) == (2, "") and len(err.splitlines()) == 1
        assert f"{path}: unknown key 'withn' in rewards; did you mean 'within'?" in err
    assert set(tmp_path.rglob("*")) == before


def test_what_a_broker_needs_is_written_and_then_laid_out(command, tmp_path):
    made = make_parties(tmp_path, tls=True)
    words = ("federation", "broker", str(tmp_path / "federation.toml"), str(tmp_path / "broker"))
    code, out, _ = command(*words)
    assert code == 0 and "is written for 3 members" in out and "Start the broker: nats-server -c" in out
    assert "Hand " in out and (tmp_path / "broker" / "ca.pem").exists()
    with broker_of(made, tmp_path):
        code, out, _ = command(*words)
        assert code == 0 and f"has the stream and consumers of run {made.run.hex()[:16]}" in out and "Reload" in out


@pytest.mark.parametrize(
    ("algorithm", "tables", "told"),
    [
        ("fed-ucb", {}, ("own: each goes on at its own pace", "each counts at once", "epsilon 1 for every reward")),
        ("fed-ucb", {"clock": "common"}, ("common: a round begins when all have spoken", "", "")),
        ({"name": "gossip-ucb"}, {"privacy": "none"}, ("own", "", "none: nothing is protected")),
        ("ddp-mab", {"budget": {"epsilon": 2.0, "delta": 1e-6}}, ("with the reports of all 3", "", "epsilon 2 (delta 1e-06)")),
    ],
)
def test_clocks_windows_and_budgets_in_words(tmp_path, algorithm, tables, told):
    made = make_parties(tmp_path, algorithm, **tables)
    for words, line in zip(told, (clock_of(made), rewards_of(made), budget_of(made)), strict=True):
        assert words in line


def test_spans_are_told_in_the_largest_whole_unit():
    assert [span(seconds) for seconds in (1.0, 60.0, 5400.0, 7200.0, 172800.0)] == [
        "1 second", "1 minute", "90 minutes", "2 hours", "2 days"
    ]  # fmt: skip
