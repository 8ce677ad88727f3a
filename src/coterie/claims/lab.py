"""The runs that claims are judged by: each study once, kept in a folder, and shared by all that need it.

Of a study only those rows are run that a claim or a picture looks at: rows know nothing of each other.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl

from coterie.claims.claim import Paper, Pick, papers
from coterie.errors import UsageError
from coterie.studies import Result, Study, load_study
from coterie.studies.ahead import Ahead, Progress
from coterie.studies.results import manifest
from coterie.studies.store import is_complete

SHORTEST, COMPILED = 0.5, 3.0  # seconds: of a study without rounds, and of an engine that has to be compiled


class Lab:
    """`whole`: at the papers' repetitions, and not reduced."""

    def __init__(self, paper: Paper, whole: bool = False, out: Path | None = None, workers: int | None = None):
        self.paper, self.whole, self.out, self.workers = paper, whole, out, workers
        self.progress: Progress | None = None
        self.ahead: Ahead | None = None
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

    def result(self, name: str) -> Result:
        if name not in self._results:
            study = self.study(name)
            self._results[name] = study.run(self.workers, self.folder(study), self.progress, ahead=self.ahead)
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


def run_all(labs: Sequence[Lab], progress: Progress | None = None) -> None:
    """Every study that these papers need, with progress over the whole of them; their engines are compiled ahead of all."""
    jobs = [(lab, name, lab.study(name)) for lab in labs for name in lab.paper.studies]
    left = [study for lab, _, study in jobs if not lab.has(study)]
    workers = next((lab.workers for lab in labs), None)
    ahead = Ahead.of([study.specification for study in left], workers, progress)
    compiled = Counter(left[want.study] for want in ahead.missing.values())
    played = {study: SHORTEST + study.forecast().seconds + COMPILED * compiled[study] for study in left}
    seconds = [played.get(study, 0.0) for *_, study in jobs]
    ends = [round(1000 * end) for end in accumulate(seconds, initial=0.0)]
    try:
        ahead.start()
        for place, (lab, name, _) in enumerate(jobs):
            span, told = (ends[place], ends[place + 1], ends[-1]), f"{name} ({place + 1} of {len(jobs)})"
            lab.ahead, lab.progress = ahead, partial(_overall, progress, span, told) if progress else None
            lab.result(name)
    finally:
        ahead.stop()
        for lab in labs:
            lab.ahead = None


def _overall(progress: Progress, span: tuple[int, int, int], name: str, done: int, own: int, label: str) -> None:
    begin, end, total = span
    progress(begin + (end - begin) * done // max(own, 1), total, f"{name}: {label}")


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
