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

from coterie.audit.findings import Collected, Lives
from coterie.audit.lives import simulate_lives
from coterie.audit.stage import BY_THREE, LEVELS, Stage, epochs, rounds, with_transcript
from coterie.audit.tape import FIRST, SECOND
from coterie.audit.weathers import weathers
from coterie.engines.faults import Weather
from coterie.engines.simulate import Run
from coterie.studies.case import Case

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
