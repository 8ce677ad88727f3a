"""Compiling ahead: helpers do part of the work, and nothing depends on them."""

import os
import signal
import sys
from pathlib import Path

import pytest

from coterie.engines.bind import _bind, machine_code
from coterie.errors import StorageError
from coterie.helper import get_helper
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

    def take_all():
        _bind.cache_clear()
        machine_code.cache_clear()
        return {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith("coterie_")}

    before = take_all()
    yield tmp_path / "cache"
    take_all()
    sys.modules.update(before)


def test_every_process_goes_through_all_and_meets_the_others_last():
    assert [ahead.in_turn([*"abcdef"], n, 3) for n in range(3)] == [[*"abfedc"], [*"cdbafe"], [*"efdcba"]]
    assert [ahead.in_turn([*"abcde"], n, 2) for n in range(2)] == [[*"abedc"], [*"cdeba"]]
    for hands in (1, 2, 3, 7):
        assert all(sorted(ahead.in_turn([*"abcde"], n, hands)) == [*"abcde"] for n in range(hands))


@pytest.mark.parametrize("hands", [1, 3])
def test_a_helper_ends_with_the_process_that_started_it(hands):
    needed = study("ucb1")
    many = Ahead([needed], {engine_for([needed], Want(0, 0)): Want(0, 0)}, hands)
    many.missing, many.hands = dict.fromkeys(range(1000), Want(0, 0)), hands
    many._tell(helper := get_helper())
    helper.stdin.close()
    assert helper.wait(60) == 0


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
def test_what_a_helper_leaves_is_compiled_here(empty_cache, monkeypatch, sent):
    """One that is stopped and not killed would keep the lock of its engine for ever."""

    def struck_helper():
        helper = get_helper()
        os.killpg(helper.pid, sent)
        return helper

    needed = study("ucb1")
    engine = engine_for([needed], Want(0, 0))
    one = Ahead([needed], {engine: Want(0, 0)}, 2)
    one.hands = 2
    monkeypatch.setattr(ahead, "PATIENCE", 1.0)
    monkeypatch.setattr(ahead, "get_helper", struck_helper)
    one.start()
    while one.left():
        assert one.stopped.wait(0.05) is False
    (helper,) = one.helpers
    one.stop()
    assert helper.returncode == -signal.SIGKILL and engine.is_there() and not one.is_helped()
    assert warm([needed]) == 0


def test_what_cannot_be_kept_is_no_success(tmp_path, empty_cache, monkeypatch):
    """`coterie warm` once said that it had compiled an engine, and nothing was there."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="file: cannot be written, so that nothing of what was compiled is kept"):
        warm([study("ucb1")])


def test_helpers_compile_all_and_this_process_none(empty_cache):
    needed = study("ucb1", EXAMPLE)
    wanted = {engine_for([needed], Want(0, row)): Want(0, row) for row in range(2)}
    both = Ahead([needed], wanted, 2)
    both.start()
    (helper,) = both.helpers
    assert helper.wait(120) == 0
    assert all(engine.on_disk() for engine in wanted)
    while both.left():
        assert both.stopped.wait(0.05) is False
    both.stop()
    assert not any(engine.ready for engine in wanted), "they lie on the disk, and nobody compiled them here"
