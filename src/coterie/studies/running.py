"""Run a study: batches of replications on worker threads, those that are finished kept twice a second.

Compiled engines run without the interpreter's lock, so threads are enough, and there is nothing to start or to copy. A batch is
fixed by the study alone; its results depend on (seed, row, replication) only. So any number of workers gives the same
results, and a run that was interrupted goes on with the batches that are missing.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coterie.contract import Algorithm, Method
from coterie.engines.compiled import Engine
from coterie.engines.simulate import Run
from coterie.kernel.waiting import TICK
from coterie.privacy.accountant import accounted
from coterie.studies.ahead import Ahead, Progress, Want
from coterie.studies.case import Case, is_random, make_case, problem_of
from coterie.studies.cluster import Cluster
from coterie.studies.crew import Crew
from coterie.studies.spec import Specification
from coterie.studies.store import load_part, save_part


class Batch(NamedTuple):
    row: int
    first: int
    replications: int

    @property
    def name(self) -> str:
        return f"{self.row:04d}-{self.first:07d}"


Columns = dict[str, np.ndarray]  # "curves" [replication, mark], "totals" and "found" [replication, agent], else [replication]
KEPT_EVERY = 0.5  # seconds: who is killed loses no more
AGENTS_SHOWN = 20  # of these the summary tells one by one how they fared


def run_batches(
    study: Specification,
    workers: int | None = None,
    parts: Path | None = None,
    progress: Progress | None = None,
    engine: str = "local",
    address: str | None = None,
    ahead: Ahead | None = None,
) -> dict[Batch, Columns]:
    """All batches of the study; those that lie in the folder `parts` already are not run again.

    ahead: somebody else compiles for this study and others.
    """
    batches = list(_batches(study))
    kept = {batch: load_part(parts / f"{batch.name}.npz", batch.replications) for batch in batches if parts}
    done = {batch: found for batch, found in kept.items() if found is not None}
    work = study.horizon * study.problem.agents
    total, waiting = sum(b.replications for b in batches) * work, [b for b in batches if b not in done]
    crew = Cluster(study, waiting, workers, address) if engine == "ray" else LocalCrew(study, waiting, workers, ahead)
    fresh, kept_at = list[Batch](), time.monotonic()
    try:
        if waiting:
            if progress and (note := crew.note()):  # a cluster takes its time to start
                progress(_played(crew, done, work), total, note)
            crew.start()
        while len(done) < len(batches):
            if answer := crew.next():
                batch, done[batch] = answer
                fresh.append(batch)
            if time.monotonic() > kept_at + KEPT_EVERY:
                _keep(parts, done, fresh)
                kept_at = time.monotonic()
            if progress:
                progress(_played(crew, done, work), total, _doing(study, crew, "adding up" if done else "getting ready"))
    finally:
        crew.stop()
        if len(done) < len(batches):
            _keep(parts, done, fresh)
    return {batch: done[batch] for batch in batches}


def _keep(parts: Path | None, done: Mapping[Batch, Columns], fresh: list[Batch]) -> None:
    """Those that lie nowhere yet. To keep every batch by itself would take longer than many of them do."""
    while fresh:
        if parts:
            save_part(parts / f"{fresh[0].name}.npz", done[fresh[0]])
        del fresh[0]


class LocalCrew(Crew):
    """On this machine, with all engines compiled ahead."""

    def __init__(self, study: Specification, waiting: list[Batch], workers: int | None, ahead: Ahead | None = None):
        cases, hands = _Cases(study), workers or os.cpu_count() or 1
        firsts = {batch.row: batch for batch in reversed(waiting)}
        self.engines = {row: cases.get(batch).engine() for row, batch in reversed(firsts.items())}
        wanted: dict[Engine | None, Want] = {}
        for row, engine in self.engines.items():
            wanted.setdefault(engine, Want(0, row, firsts[row].first))
        self.ahead, self.is_own = ahead or Ahead([study], wanted, hands), ahead is None
        self.ready, self.looked = set[int](), -inf
        super().__init__(partial(_run, study, cases), waiting, hands, self._is_ready)

    def _is_ready(self, batch: Batch) -> bool:
        """However many batches wait, it is looked up once in a tick which rows can run: the compiler needs the processors."""
        if time.monotonic() > self.looked + TICK:
            self.looked = time.monotonic()
            waiting = [row for row in self.engines if row not in self.ready]
            self.ready.update(row for row in waiting if self.ahead.is_ready(self.engines[row]))
        return batch.row in self.ready

    def start(self) -> None:
        if self.is_own:
            self.ahead.start()
        super().start()

    def stop(self) -> None:
        if self.is_own:
            self.ahead.stop()
        super().stop()


def batch_work(study: Specification) -> Callable[[Batch, np.ndarray], Columns]:
    """What plays the batches of a study, elsewhere."""
    return partial(_run, study, _Cases(study))


def _played(crew: Crew | Cluster, done: Iterable[Batch], work: int) -> int:
    """Agent-rounds: of batches that are done, and of those under way."""
    under_way = sum(min(played, batch.replications * work) for batch, played in crew.played().items())
    return sum(batch.replications for batch in done) * work + under_way


def _doing(study: Specification, crew: Crew | Cluster, otherwise: str) -> str:
    rows = sorted(batch.row for batch in crew.played())
    return crew.note() or (study.rows[rows[0]].label if rows else otherwise)


def batch_size(study: Specification) -> int:
    """Replications: as many as are worth a call; few enough to show progress, to lose little and to keep four cores busy."""
    work = study.problem.agents * (study.problem.arms + study.horizon // 100)
    wanted, most = max(ceil(study.replications / 4), 20_000 // work), min(32, 1_000_000 // work)
    return 1 if is_random(study) else max(1, min(wanted, most))


def _batches(study: Specification) -> Iterator[Batch]:
    size = batch_size(study)
    for row in range(len(study.rows)):
        for first in range(0, study.replications, size):
            yield Batch(row, first, min(size, study.replications - first))


def check_rows(study: Specification) -> None:
    """Options that do not fit the problem or the network are found before anything runs."""
    problem_of(study).check()
    for row in study.rows:
        make_case(study, row, 0)


class _Cases:
    """One case for each row, where all replications share it."""

    def __init__(self, study: Specification):
        self.study, self.shared = study, not is_random(study)
        self.kept: dict[int, Case] = {}

    def get(self, batch: Batch) -> Case:
        if not self.shared:
            return make_case(self.study, self.study.rows[batch.row], batch.first)
        if batch.row not in self.kept:
            self.kept[batch.row] = make_case(self.study, self.study.rows[batch.row], 0)
        return self.kept[batch.row]


def _run(study: Specification, cases: _Cases, batch: Batch, pulse: np.ndarray) -> Columns:
    case = cases.get(batch)
    case.simulate(study.seed, 0, 0, pulse=pulse)  # compiles, so that the clock does not see it
    began = time.perf_counter()
    run = case.simulate(study.seed, batch.first, batch.replications, pulse=pulse)
    seconds = time.perf_counter() - began
    method, problem = case.method, problem_of(study)
    traffic, lies = case.traffic(run.tallies), case.weather.liar == 1
    found, totals = found_best(run.late, case.best_arms), run.totals.copy()
    own = method.facts | (method.extra(run.inners, run.opens) if method.extra else {})
    voices = run.secrets["voices"][0] * (case.agents // int(run.secrets["voices"][0].sum()))  # agents that are alike are one
    if lies.any():  # a liar's own fate does not count
        found[:, lies] = totals[:, lies] = np.nan
    if not problem.has_best_arm:
        found[:] = np.nan
    return {
        "curves": run.curves,
        "best_arm_rate": mean_of_known(np.repeat(found, voices, axis=1).T),
        "finders": (found == 1) @ voices,
        "seekers": ~np.isnan(found) @ voices,
        **{name: np.asarray(getattr(traffic, name), float) for name in ("rounds", "messages", "bytes", "cost")},
        "epsilon": booked(method, run),
        "totals": totals[:, :AGENTS_SHOWN],
        "found": found[:, :AGENTS_SHOWN],
        **{f"extra_{name}": np.asarray(values, float) for name, values in traffic.extra.items()},
        **{f"extra_{name}": np.broadcast_to(np.asarray(value, float), batch.replications) for name, value in own.items()},
        **problem.measure(case, run, batch.first),
        "seconds": np.full(batch.replications, seconds / batch.replications),
    }


def found_best(late: np.ndarray, best: np.ndarray) -> np.ndarray:
    """[replication, agent]: 1 if the agent's most played arm of the last tenth of the rounds is best; nan if it never played.

    Of several that were played most, each counts its part: an agent that still goes round four arms has found the best by a
    quarter, wherever that stands among them.
    """
    most = late == late.max(axis=2, keepdims=True)
    return np.where(late.any(axis=2), most[:, :, best].sum(axis=2) / most.sum(axis=2), np.nan)


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """Over the first axis, without what is not known (nan); nan where nothing is."""
    known = ~np.isnan(values)
    return np.where(known, values, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)


def ledgers_of(method: Method, run: Run) -> tuple[np.ndarray, Algorithm]:
    """Those that bound the loss, and whose they are."""
    if method.node.trusts and run.server_ledgers is not None and method.server is not None:
        return run.server_ledgers, method.server
    return run.ledgers, method.node


def booked(method: Method, run: Run) -> np.ndarray:
    """What the dearest reward has cost in each replication."""
    ledgers, role = ledgers_of(method, run)
    return accounted(ledgers, role.mechanism, method.claim.delta).max(axis=1)
