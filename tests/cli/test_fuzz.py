"""Whatever a guest writes into a study or behind a command, it is one line and not our bug, and nothing is left behind.

Studies are built-in ones that are changed in places the models themselves name; what is accepted is not run.
"""

import copy
import io
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from contextlib import chdir, redirect_stderr, redirect_stdout
from math import inf, nan
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from coterie import studies
from coterie.algorithms import entries
from coterie.cli.main import main
from coterie.studies.problems import Gaussian, Procurement
from coterie.studies.spec import Faults, Network, StudyFile

NAMES = ("quickstart", "zhu-2a-private", "li-song-4", "dubey-1c", "li-song-10-random", "solanki-exp1-normal", "suppliers")
TREES = [tomllib.loads((studies.BUILTIN / f"{name}.toml").read_text()) for name in NAMES]
TABLES: dict[str, Iterable[type[BaseModel]]] = {
    "problem": (Gaussian, Procurement),
    "network": (Network,),
    "faults": (Faults,),
    "algorithm": [entry.options for entry in entries().values()],
}


def keys(models) -> list[str]:
    return sorted({name for model in models for name in model.model_fields})


PATHS = [(name,) for name in keys([StudyFile])] + [(table, key) for table, models in TABLES.items() for key in keys(models)]
WORDS = ["", "ring", "rnig", "private", "paper", "true", "a b", "[/b]", "\x1b[2J", "ü" * 300, "../x", "mine.py", "x.csv"]
EXTREMES = [0, 1, -1, 10**6, 10**9, 10**12, 2**62, 2**63 - 1, 2**63, 10**30, 0.5, 1e-320, 1e-9, 1e308, inf, -inf, nan]
PLAIN = st.one_of(st.sampled_from([*WORDS, *EXTREMES, True, None]), st.integers(-3, 300), st.floats())
ODD = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["sweep", "name", "x"]), inner, max_size=2),
    max_leaves=4,
)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(PATHS), ODD),
        st.tuples(st.just("drop"), st.sampled_from(PATHS), st.none()),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(["x", "Agents", "horizn", "épsilon"])),
        st.tuples(st.just("sweep"), st.sampled_from(PATHS), st.lists(ODD, max_size=2)),
    ), min_size=1, max_size=3,
)  # fmt: skip


def changed(tree, changes):
    tree = copy.deepcopy(tree)
    for act, (*tables, key), value in changes:
        place = tree
        for table in tables:
            place = place.setdefault(table, {}) if isinstance(place, dict) else {}
            place = place[0] if isinstance(place, list) and place else place
        if not isinstance(place, dict):
            continue
        if act == "set":
            place[key] = value
        elif act == "drop":
            place.pop(key, None)
        elif act == "rename" and key in place:
            place[value] = place.pop(key)
        elif act == "sweep":
            place["sweep"] = {key: value}
    return tree


def toml(value) -> str:
    """What TOML cannot say, null, is left out."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items() if item is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value if item is not None) + "]"
    if isinstance(value, float):
        return {inf: "inf", -inf: "-inf"}.get(value, "nan" if value != value else repr(value))
    return json.dumps(value) if isinstance(value, str | bool) else str(value)


def ends_well(*arguments) -> None:
    """Of a command in an empty folder."""
    out, error = io.StringIO(), io.StringIO()
    here = set(Path.cwd().iterdir())
    reached = patch.object(studies, "run_batches", side_effect=SystemExit(0))
    typed = patch.object(sys, "argv", ["coterie", *arguments])
    with redirect_stdout(out), redirect_stderr(error), typed, reached, pytest.raises(SystemExit) as stopped:
        main()
    told = error.getvalue()
    assert stopped.value.code in (0, 2, 4, 7), (arguments, stopped.value.code, told)
    if stopped.value.code == 2:
        assert len(told.splitlines()) == 1 and told.startswith("coterie: "), told
        assert set(Path.cwd().iterdir()) == here, told
        assert not any(word in told for word in ("pydantic", "numpy", "numba", "NoneType", "<class", "Traceback")), told


def check_study(tree, changes) -> None:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        tables = {key: value for key, value in changed(tree, changes).items() if value is not None}
        text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tables.items())
        Path("guest.toml").write_text(text, encoding="utf-8")
        ends_well("run", "guest.toml", "--progress", "none")


PLACES = [*map(".".join, PATHS), "", "x.y", "algorithm.9.name"]
SETTINGS = st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=2)
TYPED = ["--json", "--fresh", "--all", "--workers", "0", "-1", "x", "--out", "", "--yes", "--set"]
OPTIONS = st.lists(st.sampled_from(TYPED), max_size=3)


def check_command(name, pairs, options) -> None:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        sets = [part for path, value in pairs for part in ("--set", f"{path}={toml(value)}".replace("\x1b", " "))]
        ends_well("run", name, "--progress", "none", *sets, *options)


def often(count):
    return settings(max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@often(150)
@given(st.sampled_from(TREES), CHANGES)
def test_a_changed_study_is_accepted_or_refused_in_one_line(tree, changes):
    check_study(tree, changes)


@often(60)
@given(st.sampled_from(NAMES), SETTINGS, OPTIONS)
def test_a_strange_command_is_answered_in_one_line(name, pairs, options):
    check_command(name, pairs, options)


@pytest.mark.slow
@often(4000)
@given(st.sampled_from(TREES), CHANGES)
def test_thousands_of_changed_studies_are_accepted_or_refused_in_one_line(tree, changes):
    check_study(tree, changes)


@pytest.mark.slow
@often(1000)
@given(st.sampled_from(NAMES), SETTINGS, OPTIONS)
def test_a_thousand_strange_commands_are_answered_in_one_line(name, pairs, options):
    check_command(name, pairs, options)


def test_the_models_name_the_places_that_are_changed():
    assert len(PATHS) > 60 and all(issubclass(model, BaseModel) for models in TABLES.values() for model in models)
