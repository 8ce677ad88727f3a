"""The runs that claims are judged by: each study once, kept in a folder, and shared by all that need it.

Of a study only those rows are run that a claim or a picture looks at: rows know nothing of each other.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from coterie.claims.claim import Paper, Pick, papers
from coterie.engines.waiting import GivenUp
from coterie.errors import UsageError
from coterie.studies import Result, Study, load_study
from coterie.studies.ahead import Ahead, Progress
from coterie.studies.crew import Crew
from coterie.studies.results import manifest
from coterie.studies.store import is_complete

SIDE_BY_SIDE = 2  # studies: while one is added up, or waits for an engine, the other plays
SHORTEST, COMPILED = 0.5, 3.0  # seconds: of a study without rounds, and of an engine that has to be compiled


class Lab:
    """`whole`: at the papers' repetitions, and not reduced."""

    def __init__(self, paper: Paper, whole: bool = False, out: Path | None = None, workers: int | None = None):
        self.paper, self.whole, self.out, self.workers = paper, whole, out, workers
        self._results: dict[str, Result] = {}

    def study(self, name: str) -> Study:
        """By its name, which may be followed by settings: `li-song-4 algorithm.mode=private`."""
        study, *sets = name.split(" ")
        loaded = load_study(study, [*self.paper.overrides(name, self.whole), *sets]).specification
        labels = [row.label for row in loaded.rows]
        whole_paper = papers().get(self.paper.id, self.paper)  # so that one figure alone runs what all of them run
        asked = [words for pick in whole_paper.picks if pick.study == name for words in pick.rows]
        kept = sorted({place_of(labels, words, name) for words in asked}) or range(len(labels))
        return Study(loaded.model_copy(update={"rows": tuple(loaded.rows[place] for place in kept)}))

    def folder(self, study: Study) -> Path | None:
        return self.out / study.folder.name if self.out else None

    def result(self, name: str, progress: Progress | None = None, ahead: Ahead | None = None) -> Result:
        if name not in self._results:
            study = self.study(name)
            self._results[name] = study.run(self.workers, self.folder(study), progress, ahead=ahead)
        return self._results[name]

    def has(self, study: Study) -> bool:
        """Whether it was run already."""
        folder = self.folder(study)
        return folder is not None and bool(is_complete(folder, manifest(study.specification)))

    def rows(self, pick: Pick) -> list[int]:
        """Places of the rows that are picked."""
        labels = [row["label"] for row in self.result(pick.study).summary]
        return [place_of(labels, words, pick.study) for words in pick.rows]

    def runs(self, pick: Pick, quantity: str, at: float = 1.0) -> np.ndarray:
        """[row, replication]: the regret of all agents at a share of the horizon, or a column of the replications."""
        result, places = self.result(pick.study), self.rows(pick)
        if quantity == "regret":
            frame = result.checkpoints
            moment = nearest_mark(frame, at * result.study.horizon)
            frame, column = frame.filter(pl.col("round") == moment), "regret"
        else:
            frame, column = result.replications, quantity
        return np.array([frame.filter(pl.col("row") == place).sort("replication")[column].to_numpy() for place in places])

    def course(self, pick: Pick) -> tuple[np.ndarray, np.ndarray]:
        """Rounds, and [replication, round]: the regret of all agents of a single row."""
        (place,) = self.rows(pick)
        frame = self.result(pick.study).checkpoints.filter(pl.col("row") == place).sort("replication", "round")
        rounds = frame["round"].unique().sort().to_numpy()
        return rounds, frame["regret"].to_numpy().reshape(-1, len(rounds))

    def told(self, pick: Pick, path: str) -> list[float | None]:
        """Of each row what stands at this path of its summary."""
        return [_at(self.result(pick.study).summary[place], path) for place in self.rows(pick)]


def run_all(
    labs: Sequence[Lab], progress: Progress | None = None, finished: Callable[[Lab], None] = lambda lab: None
) -> None:
    """Every study that these papers need, with progress over the whole of them; their engines are compiled ahead of all.

    finished: called for each lab once it has all of its results, while others still work.
    """
    asked = [Job(lab, name, lab.study(name)) for lab in labs for name in lab.paper.studies]
    jobs = list({job.study.folder: job for job in asked}.values())  # one that two papers look at is there for the second
    left = [job.study for job in jobs if not job.lab.has(job.study)]
    workers = next((lab.workers for lab in labs), None)
    ahead = Ahead.of([study.specification for study in left], workers, progress)
    compiled = Counter(left[want.study] for want in ahead.missing.values())
    seconds = {study: SHORTEST + study.forecast().seconds + COMPILED * compiled[study] for study in left}
    overall = Overall([round(1000 * seconds.get(job.study, 0.0)) for job in jobs])

    def work(place: int, pulse: np.ndarray) -> None:
        lab, name, _ = jobs[place]

        def tell(done: int, total: int, label: str) -> None:
            if crew.stopped.is_set():
                raise GivenUp
            overall.tell(place, done / max(total, 1), f"{name} ({place + 1} of {len(jobs)}): {label}")

        lab.result(name, tell, ahead)
        overall.tell(place, 1.0)

    crew = Crew(work, range(len(jobs)), min(SIDE_BY_SIDE, workers or SIDE_BY_SIDE))
    try:
        ahead.start()
        crew.start()
        needed = [{job.study.folder for job in asked if job.lab is lab} for lab in labs]
        waiting = dict(zip(labs, needed, strict=True))
        while True:
            for lab in [lab for lab, studies in waiting.items() if not studies]:
                del waiting[lab]
                finished(lab)
            if not waiting:
                break
            if answer := crew.next():
                for studies in waiting.values():
                    studies.discard(jobs[answer[0]].study.folder)
            if progress:
                progress(overall.done, overall.total, overall.label)
    finally:
        crew.stop()
        ahead.stop()


class Job(NamedTuple):
    lab: Lab
    name: str
    study: Study


class Overall:
    """How far all of some pieces of work are, whose lengths are known."""

    def __init__(self, lengths: Sequence[int]):
        self.lengths, self.shares, self.labels = lengths, [0.0] * len(lengths), dict[int, str]()

    def tell(self, place: int, share: float, label: str = "") -> None:
        """Without a label it is done."""
        self.shares[place], self.labels = share, self.labels | {place: label}

    @property
    def total(self) -> int:
        return sum(self.lengths)

    @property
    def done(self) -> int:
        return round(sum(share * length for share, length in zip(self.shares, self.lengths, strict=True)))

    @property
    def label(self) -> str:
        """Of the first that is under way."""
        return next((label for _, label in sorted(self.labels.items()) if label), "")


def nearest_mark(frame: pl.DataFrame, moment: float) -> int:
    marks = frame["round"].unique().to_numpy()
    return int(marks[np.abs(marks - moment).argmin()])


def matches(label: str, words: str) -> bool:
    """Every word occurs; one with a = as a whole, so that epsilon=1 is not epsilon=10.

    >>> matches("fed-ucb mode=paper epsilon=10", "fed-ucb epsilon=1"), matches("a server (cdp-mab)", "a server")
    (False, True)
    """
    tokens = label.split(" ")
    pinned = [word for word in words.split(" ") if "=" in word]
    free = " ".join(word for word in words.split(" ") if "=" not in word)
    return all(word in tokens for word in pinned) and free in label


def place_of(labels: Sequence[str], words: str, study: str) -> int:
    """Of the one row that these words tell."""
    exact = [place for place, label in enumerate(labels) if label == words]
    found = exact or [place for place, label in enumerate(labels) if matches(label, words)]
    if len(found) != 1:
        raise UsageError(f"{study}: rows must be told by words of one label only, got {words!r}, which fits {len(found)}")
    return found[0]


def _at(row: object, path: str) -> float | None:
    step: Callable = lambda value, key: value[int(key)] if isinstance(value, list) else value[key]  # noqa: E731
    for key in path.split("."):
        row = step(row, key)
        if row is None:
            return None
    assert isinstance(row, int | float)
    return float(row)
