"""One changed reward and the same released numbers: nothing visible may differ, and only what was paid for differs behind it.

Everyone lives twice, by the same chance. In the second life one reward of one agent is changed, and every door hands out what
came out of it in the first. Choices, messages, cards, the ledgers and all open records must then be the same, byte by byte;
what a door forms may differ only where it covers that reward, by no more than the sensitivity the noise was drawn for, and
at the price that was booked. This is exact: no luck is involved.

Where a caveat says that choices rest on raw rewards, the choices of the first life are imposed on the second: whatever else
can be seen may then not depend on the reward. That choices do is told apart (`excused`).

Each pair of lives has dice and noise of its own, so that what happens seldom has many chances to happen.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from coterie.audit.compare import differences
from coterie.audit.lives import simulate_lives
from coterie.audit.stage import BY_THREE, LEVELS, Stage, epochs, rounds, with_transcript
from coterie.audit.tape import FAULTS, FIRST, FULL, SECOND
from coterie.audit.weathers import weathers
from coterie.engines.faults import Weather
from coterie.engines.simulate import Run
from coterie.kernel import UNIT
from coterie.studies.case import Case
from coterie.studies.running import booked

REWARDS_AT_MOST, REWARDS_QUICK = 5_000, 1_000  # beyond, a sample
PAIRS_AT_MOST = 20_000  # of lives
EXCUSED = 200  # pairs that look at choices only
BATCH_BYTES, BATCH = 1 << 25, 256
SAMPLE_SEED = 2026

Progress = Callable[[int, int], None]


class Reward(NamedTuple):
    """Which reward of a life is changed: the place among all of an agent's rewards, arm by arm, and to which other level."""

    agent: int
    place: int
    other: int


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


class Lives(NamedTuple):
    """A batch of pairs."""

    first: Run
    second: Run
    agent: np.ndarray  # whose reward is changed, of each pair
    arm: np.ndarray
    number: np.ndarray
    was: np.ndarray
    value: np.ndarray


def replay(case: Case, seed: int, most: int = REWARDS_AT_MOST, compiled: bool = True,
           progress: Progress = lambda done, total: None) -> Replay:  # fmt: skip
    """Change every reward of every agent, or a sample of `most`, under each kind of fault."""
    turns = rounds(case) if case.links is not None else 2 * epochs(case) + 4
    stage, skies = with_transcript(case, turns, replayed=True), weathers(case)
    found = Collected(stage)
    everyone = rewards_of(stage, next(iter(skies.values())), seed, compiled)
    chosen = everyone if len(everyone) <= most else sample(everyone, most)
    work = list(share_out(chosen, list(skies), most))
    total, done = sum(len(part) for _, part in work), 0
    for name, part in work:
        for lives in pairs(stage, skies[name], part, seed, done, compiled, pin=True):
            found.add(lives, name)
            done += len(lives.arm)
            progress(done, total)
    if case.method.node.peek:
        some = [Reward(*reward, 0) for reward in sample(everyone, min(EXCUSED, most))]
        for lives in pairs(stage, skies["no faults"], some, seed, total, compiled, pin=False):
            found.excuse(lives)
    return Replay(
        len(chosen), len(everyone), total - found.left_out, found.left_out, tuple(skies), found.booked, found.price,
        found.findings, tuple(found.excused),
    )  # fmt: skip


def rewards_of(stage: Stage, calm: Weather, seed: int, compiled: bool) -> list[tuple[int, int]]:
    """(agent, place) of every reward in the first of all lives."""
    counts = first_lives(stage, calm, 1, seed, 0, compiled).secrets["count"][0].sum(axis=1)
    return [(agent, place) for agent, count in enumerate(counts) for place in range(count)]


def sample(everyone: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    if len(everyone) <= most:
        return everyone
    at = np.random.default_rng(SAMPLE_SEED).choice(len(everyone), most, replace=False)
    return [everyone[j] for j in np.sort(at)]


def share_out(chosen: list[tuple[int, int]], skies: list[str], most: int) -> Iterator[tuple[str, list[Reward]]]:
    """Every reward under every weather, to each of the two other levels; or by turns, where that would be too many."""
    ways = [(name, other) for name in skies for other in (0, 1)]
    each = min(len(ways), max(1, PAIRS_AT_MOST * most // REWARDS_AT_MOST // max(1, len(chosen))))
    for name in skies:
        part = [
            Reward(agent, place, way[1])
            for j, (agent, place) in enumerate(chosen)
            for way in (ways[(j * each + step) % len(ways)] for step in range(each))
            if way[0] == name
        ]
        if part:
            yield name, part


# --- living twice -------------------------------------------------------------------------------------------


def first_lives(stage: Stage, weather: Weather, count: int, seed: int, first: int, compiled: bool) -> Run:
    worlds = np.tile(stage.blank, (count, 1))
    worlds["rest"], worlds["life"] = BY_THREE, FIRST
    return simulate_lives(knowing(stage, {"audit_life": FIRST}), worlds, weather, seed, first, compiled)


def knowing(stage: Stage, facts: dict[str, Any]) -> Case:
    method = stage.recorded.method
    return stage.recorded._replace(method=method._replace(known=method.known | facts))


def pairs(
    stage: Stage, weather: Weather, part: list[Reward], seed: int, start: int, compiled: bool, pin: bool
) -> Iterator[Lives]:
    size = stage.agent.algorithm.open(stage.case.method.p).itemsize * stage.case.agents
    batch = int(np.clip(BATCH_BYTES // size, 1, BATCH))
    for at in range(0, len(part), batch):
        wanted = part[at : at + batch]
        first = first_lives(stage, weather, len(wanted), seed, start + at, compiled)
        yield second_lives(stage, weather, first, wanted, seed, start + at, compiled, pin)


def second_lives(
    stage: Stage, weather: Weather, first: Run, wanted: list[Reward], seed: int, start: int, compiled: bool, pin: bool
) -> Lives:
    count, agent = len(wanted), np.array([reward.agent for reward in wanted])
    every = np.arange(count)
    arm, number = find_rewards(first, agent, np.array([reward.place for reward in wanted]))
    worlds = np.tile(stage.blank, (count, 1))
    worlds["rest"], worlds["life"] = BY_THREE, SECOND
    worlds["changed"] = arm[:, None]
    own = worlds[every, agent]
    was = dealt(own, arm, number)
    levels = np.stack([own[level] for level in LEVELS], axis=1)
    order = np.argsort(levels == was[:, None], axis=1, kind="stable")  # the other two come first
    value = levels[every, order[every, [reward.other for reward in wanted]]]
    worlds["arm"][every, agent], worlds["number"][every, agent], worlds["value"][every, agent] = arm, number, value
    known: dict[str, Any] = {"audit_life": SECOND, "audit_arm": np.full((count, stage.case.agents), -1)}
    known |= {"audit_number": np.zeros((count, stage.case.agents), np.int64), "audit_tape": first.opens["audit_tape"]}
    known["audit_arm"][every, agent], known["audit_number"][every, agent] = arm, number
    if stage.case.method.node.peek:
        known |= {"audit_pin": int(pin), "audit_plans": first.opens["audit_seen"]}
    if worlds["tape"].shape[-1] and first.servers is not None:
        size = stage.case.agents // first.servers.shape[1]
        worlds["tape"][:, ::size] = first.servers["audit_tape"]
    second = simulate_lives(knowing(stage, known), worlds, weather, seed, start, compiled)
    return Lives(first, second, agent, arm, number, was, value)


def find_rewards(first: Run, agent: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arm and number of the reward at each place. A life in which an agent had fewer rewards takes the place modulo that."""
    counts = first.secrets["count"][np.arange(len(agent)), agent]
    ends = counts.cumsum(axis=1)
    place = place % np.maximum(ends[:, -1], 1)
    arm = (place[:, None] >= ends).sum(axis=1) % counts.shape[1]
    before = np.take_along_axis(ends - counts, arm[:, None], 1)[:, 0]
    return arm, place - before + 1


def dealt(own: np.ndarray, arm: np.ndarray, number: np.ndarray) -> np.ndarray:
    """What the pattern BY_THREE gives: see world.py."""
    levels = np.stack([own["high"], own["low"], own["middle"]], axis=1)
    return levels[np.arange(len(arm)), (arm + number - 1) % 3]


# --- what came of it ----------------------------------------------------------------------------------------


class Collected:
    """Findings of all batches."""

    def __init__(self, stage: Stage):
        self.stage, self.method = stage, stage.case.method
        self.found: dict[str, list[str]] = {}
        self.excused: dict[str, None] = {}
        self.left_out, self.price, self.booked = 0, 0.0, 0.0

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(f"{what} ({examples[0]}; {len(examples):,} times)" for what, examples in self.found.items())

    def add(self, lives: Lives, weather: str) -> None:
        full = too_long(lives)
        self.left_out += int(full.sum())
        self.booked = max(self.booked, float(booked(self.method, lives.first).max(initial=0.0)))
        for at, what, where in self.troubles(lives):
            if not full[at]:
                self.found.setdefault(what, []).append(f"{where}{about(lives, at)}, {weather}")

    def excuse(self, lives: Lives) -> None:
        for difference in differences(self.stage, lives.first, lives.second):
            if difference.channel == "choice":
                self.excused["choices show the reward"] = None

    def troubles(self, lives: Lives) -> Iterator[tuple[int, str, str]]:
        """(pair, what is wrong, where)"""
        for difference in differences(self.stage, lives.first, lives.second):
            yield difference.pair, difference.what, difference.where
        for door in doors(self.method, lives):
            for bit, what in FAULTS.items():
                yield from ((int(at), what, "") for at in np.flatnonzero(door.faults & bit))
            cost, paid = door.prices()
            self.price = max(self.price, float(cost.max(initial=0.0)))
            yield from ((int(at), "more is lost than was booked", "") for at in np.flatnonzero(cost > paid * (1 + 1e-12)))


class Door(NamedTuple):
    """What has moved at the doors of one node, of each pair."""

    opens: np.ndarray
    ledgers: np.ndarray  # of the arm of the changed reward
    adds_up: str
    stream: bool

    @property
    def faults(self) -> np.ndarray:
        return self.opens["audit_faults"]

    def prices(self) -> tuple[np.ndarray, np.ndarray]:
        """What the numbers that moved have cost together, and what was booked for the arm."""
        loss, squares = self.ledgers["loss"].sum(axis=-1), np.sqrt(self.ledgers["squares"].sum(axis=-1))
        if self.stream:
            return self.opens["audit_dearest"], np.minimum(loss, squares)
        if self.adds_up == "squares":
            return np.sqrt(self.opens["audit_squares"]), squares
        return self.opens["audit_cost"], loss


def doors(method: Any, lives: Lives) -> Iterator[Door]:
    """Of every agent, and of every server that is trusted."""
    second, every = lives.second, np.arange(len(lives.arm))
    nodes = [(second.opens, second.ledgers, method.node)]
    if method.server is not None and method.server.trusted:
        nodes.append((second.servers, second.server_ledgers, method.server))
    for opens, ledgers, role in nodes:
        for i in range(opens.shape[1]):
            own = {name: ledgers[name][every, i, lives.arm] for name in ("loss", "squares")}
            yield Door(opens[:, i], own, role.mechanism.adds_up, role.mechanism.covers == "stream")


def too_long(lives: Lives) -> np.ndarray:
    full = (lives.first.opens["audit_faults"] & FULL).any(axis=1)
    if lives.first.servers is not None:
        full |= (lives.first.servers["audit_faults"] & FULL).any(axis=1)
    return full


def about(lives: Lives, at: int) -> str:
    agent, arm, number, was, value = (int(column[at]) for column in lives[2:])
    return f"agent {agent}, arm {arm}, reward {number}, {was / UNIT:g} to {value / UNIT:g}"
