"""What was compared, in sentences."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import setting
from coterie.report.view import View

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]
BERNOULLI = {"kind": "bernoulli", "means": None, "instance": "grid", "heterogeneity": 0.0}
COMPLETE = {
    "graph": "complete",
    "probability": None,
    "edges": None,
    "components": None,
    "switch_every": None,
    "link_cost": {"server": 25.0, "peer": 1.0},
}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def told(rows: list[dict[str, Any]], summary: MakeSummary, problem: dict[str, Any] | None = None, **study: Any) -> str:
    view = View(summary(rows, study={"problem": BERNOULLI | (problem or {}), "network": COMPLETE} | study))
    return plain(" ".join(setting.sentences(view)))


def test_the_setting_names_agents_arms_rounds_network_prices_faults_and_repetitions(row: MakeRow, summary: MakeSummary) -> None:
    faulty = row(horizon=1000, faults={"liars": 0.2, "attack": "sign-flip", "loss": 0.05, "churn": 0.25})
    network = COMPLETE | {"graph": "erdos-renyi", "probability": 0.1}
    text = told([faulty], summary, {"heterogeneity": 0.5}, network=network)
    assert text.startswith("4 agents choose one of 3 arms in each of 1,000 rounds.")
    for part in (
        "evenly spaced between 0 and 1; agents see different means (heterogeneity 0.5); each arm counts",
        "links are drawn at random, each with probability 0.1.",
        "25 for a link to a server and 1 for a link between agents",
        "Faults: 20 % of the agents lie (attack “sign-flip”), messages and meetings are lost with probability 0.05 and 25 % of",
        "Everything was run 20 times with fresh random numbers (seed 7).",
    ):
        assert part in text
    assert "Faults" not in told([row()], summary)


def test_one_agent_and_one_run_are_spoken_of_in_the_singular_and_in_the_words_of_the_study(
    row: MakeRow, summary: MakeSummary
) -> None:
    text = told([row(agents=1, horizon=1, replications=1)], summary, words={"agent": "shop", "arm": "offer"})
    assert text.startswith("1 shop chooses one of 3 offers in each of 1 round.")
    assert text.endswith("Everything was run once (seed 7).")


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        (
            [{}, {"liars": 0.1, "attack": "random"}, {"liars": 0.3, "attack": "sleeper"}],
            "Faults: 0 %, 10 % or 30 % of the agents lie (attacks “random” and “sleeper”).",
        ),
        (
            [{}, {"contamination": 0.001}, {"contamination": 0.001, "contaminant": 10.0}],
            "Faults: the value of a message is replaced by 10 or the highest value allowed with probability 0 or 0.001.",
        ),
        ([{"dropout": 0.25}], "Faults: an agent sits out a round with probability 0.25."),
        (
            [{"loss": 0.1, "one_way": True}],
            "Faults: messages and single directions of meetings are lost with probability 0.1.",
        ),
        ([{"churn": 0.5}, {"churn": 1.0}], "Faults: 50 % or 100 % of the agents go away for a while."),
        ([{"range": [0, 10]}], ""),
    ],
)
def test_faults_that_are_swept_are_told_with_all_their_values(row: MakeRow, faults: list[Any], text: str) -> None:
    assert plain(setting.fault_text([row(faults=entry) for entry in faults])) == text


@pytest.mark.parametrize(
    ("network", "lives", "text"),
    [
        ("half-diameter", [None], "Messages go half of the longest way through the network, rounded up, one hop in a round."),
        ("diameter", [None, 1], "Messages go all the way, one hop in a round, unless a row says otherwise."),
        (1, [None], "Messages go 1 hop, one hop in a round."),
        (2, [0, 3], "How far messages go is said in the rows."),
        (2, [], ""),
    ],
)
def test_the_setting_tells_how_far_messages_go(row: MakeRow, network: Any, lives: list[Any], text: str) -> None:
    rows = [row(parameters={"life": life}) for life in lives] or [row()]
    assert plain(setting.life_text({"life": network}, rows)) == text


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ({"instance": None, "means": [0.1, 0.9]}, "a reward of 0 or 1; the arms' mean rewards are given in the study."),
        (
            {"instance": None, "means": [[0.1, 0.9], [0.2, 0.3]]},
            "given in the study; each arm counts by its average over agents.",
        ),
        (
            {"instance": None, "dataset": "diabetes", "split": "order"},
            "come from the data set “diabetes”, split “order”; each arm counts by its average over agents.",
        ),
        (
            {"instance": None, "means": [[0.1, 0.9], [0.2, 0.3]], "weights": [0.1, 0.9]},
            "each arm counts by its weighted average over agents.",
        ),
        (
            {"kind": "gaussian", "clip": [0, 1], "instance": "middle"},
            "normal noise, cut to 0..1; the arms' mean rewards are evenly spaced between 0.3 and 0.7.",
        ),
        ({"kind": "gaussian", "clip": None}, "a reward with normal noise; the arms' mean rewards"),
        ({"instance": "uniform", "between": [0.3, 0.7]}, "mean rewards are drawn at random between 0.3 and 0.7."),
    ],
)
def test_the_rewards_are_described_as_the_study_gives_them(problem: dict[str, Any], text: str) -> None:
    assert text in setting.rewards(BERNOULLI | problem)


@pytest.mark.parametrize(
    ("network", "text"),
    [
        ({"graph": "ring"}, "Where agents talk to each other, they form a ring."),
        ({"graph": None, "edges": [[0, 1], [1, 2]]}, "they use 2 given links."),
        ({"graph": "erdos-renyi", "switch_every": 9}, "links are drawn at random, anew every 9 rounds."),
        ({"components": [20, 20, 20]}, "every one is linked to every other, inside 3 groups of 20."),
        ({"components": [3, 4, 5]}, "every one is linked to every other, inside groups of 3, 4 and 5."),
    ],
)
def test_the_network_is_described_as_the_study_gives_it(network: dict[str, Any], text: str) -> None:
    assert text in plain(setting.network_text(COMPLETE | network))


def test_procurement_is_told_in_its_own_words(buying_row: MakeRow, summary: MakeSummary) -> None:
    text = told([buying_row()], summary, {"kind": "procurement", "alpha": 0.7})
    assert text.startswith("4 agents order from 3 producers") and "average quality of at least 0.7" in text
    assert "Regret is expected revenue given up" in text


def test_the_source_of_suppliers_is_told() -> None:
    about = {"kind": "procurement", "alpha": 0.4, "sd": 0.1, "homogeneous": False}
    assert setting.bought(about).endswith("The suppliers are given in the study.")
    assert setting.bought(about | {"file": "suppliers.csv"}).endswith("The suppliers are those of the table “suppliers.csv”.")
    uniform = plain(setting.bought(about | {"distribution": "uniform", "instances": 5}))
    assert uniform.endswith("Qualities and costs are uniform between 0 and 1, drawn for 5 instances, which take turns.")
    normal = setting.bought(about | {"distribution": "normal", "homogeneous": True})
    assert "around 0.4 with standard deviation 0.1, drawn anew for every run. Costs and capacities" in normal


def test_where_agents_differ_regret_is_counted_against_the_best_arm_on_average(row: MakeRow, summary: MakeSummary) -> None:
    own = {"instance": None, "means": [[0.1, 0.9], [0.2, 0.3]]}
    assert "not always choosing the best arm;" in told([row()], summary)
    assert "the arm that is best on average over all agents;" in told([row()], summary, own)
    assert "best on weighted average over" in told([row()], summary, own | {"weights": [0.1, 0.9]})


def test_the_reward_of_a_data_set_is_named_as_its_source_names_it() -> None:
    text = setting.rewards(BERNOULLI | {"instance": None, "dataset": "diabetes", "split": "order"})
    assert text.startswith("A choice brings a reward of 1 if the patient is readmitted to hospital after more than 30 days,")
    assert "which the source of the study counts as the reward, else 0" in text


def test_methods_say_what_they_do_whom_they_talk_to_and_which_rows_run_them(row: MakeRow, summary: MakeSummary) -> None:
    rows = [
        row("alone, no noise", algorithm="single-mab", size=0.0),
        row("cdp-mab epsilon=1", algorithm="cdp-mab"),
        row("together", algorithm="cdp-mab"),
        row("as printed", algorithm="cdp-mab"),
        row("mine.py", algorithm="mine", own_file={"checked": True, "audited": False}),
    ]
    alone, together, mine = setting.methods(View(summary(rows)))
    assert alone.name == "single-mab" and alone.text.endswith("Row: “alone, no noise”.") and "exchanges" not in alone.text
    assert together.text.endswith("An agent exchanges messages with a server. Rows: “together” and “as printed”.")
    assert mine.text.startswith("an algorithm of the study's author. An agent exchanges messages with others.")
    assert mine.text.endswith("A file of one's own: checked, not audited.")


def test_rows_that_run_as_printed_are_named(row: MakeRow, summary: MakeSummary) -> None:
    printed, usual = row("as printed", parameters={"mode": "paper"}), row(parameters={"mode": "private"})

    def modes(*rows: dict[str, Any]) -> str:
        return setting.modes_text(View(summary(list(rows))))

    assert modes(printed, usual).startswith("“as printed”: run as printed in the paper")
    assert modes(printed, printed).startswith("Every row: run as printed in the paper")
    assert modes(usual) == ""
