"""The distinguishing game: two histories that differ in one reward, many trials of each, and an event that tells them apart.

A pilot finds the words in which the sides differ at all. Of the trials proper the first third teaches the statistics, the
second chooses one of them with its threshold, and the last, which nothing has looked at before, certifies how often the event
takes place on either side.

A leak that shows in one trial of thousands is not for the game: see replay.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from coterie.audit.bounds import epsilon_at_least
from coterie.audit.couples import couples
from coterie.audit.stage import AGENTS, ARMS, Canary, Stage
from coterie.audit.statistics import Sample, Statistic, distance, gap, grain, is_act, statistics
from coterie.audit.views import Part, read
from coterie.studies.running import booked

BATCH = 500
PILOT = 250  # trials of each side for each reward that may become a canary
WORDS_KEPT, COUPLES_KEPT = 120, 40
RELEASES = 4  # whose last rewards are tried as canaries
FEW = 40  # trials that show which words ever change
PILOT_SEED = 1  # added to the seed: the pilot shares no noise with the trials

Progress = Callable[[int], None]  # told how many trials have been played since the last call


class Event(NamedTuple):
    """A score at or above a threshold (or, turned, below it)."""

    statistic: Statistic
    threshold: float
    turned: bool  # it is an event of the side with the reward 0

    def counts(self, zero: np.ndarray, one: np.ndarray) -> tuple[int, int]:
        """How often it takes place on its own side, and on the other."""
        if self.turned:
            return int((zero < self.threshold).sum()), int((one < self.threshold).sum())
        return int((one >= self.threshold).sum()), int((zero >= self.threshold).sum())


class Game(NamedTuple):
    """What came of one canary."""

    canary: Canary
    event: Event | None  # None: no word ever differed
    hits: int
    misses: int
    trials: int  # of each side that certify
    epsilon: float  # at least this, with the stated confidence
    zero: np.ndarray  # scores that certify
    one: np.ndarray


class Table:
    """A stage as one view sees it, and what the ledgers showed in all trials played on it."""

    def __init__(self, stage: Stage, parts: Sequence[Part], seed: int, progress: Progress):
        self.stage, self.parts, self.seed, self.progress = stage, parts, seed, progress
        self.places = [place for part in parts for place in part.places()]
        self.booked = 0.0
        seen = read(parts, stage.play(None, 0, seed + PILOT_SEED, 0, FEW))
        self.couples = list(couples(self.places, np.flatnonzero((seen != seen[:1]).any(axis=0)).tolist()))

    def trials(self, canary: Canary, value: int, seed: int, count: int, keep: np.ndarray | None = None) -> Sample:
        """Trials of one side, as the words in `keep` (all single ones); couples are numbered behind them.

        The two sides never share a replication, hence no noise.
        """
        words, chosen = [], np.arange(len(self.places)) if keep is None else keep
        together = [self.couples[j - len(self.places)] for j in chosen[chosen >= len(self.places)]]
        single = chosen[chosen < len(self.places)]
        for first in range(0, count, BATCH):
            size = min(BATCH, count - first)
            run = self.stage.play(canary, value, seed, 2 * first + value * size, size)
            self.booked = max(self.booked, float(booked(self.stage.case.method, run).max()))
            seen = read(self.parts, run)
            words.append(np.column_stack([seen[:, single], *(couple.of(seen) for couple in together)]))
            self.progress(size)
        return Sample(np.concatenate(words), [*(self.places[j] for j in single), *(couple.place for couple in together)])


# --- which rewards hurt -------------------------------------------------------------------------------


def candidates(stage: Stage, seed: int) -> list[Canary]:
    """Rewards that may hurt, each once."""
    found: dict[tuple, Canary] = {}
    for canary in likely(stage, seed):
        found.setdefault(canary[:5], canary)
    return list(found.values())


def likely(stage: Stage, seed: int) -> Iterator[Canary]:
    """Of agent 0 the first reward of each arm, the last before each of the first releases, the one after it and one between
    two; of everyone the first and a late one; and the first once more, against a middle value."""
    run = stage.play(None, 0, seed, 0, 1)
    for agent in range(AGENTS):
        seen = run.opens["audit_seen"][0, agent].reshape(stage.agent.turns, -1)
        for arm in range(ARMS):
            ends = releases(stage, seen, arm)
            for rest in (0, 1):
                yield Canary(agent, arm, 1, rest, why="first reward")
                yield from (Canary(agent, arm, n, rest, why="a late reward") for n in ends[-1:] if n > 1)
                if agent == 0:
                    yield from (Canary(agent, arm, n, rest, why="last before a release") for n in ends[:RELEASES] if n > 1)
                    yield from (Canary(agent, arm, n + 1, rest, why="first after a release") for n in ends[:RELEASES] if n > 0)
                    yield from (Canary(agent, arm, (n + m + 1) // 2, rest, why="amid a block")
                                for n, m in pairwise(ends[:RELEASES]))
            yield Canary(agent, arm, 1, 0, "middle", "middle value")


def releases(stage: Stage, seen: np.ndarray, arm: int) -> list[int]:
    """How many rewards of the arm there were at each release."""
    at = {column.word: j for j, column in enumerate(stage.agent.columns) if column.channel in ("choice", "door")}
    pulls = np.zeros(len(seen), np.int64)
    for e in range(ARMS):
        pulls += np.where((e < seen[:, at["entries"]]) & (seen[:, at[f"arm of entry {e}"]] == arm),
                          seen[:, at[f"pulls of entry {e}"]], 0)
    return np.unique(np.cumsum(pulls)[seen[:, at["numbers released"]] > 0]).tolist()


def choose_canaries(table: Table) -> dict[Canary, np.ndarray]:
    """For each reason to look at a reward the one that shows most, and the words and couples of words in which it does."""
    found = {canary: separations(table, canary) for canary in candidates(table.stage, table.seed)}
    act = np.array([is_act(place) for place in table.places], bool)
    fits: dict[str, Callable[[Canary], bool]] = {
        "first reward": lambda canary: canary.number == 1 and canary.to == "high",
        "last before a release": lambda canary: canary.why.startswith("last"),
        "pivotal": lambda canary: True,
        "another agent's": lambda canary: canary.agent > 0 and canary.to == "high",
        "middle value": lambda canary: canary.to == "middle",
    }
    chosen: dict[Canary, np.ndarray] = {}
    for why, fit in fits.items():
        taken = {one[:5] for one in chosen}
        shown = {canary: apart.max(initial=0) for canary, apart in found.items() if fit(canary) and canary[:5] not in taken}
        if why == "pivotal":
            shown = {canary: found[canary][act].max(initial=0) + 1e-3 * most for canary, most in shown.items()}
        if shown:
            canary = max(shown, key=lambda one: shown[one])
            apart = found[canary]
            couples = len(table.places) + strongest(separations_of_couples(table, canary), COUPLES_KEPT)
            chosen[canary._replace(why=why)] = np.concatenate([strongest(apart, WORDS_KEPT), couples])
    return chosen


def strongest(apart: np.ndarray, count: int) -> np.ndarray:
    most = np.argsort(-apart, kind="stable")[:count]
    return np.sort(most[apart[most] > 0])


def separations(table: Table, canary: Canary, keep: np.ndarray | None = None) -> np.ndarray:
    """Of every word: how far a pilot moves it or its low bits from one side to the other."""
    zero, one = (table.trials(canary, value, table.seed + PILOT_SEED, PILOT, keep) for value in (0, 1))
    both = np.concatenate([zero.words, one.words])
    apart = np.zeros(len(zero.places))
    for j in np.flatnonzero((both != both[0]).any(axis=0)).tolist():
        apart[j] = gap(zero.number(j), one.number(j))
        if not is_act(zero.places[j]):
            apart[j] = max(apart[j], distance(grain(zero, j), grain(one, j)))
    return apart


def separations_of_couples(table: Table, canary: Canary) -> np.ndarray:
    start = len(table.places)
    return separations(table, canary, np.arange(start, start + len(table.couples)))


# --- one game -----------------------------------------------------------------------------------------


def play(table: Table, canary: Canary, keep: np.ndarray, trials: int, delta: float, error: float) -> Game:
    """`trials` of each side; `error`: the probability with which the bound may be wrong."""
    third = trials // 3
    zero, one = (table.trials(canary, value, table.seed, 3 * third, keep) for value in (0, 1))
    learning, choosing, certifying = ((zero.part(k, third), one.part(k, third)) for k in range(3))
    found = [best_event(statistic, *choosing, delta, error) for statistic in statistics(*learning)]
    if not found:
        nothing = np.zeros(third)
        return Game(canary, None, 0, 0, third, 0.0, nothing, nothing)
    _, event = max(found, key=lambda pair: pair[0])
    scores = event.statistic.score(certifying[0]), event.statistic.score(certifying[1])
    hits, misses = event.counts(*scores)
    epsilon = float(epsilon_at_least(hits, misses, third, delta, error))
    return Game(canary, event, hits, misses, third, epsilon, *scores)


def best_event(statistic: Statistic, zero: Sample, one: Sample, delta: float, error: float) -> tuple[float, Event]:
    """The threshold and direction that would prove most, if these trials certified."""
    scores = np.sort(statistic.score(zero)), np.sort(statistic.score(one))
    levels = np.unique(np.concatenate(scores))
    if len(levels) > 400:
        levels = levels[np.linspace(0, len(levels) - 1, 400).astype(int)]
    below = [np.searchsorted(side, levels, "left") for side in scores]
    trials, found = len(scores[0]), []
    for turned, hits, misses in ((False, trials - below[1], trials - below[0]), (True, below[0], below[1])):
        proven = epsilon_at_least(hits, misses, trials, delta, error)
        at = int(np.argmax(proven))
        found.append((float(proven[at]), Event(statistic, float(levels[at]), turned)))
    return max(found, key=lambda pair: pair[0])
