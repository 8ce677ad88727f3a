"""`coterie plan` as a user meets it. Engines are interpreted, and instances few."""

import json
import random
import tomllib
from functools import partial

import pytest

from coterie.cli.plan import plan_lines
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.studies import case, load_study, planning

GUESS = ("--agents", 6, "--arms", 3, "--horizon", 40, "--epsilon", 1, "--gap", 0.2)


@pytest.fixture(autouse=True, scope="module")
def interpreted():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_star", partial(simulate_star, compiled=False))
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        patch.setattr(planning, "RUNS", 2)
        patch.setattr(planning, "FEW", 2)
        patch.setattr(planning, "EPSILONS", (1.0, float("inf")))
        yield


def changed(*more):
    """The guess with other values, by the option they stand behind."""
    options = dict(zip(GUESS[::2], GUESS[1::2], strict=True)) | dict(zip(more[::2], more[1::2], strict=True))
    return [word for pair in options.items() for word in pair]


def toml_of(printed: str) -> str:
    """The study stands between the first sentence and the first table."""
    blocks = printed.split("\n\n")
    return "\n\n".join(blocks[1 : 1 + next(place for place, block in enumerate(blocks) if block.startswith("[[algorithm]]"))])


def test_a_plan_prints_a_study_that_runs_and_all_that_was_found(command):
    done = command("plan", *GUESS, "--message-cost", 0.5, "--progress", "none")
    assert done.returncode == 0, done.stderr
    study = load_study(tomllib.loads(toml_of(done.stdout))).specification
    assert (study.problem.agents, study.problem.arms, study.horizon, len(study.rows)) == (6, 3, 40, 1)
    for words in ("pooled-ucb", "cdp-mab", "each alone, unseen", "each alone, seen", "ε = 1", "no privacy", "80 %", "in one",
                  "Learning together", "asymptotic"):  # fmt: skip
        assert words in done.stdout, words
    assert done.stderr == ""


def test_json_is_all_there_is_on_stdout(command):
    done = command("plan", *GUESS, "--json", "--progress", "none")
    found = json.loads(done.stdout)
    assert found["guess"]["agents"] == 6 and found["guess"]["trust"] == "nobody"
    assert tomllib.loads(found["study"])["algorithm"] == [
        {key: value if value is not None else float("inf") for key, value in found["recommended"]["row"].items()}
    ]
    assert {row["row"]["name"] for row in found["rows"]} == {"pooled-ucb", "cdp-mab"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (changed("--gap", 0), "--gap must be a number >= 1e-06 and < best (0.6), got 0.0"),
        ([*changed("--gap", 0.5), "--best", 0.4], "--gap must be a number >= 1e-06 and < best (0.4), got 0.5"),
        (changed("--gap", 0.7), "--gap must be a number >= 1e-06 and < best (0.6), got 0.7"),
        (changed("--gap", "x"), "--gap must be a number >= 1e-06 and < best (default 0.6), got 'x'"),
        (changed("--gap", "nan"), "--gap must be a number >= 1e-06 and < best (default 0.6), got NaN"),
        (changed("--gap", "1e-320"), "--gap must be a number >= 1e-06 and < best (0.6), got 1e-320"),
        (changed("--epsilon", "nan"), "--epsilon must be a number in [1e-06, 1e+06] or inf, got NaN"),
        (changed("--message-cost", "inf"), "--message-cost must be a finite number >= 0, got inf"),
        (changed("--horizon", "9" * 20), f"--horizon must be a whole number in [1, 1000000000000], got {'9' * 20}"),
        (changed("--horizon", "9" * 50), "--horizon must be a whole number in [1, 1000000000000], got one of 50 digits"),
        (
            [*GUESS, "--liars", 0.1, "--unlike"],
            "--unlike must be left out with liars: a lie and an agent that differs cannot be told apart",
        ),
        (changed("--best", 1), "--best must be a number > 0 and < 1, got 1.0"),
        (changed("--epsilon", 0), "--epsilon must be a number in [1e-06, 1e+06] or inf, got 0"),
        (changed("--agents", 1), "--agents must be a whole number in [2, 10000000], got 1"),
        (changed("--trust", "me"), "--trust must be nobody or aggregation or server, got me"),
        (changed("--liars", 0.5), "--liars must be a number >= 0 and < 0.5, got 0.5"),
        (changed("--message-cost", "dear"), "--message-cost must be a finite number >= 0, got 'dear'"),
        ([*GUESS, "--gap", 0.1], "--gap must be given once, got it 2 times"),
        ([*GUESS, "--no-server", "--trust", "server"], "--trust must be nobody without a server, got server"),
    ],
)
def test_bad_input_is_one_line(command, arguments, line):
    done = command("plan", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"coterie: {line}\n")


def test_what_is_missing_is_named(command):
    done, told = command("plan", "--agents", 6), "must be given (coterie plan --help says more)"
    assert (done.returncode, done.stderr) == (2, f"coterie: --arms, --horizon, --epsilon, --gap {told}\n")
    assert "--agents, --arms, --horizon, --epsilon, --gap must be given" in command("plan").stderr


def test_what_takes_long_is_asked_about(command, monkeypatch):
    monkeypatch.setattr(planning.Plan, "estimate", lambda plan: planning.Estimate(0.0, 0.0, 7200.0))
    done = command("plan", *GUESS)
    assert done.returncode == 2 and "this will take about 2 hours: give --yes to go on" in done.stderr


def row(name, regret, **more):
    found = {"mean": regret, "low": 0.9 * regret, "high": 1.1 * regret} if regret is not None else None
    about = {"name": name, "epsilon": 1.0, **more}
    return {"row": about, "regret": found, "messages": 7.0, "total": regret, "shortened": False}


def document(**more):
    best = row("pooled-ucb", 100.0)
    return {
        "guess": {"message_cost": 0.0, "unlike": False, "liars": 0.0, "epsilon": 1.0}, "study": "horizon = 1",
        "recommended": best, "rows": [best], "alone": {"unseen": row("solo-ucb", 400.0), "seen": row("solo-ucb", 500.0)},
        "prices": [best], "pays_from": {"epsilon": 0.0449, "state": "from"}, "closed_form": 90.0,
        "floor": {"constant": 5.0, "kind": "private", "label": "asymptotic", "regret": 50.0},
    } | more  # fmt: skip


def said(**more):
    return "\n".join(map(str, plan_lines(document(**more), 300)))


def test_the_first_line_says_what_to_do():
    assert said().startswith("Run pooled-ucb: it costs about 100, where each alone would lose 400.")
    alone = row("solo-ucb", 40.0)
    text = said(recommended=alone, alone={"unseen": alone, "seen": alone})
    assert text.startswith("Stay alone: that costs about 40, and learning together 100.")
    blind = row("pr-ucb", None, liars_assumed=0.1)
    assert said(recommended=blind, rows=[blind], prices=[]).startswith("Run pr-ucb liars_assumed=0.1. There is no forecast")


def test_the_sentences_follow_what_was_found():
    assert "pays from about ε = 0.045 on" in said()
    assert "at every ε down to 0.001" in said(pays_from={"epsilon": 0.0, "state": "always"})
    assert "does not pay at any ε" in said(pays_from={"epsilon": None, "state": "never"})
    assert "not known" in said(pays_from={"epsilon": None, "state": "unknown"})
    assert "below about 50 with this ε (asymptotic" in said()
    assert "No floor is known" in said(floor=None)
    guess = document()["guess"]
    unlike = said(guess=guess | {"unlike": True}, floor=document()["floor"] | {"kind": "unlike"})
    assert "even without privacy" in unlike and "in proportion to the rounds" in unlike
    assert "of the honest" in said(guess=guess | {"liars": 0.1})
    assert "last decade" in said(rows=[row("peer-ucb", 3.0) | {"shortened": True}])
    assert "no forecast" in said(rows=[row("pooled-ucb", 3.0), row("pr-ucb", None)])


STRANGE = {
    "--agents": [2, 3, 10**7, 10**8, "x", 2.5, -1],
    "--arms": [2, 64, 1000, 10**9, ""],
    "--horizon": [1, 2, 10**12, 10**13, "1e5"],
    "--epsilon": [1e-6, 1e6, "inf", "nan", 0, -1, 1e-9],
    "--gap": [1e-9, 0.5, 0.6, "nan", "inf", -0.0],
    "--best": [0.6, 0.999999, 1e-300, 1, "-inf"],
    "--message-cost": [0, 1e300, -1, "inf"],
    "--liars": [0, 1e-9, 0.49, 0.5, "nan"],
    "--trust": ["nobody", "aggregation", "server", "", "Server"],
}


def test_strange_guesses_are_answered_or_refused_in_one_line(command, monkeypatch):
    """A hundred, of which some may be true. What is accepted is estimated, closed forms and all, but not simulated."""
    answered, rng = [], random.Random(1)
    closed = planning.Plan.closed_form
    monkeypatch.setattr(planning.Plan, "document", lambda plan: document(closed_form=closed(plan, planning.ALONE, 1.0)))
    for _ in range(100):
        given = {name: rng.choice(values[: rng.choice([2, 2, 2, 9])]) for name, values in STRANGE.items()}
        flags = [flag for flag in ("--no-server", "--unlike") if rng.random() < 0.2]
        done = command("plan", *(word for pair in given.items() for word in pair), *flags, "--progress", "none", "--json")
        assert done.returncode in (0, 2), done
        assert done.returncode == 0 or (len(done.stderr.splitlines()) == 1 and done.stderr.startswith("coterie: ")), done
        answered.append(done.returncode == 0)
    assert 10 < sum(answered) < 90


@pytest.mark.parametrize("width", [30, 80])
def test_tables_and_sentences_fit_the_terminal(width):
    study = document()["study"].split("\n")
    assert all(len(str(line)) <= width for line in plan_lines(document(), width) if str(line) not in study)


def test_a_federation_file_is_written_where_it_is_asked_for_and_never_over_another(command, tmp_path):
    enough = ("--agents", 6, "--arms", 3, "--horizon", 4000, "--epsilon", 1, "--gap", 0.2)
    words = ("plan", *enough, "--progress", "none", "--federation", "f.toml")
    done = command(*words)
    assert done.returncode == 0 and "federation: f.toml, to be filled in" in done.stdout
    assert 'name = "pooled-ucb"' in (tmp_path / "f.toml").read_text()
    again = command(*words)
    assert again.returncode == 2 and "--federation must be a file that is not there yet" in again.stderr


def test_a_plan_to_stay_alone_is_printed_and_no_federation_file_is_written(command, tmp_path):
    alone = ("--agents", 3, "--arms", 3, "--horizon", 300, "--epsilon", 0.001, "--gap", 0.2)
    for words in ((), ("--json",)):
        done = command("plan", *alone, "--progress", "none", "--federation", "f.toml", *words)
        assert done.returncode == 0 and not (tmp_path / "f.toml").exists()
        assert done.stderr == "coterie: f.toml: was not written: the plan is that each stays alone\n"
        assert ("recommended" if words else "Stay alone") in done.stdout


def test_a_federation_file_that_cannot_be_written_is_named_before_anything_runs(command, tmp_path):
    (tmp_path / "taken").write_text("a file")
    enough = ("--agents", 3, "--arms", 3, "--horizon", 300, "--epsilon", 1, "--gap", 0.2)
    done = command("plan", *enough, "--federation", "taken/f")
    assert done.returncode == 7 and done.stderr.startswith("coterie: --federation taken/f: cannot be written: ")
