"""Parameters: types that are found again by the names of their fields."""

import pickle
import sys

import pytest

from coterie.kernel import params
from coterie.kernel.params import params_of


def test_parameters_of_the_same_names_have_the_same_type():
    assert type(params_of({"arms": 1, "epsilon": 2.0})) is type(params_of({"arms": 3, "epsilon": 0.5}))
    assert type(params_of({"epsilon": 2.0, "arms": 1})) is not type(params_of({"arms": 1, "epsilon": 2.0}))


def test_a_type_can_be_read_from_disk_before_it_was_made():
    """As a process does that finds code on disk which another one has compiled."""
    p = params_of({"arms": 4, "never_elsewhere": 0.5})
    stored = pickle.dumps((type(p), p))
    params._type_of.cache_clear()
    kind, again = pickle.loads(stored)
    assert again == p and kind is type(again) is type(params_of({"arms": 4, "never_elsewhere": 0.5}))


def test_the_module_has_no_other_surprises():
    with pytest.raises(AttributeError, match="'Parms'"):
        _ = sys.modules["coterie.kernel.params"].Parms
