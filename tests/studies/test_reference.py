"""The reference says what the models say, of every key."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from coterie.algorithms import entries
from coterie.errors import UsageError
from coterie.limits import EPSILON_RANGE
from coterie.studies import load_study
from coterie.studies.reference import NONE, REQUIRED, options_of, page, settable, tables

PAGE = Path(__file__).parents[2] / "docs/reference.md"
ARMS = {"horizon": 10, "problem": {"means": [0.1, 0.2], "agents": 2}, "algorithm": [{"name": "ucb1"}]}


def test_the_page_is_that_of_the_code():
    assert PAGE.read_text() == page(), "make it anew: python -m coterie.studies.reference docs/reference.md"


@pytest.mark.parametrize("name", sorted(entries()))
def test_every_option_is_listed_with_a_meaning_and_what_it_takes(name):
    keys = options_of(name)
    assert [key.name for key in keys] == list(entries()[name].options.model_fields)
    assert all(key.meaning and key.takes and key.default not in ("", NONE) for key in keys)
    assert {key.name for key in keys if not key.formula} <= {"mode", "through", "commit"}


def test_every_key_of_a_study_has_a_meaning_and_what_it_takes():
    found = tables()
    assert all(key.meaning and key.takes for keys in found.values() for key in keys)
    assert {key.name for key in found["study"] if key.default == REQUIRED} == {"horizon", "problem", "algorithm"}


def test_a_default_is_what_a_study_gets_that_leaves_the_key_out():
    study = load_study(ARMS).specification
    told = {key.name: key.default for key in tables()["study"]}
    assert told["replications"] == str(study.replications) and told["seed"] == str(study.seed)
    assert told["checkpoints"] == str(study.checkpoints)
    shown = {key.name: key.default for key in tables()["[faults]"] if key.name in ("liars", "loss", "dropout")}
    assert shown == {key: f"{getattr(study.faults, key):g}" for key in shown}


def test_what_a_key_takes_is_what_a_study_refuses_otherwise():
    takes = {key.name: key.takes for key in tables()["study"]}["horizon"]
    with pytest.raises(UsageError, match=f"horizon must be {takes.replace('[', '.').replace(']', '.')}, got 0"):
        load_study(ARMS | {"horizon": 0})


@pytest.mark.parametrize("name", [name for name in sorted(entries()) if "epsilon" in entries()[name].options.model_fields])
def test_the_range_of_epsilon_is_what_a_study_refuses_otherwise(name):
    takes = {key.name: key.takes for key in options_of(name)}["epsilon"]
    assert takes == EPSILON_RANGE
    problem = {"kind": "procurement", "agents": 2, "producers": 3} if name == "p-fcb" else ARMS["problem"]
    for epsilon in (0.0, 5e-7, 2e6):
        with pytest.raises(UsageError, match=re.escape(f"epsilon of {name} must be {takes}")):
            load_study(ARMS | {"problem": problem, "algorithm": [{"name": name, "epsilon": epsilon}]})


@pytest.mark.parametrize("key", sorted(settable()))
def test_a_key_that_completes_is_known(key):
    """Whatever else is wrong with the value, the key is none that a study does not know."""
    problem = {"kind": "procurement", "agents": 2, "producers": 3}
    normal = ARMS["problem"] | {"kind": "gaussian"}
    for study in (ARMS, ARMS | {"problem": problem, "algorithm": [{"name": "fcb"}]}, ARMS | {"problem": normal}):
        try:
            load_study(study, [f"{key}=1"])
        except UsageError as error:
            if "unknown key" in str(error):
                continue
        return
    pytest.fail(f"{key} is no key of a study")


def test_models_of_tables_are_all_in_the_reference():
    """A table that is added to a study file gets its part."""
    from coterie.studies.spec import StudyFile

    kinds = {name: field.annotation for name, field in StudyFile.model_fields.items()}
    inner = {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, BaseModel)}
    assert inner == {"network", "faults", "words"}
    assert {f"[{name}]" for name in inner} <= set(tables())
