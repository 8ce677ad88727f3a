"""Studies on a data set: what follows from naming it, what its file changes, and the line for what does not fit."""

import csv
import gzip
import hashlib
import json
import pickle
from pathlib import Path

import pytest

from coterie.errors import UsageError
from coterie.problem import diabetes
from coterie.studies.reading import load

PLACES = [folder / "shared/data/diabetes/diabetic_data.csv.gz" for folder in Path(__file__).resolve().parents]
REAL = next((place for place in PLACES if place.exists()), None)


def read(source, *sets):
    return load(source, sets)


def study(**problem):
    return {"horizon": 10, "problem": {"dataset": "diabetes"} | problem, "algorithm": [{"name": "ucb1"}]}


def complaint(source, *sets):
    with pytest.raises(UsageError) as caught:
        read(source, *sets)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A folder to be in, with a file records.csv in a folder data that passes for the real one."""
    drugs = [drug for group in diabetes.DRUGS.values() for drug in group]
    file = tmp_path / "data" / "records.csv"
    file.parent.mkdir()
    with file.open("w", newline="") as text:
        writer = csv.DictWriter(text, [*drugs, "readmitted"], restval="No")
        writer.writeheader()
        for number in range(9):
            uses = {"insulin": "Steady"} | ({"metformin": "Steady"} if number % 2 else {})
            writer.writerow(uses | {"readmitted": ">30" if number % 3 else "NO"})
    monkeypatch.setattr(diabetes, "SHA256", hashlib.sha256(file.read_bytes()).hexdigest())
    monkeypatch.chdir(tmp_path)
    return file


# What is accepted


def test_the_data_set_tells_agents_and_arms_and_has_defaults():
    problem = read(study()).problem
    assert (problem.kind, problem.agents, problem.arms, problem.heterogeneity) == ("bernoulli", 3, 5, 0)
    assert (problem.split, problem.rule, problem.file) == ("order", "exclusive", None)
    assert (problem.means, problem.instance) == (None, None)


def test_agents_and_arms_may_be_repeated():
    assert read(study(agents=3, arms=5)).digest == read(study()).digest


def test_nothing_stands_for_the_default():
    assert read(study(means=None, split=None, rule=None, file=None)).digest == read(study()).digest


def test_the_resolved_study_names_the_data_set_and_can_be_read_again():
    found = read(study(split="random"))
    assert found.resolved()["problem"] == {
        "kind": "bernoulli",
        "means": None,
        "instance": None,
        "dataset": "diabetes",
        "split": "random",
        "rule": "exclusive",
        "agents": 3,
        "arms": 5,
        "heterogeneity": 0,
    }
    assert read({key: value for key, value in found.resolved().items() if key != "name"}).digest == found.digest


def test_a_study_without_a_data_set_does_not_speak_of_one():
    source = study() | {"problem": {"instance": "grid", "agents": 2, "arms": 2}}
    assert read(source).resolved()["problem"].keys() == {"kind", "means", "instance", "agents", "arms", "heterogeneity"}


def test_an_override_may_choose_the_split():
    assert read(study(), "problem.split=random").problem.split == "random"


def test_the_data_set_may_give_the_means_of_normal_rewards():
    problem = read(study(kind="gaussian", sigma=0.5)).problem
    assert (problem.kind, problem.dataset, problem.sigma, problem.agents) == ("gaussian", "diabetes", 0.5, 3)


# The file


def test_the_file_is_found_beside_the_study_and_from_any_place_later(records, monkeypatch):
    text = 'horizon = 10\nproblem = {dataset = "diabetes", rule = "multi", file = "records.csv"}\n'
    Path("data/study.toml").write_text(text + '[[algorithm]]\nname = "ucb1"\n')
    found = read("data/study.toml")
    monkeypatch.chdir(records.parents[2])
    problem = pickle.loads(pickle.dumps(found)).problem
    assert diabetes.table(problem.rule, problem.split, problem.file).counts.sum() == 9 + 4


def test_the_resolved_study_does_not_name_the_folder_of_the_file(records):
    resolved = read(study(file="data/records.csv")).resolved()
    assert resolved["problem"]["file"] == "records.csv"
    assert str(records.parent) not in json.dumps(resolved)


def test_the_digest_covers_the_counts_and_not_the_path(records):
    packed = records.with_name("packed.csv.gz")
    packed.write_bytes(gzip.compress(records.read_bytes()))
    same = [read(study(rule="multi", file=str(file))).digest for file in (records, packed, "data/records.csv")]
    others = [study(rule="precedence", file="data/records.csv"), study(), study(split="random")]
    assert len(set(same)) == 1
    assert len({same[0], *(read(other).digest for other in others)}) == 4


def test_counts_that_differ_give_another_digest(records, monkeypatch):
    before = read(study(file="data/records.csv")).digest
    changed = records.with_name("changed.csv")
    changed.write_bytes(records.read_bytes().replace(b"NO", b">30", 1))
    monkeypatch.setattr(diabetes, "SHA256", hashlib.sha256(changed.read_bytes()).hexdigest())
    assert read(study(file="data/changed.csv")).digest != before


@pytest.mark.skipif(REAL is None, reason="diabetic_data.csv.gz is not beside the project")
def test_the_real_file_and_the_built_in_table_are_the_same_study():
    assert read(study(file=str(REAL))).digest == read(study()).digest


# What is refused

SOURCES = "problem must have exactly one of means, instance, dataset and file, got"
REFUSED = {
    "unknown data set": (
        study(dataset="diabetis"),
        "problem.dataset must be 'diabetes', got 'diabetis'; did you mean 'diabetes'?",
    ),
    "data set and means": (study(means=[[0.1, 0.2]]), f"{SOURCES} means and dataset"),
    "data set and instance": (study(instance="grid"), f"{SOURCES} instance and dataset"),
    "all three": (study(means=[0.1, 0.2], instance="grid"), f"{SOURCES} means and instance and dataset"),
    "none": (study() | {"problem": {"split": "order"}}, f"{SOURCES} none"),
    "misspelt": (
        study() | {"problem": {"datset": "diabetes"}},
        "unknown key 'datset' in problem; did you mean 'dataset'? (and 2 more)",  # agents and arms
    ),
    "unknown split": (study(split="half"), "problem.split must be 'order' or 'random', got 'half'"),
    "unknown rule": (study(rule="any"), "problem.rule must be 'exclusive', 'multi' or 'precedence', got 'any'"),
    "file a number": (study(file=3), "problem.file must be text, got 3"),
    "other agents": (study(agents=4), "problem.agents must be 3 as in problem.dataset, or left out, got 4"),
    "other arms": (study(arms=4), "problem.arms must be 5 as in problem.dataset, or left out, got 4"),
    "heterogeneity": (
        study(heterogeneity=0.5),
        "problem.heterogeneity must be left out where dataset has a row for each agent, got 0.5",
    ),
    "split without a data set": (
        study() | {"problem": {"means": [[0.1, 0.2]], "split": "order"}},
        "problem.split must be left out unless dataset is given, got 'order'",
    ),
    "rule without a data set": (
        study() | {"problem": {"instance": "grid", "agents": 2, "arms": 2, "rule": "multi"}},
        "problem.rule must be left out unless dataset is given, got 'multi'",
    ),
}


@pytest.mark.parametrize(("source", "line"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_in_one_line(source, line):
    assert complaint(source) == f"study: {line}"


def test_a_file_beside_means_is_refused(records):
    source = study() | {"problem": {"means": [[0.1, 0.2]], "file": "data/records.csv"}}
    assert complaint(source) == "study: problem must have exactly one of means, instance, dataset and file, got means and file"


def test_a_rule_that_is_not_built_in_asks_for_the_file():
    line = complaint(study(rule="multi"))
    assert line.startswith("study: problem.file must be the path of diabetic_data.csv")
    assert line.endswith("got nothing (only the rule 'exclusive' is built in, not 'multi')")


def test_a_file_that_is_not_there_is_refused_when_the_study_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = complaint(study(), "problem.file=none.csv")
    assert line.startswith("--set problem.file=none.csv: problem.file must be the path of diabetic_data.csv")
    assert line.endswith(f"got {str(tmp_path / 'none.csv')!r}, which cannot be read: No such file or directory")


def test_another_file_is_refused_when_the_study_is_read(records):
    Path("other.csv").write_text("a,b\n1,2\n")
    assert "with 1 rows, 2 columns and sha256" in complaint(study(file="other.csv"))
