"""Run a study: batches of replications on worker threads, each finished batch kept at once.

Compiled engines run without the interpreter's lock, so threads are enough, and there is nothing to start or to copy. A batch is
fixed by the study alone; its results depend on (seed, row, replication) only. So any number of workers gives the same
results, and a run that was interrupted goes on with the batches that are missing.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np

from coterie.contract import Method
from coterie.engines.simulate import Run
from coterie.errors import StorageError, UsageError
from coterie.privacy.accountant import accounted
from coterie.studies.case import Case, is_random, make_case, problem_of
from coterie.studies.spec import Specification

Progress = Callable[[int, int, str], None]  # done, total (agent-rounds), label of the row


class Batch(NamedTuple):
    row: int
    first: int
    replications: int

    @property
    def name(self) -> str:
        return f"{self.row:04d}-{self.first:07d}"


Columns = dict[str, np.ndarray]  # "curves" [replication, mark], "totals" and "found" [replication, agent], else [replication]
AGENTS_SHOWN = 20  # of these the summary tells one by one how they fared


def run_batches(
    study: Specification, workers: int | None = None, parts: Path | None = None, progress: Progress | None = None
) -> dict[Batch, Columns]:
    """All batches of the study; those that lie in the folder `parts` already are not run again."""
    batches = list(_batches(study))
    done = {batch: found for batch in batches if parts and (found := _load(parts / f"{batch.name}.npz")) is not None}
    work = study.horizon * study.problem.agents
    finished, total = sum(b.replications for b in done) * work, sum(b.replications for b in batches) * work
    cases = _Cases(study)
    pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)
    try:
        ready: SimpleQueue[Future] = SimpleQueue()
        waiting = {pool.submit(_run, study, cases, batch): batch for batch in batches if batch not in done}
        for future in waiting:
            future.add_done_callback(ready.put)
        while waiting:
            future = _next(ready)
            batch = waiting.pop(future)
            done[batch] = future.result()
            if parts:
                _save(parts / f"{batch.name}.npz", done[batch])
            finished += batch.replications * work
            if progress:
                progress(finished, total, study.rows[batch.row].label)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return {batch: done[batch] for batch in batches}


def _next(ready: "SimpleQueue[Future]") -> Future:
    """With a time limit, so that Ctrl-C is heard; from a queue, because an interrupt inside `wait` leaves its locks taken."""
    while True:
        try:
            return ready.get(timeout=0.2)
        except Empty:
            continue


def _batches(study: Specification) -> Iterator[Batch]:
    """Small enough to show progress and to lose little, large enough to be worth a call."""
    work = study.problem.agents * (study.problem.arms + study.horizon // 100)
    size = 1 if is_random(study) else int(np.clip(1_000_000 // work, 1, 32))
    for row in range(len(study.rows)):
        for first in range(0, study.replications, size):
            yield Batch(row, first, min(size, study.replications - first))


def check_rows(study: Specification) -> None:
    """Options that do not fit the problem or the network are found before anything runs."""
    problem_of(study).check()
    for row in study.rows:
        try:
            make_case(study, row, 0)
        except UsageError as error:
            raise UsageError(f"{study.name}: {row.label}: {error}") from error


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


def _run(study: Specification, cases: _Cases, batch: Batch) -> Columns:
    case = cases.get(batch)
    case.simulate(study.seed, 0, 0)  # compiles, so that the clock does not see it
    began = time.perf_counter()
    run = case.simulate(study.seed, batch.first, batch.replications)
    seconds = time.perf_counter() - began
    method, problem = case.method, problem_of(study)
    traffic, lies = case.traffic(run.tallies), case.weather.liar == 1
    found, totals = np.isin(run.finals, case.best_arms).astype(float), run.totals.copy()
    own = method.facts | (method.extra(run.inners, run.opens) if method.extra else {})
    if lies.any():  # a liar's own fate does not count
        found[:, lies] = totals[:, lies] = np.nan
    if not problem.has_best_arm:
        found[:] = np.nan
    return {
        "curves": run.curves,
        "best_arm_rate": found[:, ~lies].mean(axis=1) if len(lies) else found.mean(axis=1),
        **{name: np.asarray(getattr(traffic, name), float) for name in ("rounds", "messages", "bytes", "cost")},
        "epsilon": booked(method, run),
        "totals": totals[:, :AGENTS_SHOWN],
        "found": found[:, :AGENTS_SHOWN],
        **{f"extra_{name}": np.asarray(values, float) for name, values in traffic.extra.items()},
        **{f"extra_{name}": np.broadcast_to(np.asarray(value, float), batch.replications) for name, value in own.items()},
        **problem.measure(case, run, batch.first),
        "seconds": np.full(batch.replications, seconds / batch.replications),
    }


def booked(method: Method, run: Run) -> np.ndarray:
    """What the dearest reward has cost in each replication, by the ledgers that bound it."""
    ledgers, role = run.ledgers, method.node
    if method.node.trusts and run.server_ledgers is not None and method.server is not None:
        ledgers, role = run.server_ledgers, method.server
    return accounted(ledgers, role.mechanism, method.claim.delta).max(axis=1)


def _save(path: Path, columns: Columns) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".tmp")
        with scratch.open("wb") as file:
            np.savez(file, **columns)  # type: ignore[arg-type]
        scratch.rename(path)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from error


def _load(path: Path) -> Columns | None:
    """A batch that was cut short while it was written does not count."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, ValueError, EOFError):
        return None
