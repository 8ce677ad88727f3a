"""Options are declared once: what is fixed, what has another default, and what of them hooks read."""

import pickle
from math import inf
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from coterie.algorithms import entries, find
from coterie.contract import Setting, params
from coterie.options import Options

SETTING = Setting(4, 5, 1000)


class Family(Options):
    mode: Literal["a", "b"] = "a"
    epsilon: Annotated[float, Field(gt=0)] = 1.0
    turns: int | None = Field(None, ge=1)
    clips: bool = True


class Narrower(Family):
    mode: Literal["a"] = "a"


@pytest.mark.parametrize("name", entries())
def test_every_option_has_a_default_and_a_sentence(name):
    for option, field in find(name).options.model_fields.items():
        assert not field.is_required() and field.description, option


def test_a_fixed_option_keeps_its_value_and_cannot_be_set():
    made = Family.without("clips", epsilon=inf)
    assert list(made.model_fields) == ["mode", "turns"]
    assert (made().clips, made().epsilon) == (True, inf)
    assert made().model_dump() == {"mode": "a", "turns": None}
    with pytest.raises(ValidationError, match="epsilon"):
        made(epsilon=2.0)
    assert Family(epsilon=2.0).epsilon == 2.0


def test_another_default_keeps_the_range():
    made = Family.by_default(turns=3)
    assert (made().turns, made(turns=None).turns, Family().turns) == (3, None, None)
    with pytest.raises(ValidationError, match="turns"):
        made(turns=0)


@pytest.mark.parametrize("name", entries())
def test_options_can_be_handed_to_another_process(name):
    options = find(name).options(**find(name).examples[-1])
    again = pickle.loads(pickle.dumps(options))
    assert again == options and type(again) is type(options) and again.model_fields_set == options.model_fields_set


def test_hooks_read_the_options_that_are_numbers_fixed_or_not():
    assert params(Family(clips=False), SETTING)._asdict() == {"arms": 5, "epsilon": 1.0, "clips": 0}
    assert params(Family.without(epsilon=inf)(), SETTING).epsilon == inf


def test_what_is_worked_out_goes_before_an_option_of_that_name():
    p = params(Family(), SETTING, epsilon=0.25, turns=7, late=2 > 1)
    assert p._asdict() == {"arms": 5, "epsilon": 0.25, "clips": 1, "turns": 7, "late": 1}
    assert type(p.late) is int


def test_one_engine_serves_all_of_a_family():
    """Compiled code is made for a type of parameters: options that are fixed or narrower leave it as it is."""
    kinds = {type(params(made(), SETTING)) for made in (Family, Narrower, Family.without("mode", "epsilon"))}
    assert len(kinds) == 1
    private = type(find("private-ucb").build(find("private-ucb").options(), SETTING).p)
    for name in ("ucb1", "coop-ucb", "dp-ucb-int"):
        assert type(find(name).build(find(name).options(), SETTING).p) is private
