"""Compiling ahead: helpers do part of the work, and nothing depends on them."""

import sys
from pathlib import Path

import pytest

from coterie.engines.bind import _bind, machine_code
from coterie.studies import ahead, load_study
from coterie.studies.ahead import Ahead, Want, engine_for, warm

EXAMPLE = Path(__file__).parents[2] / "examples/own_algorithm.py"


def study(*names):
    problem = {"means": [0.9, 0.5], "agents": 2}
    rows = [{"name": str(name)} for name in names]
    return load_study({"horizon": 20, "replications": 1, "problem": problem, "algorithm": rows}).specification


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """And nothing in memory either."""
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "cache"))
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(("coterie_mesh", "coterie_star"))}
    _bind.cache_clear()
    machine_code.cache_clear()
    yield tmp_path / "cache"
    _bind.cache_clear()
    machine_code.cache_clear()
    sys.modules.update(before)


def test_every_helper_goes_through_all_from_a_place_of_its_own(monkeypatch):
    monkeypatch.setattr(ahead, "missing", dict)
    three = Ahead([], dict(zip("abcdef", range(6), strict=True)), 4)
    assert [three._turned(n) for n in range(3)] == [[5, 4, 3, 2, 1, 0], [3, 2, 1, 0, 5, 4], [1, 0, 5, 4, 3, 2]]


def test_a_helper_ends_with_the_process_that_started_it():
    helper = ahead._helper([study("ucb1")], [Want(0, 0)] * 1000)
    helper.stdin.close()
    assert helper.wait(60) == 0


def test_two_engines_are_compiled_by_two_processes_and_one_does_both_where_the_other_dies(empty_cache):
    needed = study("ucb1", EXAMPLE)
    wanted = {engine_for([needed], Want(0, row)): Want(0, row) for row in range(2)}
    both = Ahead([needed], wanted, 2)
    both.start()
    (helper,) = both.helpers
    helper.kill()
    while both.left():
        assert both.stopped.wait(0.05) is False
    both.stop()
    assert helper.returncode is not None and all(engine.is_there() for engine in wanted) and not both.is_helped()
    assert warm([needed]) == 0
