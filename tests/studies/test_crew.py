"""Worker threads: pieces in their order, errors where they belong, and nobody waits for what is given up."""

import threading
import time

import numpy as np
import pytest

from coterie.engines.memory import PLAYED, STOPPED
from coterie.studies import load_study, running
from coterie.studies.crew import Crew


def results(crew, count):
    found = []
    crew.start()
    while len(found) < count:
        if answer := crew.next():
            found.append(answer)
    return found


def test_one_worker_takes_the_pieces_in_their_order():
    crew = Crew(lambda piece, pulse: piece * 10, range(5), 1)
    assert results(crew, 5) == [(n, 10 * n) for n in range(5)]
    assert sorted(results(Crew(lambda piece, pulse: -piece, range(5), 3), 5)) == [(n, -n) for n in range(5)]


def test_a_piece_that_is_not_ready_lets_others_go_first():
    done = []
    crew = Crew(lambda piece, pulse: done.append(piece), range(4), 1, lambda piece: piece != 0 or len(done) == 3)
    results(crew, 4)
    assert done == [1, 2, 3, 0]


def test_however_many_batches_wait_it_is_looked_up_once_in_a_tick_which_rows_can_run(monkeypatch):
    class Later:
        looks, answer = 0, False

        def is_ready(self, engine):
            self.looks += 1
            return self.answer

    table = {"horizon": 20, "problem": {"means": [0.9, 0.5], "agents": 2}, "algorithm": [{"name": "ucb1"}]}
    now, batches = [0.0], [running.Batch(0, first, 1) for first in range(100)]
    crew = running.LocalCrew(load_study(table).specification, batches, 1)
    crew.ahead = ahead = Later()
    monkeypatch.setattr(running.time, "monotonic", lambda: now[0])
    assert not any(map(crew._is_ready, batches)) and ahead.looks == 1
    ahead.answer = True
    assert not any(map(crew._is_ready, batches)) and ahead.looks == 1
    now[0] += 2 * running.TICK
    assert all(map(crew._is_ready, batches)) and ahead.looks == 2
    now[0] += 2 * running.TICK
    assert all(map(crew._is_ready, batches)) and ahead.looks == 2


def test_what_was_played_is_seen_while_a_piece_is_under_way():
    begun, go_on = threading.Event(), threading.Event()

    def work(piece, pulse):
        pulse[PLAYED] = 7
        begun.set()
        assert go_on.wait(60)

    crew = Crew(work, ["long"], 2)
    crew.start()
    assert begun.wait(60) and crew.played() == {"long": 7}
    go_on.set()
    assert results(crew, 1) == [("long", None)] and crew.played() == {}


def test_an_error_of_a_piece_is_raised_where_its_result_would_be():
    crew = Crew(lambda piece, pulse: 1 / piece, [1, 0], 1)
    assert results(crew, 1) == [(1, 1.0)]
    with pytest.raises(ZeroDivisionError):
        results(crew, 1)


def test_a_crew_that_is_stopped_takes_no_more_pieces():
    begun = []

    def work(piece, pulse):
        begun.append(piece)
        while not pulse[STOPPED]:
            pass

    crew = Crew(work, range(9), 2)
    crew.start()
    while len(begun) < 2:
        time.sleep(0.001)
    crew.stop()
    for thread in crew.threads:
        thread.join(60)
    assert sorted(begun) == [0, 1]


@pytest.fixture
def study(monkeypatch):
    """Six batches of one replication, without an engine: each is held until the one before it is done."""

    def run(study, cases, batch, pulse):
        pulse[PLAYED] = 50
        return {"curves": np.full((batch.replications, 1), float(batch.first))}

    monkeypatch.setattr(running, "_run", run)
    monkeypatch.setattr("coterie.studies.ahead.missing", lambda engines: {})
    table = {"horizon": 100, "replications": 3, "problem": {"instance": "uniform", "arms": 2, "agents": 1}}
    return load_study(table | {"algorithm": [{"name": "ucb1"}, {"name": "coop-ucb"}]}).specification


def test_progress_never_falls_and_ends_with_everything(study):
    told = []
    assert len(running.run_batches(study, 2, progress=lambda *now: told.append(now))) == 6
    done = [now[0] for now in told]
    assert done == sorted(done) and told[-1] == (600, 600, "adding up")


def test_an_interrupted_run_keeps_what_was_finished_and_tells_its_caller(study, tmp_path):
    def interrupt(done, total, label):
        if done >= 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run_batches(study, 1, tmp_path, interrupt)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept[0] == "0000-0000000.npz" and all(name.endswith(".npz") for name in kept) and len(kept) < 6
    told = []
    running.run_batches(study, 1, tmp_path, lambda *now: told.append(now))
    assert told[0][0] >= 100 * len(kept) and told[-1][0] == 600
