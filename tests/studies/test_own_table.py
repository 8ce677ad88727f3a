"""Studies on a table of one's own: sizes and paths, what is written down, and whom epsilon protects."""

import json
import pickle

import numpy as np
import pytest

from coterie.cli.table import summary_lines
from coterie.errors import UsageError
from coterie.privacy.gauss import epsilon_of, mu_of
from coterie.privacy.statement import Claim, Doors, of_person, promise, statement
from coterie.report import render
from coterie.studies import load_study
from coterie.studies.budget import person_of, price_study
from coterie.studies.case import make_case, problem_of
from coterie.studies.reading import load
from coterie.studies.results import manifest

TABLE = "agent,arm,successes,trials\nNorth,a,30,100\nNorth,b,45,90\nSouth,a,20,80\nSouth,b,60,100\n"
STUDY = """
horizon = 40
replications = 2
[problem]
file = "data/table.csv"
[[algorithm]]
name = "pooled-ucb"
epsilon = 1
[[algorithm]]
name = "ucb1"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/table.csv").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.fixture
def persons(folder):
    rows = [f"{'NS'[n % 2]},{'ab'[n % 4 // 2]},{n % 3 % 2},p{n % 7 if n < 40 else 0}" for n in range(45)]
    (folder / "data/table.csv").write_text("\n".join(["agent,arm,reward,person", *rows]))
    return folder  # 45 rewards: p0 has 6 of the first 40 and the last 5


def complaint(source, *sets):
    with pytest.raises(UsageError) as caught:
        load(source, sets)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is accepted


def test_the_table_is_found_from_the_study_and_tells_sizes_and_means(folder, monkeypatch):
    monkeypatch.chdir("/")
    problem = load(folder / "study.toml").problem
    assert (problem.kind, problem.agents, problem.arms) == ("bernoulli", 2, 2)
    assert problem.table_means().tolist() == [[0.3, 0.5], [0.25, 0.6]]


def test_a_path_given_on_the_command_line_is_meant_from_where_one_stands(folder, monkeypatch):
    monkeypatch.chdir(folder / "data")
    assert load(folder / "study.toml", ["problem.file=table.csv"]).problem.agents == 2


def test_a_run_on_the_table_is_that_on_its_means(folder):
    mine = load_study(folder / "study.toml").run(workers=1)
    means = {"means": [[0.3, 0.5], [0.25, 0.6]]}
    same = load_study({"horizon": 40, "replications": 2, "problem": means,
                       "algorithm": [{"name": "pooled-ucb", "epsilon": 1}, {"name": "ucb1"}]}).run(workers=1)  # fmt: skip
    assert mine.frame().equals(same.frame())


def test_agents_without_a_column_are_all_alike(folder):
    (folder / "data/table.csv").write_text("arm,successes,trials\na,30,100\nb,45,90\n")
    assert load(folder / "study.toml", ["problem.agents=5"]).problem.table_means().tolist() == [[0.3, 0.5]]
    assert "problem.agents must be a whole number" in complaint(folder / "study.toml")


def test_the_study_travels_without_its_file_and_the_digest_follows_the_content(folder):
    study = load(folder / "study.toml")
    sent = pickle.dumps(study)
    (folder / "data/table.csv").rename(folder / "data/moved.csv")
    assert pickle.loads(sent).problem.table_means().tolist() == [[0.3, 0.5], [0.25, 0.6]]
    assert pickle.loads(sent).digest == study.digest
    (folder / "data/table.csv").write_text(TABLE.replace("30,100", "31,100"))
    assert load(folder / "study.toml").digest != study.digest


def test_what_the_table_tells_is_written_down_as_json(folder):
    told = load(folder / "study.toml").resolved()["problem"]
    assert json.loads(json.dumps(told)) == told
    assert (told["file"], told["agent_names"], told["arm_names"]) == ("table.csv", ["North", "South"], ["a", "b"])
    assert told["table_means"] == [[0.3, 0.5], [0.25, 0.6]]
    assert told["data"]["rewards"] == 370 and "person" not in told


def test_normal_rewards_take_a_table_too(folder):
    (folder / "data/table.csv").write_text("agent,arm,reward\nN,a,-3\nN,b,5\n")
    study = load(folder / "study.toml", ["problem.kind=gaussian", "problem.sigma=2"])
    assert study.problem.table_means().tolist() == [[-3.0, 5.0]]


# What is refused


def test_what_does_not_fit_the_table_is_one_line(folder):
    file = folder / "study.toml"
    assert "problem.agents must be 2 as in problem.file, or left out, got 3" in complaint(file, "problem.agents=3")
    assert "must have exactly one of means, instance, dataset and file" in complaint(file, "problem.instance=grid")
    assert "problem.heterogeneity must be left out where file has a row" in complaint(file, "problem.heterogeneity=0.5")
    assert "problem.split must be left out unless dataset is given" in complaint(file, "problem.split=order")
    means = {"horizon": 9, "problem": {"means": [0.1, 0.2], "agents": 2, "outside": "clip"}, "algorithm": [{"name": "ucb1"}]}
    assert "problem.outside must be left out without a table of one's own" in complaint(means)
    (folder / "data/table.csv").write_text(TABLE.replace("30,100", "-30,100"))
    told = complaint(file)
    assert told.startswith(f"{file}: problem.file must have a whole number in 0..trials as successes in row 1, got '-30'")
    (folder / "data/table.csv").unlink()
    assert "problem.file must be the path of a CSV or Parquet table" in complaint(file)


# Persons


def test_a_run_states_what_the_person_with_most_rewards_loses(persons):
    study = load_study(persons / "study.toml")
    result = study.run(workers=1)
    said = result.summary[0]["privacy"]
    assert (said["claimed"]["epsilon"], said["accounted"]["epsilon"], said["per_reward"]["epsilon"]) == (11.0, 11.0, 1.0)
    assert (said["unit"], said["rewards"]) == ("a person with 11 rewards of one agent", 11)
    assert result.summary[0]["promise"]["state"] == "weak"  # 1 is not
    document = result.document()
    assert any("a person with 11 rewards" in text and "of one reward it is 1" in text for text in document["answer"]["caveats"])
    assert document["answer"]["figures"][2]["value"].endswith("11 per person")
    printed = "\n".join(str(line) for line in summary_lines(document, 100))
    assert "ε: of a person with 11 rewards of one agent; a row is named after that of one reward" in printed
    assert "data: The means are those of 45 rewards" in printed
    page = render(document, manifest(study.specification))
    assert "Epsilon is per person." in page and "How sure the means are." in page and "per person" in page


def test_a_budget_speaks_of_the_person_of_the_table(persons, folder):
    study = load(persons / "study.toml")
    assert person_of(study) == 11
    price = price_study(study)[0]
    assert price.epsilon_of(person_of(study)) == of_person(price.epsilon, 0.0, 11)


def test_where_each_person_has_one_reward_epsilon_protects_a_person(folder):
    rows = [f"{'NS'[n % 2]},{'ab'[n % 4 // 2]},{n % 3 % 2},p{n}" for n in range(40)]
    (folder / "data/table.csv").write_text("\n".join(["agent,arm,reward,person", *rows]))
    document = load_study(folder / "study.toml").run(workers=1).document()
    assert "Each of the table's 40 persons has one reward: ε protects a person." in document["answer"]["caveats"]
    assert document["rows"][0]["privacy"]["accounted"]["epsilon"] == 1.0


def test_losses_with_a_delta_add_up_by_their_mu_and_never_below_pure_ones():
    for epsilon in (0.1, 1.0, 4.0):
        for rewards in (2, 10):
            mu = mu_of(epsilon, 1e-6)
            assert of_person(epsilon, 1e-6, rewards) == pytest.approx(epsilon_of(rewards * mu, 1e-6), rel=1e-9)
            assert of_person(epsilon, 1e-6, rewards) >= of_person(epsilon, 0.0, rewards) == rewards * epsilon
    assert of_person(np.inf, 0.0, 3) == np.inf and of_person(1.0, 1e-6, 1) == 1.0


def test_a_broken_promise_stays_broken_for_a_person():
    said = statement(Claim(1.0, 1e-6), Doors(), 1.5, rewards=4)
    assert promise(said).name == "BROKEN" and said["accounted"]["epsilon"] > said["claimed"]["epsilon"]
    assert promise(statement(Claim(1.0, 1e-6), Doors(), 1.0, rewards=4)).kept


LOG = "agent,arm,reward\n" + "".join(
    f"{agent},{arm},{int(i < good)}\n" for agent in "AB" for arm, good in (("x", 3), ("y", 2)) for i in range(6)
)


@pytest.mark.parametrize("kind", ["logged", "bernoulli"])
def test_what_is_worked_out_from_rewards_is_no_public_fact(tmp_path, kind):
    """One reward decides whether agents see the same means, and how large the gap is: neither may change what is played."""
    methods, other = [], LOG.replace("B,y,1", "B,y,0", 1)
    for number, text in enumerate((LOG, other)):
        (tmp_path / f"{number}.csv").write_text(text)
        problem = {"kind": kind, "file": str(tmp_path / f"{number}.csv")}
        study = load_study({"horizon": 4, "problem": problem, "algorithm": [{"name": "pooled-ucb"}]}).specification
        methods.append(make_case(study, study.rows[0], 0).method)
        assert problem_of(study).instance(study.rows[0], 0)[3].homogeneous is False
        told = [{"name": name, "gap": "true", "rounds": 5} for name in ("cdp-mab", "single-mab")]
        for row in told:
            with pytest.raises(UsageError, match=r"gap must be a number in \[1e-06, 1\) where means come from data, got 't"):
                refused = load_study({"horizon": 400, "problem": problem, "algorithm": [row]}).specification
                make_case(refused, refused.rows[0], 0)
    assert repr(methods[0]) == repr(methods[1])


def test_a_table_without_agents_says_that_all_are_alike(tmp_path):
    (tmp_path / "log.csv").write_text("\n".join(line.partition(",")[2] for line in LOG.splitlines()))
    problem = {"kind": "logged", "file": str(tmp_path / "log.csv"), "agents": 2}
    study = load_study({"horizon": 4, "problem": problem, "algorithm": [{"name": "pooled-ucb"}]}).specification
    assert problem_of(study).instance(study.rows[0], 0)[3].homogeneous is True
