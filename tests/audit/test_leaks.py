"""Every planted leak is proven, by the statistic it was planted for and at the number of trials the guide states.

A bound above epsilon is false with probability 1 % where there is no leak; here there is one, and seeds are fixed.
"""

from pathlib import Path
from typing import get_args

import pytest

from coterie.algorithms import find
from coterie.audit import audit

FILE = str(Path(__file__).with_name("leaks.py"))
TRIALS = 1500
SEVERAL = {"likelihood", "logistic", "threshold"}
PROVEN_BY = {
    "first-reward": {"equality"},
    "raw-choices": {"equality", "acts"},
    "retry": SEVERAL,
    "half-noise": SEVERAL,
    "float-bits": {"low bits"},
    "nan": {"equality"},
    "noise-per-edge": SEVERAL,
    "timing": {"equality", "acts"},
    "count": {"equality"},
    "size": {"equality", "acts"},
    "seeded": {"equality"},
    "wrong-sensitivity": SEVERAL,
}
BOOKED = {"first-reward", "retry", "half-noise", "noise-per-edge"}  # the ledger tells: the replay finds nothing wrong


def test_there_is_an_expectation_for_every_leak():
    assert set(get_args(find(FILE).options.model_fields["leak"].annotation)) == {"none", *PROVEN_BY}


@pytest.mark.parametrize("leak", PROVEN_BY)
@pytest.mark.filterwarnings("ignore:divide by zero|invalid value:RuntimeWarning")
def test_a_planted_leak_is_proven(leak):
    found = audit(FILE, {"leak": leak}, trials=TRIALS)
    assert found.violated and found.proven > found.limit == 1
    assert found.witness.event.statistic.name in PROVEN_BY[leak]
    assert bool(found.replay.findings) == (leak not in BOOKED)


def test_without_a_leak_nothing_is_proven():
    found = audit(FILE, {}, trials=TRIALS)
    assert not found.failed and 0.3 < found.proven < 1
