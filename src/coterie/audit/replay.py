"""One changed reward and the same released numbers: nothing visible may differ, and only what was paid for differs behind it.

Everyone lives twice, by the same chance. In the second life one reward of one agent is changed, and every door hands out what
came out of it in the first. Choices, messages, cards, the ledgers and all open records must then be the same, byte by byte;
what a door forms may differ only where it covers that reward, by no more than the sensitivity the noise was drawn for, and
at the price that was booked. This is exact: no luck is involved.

Where a caveat says that choices rest on raw rewards, the choices of the first life are imposed on the second: whatever else
can be seen may then not depend on the reward. That choices do is told apart (`excused`).

Each pair of lives has dice and noise of its own, so that what happens seldom has many chances to happen. How lives are played,
and how many rewards are changed in one, is in twice.py.
"""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from coterie.audit.findings import Collected
from coterie.audit.stage import Stage, epochs, rounds, with_transcript
from coterie.audit.twice import Play, Reward, apart, batch_of, changed_at_once, deal, first_lives, pairs
from coterie.audit.weathers import weathers
from coterie.engines.faults import Weather
from coterie.studies.case import Case

REWARDS_AT_MOST, REWARDS_QUICK = 5_000, 1_000  # beyond, a sample
CHANGES_AT_MOST = 20_000  # of rewards, each under every kind of fault if there is room
EXCUSED = 200  # changes that look at choices only
APART = 100  # changes under one kind of fault that are made one by one where those of a life show something
TIMED = 2  # the part of a batch that is played for a forecast: a few lives take longer, each, than many
SAMPLE_SEED = 2026

Progress = Callable[[int, int], None]


class Replay(NamedTuple):
    """What became of the rewards that were changed."""

    rewards: int  # changed, each at least once
    rewards_in_all: int
    pairs: int  # of lives
    left_out: int  # pairs that were too long to compare
    faults: tuple[str, ...]
    booked: float
    price: float  # what the dearest of them was charged; inf: a number left without noise
    findings: tuple[str, ...]
    excused: tuple[str, ...] = ()
    together: int = 1  # so many rewards at most were changed in one life


class Work(NamedTuple):
    """What is to be lived twice."""

    stage: Stage
    seed: int
    compiled: bool
    skies: dict[str, Weather]
    everyone: list[tuple[int, int]]  # (agent, place) of every reward in the first of all lives
    chosen: list[tuple[int, int]]
    lives: dict[str, list[Sequence[Reward]]]  # by faults: what is changed in each
    excused: list[Sequence[Reward]]

    @property
    def total(self) -> int:
        """Of pairs of lives."""
        return sum(map(len, self.lives.values())) + len(self.excused)

    def seconds(self) -> float:
        """That it will take: some pairs are played under each kind of fault, and the rest will take as long."""
        some, needed = max(1, batch_of(self.stage) // TIMED), 0.0
        for name, dealt in self.lives.items():
            began = perf_counter()
            for lives in pairs(Play(self.stage, self.skies[name], self.seed, self.compiled), dealt[:some], 0):
                Collected(self.stage).add(lives, name)
            needed += len(dealt) / len(dealt[:some]) * (perf_counter() - began)
        return needed


def replay(case: Case, seed: int, most: int = REWARDS_AT_MOST, compiled: bool = True,
           progress: Progress = lambda done, total: None) -> Replay:  # fmt: skip
    """Change every reward of every agent, or a sample of `most`, under each kind of fault."""
    return live_twice(prepare(case, seed, most, compiled), progress)


def prepare(case: Case, seed: int, most: int = REWARDS_AT_MOST, compiled: bool = True) -> Work:
    turns = rounds(case) if case.links is not None else 2 * epochs(case) + 4
    stage, skies = with_transcript(case, turns, replayed=True), weathers(case)
    everyone = rewards_of(Play(stage, next(iter(skies.values())), seed, compiled))
    chosen, at_once = sample(everyone, most), changed_at_once(case)
    lives = {name: deal(part, at_once) for name, part in share_out(chosen, list(skies), most)}
    some = sample(everyone, min(EXCUSED, most)) if case.method.node.peek else []
    excused = deal([Reward(*reward, 0) for reward in some], at_once) if some else []
    return Work(stage, seed, compiled, skies, everyone, chosen, lives, excused)


def live_twice(work: Work, progress: Progress = lambda done, total: None) -> Replay:
    found, done, together = Collected(work.stage), 0, 1
    for name, dealt in work.lives.items():
        play, left = Play(work.stage, work.skies[name], work.seed, work.compiled), APART
        for lives in pairs(play, dealt, done):
            for pair in found.add(lives, name):
                if left > 0:
                    left -= found.add_apart(apart(play, lives, pair), name)
            done += len(lives.first.totals)
            progress(done, work.total)
        together = max(together, *map(len, dealt))
    for lives in pairs(Play(work.stage, work.skies["no faults"], work.seed, work.compiled, pin=False), work.excused, done):
        found.excuse(lives)
    return Replay(
        len(work.chosen), len(work.everyone), done - found.left_out, found.left_out, tuple(work.skies), found.booked,
        found.price, found.findings, tuple(found.excused), together,
    )  # fmt: skip


def rewards_of(calm: Play) -> list[tuple[int, int]]:
    counts = first_lives(calm, 1, 0).secrets["count"][0].sum(axis=1)
    return [(agent, place) for agent, count in enumerate(counts) for place in range(count)]


def sample(everyone: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    if len(everyone) <= most:
        return everyone
    at = np.random.default_rng(SAMPLE_SEED).choice(len(everyone), most, replace=False)
    return [everyone[j] for j in np.sort(at)]


def share_out(chosen: list[tuple[int, int]], skies: list[str], most: int) -> Iterator[tuple[str, list[Reward]]]:
    """Every reward under every weather, to each of the two other levels; or by turns, where that would be too many."""
    ways = [(name, other) for name in skies for other in (0, 1)]
    each = min(len(ways), max(1, CHANGES_AT_MOST * most // REWARDS_AT_MOST // max(1, len(chosen))))
    for name in skies:
        part = [
            Reward(agent, place, way[1])
            for j, (agent, place) in enumerate(chosen)
            for way in (ways[(j * each + step) % len(ways)] for step in range(each))
            if way[0] == name
        ]
        if part:
            yield name, part
