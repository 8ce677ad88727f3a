"""Where an audit plays: a small world for an algorithm, or a row of a study at its own size.

Both are ordinary studies. So an audit takes the options, networks and structures that `coterie run` takes, with the same
checks, and an algorithm needs nothing of its own to be audited. The small world has four agents in a row, two arms and a
horizon just long enough for several releases.

Algorithms of procurement buy from two producers there, explore for two rounds and exchange from round 4.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from coterie.audit import world as problem
from coterie.audit.lives import simulate_lives
from coterie.audit.recorder import Recorded, len_of_out, record_agent, record_server
from coterie.audit.world import world
from coterie.checking import find
from coterie.engines.simulate import Run, simulate_mesh, simulate_star
from coterie.errors import UsageError
from coterie.privacy.statement import ONE_ORDER
from coterie.studies import load_study
from coterie.studies.case import Case, make_case
from coterie.studies.running import booked
from coterie.studies.spec import Row, Specification

AGENTS, ARMS = 4, 2
ROUNDS = 24  # of a game among peers, one plan each
ROUNDS_TWICE = 200  # that are lived twice
EPOCHS = 4  # around a server, of which a stage must have room for EPOCHS_AT_LEAST
EPOCHS_AT_LEAST = 2
ROUNDS_AT_LEAST, ROUNDS_AT_MOST = 1_000, 1_000_000  # around a server
ROUNDS_LOOKED_AT = 1_000  # by an interpreted life
BY_TURNS, BY_THREE = 1, 2  # patterns of rewards: see world.py
LEVELS = ("low", "middle", "high")
SMALL = {  # by what an algorithm is for: the problem, and options that let it begin early
    "arms": ({"means": [0.5] * ARMS, "agents": AGENTS}, {}),
    "procurement": (
        {"kind": "procurement", "alpha": 0.1, "rho": 1, "quality": [0.5] * ARMS,
         "cost": [[0.0] * ARMS] * AGENTS, "capacity": [[1] * ARMS] * AGENTS},
        {"window": [4, 16], "exploration": 2},
    ),
}  # fmt: skip


class Canary(NamedTuple):
    """The one reward that differs between the two sides of a game, and what all others are."""

    agent: int
    arm: int
    number: int  # among the rewards of that agent and arm
    rest: int = 0  # all other rewards: see world.py
    to: str = "high"  # what it is on the side of 1
    why: str = ""

    def __str__(self) -> str:
        others = "1 and 0 by turns" if self.rest else "0"
        about = f"{self.why or 'reward'}: number {self.number} of arm {self.arm} of agent {self.agent}, all others {others}"
        return about + (", against a middle value" if self.to == "middle" else "")


class Stage(NamedTuple):
    case: Case  # as it is
    recorded: Case  # with a transcript
    agent: Recorded
    server: Recorded | None
    blank: np.ndarray  # [agent]: worlds without a canary

    def play(self, canary: Canary | None, value: int, seed: int, first: int, replications: int) -> Run:
        """Replications that differ in their noise only; None: no canary."""
        worlds = self.blank.copy()
        worlds["rest"] = canary.rest if canary else BY_TURNS
        if canary:
            own = worlds[canary.agent]
            own["arm"], own["number"], own["value"] = canary.arm, canary.number, own[canary.to if value else "low"]
        return simulate_lives(self.recorded, np.tile(worlds, (replications, 1)), self.case.weather, seed, first)


def with_transcript(case: Case, turns: int = 0, replayed: bool = False) -> Stage:
    """A transcript of so many turns (0: all rounds among peers, some epochs around a server)."""
    method = case.method
    turns = turns or (EPOCHS if case.links is None else rounds(case))
    agent = record_agent(method.node, method.p, turns, replayed)
    server = record_server(method.server, method.p, turns, replayed) if method.server else None
    recorded = method._replace(node=agent.algorithm, server=server and server.algorithm, folds=False, crowds=())
    server_door = method.server if method.server and (method.server.trusted or method.server.sums) else None
    tape = turns * (1 + len_of_out(server_door, method.p)) if replayed and server_door else 0
    return Stage(case, case._replace(method=recorded), agent, server, blank_worlds(case, tape))


def rounds(case: Case) -> int:
    return case.horizon - case.method.node.first_round + 1


def blank_worlds(case: Case, tape: int = 0) -> np.ndarray:
    """Rewards and reach are those of the case's own problem."""
    low, high, arms = 0.0, 1.0, case.method.p.arms
    if "high" in (case.worlds.dtype.names or ()) and case.worlds["high"].max() < inf:
        low, high = float(case.worlds["low"].max()), float(case.worlds["high"].min())
    spans = case.problem.reach(case.worlds, arms)
    return world(case.agents, arms, low, high, spans, case.doors.unit == ONE_ORDER, tape)


def epochs(case: Case) -> int:
    """Around a server, how many there are room for."""
    return int(life(case).tallies["rounds"].min())


def life(case: Case) -> Run:
    """An interpreted one, which need not be compiled."""
    worlds, method = blank_worlds(case), case.method._replace(folds=False, crowds=())
    worlds["rest"] = BY_TURNS
    about = (method, problem, worlds, case.agents, case.horizon, np.zeros(0, np.int64))
    if case.links is not None:
        return simulate_mesh(*about, case.links, weather=case.weather, compiled=False)
    return simulate_star(*about, delay=case.delay, compiled=False)


def require_releases(algorithm: str, case: Case) -> None:
    """Where nothing leaves there is nothing to audit, and a pass would say nothing. Long lives are not looked at beforehand."""
    method = case.method
    if method.claim.epsilon == inf or method.node.caveat or (case.links is not None and case.horizon > ROUNDS_LOOKED_AT):
        return
    if booked(method, life(case)).max() == 0:
        where = f"within {case.horizon:,} rounds at epsilon = {method.claim.epsilon:g}"
        raise UsageError(f"{algorithm} releases nothing {where}, which cannot be audited: give a larger --epsilon or --horizon")


# --- which cases ------------------------------------------------------------------------------------------


def with_room(made: Callable[[int], Case], peers: int, server: int) -> Case:
    """With so many rounds among peers, or from so many on as long as epochs around a server need."""
    case = made(peers)
    if case.links is not None:
        return case
    horizon, case = server, made(server)
    while epochs(case) < EPOCHS_AT_LEAST and 2 * horizon <= ROUNDS_AT_MOST:
        horizon *= 2
        case = made(horizon)
    return case


def small_case(algorithm: str, options: Mapping[str, Any], horizon: int) -> Case:
    try:
        entry = find(algorithm)
        small, early = SMALL[entry.problem]
        given = {name: value for name, value in early.items() if name in entry.options.model_fields}
        study = {
            "horizon": horizon,
            "problem": small,
            "network": {"graph": "path"},
            "algorithm": [{"name": algorithm, **given, **options}],
        }
        specification = load_study(study).specification
        return make_case(specification, specification.rows[0], 0)
    except UsageError as error:
        raise UsageError(str(error).removeprefix("study: ").removeprefix("algorithm[0].")) from None


def set_stage(algorithm: str, options: Mapping[str, Any], horizon: int = 0) -> Stage:
    """For the game."""
    made = partial(small_case, algorithm, options)
    return with_transcript(with_room(made, min(horizon, ROUNDS) or ROUNDS, horizon or ROUNDS_AT_LEAST))


def small_case_twice(algorithm: str, options: Mapping[str, Any], horizon: int = 0) -> Case:
    """For the replay."""
    made = partial(small_case, algorithm, options)
    return with_room(made, horizon or ROUNDS_TWICE, horizon or ROUNDS_AT_LEAST)


def promising_cases(study: Specification, horizon: int = 0) -> Iterator[tuple[Row, Case]]:
    """Of a study: the rows that promise privacy, each at its own agents and arms."""
    for row in study.rows:
        if make_case(study, row, 0).method.claim.epsilon < inf:
            made = partial(of_length, study, row)
            yield row, with_room(made, horizon or ROUNDS_TWICE, horizon or ROUNDS_TWICE)


def of_length(study: Specification, row: Row, rounds: int) -> Case:
    return make_case(study.model_copy(update={"horizon": rounds}), row, 0)
