"""Liars and contaminated messages in a study: what is refused, which rows there are, and whose regret is told.

Runs are interpreted, and end in the bytes of compiled ones.
"""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import make_case
from coterie.studies.running import check_rows

AGENTS, ROUNDS = 10, 40
STUDY = {
    "horizon": ROUNDS,
    "replications": 3,
    "seed": 5,
    "problem": {"instance": "uniform", "between": [0.1, 0.9], "agents": AGENTS, "arms": 3},
    "network": {"graph": "erdos-renyi", "probability": 0.5},
}


def study(*algorithms, faults=None, **tables):
    named = [{"name": "coop-ucb"} if not algorithms else algorithm for algorithm in algorithms or (None,)]
    return load_study({**STUDY, **({"faults": faults} if faults is not None else {}), **tables, "algorithm": named})


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(case_module, "simulate_mesh", partial(simulate_mesh, compiled=False))
    return lambda *algorithms, **tables: study(*algorithms, **tables).run(workers=1)


# --- what is refused --------------------------------------------------------------------------------------


ATTACKS = "'random', 'promote-worst', 'promote-second', 'sign-flip', 'inside-window' or 'sleeper'"
LIVES = "a whole number in [0, 10000000], 'half-diameter', 'half-diameter-down' or 'diameter'"
HOPS = f"{LIVES} (hops a message lives; default: what the network says)"
REFUSED = {
    "half of the agents lie": ({"liars": 0.5}, "faults.liars must be a number in [0, 0.5), got 0.5"),
    "liars negative": ({"liars": -0.1}, "faults.liars must be a number in [0, 0.5), got -0.1"),
    "liars text": ({"liars": "0.1"}, "faults.liars must be a number in [0, 0.5), got '0.1' (text)"),
    "attack unknown": (
        {"liars": 0.1, "attack": "promote-wurst"},
        f"faults.attack must be {ATTACKS}, got 'promote-wurst'; did you mean 'promote-worst'?",
    ),
    "attack a number": ({"liars": 0.1, "attack": 2}, f"faults.attack must be {ATTACKS}, got 2"),
    "contamination above 1": ({"contamination": 1.1}, "faults.contamination must be a number in [0, 1], got 1.1"),
    "contaminant outside": (
        {"contamination": 0.1, "contaminant": 10},
        "faults.contaminant must lie in [0.0, 1.0], what a message may hold (faults.range), got 10.0",
    ),
    "contaminant outside the range given": (
        {"contamination": 0.1, "contaminant": -1, "range": [0, 10]},
        "faults.contaminant must lie in [0.0, 10.0], what a message may hold (faults.range), got -1.0",
    ),
    "dropout always": ({"dropout": 1.0}, "faults.dropout must be a number in [0, 1), got 1.0"),
    "sweep misspelt": ({"sweep": {"liers": [0, 0.1]}}, "unknown key 'liers' in faults.sweep; did you mean 'liars'?"),
    "sweep empty": ({"sweep": {"liars": []}}, "faults.sweep.liars must be a list of at least 1 entry, got []"),
    "sweep no list": ({"sweep": {"liars": 0.1}}, "faults.sweep.liars must be a list of at least 1 entry, got 0.1"),
    "swept half": ({"sweep": {"liars": [0, 0.1, 0.6]}}, "faults.sweep.liars[2] must be a number in [0, 0.5), got 0.6"),
    "swept attack": (
        {"sweep": {"liars": [0.1], "attack": ["random", "rnd"]}},
        f"faults.sweep.attack[1] must be {ATTACKS}, got 'rnd'; did you mean 'random'?",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_faults_that_cannot_be_are_refused_in_one_line(name):
    table, line = REFUSED[name]
    with pytest.raises(UsageError) as caught:
        study(faults=table)
    assert str(caught.value) == f"study: {line}"


OPTIONS = {
    "life below 0": ({"name": "coop-ucb", "life": -1}, f"algorithm[0].life of coop-ucb must be {HOPS}, got -1"),
    "life by halves": ({"name": "pr-ucb", "life": 1.5}, f"algorithm[0].life of pr-ucb must be {HOPS}, got 1.5"),
    "life misspelt": ({"name": "coop-ucb", "life": "half"}, f"algorithm[0].life of coop-ucb must be {HOPS}, got 'half'"),
    "half assumed to lie": (
        {"name": "pr-ucb", "liars_assumed": 0.5},
        "algorithm[0].liars_assumed of pr-ucb must be a number in [0, 0.5) (beta: share of liars among the votes), got 0.5",
    ),
    "votes misspelt": (
        {"name": "pr-ucb", "votes": "medien"},
        "algorithm[0].votes of pr-ucb must be 'median', 'mean' or 'scouts' (what is made of the votes on an arm), got "
        "'medien'; did you mean 'median'?",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_cannot_be_are_refused_in_one_line(name):
    algorithm, line = OPTIONS[name]
    with pytest.raises(UsageError) as caught:
        study(algorithm)
    assert str(caught.value) == f"study: {line}"


def test_a_life_of_the_network_below_0_is_refused():
    with pytest.raises(UsageError) as caught:
        study(network={"life": -1})
    assert str(caught.value) == f"study: network.life must be {LIVES}, got -1"


UNFIT = {
    "as printed above 1": (
        {"name": "private-ucb", "mode": "paper", "epsilon": 3},
        {},
        "private-ucb mode=paper epsilon=3: epsilon must be <= 1 in mode = 'paper', where it spaces the releases, got 3",
    ),
    "half of the messages": (
        {"name": "byzantine-ucb"},
        {"contamination": 0.5},
        "byzantine-ucb: liars must be below 0.5, where the trimmed mean breaks down, got 0.5",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_together_is_refused_before_anything_runs(name):
    algorithm, faults, line = UNFIT[name]
    with pytest.raises(UsageError) as caught:
        check_rows(study(algorithm, faults=faults).specification)
    assert str(caught.value) == f"study: {line}"


SETTINGS = ["faults.attack=worst", "faults.sweep.liers=[0.1]", "algorithm.life=-1"]


@pytest.mark.parametrize("setting", ["faults.liars=0.5", *(pytest.param(each, marks=pytest.mark.slow) for each in SETTINGS)])
def test_the_command_says_so_in_one_line_and_exits_with_2(setting, tmp_path):
    command = [Path(sys.executable).with_name("coterie"), "run", "dubey-1c", "--set", setting]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"COLUMNS": "400"})
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert "must be" in done.stderr or "did you mean" in done.stderr
    assert list(tmp_path.iterdir()) == []


# --- which rows there are ---------------------------------------------------------------------------------


def described(*algorithms, **tables):
    return [(row.label, row.troubles()) for row in study(*algorithms, **tables).specification.rows]


def test_every_algorithm_has_a_row_for_each_set_of_faults():
    swept = {"sweep": {"liars": [0.1, 0.2], "attack": ["random", "sleeper"]}}
    rows = described({"name": "ucb1"}, {"name": "coop-ucb", "label": "together"}, faults=swept)
    pairs = [(share, attack) for share in (0.1, 0.2) for attack in ("random", "sleeper")]
    assert rows == [
        (f"{name} liars={share:g} attack={attack}", {"liars": share, "attack": attack})
        for name in ("ucb1", "together")
        for share, attack in pairs
    ]


def test_where_nobody_lies_there_is_one_row_whatever_the_attack():
    swept = {"sweep": {"liars": [0, 0.1], "attack": ["random", "sleeper"]}}
    assert described(faults=swept) == [
        ("coop-ucb liars=0", {}),
        ("coop-ucb liars=0.1 attack=random", {"liars": 0.1, "attack": "random"}),
        ("coop-ucb liars=0.1 attack=sleeper", {"liars": 0.1, "attack": "sleeper"}),
    ]


def test_clean_messages_are_one_row_whatever_would_replace_them():
    swept = {"range": [0, 10], "sweep": {"contamination": [0, 0.01], "contaminant": [1, 10]}}
    rows = described(faults=swept)
    assert [label for label, _ in rows] == [
        "coop-ucb contamination=0",
        "coop-ucb contamination=0.01 contaminant=1",
        "coop-ucb contamination=0.01 contaminant=10",
    ]


def test_a_fixed_attack_holds_for_all_swept_shares():
    rows = described(faults={"attack": "sign-flip", "sweep": {"liars": [0, 0.2, 0.4]}})
    assert [faults for _, faults in rows] == [{}, *({"liars": share, "attack": "sign-flip"} for share in (0.2, 0.4))]


def test_who_lies_without_an_attack_promotes_the_worst_arm():
    assert described(faults={"liars": 0.1}) == [("coop-ucb", {"liars": 0.1, "attack": "promote-worst"})]


def test_the_resolved_study_tells_the_faults_of_every_row():
    resolved = study(faults={"sweep": {"liars": [0, 0.1]}}).specification.resolved()
    assert [row["faults"] for row in resolved["algorithm"]] == [{}, {"liars": 0.1, "attack": "promote-worst"}]
    assert "faults" not in study().specification.resolved()["algorithm"][0]


def test_the_digest_covers_what_liars_do_and_nothing_that_has_no_effect():
    digest = {
        name: study(faults=faults).specification.digest
        for name, faults in {
            "none": None,
            "empty": {},
            "nobody": {"liars": 0, "attack": "random"},
            "clean": {"contamination": 0, "contaminant": 1.0},
            "some": {"liars": 0.1},
            "spelt out": {"liars": 0.1, "attack": "promote-worst"},
            "more": {"liars": 0.2},
            "another attack": {"liars": 0.1, "attack": "random"},
            "swept": {"sweep": {"liars": [0.1, 0.2]}},
            "swept the other way": {"sweep": {"liars": [0.2, 0.1]}},
        }.items()
    }
    assert digest["none"] == digest["empty"] == digest["nobody"] == digest["clean"]
    assert digest["some"] == digest["spelt out"]
    kinds = ("none", "some", "more", "another attack", "swept", "swept the other way")
    assert len({digest[kind] for kind in kinds}) == len(kinds)


# --- who lies, and whose regret is told -------------------------------------------------------------------


@pytest.mark.parametrize("share, liars", [(0.04, 0), (0.1, 1), (0.2, 2), (0.49, 5)])
def test_a_share_of_the_agents_lies_drawn_anew_in_each_replication(share, liars):
    specification = study(faults={"liars": share}).specification
    drawn = [make_case(specification, specification.rows[0], replication).weather.liar for replication in range(20)]
    assert [int(liar.sum()) for liar in drawn] == [liars] * 20
    assert specification.rows[0].honest(AGENTS) == AGENTS - liars
    assert liars == 0 or len({liar.tobytes() for liar in drawn}) > 2  # one or two sets in all 20: below 1e-12


def test_all_rows_meet_the_same_liars():
    swept = study({"name": "ucb1"}, {"name": "coop-ucb"}, faults={"liars": 0.2, "sweep": {"attack": ["random", "sleeper"]}})
    specification = swept.specification
    found = {make_case(specification, row, 1).weather.liar.tobytes() for row in specification.rows}
    assert len(specification.rows) == 4 and len(found) == 1


def test_only_honest_agents_count(run):
    """UCB1 hears nobody: with liars it plays as without, and the regret told is that of the honest agents alone."""
    calm, lied_to = run({"name": "ucb1"}, faults={"sweep": {"liars": [0, 0.3]}}, replications=1).summary
    specification = study({"name": "ucb1"}, faults={"sweep": {"liars": [0, 0.3]}}).specification
    honest = make_case(specification, specification.rows[1], 0).weather.liar == 0
    assert honest.sum() == 7
    own = np.array(calm["by_agent"]["regret"])
    assert lied_to["regret"]["mean"] == pytest.approx(own[honest].sum())
    assert lied_to["regret_per_agent"]["mean"] == pytest.approx(own[honest].mean())
    assert calm["regret_per_agent"]["mean"] == pytest.approx(own.mean())
    for part in ("regret", "found"):
        assert [value is None for value in lied_to["by_agent"][part]] == [not flag for flag in honest]
    found = [value for value in lied_to["by_agent"]["found"] if value is not None]
    assert lied_to["best_arm_rate"] == pytest.approx(np.mean(found))


def test_a_study_that_was_run_once_has_no_interval_in_its_summary(run):
    (row,) = run({"name": "ucb1"}, replications=1).summary
    for key in ("regret", "regret_per_agent"):
        assert row[key]["sem"] is None and row[key]["margin"] is None and row[key]["min"] == row[key]["max"] == row[key]["mean"]


def test_regret_per_agent_is_over_honest_agents_in_summary_and_table(run):
    result = run({"name": "coop-ucb"}, faults={"liars": 0.2, "attack": "promote-worst"})
    (row,) = result.summary
    assert row["faults"] == {"liars": 0.2, "attack": "promote-worst"}
    assert row["regret_per_agent"]["mean"] == pytest.approx(row["regret"]["mean"] / 8)
    assert row["regret_per_agent"]["max"] == pytest.approx(row["regret"]["max"] / 8)
    frame = result.frame()
    assert frame["regret_per_agent"].to_numpy() == pytest.approx(frame["regret"].to_numpy() / 8)


def test_lies_do_harm_to_those_who_believe_them(run):
    calm, lied_to = run({"name": "coop-ucb"}, faults={"sweep": {"liars": [0, 0.4]}}, horizon=200, replications=1).summary
    assert lied_to["regret_per_agent"]["mean"] > 2 * calm["regret_per_agent"]["mean"]
