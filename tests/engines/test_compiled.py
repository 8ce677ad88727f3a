"""Which engines a study needs, which of them are there, and what the compiler is at."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import pytest
from numba import njit, typeof

from coterie.engines import compiled
from coterie.engines.compiled import Compiling, Engine, compiling, expect, missing
from coterie.studies import load_study
from coterie.studies.case import make_case


def engine(horizon=1000, arms=2, **row):
    problem = {"instance": "grid", "arms": arms, "agents": 3}
    study = load_study({"horizon": horizon, "problem": problem, "algorithm": [row]}).specification
    return make_case(study, study.rows[0], 0).engine()


def test_a_longer_horizon_is_rarely_another_engine():
    printed = [engine(horizon, name="fed-ucb", mode="paper", epsilon=1.0) for horizon in (1000, 4000, 5000)]
    assert printed[0] == printed[1] != printed[2]  # 4001 pulls have 12 bits, 5001 have 13
    assert engine(1000, name="ucb1") == engine(2000, name="ucb1")


def test_another_number_of_arms_may_be_another_engine():
    assert engine(arms=17, name="ucb1") == engine(arms=24, name="ucb1") != engine(arms=25, name="ucb1")


class Absent:
    """A compiled function that is never called."""

    overloads: ClassVar[dict] = {}
    py_func = SimpleNamespace(__module__="coterie_mesh_other_0")


@pytest.fixture
def small(tmp_path):
    """A function that is compiled in no time, in a file of its own."""
    path = tmp_path / "coterie_pool_small_0.py"
    path.write_text("def run(x):\n    return x + 1\n")
    names = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    sys.modules[path.stem] = SimpleNamespace(**names)
    yield lambda: Engine(njit(cache=True)(names["run"]), (typeof(1),))
    del sys.modules[path.stem]


def test_an_engine_on_disk_does_not_count_as_missing(small):
    first = small()
    assert not first.ready and not first.on_disk()
    first.dispatcher(1)
    assert first.ready
    later = small()
    assert not later.ready and later.on_disk()


def test_the_compiler_is_watched_while_it_works_and_only_then(small, monkeypatch):
    told, first, other = [], small(), Engine(Absent, ())
    assert missing({first: 1, None: 2}) == {first: 1}
    expect({first: "small-ucb", other: "other"})
    ending = compiled._Listener.on_end
    monkeypatch.setattr(compiled._Listener, "on_end", lambda self, event: (told.append(compiling()), ending(self, event)))
    first.dispatcher(1)
    assert told[-1] == Compiling("small-ucb", 1, 2) and compiling() is None
    expect({})


def test_what_other_processes_compile_is_told_as_long_as_they_are_at_work(small):
    at_work, first, other = [True], small(), Engine(Absent, ())
    expect({first: "small-ucb", other: "other"}, lambda: at_work[0])
    assert compiling() == Compiling("small-ucb", 2, 2)
    first.dispatcher(1)
    assert compiling() == Compiling("other", 1, 2)
    at_work[0] = False
    assert compiling() is None
    expect({})


def test_what_nobody_expected_is_named_by_its_module():
    compiled.at_work.append("coterie_lives_coop_ucb_0123456789abcdef")
    try:
        assert str(compiling()) == "compiling coop-ucb"
    finally:
        compiled.at_work.clear()
    assert str(Compiling("gossip-ucb", 2, 5)) == "compiling gossip-ucb (2 of 5 left)"
