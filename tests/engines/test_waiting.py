"""Engines can be watched and given up, and Ctrl-C is heard while they work."""

import _thread
import threading
from functools import partial

import numpy as np
import pytest

from coterie.engines.memory import PLAYED, STOPPED, make_pulse
from coterie.engines.waiting import GivenUp, call
from coterie.studies import case as case_module
from coterie.studies import load_study
from coterie.studies.case import make_case

AGENTS = 3


def case(name, horizon=40):
    problem, row = {"means": [0.9, 0.5], "agents": AGENTS}, {"name": name}
    study = load_study({"horizon": horizon, "problem": problem, "algorithm": [row]}).specification
    return make_case(study, study.rows[0], 0)


@pytest.fixture
def interpreted(monkeypatch):
    for name in ("simulate_mesh", "simulate_star"):
        monkeypatch.setattr(case_module, name, partial(getattr(case_module, name), compiled=False))


ENGINES = {"mesh": ("gossip-ucb", 40), "pool": ("coop-ucb", 40), "star": ("cdp-mab", 4000)}


@pytest.mark.parametrize(("name", "rounds"), ENGINES.values(), ids=ENGINES)
def test_an_engine_counts_what_it_has_played_and_stops_when_it_is_told_to(interpreted, name, rounds):
    pulse = make_pulse()
    made = case(name, rounds)
    whole = made.simulate(1, 0, 2, pulse=pulse)
    assert whole.curves.any() and pulse[PLAYED] == 2 * AGENTS * (rounds - made.method.node.first_round + 1)
    told = make_pulse()
    told[STOPPED] = 1
    with pytest.raises(GivenUp):
        made.simulate(1, 0, 2, pulse=told)
    assert 0 < told[PLAYED] < pulse[PLAYED]


def test_an_interrupt_stops_the_engine_and_reaches_the_caller():
    pulse, ended = make_pulse(), threading.Event()

    def run(pulse):
        assert threading.current_thread() is not threading.main_thread()
        _thread.interrupt_main()
        while not pulse[STOPPED]:
            pass
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        call(run, (pulse,), pulse)
    assert ended.wait(60)


def test_what_goes_wrong_in_an_engine_is_raised_where_it_was_called():
    with pytest.raises(ZeroDivisionError):
        call(lambda: 1 / 0, (), make_pulse())


def test_interpreted_engines_run_where_they_are_called():
    seen = []
    call(lambda: seen.append(threading.current_thread()), (), np.zeros(2, np.int64), compiled=False)
    assert seen == [threading.main_thread()]
