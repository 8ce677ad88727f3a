"""The small world an audit plays in: three agents in a row, two arms, a horizon just long enough for several releases.

It is an ordinary study with one row. So an audit takes the options, networks and structures that `coterie run` takes, with the
same checks, and an algorithm needs nothing of its own to be audited. Agent 0, at the end of the row, is the one whose reward is
changed.

Algorithms of procurement buy from two producers that always pay, so that orders stay the same: their claims are about a fixed
stream of orders, and not about what a changed unit does to later ones. They explore for two rounds and exchange from round 4.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from coterie import algorithms
from coterie.audit.recorder import Recorded, record_agent, record_server
from coterie.engines.simulate import Run
from coterie.errors import UsageError
from coterie.studies import load_study
from coterie.studies.case import Case, make_case

AGENTS, ARMS = 3, 2
ROUNDS = 24  # among peers, one plan each
EPOCHS = 4  # around a server, of which a stage must have room for EPOCHS_AT_LEAST
EPOCHS_AT_LEAST = 2
ROUNDS_AT_LEAST, ROUNDS_AT_MOST = 1_000, 1_000_000  # around a server
PRODUCERS = {
    "kind": "procurement", "alpha": 0.1, "rho": 1, "quality": [0.5] * ARMS,
    "cost": [[0.0] * ARMS] * AGENTS, "capacity": [[1] * ARMS] * AGENTS,
}  # fmt: skip
EARLY = {"window": [4, 16], "exploration": 2}


class Canary(NamedTuple):
    """The one reward that differs between the two sides of a game, and what all others are."""

    arm: int
    number: int  # among the rewards of agent 0 of that arm
    rest: int  # all other rewards are 0, or (1) 1 and 0 by turns
    why: str = ""

    def __str__(self) -> str:
        others = "1 and 0 by turns" if self.rest else "0"
        return f"{self.why or 'reward'}: number {self.number} of arm {self.arm}, all others {others}"


class Stage(NamedTuple):
    case: Case  # as it is
    recorded: Case  # with fixed rewards and a transcript
    agent: Recorded
    server: Recorded | None

    def play(self, canary: Canary | None, value: int, seed: int, first: int, replications: int) -> Run:
        """Replications that differ in their noise only; None: no canary."""
        arm, number, rest, _ = canary or Canary(-1, 0, 1)
        nobody = [0] * (AGENTS - 1)
        known = {
            "audit_arm": [arm, *(-1 for _ in nobody)],
            "audit_number": [number, *nobody],
            "audit_value": [value, *nobody],
            "audit_rest": [rest] * AGENTS,
        }
        method = self.recorded.method
        method = method._replace(known=method.known | {name: np.array(values) for name, values in known.items()})
        return self.recorded._replace(method=method).simulate(seed, first, replications)


def set_stage(algorithm: str, options: Mapping[str, Any]) -> Stage:
    """With a longer horizon where epochs are long."""
    stage = with_transcript(small_case(algorithm, options, ROUNDS))
    if stage.case.links is not None:
        return stage
    horizon = ROUNDS_AT_LEAST
    while True:
        stage = with_transcript(small_case(algorithm, options, horizon))
        if 2 * horizon > ROUNDS_AT_MOST or stage.play(None, 0, 0, 0, 1).tallies["rounds"].min() >= EPOCHS_AT_LEAST:
            return stage
        horizon *= 2


def small_case(algorithm: str, options: Mapping[str, Any], horizon: int) -> Case:
    try:
        entry = algorithms.find(algorithm)
        given = {name: value for name, value in EARLY.items() if name in entry.options.model_fields}
        buys = entry.problem == "procurement"
        study = {
            "horizon": horizon,
            "problem": PRODUCERS if buys else {"means": [0.5] * ARMS, "agents": AGENTS},
            "network": {"graph": "path"},
            "algorithm": [{"name": algorithm, **(given if buys else {}), **options}],
        }
        specification = load_study(study).specification
        return make_case(specification, specification.rows[0], 0)
    except UsageError as error:
        raise UsageError(str(error).removeprefix("study: ").removeprefix("algorithm[0].")) from None


def with_transcript(case: Case) -> Stage:
    method = case.method
    turns = EPOCHS if case.links is None else case.horizon - method.node.first_round + 1
    agent = record_agent(method.node, method.p, turns)
    server = record_server(method.server, method.p, turns) if method.server else None
    recorded = method._replace(node=agent.algorithm, server=server and server.algorithm, folds=False)
    return Stage(case, case._replace(method=recorded), agent, server)
