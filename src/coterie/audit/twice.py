"""Living twice: a first life by the pattern of rewards, and a second one in which some are changed.

Among peers one reward of every fourth agent is changed in the same life, and that shows what changing each by itself would.
What an agent says rests on its own rewards and on what it hears. So as long as nothing has shown, everyone hears what was
heard in the first life, and each of the changed agents does what it would do if it were the only one: the first thing that
shows in any life with a single change shows in the life with all of them, or something else has shown before. If nothing
shows, nothing would have shown in any of them. If something does, the rewards are changed again, one by one. (A simulation also
hands on fields that are written and not said: see `deal`.)

Around a server each life has one change: a door of the server forms sums in which changes would meet, and what a server does
seldom needs many lives to happen.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from coterie.audit.findings import Changes, Lives
from coterie.audit.lives import simulate_lives
from coterie.audit.stage import AGENTS, BY_THREE, LEVELS, Stage
from coterie.audit.tape import FIRST, SECOND
from coterie.engines.faults import Weather
from coterie.engines.simulate import Run
from coterie.studies.case import Case

BATCH_BYTES, BATCH = 1 << 25, 256
DEALT = 2026  # a seed


class Reward(NamedTuple):
    """Which reward of a life is changed: the place among all of an agent's rewards, arm by arm, and to which other level."""

    agent: int
    place: int
    other: int


class Play(NamedTuple):
    """How lives are played: under which faults, by which chance."""

    stage: Stage
    weather: Weather
    seed: int
    compiled: bool = True
    pin: bool = True  # choices that rest on raw rewards are those of the first life


def changed_at_once(case: Case) -> int:
    """One to as many agents as the small stage has: what seldom happens to any agent then has as many chances as there."""
    return max(1, case.agents // AGENTS) if case.links is not None else 1


def deal(part: Sequence[Reward], at_once: int) -> list[Sequence[Reward]]:
    """To lives, no two of one agent to the same.

    Which rewards of two agents meet in a life is a matter of luck: changes that could cancel each other out on a way that
    nobody looks at (fields that are written and not said, in a simulation) do so in some lives and not in others.
    """
    most = np.bincount([reward.agent for reward in part]).max()
    lives = max(-(-len(part) // at_once), int(most))
    order = np.random.default_rng(DEALT).permutation(len(part)) if at_once > 1 else range(len(part))
    shuffled = sorted((part[place] for place in order), key=lambda reward: reward.agent)  # a stable order
    return [shuffled[life::lives] for life in range(lives)]


def batch_of(stage: Stage) -> int:
    """How many lives are played in one go."""
    size = stage.agent.algorithm.open(stage.case.method.p).itemsize * stage.case.agents
    return int(np.clip(BATCH_BYTES // size, 1, BATCH))


def pairs(play: Play, dealt: Sequence[Sequence[Reward]], start: int) -> Iterator[Lives]:
    """`start`: the number of the first life, of which its chance is made."""
    batch = batch_of(play.stage)
    for at in range(0, len(dealt), batch):
        wanted = dealt[at : at + batch]
        first = first_lives(play, len(wanted), start + at)
        yield second_lives(play, first, changes_in(play.stage, first, wanted), start + at)


def apart(play: Play, lives: Lives, pair: int) -> Iterator[Lives]:
    """The same pair once more for each of its changes, by the same chance."""
    parts = {name: part[pair : pair + 1] for name, part in lives.first._asdict().items() if part is not None}
    first = Run(**parts)
    for j in np.flatnonzero(lives.changes.pair == pair):
        one = Changes(np.zeros(1, np.int64), *(column[j : j + 1] for column in lives.changes[1:]))
        yield second_lives(play, first, one, lives.start + pair)


def first_lives(play: Play, count: int, start: int) -> Run:
    worlds = np.tile(play.stage.blank, (count, 1))
    worlds["rest"], worlds["life"] = BY_THREE, FIRST
    return simulated(play, {"audit_life": FIRST}, worlds, start)


def second_lives(play: Play, first: Run, changes: Changes, start: int) -> Lives:
    stage, (pair, agent, arm, number, _, value) = play.stage, changes
    worlds = np.tile(stage.blank, (len(first.totals), 1))
    worlds["rest"], worlds["life"] = BY_THREE, SECOND
    worlds["changed"][pair] = arm[:, None]  # for a server's door, which has one change in a life
    worlds["arm"][pair, agent], worlds["number"][pair, agent], worlds["value"][pair, agent] = arm, number, value
    known: dict[str, Any] = {"audit_life": SECOND, "audit_arm": np.full(worlds.shape, -1)}
    known |= {"audit_number": np.zeros(worlds.shape, np.int64), "audit_tape": first.opens["audit_tape"]}
    known["audit_arm"][pair, agent], known["audit_number"][pair, agent] = arm, number
    if stage.case.method.node.peek:
        known |= {"audit_pin": int(play.pin), "audit_plans": first.opens["audit_seen"]}
    if worlds["tape"].shape[-1] and first.servers is not None:
        size = stage.case.agents // first.servers.shape[1]
        worlds["tape"][:, ::size] = first.servers["audit_tape"]
    return Lives(first, simulated(play, known, worlds, start), start, changes)


def simulated(play: Play, facts: dict[str, Any], worlds: np.ndarray, start: int) -> Run:
    case = play.stage.recorded
    knowing = case._replace(method=case.method._replace(known=case.method.known | facts))
    return simulate_lives(knowing, worlds, play.weather, play.seed, start, play.compiled)


def changes_in(stage: Stage, first: Run, wanted: Sequence[Sequence[Reward]]) -> Changes:
    pair = np.repeat(np.arange(len(wanted)), [len(rewards) for rewards in wanted])
    agent, place, other = np.array([reward for rewards in wanted for reward in rewards]).T
    arm, number = find_rewards(first, pair, agent, place)
    own, every = stage.blank[agent], np.arange(len(pair))
    was = dealt_to(own, arm, number)
    levels = np.stack([own[level] for level in LEVELS], axis=1)
    order = np.argsort(levels == was[:, None], axis=1, kind="stable")  # the other two come first
    return Changes(pair, agent, arm, number, was, levels[every, order[every, other]])


def find_rewards(first: Run, pair: np.ndarray, agent: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arm and number of the reward at each place. A life in which an agent had fewer rewards takes the place modulo that."""
    counts = first.secrets["count"][pair, agent]
    ends = counts.cumsum(axis=1)
    place = place % np.maximum(ends[:, -1], 1)
    arm = (place[:, None] >= ends).sum(axis=1) % counts.shape[1]
    before = np.take_along_axis(ends - counts, arm[:, None], 1)[:, 0]
    return arm, place - before + 1


def dealt_to(own: np.ndarray, arm: np.ndarray, number: np.ndarray) -> np.ndarray:
    """What the pattern BY_THREE gives: see world.py."""
    levels = np.stack([own["high"], own["low"], own["middle"]], axis=1)
    return levels[np.arange(len(arm)), (arm + number - 1) % 3]
