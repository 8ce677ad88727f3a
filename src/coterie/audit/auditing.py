"""An audit from beginning to end: the stage, the replay, the game, and what may be said afterwards.

What is proven is a lower bound: at least so much leaks, with 99 % confidence over the noise of the trials. If it lies above
what is promised or what holds by the ledgers, one of the two is false. If it does not, nothing is proven: another statistic,
another reward or more trials might show more. A promise that the ledgers do not support is broken without any trial.
"""

import shlex
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

from coterie.audit.game import PILOT, Game, Table, candidates, choose_canaries, play
from coterie.audit.replay import CHANGES_AT_MOST, REWARDS_AT_MOST, REWARDS_QUICK, Replay, replay
from coterie.audit.stage import (
    AGENTS,
    ROUNDS,
    ROUNDS_AT_MOST,
    ROUNDS_TWICE,
    Stage,
    require_releases,
    set_stage,
    small_case_twice,
)
from coterie.audit.views import covered, default_view, visible
from coterie.errors import UsageError
from coterie.privacy.statement import statement
from coterie.studies.estimate import Estimate

CONFIDENCE = 0.99
TRIALS, TRIALS_QUICK, TRIALS_AT_LEAST, TRIALS_AT_MOST = 30_000, 6_000, 300, 1_000_000  # of each side, for each canary
CANARIES = 5
HORIZON_AT_LEAST = 24
BYTES_OF_TRIAL = 10_000.0  # of both sides: the words that are kept, and what is worked out of them
NS_OF_ROUND = 1_000.0  # of an agent whose acts are noted

Progress = Callable[[int, int, str], None]  # done, total, what is being done


def broken_promise(said: Mapping[str, Any]) -> str:
    """What the ledgers say against a statement: "promised 1, 50 holds"; empty: nothing.

    >>> broken_promise({"claimed": {"epsilon": 1.0}, "accounted": {"epsilon": 50.0}})
    'promised 1, 50 holds'
    """
    if said["claimed"] is None:
        return ""
    promised, holds = said["claimed"]["epsilon"], said["accounted"]["epsilon"]
    if holds is None:
        return f"promised {promised:g}, no limit holds"
    return f"promised {promised:g}, {holds:.4g} holds" if holds > promised * (1 + 1e-9) else ""


class Audit(NamedTuple):
    """What an audit has found."""

    algorithm: str
    options: dict[str, Any]
    view: str
    covered: bool  # by the promise: it sees no more than the adversary the promise is about
    statement: dict[str, Any]
    replay: Replay
    games: list[Game]
    trials: int
    seed: int
    horizon: int = 0

    @property
    def proven(self) -> float:
        return max((game.epsilon for game in self.games), default=0.0)

    @property
    def witness(self) -> Game | None:
        return max(self.games, key=lambda game: game.epsilon, default=None)

    @property
    def limit(self) -> float:
        """What the bound must not exceed: the smaller of what is promised and what holds."""
        claimed = self.statement["claimed"]["epsilon"] if self.statement["claimed"] else inf
        accounted = self.statement["accounted"]["epsilon"]
        return min(claimed, inf if accounted is None else accounted)

    @property
    def violated(self) -> bool:
        return self.proven > self.limit * (1 + 1e-9)

    @property
    def broken(self) -> str:
        """What the ledgers say against the promise."""
        return broken_promise(self.statement)

    @property
    def failed(self) -> bool:
        """An algorithm that promises nothing cannot fail."""
        return self.violated or bool(self.broken) or bool(self.limit < inf and self.replay.findings)

    @property
    def verdict(self) -> str:
        leaks = f"at least ε = {self.proven:.3f} leaks"
        if self.broken:
            return f"broken: {self.broken}" + (f"; {leaks}" if self.violated else "")
        if self.violated and not self.covered:
            return f"for someone the promise leaves out, {leaks}, {self.limit:g} was promised"
        if self.violated:
            return f"broken: {leaks}, {self.limit:g} was promised"
        if self.failed:
            return f"broken: {'; '.join(self.replay.findings)}"
        if self.limit == inf:
            return f"nothing promised; {leaks}"
        return f"No leak found; that is no proof ({leaks}, {self.limit:g} was promised)"

    @property
    def command(self) -> str:
        """Runs the same trials again."""
        words = ["coterie", "audit", self.algorithm]
        for name, value in self.options.items():
            text = f"{value:.15g}" if isinstance(value, float) else str(value)
            words += [f"--{name}", text] if name in ("mode", "epsilon") else ["--set", f"{name}={text}"]
        words += ["--horizon", str(self.horizon)] if self.horizon else []
        return shlex.join([*words, "--view", self.view, "--trials", str(self.trials), "--seed", str(self.seed)])


def audit(
    algorithm: str,
    options: Mapping[str, Any] | None = None,
    *,
    view: str | None = None,
    horizon: int = 0,
    trials: int = TRIALS,
    seed: int = 0,
    rewards: int | None = None,
    progress: Progress = lambda done, total, label: None,
) -> Audit:
    """Audit an algorithm, by its name or by the path of a file of one's own.

    `rewards`: how many are changed at most; by default fewer where there are few trials.
    """
    if not TRIALS_AT_LEAST <= trials <= TRIALS_AT_MOST:
        raise UsageError(f"--trials must be a whole number in [{TRIALS_AT_LEAST}, {TRIALS_AT_MOST}], got {trials}")
    Estimate(trials * BYTES_OF_TRIAL, 0.0, 0.0).refuse()
    check_numbers(seed, horizon)
    stage = set_stage(algorithm, options or {}, horizon)
    method = stage.case.method
    view = view or default_view(method)
    parts = visible(stage, view)
    most = rewards or (REWARDS_QUICK if trials <= TRIALS_QUICK else REWARDS_AT_MOST)
    again = small_case_twice(algorithm, options or {}, horizon)
    require_releases(algorithm, again)
    progress(0, 1, "living twice")
    replayed = replay(again, seed, most, progress=lambda done, total: progress(done, total, "living twice"))
    table = Table(stage, parts, seed, _counter(stage, seed, trials, progress))
    canaries = choose_canaries(table)
    error = (1 - CONFIDENCE) / max(len(canaries), 1)
    games = [play(table, canary, keep, trials, method.claim.delta, error) for canary, keep in canaries.items()]
    said = statement(method.claim, stage.case.doors, max(table.booked, replayed.booked))
    sees = covered(method, view)
    return Audit(algorithm, dict(options or {}), view, sees, said, replayed, games, trials, seed, horizon)


def check_numbers(seed: int, horizon: int) -> None:
    if seed < 0:
        raise UsageError(f"--seed must be a whole number >= 0, got {seed}")
    if horizon and not HORIZON_AT_LEAST <= horizon <= ROUNDS_AT_MOST:
        raise UsageError(f"--horizon must be a whole number in [{HORIZON_AT_LEAST}, {ROUNDS_AT_MOST}], got {horizon}")


def seconds_needed(horizon: int, trials: int) -> float:
    """At most, without what compiling takes: plans of a round, and every pair of lives that may be compared."""
    return NS_OF_ROUND * 1e-9 * AGENTS * (2 * CHANGES_AT_MOST * (horizon or ROUNDS_TWICE) + 2 * CANARIES * trials * ROUNDS)


def _counter(stage: Stage, seed: int, trials: int, progress: Progress) -> Callable[[int], None]:
    pilot = 2 * PILOT * (len(candidates(stage, seed)) + CANARIES)
    total, done = pilot + 2 * CANARIES * trials, 0

    def count(played: int) -> None:
        nonlocal done
        done += played
        progress(done, total, "looking for rewards that show" if done <= pilot else "trials")

    return count
