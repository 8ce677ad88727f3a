"""`coterie budget` as a user meets it."""

import json
import sys
from math import exp
from types import SimpleNamespace

import pytest

from coterie.cli.main import main
from coterie.privacy.statement import Promise, promise


@pytest.fixture
def budget(monkeypatch, capsys):
    """The command in this process: (returncode, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["coterie", "budget", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return SimpleNamespace(returncode=ended.value.code, **capsys.readouterr()._asdict())

    return run


@pytest.fixture
def row(budget):
    def first(*arguments):
        done = budget(*arguments, "--json")
        assert done.returncode == 0, done.err
        return json.loads(done.out)["rows"][0]

    return first


def parties(row, key="parties"):
    return {party["party"]: party["epsilon"] for party in row[key]}


def test_the_example_of_the_help_runs_and_tells_everything(budget):
    text = budget("--help").out
    example = " ".join(text[text.index("Example: coterie budget") :].split()[3:12])
    assert example == "fed-ucb --agents 10 --arms 10 --horizon 1000 --epsilon 1"
    done = budget(*example.split())
    assert done.returncode == 0, done.err
    for words in ("a neighbour", "everyone together", "at most 10", "laplace noise of scale 1 rewards", "the agent itself"):
        assert words in done.out


def test_json_has_units_noise_and_words(row):
    found = row("fed-ucb", "--horizon", 200, "--set", "mechanism=tree", "--epsilon", 0.5, "--person", 4)
    assert found["releases"] == 201 and found["noise"]["scale"] == pytest.approx([16, 16])  # 8 levels, each at 0.5 / 8
    assert parties(found)["everyone together"] == pytest.approx(0.5)
    assert parties(found["person"])["everyone together"] == pytest.approx(2.0)
    assert parties(found, "history")["everyone together"] == pytest.approx(0.5 * 210)
    assert f"{exp(0.5):.3g}" in found["parties"][-1]["words"]
    assert found["privacy"]["private"] is True


def test_the_printed_form_is_told_to_cost_as_many_times_as_there_are_agents(row):
    found = row("cdp-mab", "--mode", "paper", "--agents", 50, "--epsilon", 1)
    assert found["privacy"]["private"] is False and parties(found)["the server"] == 50


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (["--epsilon", 1], "cdp-mab epsilon=1.0: ε = 1 promised and kept"),
        (["--epsilon", 5], "cdp-mab epsilon=5.0: ε = 5 kept, but weak"),
        (["--epsilon", 0.1, "--mode", "paper"], "cdp-mab epsilon=0.1 mode=paper: broken: promised 0.1, 1 holds"),
        (["--epsilon", "inf"], "cdp-mab epsilon=inf: nothing promised"),
    ],
)
def test_the_title_says_what_becomes_of_the_promise(arguments, title, budget):
    assert budget("cdp-mab", *arguments).out.splitlines()[0].strip() == title


def test_a_loss_without_limit_is_not_called_none(budget):
    done = budget("single-mab", "--epsilon", "inf", "--horizon", 10_000)
    [line] = [line for line in done.out.splitlines() if "everyone together" in line]
    assert line.count("no limit") == 3 and "none" not in done.out


def test_a_person_loses_more_by_normal_noise_than_in_proportion(row):
    found = row("fed-ucb", "--horizon", 50, "--set", "mechanism=root", "--person", 10)
    assert parties(found["person"])["everyone together"] > 12 * parties(found)["everyone together"]


def test_a_true_epsilon_finds_the_noise_it_needs(row):
    found = row("cdp-mab", "--mode", "paper", "--agents", 50, "--true-epsilon", 1)
    assert found["parameters"]["epsilon"] == pytest.approx(0.02, rel=1e-9)
    assert 1 - 1e-9 < parties(found)["the server"] <= 1
    assert found["noise"]["scale"] == pytest.approx([1, 1])
    assert row("cdp-mab", "--true-epsilon", 2)["parameters"]["epsilon"] == 2


def test_a_true_epsilon_is_found_where_the_loss_is_not_in_proportion_and_not_all_may_be_stated(row):
    """As printed, what is stated spaces the releases, and must be at most 1."""
    found = row("private-ucb", "--mode", "corrected", "--horizon", 100, "--true-epsilon", 3)
    assert found["parameters"]["epsilon"] < 1
    assert 2 < parties(found)["everyone together"] <= 3


def test_who_says_nothing_tells_a_neighbour_nothing(row):
    found = row("gossip-ucb", "--horizon", 5000, "--set", "isolated=true")
    assert parties(found) == {"a neighbour": 0, "everyone together": None}
    assert found["releases"] is None  # nothing is protected: not worth a count over a long horizon


def test_a_study_with_more_producers_than_are_played_is_told(budget):
    rows = json.loads(budget("suppliers", "--set", "horizon=60", "--json").out)["rows"]
    assert [promise(row["privacy"]) is Promise.NOTHING for row in rows[:4]] == [True] * 4


def test_every_row_of_a_study_is_told(budget):
    done = budget("quickstart", "--set", "horizon=300", "--json")
    rows = json.loads(done.out)["rows"]
    assert len(rows) > 1 and all(row["horizon"] == 300 and row["parties"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fed-ucb", "--epsilon", "0"], "epsilon of fed-ucb must be a number in [1e-06, 1e+06] or inf"),
        (["fed-ucb", "--mode", "secret"], "mode of fed-ucb must be"),
        (["fed-ucb", "--set", "mechanizm=tree"], "did you mean 'mechanism'?"),
        (["fed-ucb", "--set", "mechanism"], "--set must be KEY=VALUE"),
        (["fed-ucb", "--arms", "1"], "--arms must be a whole number in [2, 100000], got 1"),
        (["fed-ucb", "--horizon", "0"], "--horizon must be a whole number in [1, 1000000000000], got 0"),
        (["fed-ucb", "--true-epsilon", "inf"], "--true-epsilon must be a finite number >= 1e-06, got inf"),
        (["fed-ucb", "--mode", "paper", "--horizon", "50", "--true-epsilon", "1"],
         "cannot be had from fed-ucb here: first reward of each arm is sent without noise"),
        (["gossip-ucb", "--true-epsilon", "1"], "gossip-ucb has no epsilon"),
        (["quickstart", "--epsilon", "1"], "must be left out for a study"),
        (["quickstar"], "did you mean 'quickstart'?"),
    ],
)
def test_bad_input_is_one_line(arguments, message, budget):
    done = budget(*arguments)
    assert done.returncode == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1 and done.out == ""


@pytest.mark.parametrize("width", [120, 80, 40])
def test_the_table_fits_and_no_reason_is_squeezed(budget, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    done = budget("cdp-mab", "--horizon", 300, "--set", "noise=central")
    assert max(map(len, done.out.splitlines())) <= width
    assert "no limit, because reports are raw sums: the server adds the noise" in " ".join(done.out.split())
    assert len(done.out.splitlines()) < 40


def test_a_study_is_told_in_its_own_words(budget):
    done = budget("hospitals", "--set", "horizon=200")
    assert "the hospital itself" in done.out and "every message, count, treatment and time" in done.out
    assert " agent" not in done.out and " arm " not in done.out
    assert "sees nothing: a hospital sends nothing" in done.out
    assert "a hospital sends nothing, but its choices rest on rewards without noise" in " ".join(done.out.split())
