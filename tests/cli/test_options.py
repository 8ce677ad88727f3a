"""Options of commands: none is ignored, none is met by words of Python, and nothing is done before all are looked at."""

import pytest

import coterie.audit
from coterie.audit.auditing import HORIZON_AT_LEAST, TRIALS_AT_LEAST
from coterie.limits import AGENTS_MOST, ARMS_MOST, HORIZON_MOST
from coterie.studies import load_study

STUDY = """
horizon = 200
replications = 2
[problem]
means = [0.9, 0.5]
agents = 4
[[algorithm]]
name = "cdp-mab"
"""
SUPPLIERS = "agent,producer,cost,capacity,quality\nA,x,0.2,5,0.9\nA,y,0.3,5,0.8\nB,x,0.2,5,0.9\nB,y,0.4,5,0.8\n"
NOT_FOR_A_STUDY = "must be left out for a study (--set changes its keys)"
NOT_BESIDE = "must be left out beside --true-epsilon"
NUMBERS = {
    ("run", "small.toml", "--workers"): "a whole number >= 1",
    ("audit", "fed-ucb", "--horizon"): f"a whole number >= {HORIZON_AT_LEAST}",
    ("audit", "fed-ucb", "--trials"): f"a whole number >= {TRIALS_AT_LEAST}",
    ("audit", "fed-ucb", "--seed"): "a whole number >= 0",
    ("audit", "fed-ucb", "--epsilon"): "a number > 0",
    ("budget", "fed-ucb", "--agents"): f"a whole number in [1, {AGENTS_MOST}]",
    ("budget", "fed-ucb", "--arms"): f"a whole number in [2, {ARMS_MOST}]",
    ("budget", "fed-ucb", "--horizon"): f"a whole number in [1, {HORIZON_MOST}]",
    ("budget", "fed-ucb", "--person"): f"a whole number in [1, {HORIZON_MOST}]",
    ("budget", "fed-ucb", "--epsilon"): "a number > 0",
    ("budget", "fed-ucb", "--true-epsilon"): "a number > 0",
    ("statement", "small.toml", "--rewards"): f"a whole number in [1, {HORIZON_MOST}]",
}


@pytest.fixture
def small(tmp_path):
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path / "small.toml"


@pytest.mark.parametrize("arguments", NUMBERS, ids=" ".join)
@pytest.mark.parametrize("value", ["x", "", "nan", "[1]", "true", "2024-01-01"])
def test_what_is_no_number_is_told_with_the_range(command, small, arguments, value):
    done = command(*arguments, value)
    got = "NaN" if value == "nan" and NUMBERS[arguments] == "a number > 0" else repr(value[:40])
    assert (done.returncode, done.stderr) == (2, f"coterie: {arguments[-1]} must be {NUMBERS[arguments]}, got {got}\n")


@pytest.mark.parametrize("arguments", [a for a, text in NUMBERS.items() if "whole" in text], ids=" ".join)
def test_a_number_that_no_engine_has_room_for_is_refused(command, small, arguments):
    done = command(*arguments, 2**64)
    fits = " that fits into 64 bits" if ">=" in NUMBERS[arguments] else ""
    assert done.returncode == 2 and f"{NUMBERS[arguments]}{fits}, got {2**64}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["budget", "quickstart", "--agents", "5"], f"--agents {NOT_FOR_A_STUDY}, got 5"),
        (["budget", "quickstart", "--mode", "paper"], f"--mode {NOT_FOR_A_STUDY}, got paper"),
        (["budget", "fed-ucb", "--epsilon", "1", "--true-epsilon", "2"], f"epsilon {NOT_BESIDE}, got 1.0"),
        (["budget", "fed-ucb", "--set", "epsilon=1", "--true-epsilon", "2"], f"epsilon {NOT_BESIDE}, got 1"),
        (["budget", "fed-ucb", "--epsilon", "1", "--set", "epsilon=2"],
         "--set epsilon=2: epsilon must be given once, got it twice"),
        (["audit", "fed-ucb", "--mode", "paper", "--set", "mode=private"],
         "--set mode=private: mode must be given once, got it twice"),
        (["audit", "quickstart", "--epsilon", "1"], "--epsilon must be left out with a study, got 1.0"),
        (["audit", "fed-ucb", "--quick", "--trials", "600"], "--trials must be left out with --quick, got 600"),
        (["budget", "fed-ucb", "--epsilon", "1", "--epsilon=2"], "--epsilon must be given once, got it 2 times"),
        (["run", "quickstart", "--out", "a", "--out", "b"], "--out must be given once, got it 2 times"),
        (["run", "quickstart", "--set", "horizon=1", "--set", "horizon=2"],
         "--set horizon=2: horizon must be given once, got it twice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_an_option_that_would_have_no_effect_is_refused(command, arguments, line):
    assert command(*arguments) == (2, "", f"coterie: {line}\n")


def test_two_keys_of_one_table_may_be_set(command, small):
    done = command("budget", "small.toml", "--set", "algorithm.epsilon=2", "--set", "algorithm.0.mode=paper")
    assert done.returncode == 0 and "mode=paper" in done.stdout


@pytest.mark.parametrize("place", ["small.toml", "small.toml/deep", "taken"])
def test_a_place_that_cannot_be_written_is_found_before_the_audit(command, small, tmp_path, monkeypatch, place):
    monkeypatch.setattr(coterie.audit, "audit", lambda *about, **how: pytest.fail("the audit began"))
    (tmp_path / "taken/audit.html").mkdir(parents=True)
    done = command("audit", "fed-ucb", "--out", place)
    assert done.returncode == 7 and done.stderr.startswith(f"coterie: {place}: cannot be written: ")
    assert {path.name for path in tmp_path.iterdir()} == {"small.toml", "taken"}


def test_a_place_that_can_be_written_is_as_it_was_until_the_work_is_done(command, tmp_path, monkeypatch):
    def stop(*about, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(coterie.audit, "audit", stop)
    assert command("audit", "fed-ucb", "--out", "new/deep").returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_path_on_the_command_line_is_meant_from_where_the_user_stands(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here/mine.csv").write_text(SUPPLIERS)
    found = load_study("suppliers", ["problem.file=mine.csv"]).specification
    assert (found.problem.agents, found.problem.producers) == (2, 2)
    assert found.title.startswith("2 rival firms buy from 2 producers")
    (tmp_path / "buy.toml").write_text(
        'horizon = 50\n[problem]\nkind = "procurement"\nfile = "beside.csv"\nalpha = 0.5\n[[algorithm]]\nname = "nf-cb"\n'
    )
    (tmp_path / "beside.csv").write_text(SUPPLIERS)
    assert load_study("../buy.toml").specification.problem.agents == 2
    assert load_study("../buy.toml", ["problem.file=mine.csv"]).specification.problem.file == str(tmp_path / "here/mine.csv")


def test_an_algorithm_named_on_the_command_line_is_looked_for_where_the_user_stands(command, tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/small.toml").write_text(STUDY)
    done = command("budget", "deep/small.toml", "--set", "algorithm.0.name=mine.py")
    assert done.returncode == 2 and done.stderr.endswith("the path of a file that can be read, got 'mine.py'\n")


def test_options_that_do_not_fit_are_told_with_file_and_row(command, small):
    wrong = ["--set", "algorithm.noise=secagg", "--set", "algorithm.participation=0.5"]
    told = "participation must be 1 with noise = 'secagg', got 0.5"
    for name in ("run", "budget", "statement", "audit"):
        done = command(name, "small.toml", *wrong)
        assert done.stderr == f"coterie: small.toml: cdp-mab noise=secagg participation=0.5: {told}\n", name
        assert done.returncode == 2


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("run", "quickstart", "--out", ""), "--out must be a folder, got ''"),
        (("reproduce", "--out", " "), "--out must be a folder, got ' '"),
        (("plot", "somewhere", "--out", "x.jpg"), "--out must have a name that ends in .pdf or .svg or .png, got 'x.jpg'"),
        (("scale", "quickstart", "--over", "horizn=1,2"), "--over horizn=1,2: unknown key 'horizn'; did you mean 'horizon'?"),
        (("budget", "ucb1", "--epsilon", "1"), "unknown key 'epsilon' (ucb1); there are none to set"),
    ],
)
def test_an_error_names_the_option_that_was_given(command, words, line):
    done = command(*words)
    assert (done.returncode, done.stderr) == (2, f"coterie: {line}\n")


def test_a_seed_has_an_end_that_can_be_read(command):
    done = command("run", "quickstart", "--set", f"seed={2**64 - 1}")
    assert done.returncode == 2 and "seed must be a whole number in [0, 2^63 - 1], got " in done.stderr


def test_a_byte_order_mark_before_a_study_is_no_mistake(command, tmp_path):
    text = "\ufeffhorizon = 5\nproblem = { means = [0.1, 0.2], agents = 2 }\nalgorithm = [{ name = 'ucb1' }]\n"
    (tmp_path / "marked.toml").write_text(text, encoding="utf-8")
    assert command("budget", "marked.toml").returncode == 0
