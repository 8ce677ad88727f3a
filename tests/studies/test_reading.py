"""Reading a study: what is accepted and what it resolves to, and the exact line for everything that is not."""

import copy
import hashlib
import math
import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coterie.errors import UsageError
from coterie.studies import reading
from coterie.studies.reading import load
from coterie.studies.spec import Specification

STEADY = settings(derandomize=True, deadline=None)

HOSPITAL = """
horizon = 1000

[problem]
means = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]

[[algorithm]]
name = "ucb1"

[[algorithm]]
name = "fed-ucb"
epsilon = 1
"""


class Options(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class UcbOptions(Options):
    pass


class FedUcbOptions(Options):
    epsilon: float = Field(gt=0, description="inf: no privacy")
    mode: Literal["private", "paper"] = "private"
    window: tuple[int, int] = (200, 40000)
    shift: float = 0
    catch_up: bool = False


REGISTRY = {"ucb1": UcbOptions, "fed-ucb": FedUcbOptions}


def find(reference):
    return SimpleNamespace(name=reference, options=REGISTRY.get(reference, FedUcbOptions))


def names():
    return sorted(REGISTRY)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the file hospital.toml and a folder of built-in studies, to be in."""
    (tmp_path / "hospital.toml").write_text(HOSPITAL)
    (tmp_path / "builtin").mkdir()
    (tmp_path / "builtin" / "hospitals.toml").write_text('title = "Built in"\n' + HOSPITAL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(source, *sets):
    """With algorithms and built-in studies of this file: what is read depends on no other part."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("find", find), ("names", names), ("BUILTIN", Path("builtin"))):
            patch.setattr(reading, name, value)
        return load(source, sets)


def complaint(source, *sets):
    with pytest.raises(UsageError) as caught:
        read(source, *sets)
    text = str(caught.value)
    assert "\n" not in text
    return text


def study(**changes):
    """The dict of a small valid study; `problem__agents=3` changes an inner key, None takes a key away."""
    tree = tomllib.loads(HOSPITAL)
    for name, value in changes.items():
        *above, key = name.split("__")
        table = tree
        for step in above:
            table = table.setdefault(step, {})
        table[key] = value
        if value is None:
            del table[key]
    return tree


def with_problem(**problem):
    return study(problem=problem)


def with_edges(agents, edges):
    return study(problem={"instance": "grid", "agents": agents, "arms": 2}, network={"edges": edges})


def with_algorithms(*tables):
    return study(algorithm=list(tables))


def fed_ucb(**parameters):
    return {"name": "fed-ucb", **parameters}


# What is accepted


def test_a_file_is_read_and_every_default_is_filled_in(folder):
    found = read("hospital.toml")
    assert (found.name, found.title) == ("hospital", "hospital")
    assert (found.horizon, found.replications, found.seed, found.checkpoints) == (1000, 20, 0, 100)
    assert (found.problem.kind, found.problem.agents, found.problem.arms) == ("bernoulli", 2, 3)
    assert found.problem.heterogeneity == 0
    assert (found.network.graph, found.network.life) == ("complete", "half-diameter")
    assert (found.network.link_cost.server, found.network.link_cost.peer) == (1, 1)
    assert [row.name for row in found.rows] == ["ucb1", "fed-ucb"]
    assert found.rows[1].options == FedUcbOptions(epsilon=1)


def test_a_path_a_name_and_a_dict_give_the_same_study(folder):
    sources = ["hospital.toml", Path("hospital.toml"), folder / "hospital.toml", "hospitals", study()]
    assert len({read(source).digest for source in sources}) == 1
    assert [read(source).name for source in sources] == ["hospital"] * 3 + ["hospitals", "study"]
    assert read("hospitals").title == "Built in"


def test_a_built_in_name_goes_before_a_file_without_ending(folder):
    Path("hospitals").write_text("horizon = 5\n" + HOSPITAL.replace("horizon = 1000", ""))
    assert read("hospitals").horizon == 1000
    assert read("./hospitals").horizon == 5


def test_a_dict_is_not_changed_by_reading():
    source = study(problem__means=[(0.1, 0.2), [0.3, 0.4]])
    before = copy.deepcopy(source)
    read(source, "horizon=5", "problem.means.0.1=0.9")
    assert source == before


def test_a_study_cannot_be_changed():
    found = read(study())
    for table, key in (
        (found, "horizon"),
        (found.problem, "agents"),
        (found.network, "graph"),
        (found.rows[0], "label"),
    ):
        with pytest.raises(ValidationError):
            setattr(table, key, 3)


def test_a_study_survives_the_way_to_another_process():
    found = read(study())
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.digest == found.digest


def test_one_row_of_means_is_for_all_agents():
    found = read(with_problem(means=[0.1, 0.2, 0.3], agents=4, heterogeneity=0.5))
    assert (found.problem.agents, found.problem.arms) == (4, 3)
    assert found.problem.means == (0.1, 0.2, 0.3)


def test_gaussian_means_may_lie_anywhere():
    found = read(with_problem(kind="gaussian", means=[[-3.0, 4]], sigma=2, clip=[-1, 1.5]))
    assert found.problem.means == ((-3.0, 4.0),)
    assert (found.problem.sigma, found.problem.clip) == (2, (-1, 1.5))


def test_a_whole_number_may_stand_where_a_number_is_wanted():
    value = read(with_algorithms(fed_ucb(epsilon=2))).rows[0].options.epsilon
    assert (value, type(value)) == (2, float)


def test_listed_edges_take_the_place_of_the_graph():
    network = read(with_edges(3, [[0, 1], [2, 1]])).network
    assert (network.graph, network.edges) == (None, ((0, 1), (2, 1)))


def test_one_agent_needs_no_edge():
    assert read(with_edges(1, [])).network.edges == ()


def test_components_and_random_graphs_are_accepted():
    network = {"graph": "erdos-renyi", "probability": 1, "components": [1, 1], "life": 3, "link_cost": {"server": 25}}
    found = read(study(network=network)).network
    assert (found.components, found.probability, found.life) == ((1, 1), 1, 3)
    assert (found.link_cost.server, found.link_cost.peer) == (25, 1)


# Rows and labels


def labels(*tables):
    return [row.label for row in read(with_algorithms(*tables)).rows]


def test_a_sweep_makes_one_row_for_each_value():
    found = read(with_algorithms(fed_ucb(mode="private", sweep={"epsilon": [1, 2.5, math.inf]})))
    assert [row.options.epsilon for row in found.rows] == [1, 2.5, math.inf]
    assert [row.label for row in found.rows] == ["fed-ucb epsilon=1", "fed-ucb epsilon=2.5", "fed-ucb epsilon=inf"]


def test_several_swept_keys_make_a_product_in_the_order_of_the_file():
    found = read(with_algorithms(fed_ucb(sweep={"mode": ["paper", "private"], "epsilon": [1, 2]})))
    assert [(row.options.mode, row.options.epsilon) for row in found.rows] == [
        ("paper", 1),
        ("paper", 2),
        ("private", 1),
        ("private", 2),
    ]
    assert found.rows[2].label == "fed-ucb mode=private epsilon=1"


def test_a_label_names_the_given_parameters_in_the_order_of_the_file():
    table = fed_ucb(catch_up=True, sweep={"epsilon": [1e6]}, window=[1, 2], mode="paper", shift=0.0)
    assert labels(table) == ["fed-ucb catch_up=true epsilon=1000000 window=[1, 2] mode=paper shift=0"]


def test_a_choice_that_is_the_default_is_not_in_the_label():
    assert labels(fed_ucb(mode="private", epsilon=1)) == ["fed-ucb epsilon=1"]


def test_a_label_of_the_user_is_followed_by_what_is_swept_only():
    assert labels(fed_ucb(label="ours", shift=1, sweep={"epsilon": [1, 2]})) == ["ours epsilon=1", "ours epsilon=2"]


def test_labels_are_unique():
    tables = [fed_ucb(epsilon=1, label=label) for label in ("a", "a (2)", "a", "a")]
    assert labels(*tables) == ["a", "a (2)", "a (3)", "a (4)"]


# A user's own algorithm


def test_a_file_of_the_user_is_found_beside_the_study(folder):
    Path("sub").mkdir()
    Path("sub/mine.py").write_text("content")
    Path("sub/study.toml").write_text(HOSPITAL.replace('"fed-ucb"', '"mine.py"'))
    row = read("sub/study.toml").rows[1]
    assert (row.name, row.label) == ("mine", "mine epsilon=1")
    assert row.reference == str((folder / "sub" / "mine.py").resolve())


def test_the_digest_depends_on_the_content_of_the_users_file_and_not_on_its_folder(folder):
    digests = []
    for place, content in (("one", "a"), ("two", "a"), ("three", "b")):
        Path(place).mkdir()
        Path(place, "mine.py").write_text(content)
        Path(place, "study.toml").write_text(HOSPITAL.replace('"fed-ucb"', '"mine.py"'))
        digests.append(read(f"{place}/study.toml").digest)
    assert digests[0] == digests[1] != digests[2]


def test_the_resolved_study_does_not_name_the_folder(folder):
    Path("mine.py").write_text("content")
    Path("own.toml").write_text(HOSPITAL.replace('"fed-ucb"', '"mine.py"'))
    resolved = read("own.toml").resolved()
    assert str(folder) not in str(resolved)
    assert resolved["algorithm"][1]["name"] == "mine.py"
    assert len(resolved["algorithm"][1]["sha256"]) == 64


def test_a_missing_file_of_the_user_is_named(folder):
    Path("own.toml").write_text(HOSPITAL.replace('"fed-ucb"', '"mine.py"'))
    line = "own.toml: algorithm[1].name must be the path of a file that can be read, got 'mine.py'"
    assert complaint("own.toml") == line


# Resolved form and digest


def test_the_resolved_study_has_everything_and_null_for_infinity():
    found = read(study(title="Two", algorithm=[fed_ucb(sweep={"epsilon": [0.5, math.inf]})]))
    options = {"mode": "private", "window": [200, 40000], "shift": 0, "catch_up": False}
    assert found.resolved() == {
        "name": "study",
        "title": "Two",
        "horizon": 1000,
        "replications": 20,
        "seed": 0,
        "checkpoints": 100,
        "problem": {
            "kind": "bernoulli",
            "means": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]],
            "instance": None,
            "agents": 2,
            "arms": 3,
            "heterogeneity": 0,
        },
        "network": {
            "graph": "complete",
            "probability": None,
            "edges": None,
            "components": None,
            "life": "half-diameter",
            "switch_every": None,
            "link_cost": {"server": 1, "peer": 1},
        },
        "faults": {"liars": 0, "contamination": 0, "loss": 0, "one_way": False, "dropout": 0, "churn": 0},
        "words": {"agent": "agent", "arm": "arm"},
        "algorithm": [
            {"name": "fed-ucb", "label": "fed-ucb epsilon=0.5", "epsilon": 0.5, **options},
            {"name": "fed-ucb", "label": "fed-ucb epsilon=inf", "epsilon": None, **options},
        ],
    }


def test_a_resolved_study_without_infinity_can_be_read_again():
    found = read(study())
    assert read({key: value for key, value in found.resolved().items() if key != "name"}).digest == found.digest


def test_the_digest_is_the_same_in_every_process(folder):
    script = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_reading as t; "
    script += "print(t.read('hospital.toml').digest)"
    environment = os.environ | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == read("hospital.toml").digest


def test_the_digest_is_the_start_of_the_hash_of_what_is_computed():
    source = study(problem={"instance": "grid", "agents": 2, "arms": 3}, algorithm=[fed_ucb(epsilon=math.inf)])
    text = (
        '{"algorithm": [{"name": "fed-ucb", "options": {"catch_up": false, "epsilon": "inf", "mode": "private", '
        '"shift": 0, "window": [200, 40000]}}], "checkpoints": 100, "edition": 4, '
        '"faults": {"churn": 0, "contamination": 0, "dropout": 0, "liars": 0, "loss": 0, "one_way": false}, "horizon": 1000, '
        '"network": {"components": null, "edges": null, "graph": "complete", "life": "half-diameter", '
        '"link_cost": {"peer": 1, "server": 1}, "probability": null, "switch_every": null}, '
        '"problem": {"agents": 2, "arms": 3, "heterogeneity": 0, "instance": "grid", "kind": "bernoulli", '
        '"means": null}, "replications": 20, "seed": 0}'
    )
    assert read(source).digest == hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Another title"},
        {"replications": 20},
        {"seed": 0},
        {"network": {"graph": "complete"}},
        {"network": {"link_cost": {"server": 1.0}}},
        {"problem__agents": 2},
        {"problem__kind": "bernoulli"},
        {"algorithm": [{"name": "ucb1", "label": "mine"}, fed_ucb(epsilon=1.0, mode="private")]},
        {"algorithm": [{"name": "ucb1"}, fed_ucb(shift=0.0, sweep={"epsilon": [1]})]},
    ],
)
def test_the_digest_ignores_titles_labels_and_how_a_thing_is_written(changes):
    assert read(study(**changes)).digest == read(study()).digest


@pytest.mark.parametrize(
    "changes",
    [
        {"horizon": 1001},
        {"replications": 21},
        {"seed": 1},
        {"checkpoints": 99},
        {"problem__kind": "gaussian"},
        {"problem__means": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.7]]},
        {"network__graph": "ring"},
        {"network__life": 1},
        {"network__link_cost": {"peer": 2}},
        {"algorithm": [{"name": "ucb1"}]},
        {"algorithm": [fed_ucb(epsilon=1), {"name": "ucb1"}]},
        {"algorithm": [{"name": "ucb1"}, fed_ucb(epsilon=2)]},
        {"algorithm": [{"name": "ucb1"}, fed_ucb(epsilon=math.inf)]},
        {"algorithm": [{"name": "ucb1"}, fed_ucb(epsilon=1, mode="paper")]},
    ],
)
def test_the_digest_changes_with_everything_that_changes_results(changes):
    assert read(study(**changes)).digest != read(study()).digest


@settings(STEADY)
@given(st.randoms(use_true_random=False))
def test_the_digest_does_not_depend_on_the_order_of_keys(random):
    def shuffled(tree):
        if isinstance(tree, dict):
            keys = list(tree)
            random.shuffle(keys)
            return {key: shuffled(tree[key]) for key in keys}
        return [shuffled(entry) for entry in tree] if isinstance(tree, list) else tree

    whole = study(seed=3, checkpoints=7, problem__heterogeneity=0, network__graph="star", network__life=2)
    assert read(shuffled(whole)).digest == read(whole).digest


# Overrides


def test_an_override_reaches_tables_lists_and_all_algorithms():
    source = study(algorithm=[fed_ucb(epsilon=1), fed_ucb(epsilon=1)])
    sets = ["horizon=1_000", "problem.means.1.0=0.9", "network.graph=star", "network.link_cost.server=25"]
    found = read(source, *sets, "algorithm.epsilon=3", "algorithm.1.epsilon=inf")
    assert found.horizon == 1000
    assert found.problem.means[1] == (0.9, 0.5, 0.6)
    assert (found.network.graph, found.network.link_cost.server) == ("star", 25)
    assert [row.options.epsilon for row in found.rows] == [3, math.inf]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ('"quoted"', "quoted"),
        ("a = b", "a = b"),
        ("1\nhorizon = 2", "1\nhorizon = 2"),
    ],
)
def test_an_overriding_value_that_is_no_toml_is_text(text, value):
    assert read(study(), f"title={text}").title == value


def test_an_override_replaces_a_sweep_and_a_sweep_replaces_a_parameter():
    swept, fixed = fed_ucb(sweep={"epsilon": [1, 2]}), fed_ucb(epsilon=1)
    found = read(with_algorithms(swept, fixed), "algorithm.0.epsilon=5", "algorithm.1.sweep.epsilon=[6, 7]")
    assert [row.options.epsilon for row in found.rows] == [5, 6, 7]


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("horizon", "--set must be KEY=VALUE such as horizon=1000 or algorithm.0.epsilon=2, got 'horizon'"),
        ("=5", "--set must be KEY=VALUE such as horizon=1000 or algorithm.0.epsilon=2, got '=5'"),
        ("a..b=5", "--set must be KEY=VALUE such as horizon=1000 or algorithm.0.epsilon=2, got 'a..b=5'"),
        ("horizn=5", "--set horizn=5: unknown key 'horizn'; did you mean 'horizon'?"),
        ("horizon=0", "--set horizon=0: horizon must be a whole number in [1, 1000000000000], got 0"),
        ("horizon=many", "--set horizon=many: horizon must be a whole number in [1, 1000000000000], got 'many' (text)"),
        ("horizon.x=5", "--set horizon.x=5: horizon must be a table to have the key 'x', got 1000"),
        ("problem.agent=5", "--set problem.agent=5: unknown key 'agent' in problem; did you mean 'agents'?"),
        ("algorithm.2.epsilon=5", "--set algorithm.2.epsilon=5: algorithm must have an index in 0..1, got 2"),
        ("algorithm.-1.epsilon=5", "--set algorithm.-1.epsilon=5: algorithm must have an index in 0..1, got -1"),
        (
            "algorithm.epsilon=5",
            "--set algorithm.epsilon=5: unknown key 'epsilon' in algorithm[0] (ucb1); known keys: name, label, sweep",
        ),
        (
            "algorithm.1.epsilon=0",
            "--set algorithm.1.epsilon=0: "
            "algorithm[1].epsilon of fed-ucb must be a number > 0 (inf: no privacy), got 0",
        ),
    ],
)
def test_a_bad_override_is_named(folder, setting, line):
    assert complaint("hospital.toml", setting) == line


def test_an_index_too_long_to_be_a_number_is_refused():
    assert complaint(study(), f"algorithm.{'9' * 5000}.epsilon=2").startswith("--set algorithm.999")


def test_an_override_is_not_blamed_for_what_the_file_does(folder):
    Path("bad.toml").write_text(HOSPITAL.replace("epsilon = 1", "epsilon = 0"))
    line = "bad.toml: algorithm[1].epsilon of fed-ucb must be a number > 0 (inf: no privacy), got 0"
    assert complaint("bad.toml", "horizon=5") == line


# Files that cannot be read


def test_an_unknown_study_suggests_the_nearest_built_in_one(folder):
    wanted = "study must be the path of a TOML file or the name of a built-in study"
    assert complaint("hospitels") == f"{wanted}, got 'hospitels'; did you mean 'hospitals'?"
    assert complaint("sub/hospitels.toml") == f"{wanted}, got 'sub/hospitels.toml'; did you mean 'hospitals'?"
    assert complaint("xyz") == f"{wanted}, got 'xyz'; `coterie studies` lists them"


def test_a_folder_is_no_study(folder):
    assert complaint("builtin") == "builtin: cannot be read: Is a directory"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("horizon = 5\nseed 7\n", "line 2 is not valid TOML: Expected '=' after a key in a key/value pair"),
        ("horizon = 5\nhorizon = 6\n", "line 2 is not valid TOML: Cannot overwrite a value"),
        ("horizon = 5\n\nseed = ", "line 3 is not valid TOML: Invalid value"),
        ("horizon = " + "1" * 5000, "is too large or too deep for a study"),
        ("horizon = " + "[" * 100_000, "is too large or too deep for a study"),
    ],
)
def test_a_mistake_in_the_toml_is_located(folder, text, line):
    Path("bad.toml").write_text(text)
    assert complaint("bad.toml") == f"bad.toml: {line}"


def test_a_file_that_is_no_text_is_refused(folder):
    Path("bad.toml").write_bytes(b"horizon = \xff")
    assert complaint("bad.toml") == "bad.toml: is not text in UTF-8, as TOML is"


# What is refused, with the exact line

EPSILON = "algorithm[0].epsilon of fed-ucb must be a number > 0 (inf: no privacy)"
SWEPT = "algorithm[0].sweep.epsilon"
ENTRY = "must be a number in [0, 1]"

REFUSED = {
    "epsilon zero": (with_algorithms(fed_ucb(epsilon=0)), f"{EPSILON}, got 0"),
    "epsilon negative": (with_algorithms(fed_ucb(epsilon=-0.5)), f"{EPSILON}, got -0.5"),
    "epsilon NaN": (with_algorithms(fed_ucb(epsilon=math.nan)), f"{EPSILON}, got NaN"),
    "epsilon text": (with_algorithms(fed_ucb(epsilon="1")), f"{EPSILON}, got '1' (text)"),
    "epsilon true": (with_algorithms(fed_ucb(epsilon=True)), f"{EPSILON}, got true"),
    "epsilon missing": (with_algorithms(fed_ucb()), f"{EPSILON}, got nothing"),
    "epsilon huge": (with_algorithms(fed_ucb(epsilon=10**400)), f"{EPSILON}, got a whole number of 1329 bits"),
    "NaN without a range": (
        with_algorithms(fed_ucb(epsilon=1, shift=math.nan)),
        "algorithm[0].shift must be a number, got NaN",
    ),
    "unknown parameter": (
        with_algorithms(fed_ucb(epsilo=1)),
        "unknown key 'epsilo' in algorithm[0] (fed-ucb); did you mean 'epsilon'?",
    ),
    "unknown shared key": (
        with_algorithms(fed_ucb(epsilon=1, swep={})),
        "unknown key 'swep' in algorithm[0] (fed-ucb); did you mean 'sweep'?",
    ),
    "wrong choice": (
        with_algorithms(fed_ucb(epsilon=1, mode="public")),
        "algorithm[0].mode of fed-ucb must be 'private' or 'paper', got 'public'",
    ),
    "wrong list": (
        with_algorithms(fed_ucb(epsilon=1, window=[1, 2, 3])),
        "algorithm[0].window of fed-ucb must be a list of 2 entries, each a whole number, got [1, 2, 3]",
    ),
    "wrong entry": (
        with_algorithms(fed_ucb(epsilon=1, window=[1, "2"])),
        "algorithm[0].window[1] of fed-ucb must be a whole number, got '2' (text)",
    ),
    "unknown algorithm": (
        with_algorithms({"name": "fed-ucp"}),
        "algorithm[0].name must be a known algorithm or the path of a .py file, got 'fed-ucp'; did you mean 'fed-ucb'?",
    ),
    "unheard-of algorithm": (
        with_algorithms({"name": "x"}),
        "algorithm[0].name must be a known algorithm or the path of a .py file, got 'x'; "
        "known algorithms: fed-ucb, ucb1",
    ),
    "no algorithm": (
        study(algorithm=None),
        "algorithm must be a list of at least 1 entry, each a table (written [[algorithm]]), got nothing",
    ),
    "empty algorithms": (
        study(algorithm=[]),
        "algorithm must be a list of at least 1 entry, each a table (written [[algorithm]]), got []",
    ),
    "single algorithm": (
        study(algorithm={"name": "ucb1"}),
        "algorithm must be a list of at least 1 entry, each a table (written [[algorithm]]), got a table",
    ),
    "algorithm is a name": (study(algorithm=["ucb1"]), "algorithm[0] must be a table, got 'ucb1' (text)"),
    "algorithm without name": (with_algorithms({"epsilon": 1}), "algorithm[0].name must be text, got nothing"),
    "label of wrong type": (
        with_algorithms(fed_ucb(label=3, epsilon=1)),
        "algorithm[0].label must be text that is not blank, got 3",
    ),
    "value swept twice": (
        with_algorithms(fed_ucb(sweep={"epsilon": [1, 2, 1.0]})),
        "algorithm[0].sweep.epsilon[2] of fed-ucb must be a value that was not there before, got 1.0",
    ),
    "swept value out of range": (
        with_algorithms(fed_ucb(sweep={"epsilon": [1, 0, 2]})),
        f"{SWEPT}[1] of fed-ucb must be a number > 0 (inf: no privacy), got 0",
    ),
    "swept NaN": (
        with_algorithms(fed_ucb(sweep={"epsilon": [1, math.nan]})),
        f"{SWEPT}[1] of fed-ucb must be a number > 0 (inf: no privacy), got NaN",
    ),
    "swept unknown key": (
        with_algorithms(fed_ucb(epsilon=1, sweep={"shfit": [1, 2]})),
        "unknown key 'shfit' in algorithm[0].sweep (fed-ucb); did you mean 'shift'?",
    ),
    "swept nothing": (
        with_algorithms(fed_ucb(sweep={"epsilon": []})),
        f"{SWEPT} must be a list of at least 1 entry, got []",
    ),
    "swept number": (
        with_algorithms(fed_ucb(sweep={"epsilon": 2})),
        f"{SWEPT} must be a list of at least 1 entry, got 2",
    ),
    "sweep is no table": (with_algorithms(fed_ucb(sweep=[1, 2])), "algorithm[0].sweep must be a table, got [1, 2]"),
    "swept and given": (
        with_algorithms(fed_ucb(epsilon=1, sweep={"epsilon": [1, 2]})),
        f"{SWEPT} of fed-ucb must be left out where algorithm[0].epsilon is given",
    ),
    "horizon zero": (study(horizon=0), "horizon must be a whole number in [1, 1000000000000], got 0"),
    "horizon negative": (study(horizon=-5), "horizon must be a whole number in [1, 1000000000000], got -5"),
    "horizon text": (study(horizon="5"), "horizon must be a whole number in [1, 1000000000000], got '5' (text)"),
    "horizon true": (study(horizon=True), "horizon must be a whole number in [1, 1000000000000], got true"),
    "horizon with a point": (study(horizon=5.0), "horizon must be a whole number in [1, 1000000000000], got 5.0"),
    "horizon NaN": (study(horizon=math.nan), "horizon must be a whole number in [1, 1000000000000], got NaN"),
    "horizon missing": (study(horizon=None), "horizon must be a whole number in [1, 1000000000000], got nothing"),
    "horizon huge": (
        study(horizon=2**63),
        "horizon must be a whole number in [1, 1000000000000], got a whole number of 64 bits",
    ),
    "replications zero": (study(replications=0), "replications must be a whole number in [1, 100000000], got 0"),
    "seed negative": (study(seed=-1), "seed must be a whole number in [0, 2^63 - 1], got -1"),
    "one checkpoint": (study(checkpoints=1), "checkpoints must be a whole number in [2, 10000], got 1"),
    "many checkpoints": (study(checkpoints=10001), "checkpoints must be a whole number in [2, 10000], got 10001"),
    "title a number": (study(title=3), "title must be text that is not blank, got 3"),
    "unknown key": (study(horizont=3), "unknown key 'horizont'; did you mean 'horizon'?"),
    "unknown key, none near": (
        study(network__foo=3),
        "unknown key 'foo' in network; known keys: graph, probability, edges, components, life, switch_every, link_cost",
    ),
    "misspelt means": (
        with_problem(mean=[0.1, 0.2], agents=2, arms=2),
        "unknown key 'mean' in problem; did you mean 'means'?",
    ),
    "problem missing": (study(problem=None), "problem must be a table, got nothing"),
    "problem no table": (study(problem=3), "problem must be a table, got 3"),
    "unknown kind": (
        study(problem__kind="poisson"),
        "problem.kind must be 'bernoulli', 'bounded', 'gaussian', 'logged' or 'procurement', got 'poisson'",
    ),
    "kind a number": (
        study(problem__kind=3),
        "problem.kind must be 'bernoulli', 'bounded', 'gaussian', 'logged' or 'procurement', got 3",
    ),
    "means outside": (
        with_problem(means=[[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 1.2]]),
        f"problem.means[1][3] {ENTRY}, got 1.2",
    ),
    "flat means outside": (with_problem(means=[0.1, -0.2], agents=2), f"problem.means[1] {ENTRY}, got -0.2"),
    "means of text": (with_problem(means=[["0.1", 0.2]]), f"problem.means[0][0] {ENTRY}, got '0.1' (text)"),
    "means true": (with_problem(means=[[0.1, True]]), f"problem.means[0][1] {ENTRY}, got true"),
    "means NaN": (with_problem(means=[[0.1, math.nan]]), f"problem.means[0][1] {ENTRY}, got NaN"),
    "means a number": (
        with_problem(means=0.5, agents=2, arms=2),
        f"problem.means must be a list of entries, each {ENTRY.removeprefix('must be ')}, got 0.5",
    ),
    "means mixed": (
        with_problem(means=[0.5, [0.1, 0.2]]),
        f"problem.means[0] must be a list of entries, each {ENTRY.removeprefix('must be ')}, got 0.5",
    ),
    "gaussian mean infinite": (
        with_problem(kind="gaussian", means=[[0.1, math.inf]]),
        "problem.means[0][1] must be a finite number in [-1000000, 1000000], got inf",
    ),
    "ragged means": (
        with_problem(means=[[0.1, 0.2], [0.1, 0.2], [0.1, 0.2, 0.3]]),
        "problem.means[2] must have 2 entries like problem.means[0], got 3",
    ),
    "one arm in a matrix": (with_problem(means=[[0.1], [0.2]]), "problem.means must have at least 2 arms, got 1"),
    "one arm in a row": (with_problem(means=[0.1], agents=3), "problem.means must have at least 2 arms, got 1"),
    "no arm": (with_problem(means=[], agents=3), "problem.means must have at least 2 arms, got 0"),
    "one arm in an instance": (
        with_problem(instance="grid", agents=3, arms=1),
        "problem.arms must be a whole number in [2, 100000], got 1",
    ),
    "no agent": (
        with_problem(instance="grid", agents=0, arms=2),
        "problem.agents must be a whole number in [1, 10000000], got 0",
    ),
    "agents missing": (with_problem(means=[0.1, 0.2]), "problem.agents must be a whole number in [1, 10000000], got nothing"),
    "agents differ from the means": (
        study(problem__agents=3),
        "problem.agents must be 2 as in problem.means, or left out, got 3",
    ),
    "arms differ from the means": (
        study(problem__arms=4),
        "problem.arms must be 3 as in problem.means, or left out, got 4",
    ),
    "means and instance": (
        study(problem__instance="grid"),
        "problem must have exactly one of means, instance, dataset and file, got means and instance",
    ),
    "neither means nor instance": (
        with_problem(agents=3, arms=2),
        "problem must have exactly one of means, instance, dataset and file, got none",
    ),
    "unknown instance": (
        with_problem(instance="square", agents=3, arms=2),
        "problem.instance must be 'grid', 'uniform', 'middle' or 'guess', got 'square'",
    ),
    "heterogeneity outside": (
        with_problem(instance="grid", agents=3, arms=2, heterogeneity=1.5),
        f"problem.heterogeneity {ENTRY}, got 1.5",
    ),
    "heterogeneity of a matrix": (
        study(problem__heterogeneity=0.5),
        "problem.heterogeneity must be left out where means has a row for each agent, got 0.5",
    ),
    "sigma zero": (
        study(problem__kind="gaussian", problem__sigma=0),
        "problem.sigma must be a finite number in [1e-06, 1000000], got 0",
    ),
    "sigma infinite": (
        study(problem__kind="gaussian", problem__sigma=math.inf),
        "problem.sigma must be a finite number in [1e-06, 1000000], got inf",
    ),
    "sigma of a Bernoulli problem": (
        study(problem__sigma=1.0),
        "unknown key 'sigma' in problem; known keys: "
        "means, instance, between, best, gap, dataset, split, rule, file, outside, agents, arms, heterogeneity, weights, kind",
    ),
    "clip reversed": (
        study(problem__kind="gaussian", problem__clip=[1, 0]),
        "problem.clip must be [low, high] with low < high, got [1, 0]",
    ),
    "unknown graph": (
        study(network__graph="wheel"),
        "network.graph must be 'complete', 'star', 'ring', 'path' or 'erdos-renyi', got 'wheel'",
    ),
    "probability zero": (
        study(network={"graph": "erdos-renyi", "probability": 0}),
        "network.probability must be a number in (0, 1], got 0",
    ),
    "probability of a ring": (
        study(network={"graph": "ring", "probability": 0.5}),
        "network.probability must be left out unless graph is 'erdos-renyi', got 0.5",
    ),
    "life negative": (
        study(network__life=-1),
        "network.life must be a whole number in [0, 10000000], 'half-diameter', 'half-diameter-down' or 'diameter', got -1",
    ),
    "life misspelt": (
        study(network__life="radius"),
        "network.life must be a whole number in [0, 10000000], 'half-diameter', 'half-diameter-down' or 'diameter', "
        "got 'radius'",
    ),
    "link cost negative": (
        study(network__link_cost={"server": -1}),
        "network.link_cost.server must be a finite number in [0, 1000000], got -1",
    ),
    "link cost unknown": (
        study(network__link_cost={"sever": 1}),
        "unknown key 'sever' in network.link_cost; did you mean 'server'?",
    ),
    "components do not sum": (
        study(network__components=[20, 20, 10]),
        "network.components must sum to the number of agents, 2, got [20, 20, 10] with sum 50",
    ),
    "empty component": (
        study(network__components=[2, 0]),
        "network.components[1] must be a whole number in [1, 10000000], got 0",
    ),
    "one bad component": (
        study(network__components=[0]),
        "network.components[0] must be a whole number in [1, 10000000], got 0",
    ),
    "no components": (
        study(network__components=[]),
        "network.components must be a list of at least 1 entry, each a whole number in [1, 10000000], got []",
    ),
    "graph and edges": (
        study(network={"graph": "ring", "edges": [[0, 1]]}),
        "network.graph must be left out where edges are listed, got 'ring'",
    ),
    "components and edges": (
        study(network={"components": [1, 1], "edges": [[0, 1]]}),
        "network.components must be left out where edges are listed, got [1, 1]",
    ),
    "self-loop": (with_edges(2, [[0, 1], [1, 1]]), "network.edges[1] must join two different agents, got [1, 1]"),
    "duplicate edge": (
        with_edges(3, [[0, 1], [1, 2], [1, 0]]),
        "network.edges[2] must not repeat network.edges[0], got [1, 0]",
    ),
    "unknown agent": (with_edges(3, [[0, 1], [1, 3]]), "network.edges[1] must join agents in 0..2, got [1, 3]"),
    "negative agent": (with_edges(3, [[0, -1]]), "network.edges[0][1] must be a whole number >= 0, got -1"),
    "half an edge": (with_edges(3, [[0]]), "network.edges[0][1] must be a whole number >= 0, got nothing"),
    "edge of three": (
        with_edges(3, [[0, 1, 2]]),
        "network.edges[0] must be a list of 2 entries, each a whole number >= 0, got [0, 1, 2]",
    ),
    "disconnected": (
        with_edges(5, [[3, 0], [1, 4]]),
        "network.edges must connect all agents, got the components [0, 3], [1, 4], [2]",
    ),
    "very disconnected": (
        with_edges(13, []),
        "network.edges must connect all agents, got the components "
        "[0], [1], [2], [3], [4], [5], [6], [7], [8], [9] and 3 more",
    ),
}


@pytest.mark.parametrize(("source", "line"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_in_one_line(source, line):
    assert complaint(source) == f"study: {line}"


def test_the_first_of_several_mistakes_in_the_file_is_reported(folder):
    Path("bad.toml").write_text(
        """
[[algorithm]]
name = "ucb1"

[[algorithm]]
name = "fed-ucb"
epsilon = 0

[problem]
means = [[0.1, 7]]
[network]
life = -1
"""
    )
    line = "bad.toml: algorithm[1].epsilon of fed-ucb must be a number > 0 (inf: no privacy), got 0 (and 3 more)"
    assert complaint("bad.toml") == line


# Properties


KEYS = ["title", "horizon", "seed", "problem", "network", "algorithm", "means", "instance", "agents", "arms", "kind"]
KEYS += ["edges", "life", "components", "link_cost", "name", "label", "sweep", "epsilon", "mode", "window", "clip", "x"]
WORDS = ["grid", "gaussian", "fed-ucb", "ucb1", "star", "no.py", "a\nb", ""]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(WORDS), st.dates(), st.just(10**400)
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.integers(0, 1), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(STEADY, max_examples=300)
@given(st.dictionaries(st.sampled_from(KEYS), TREES, max_size=4))
def test_whatever_is_put_into_a_study_ends_in_a_study_or_in_one_line(changes):
    try:
        found = read(study() | changes)
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(found, Specification)
