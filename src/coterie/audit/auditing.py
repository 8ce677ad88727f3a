"""An audit from beginning to end: the stage, the replay, the game, and what may be said afterwards.

What is proven is a lower bound: epsilon is at least this, with 99 % confidence over the noise of the trials. If it lies above
what is claimed or accounted, one of the two is false. If it does not, nothing is proven: another statistic, another reward or
more trials might show more.
"""

import shlex
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from coterie.audit.game import PILOT, Game, Table, candidates, choose_canaries, play
from coterie.audit.replay import Replay, replay
from coterie.audit.stage import Stage, set_stage
from coterie.audit.views import covered, default_view, visible
from coterie.errors import UsageError
from coterie.privacy.statement import statement
from coterie.studies.spec import finite_or_null, rewritten

CONFIDENCE = 0.99
TRIALS, TRIALS_QUICK, TRIALS_AT_LEAST = 30_000, 6_000, 300  # of each side, for each canary
BARS = 40  # of the picture of the scores
CANARIES = 3

Progress = Callable[[int, int, str], None]  # done, total, what is being done


class Audit(NamedTuple):
    """What an audit has found."""

    algorithm: str
    options: dict[str, Any]
    view: str
    covered: bool  # by the claim: it sees no more than the adversary the claim is about
    statement: dict[str, Any]
    replay: Replay | None  # None: the claim leaves out what it would look at
    games: list[Game]
    trials: int
    seed: int

    @property
    def proven(self) -> float:
        return max((game.epsilon for game in self.games), default=0.0)

    @property
    def witness(self) -> Game | None:
        return max(self.games, key=lambda game: game.epsilon, default=None)

    @property
    def limit(self) -> float:
        """What the bound must not exceed: the smaller of what is claimed and what is accounted."""
        claimed = self.statement["claimed"]["epsilon"] if self.statement["claimed"] else inf
        accounted = self.statement["accounted"]["epsilon"]
        return min(claimed, inf if accounted is None else accounted)

    @property
    def violated(self) -> bool:
        return self.proven > self.limit * (1 + 1e-9)

    @property
    def failed(self) -> bool:
        """An algorithm that claims nothing cannot fail."""
        return self.violated or bool(self.limit < inf and self.replay and self.replay.findings)

    @property
    def verdict(self) -> str:
        if self.violated and not self.covered:
            return f"for someone the claim leaves out, epsilon is at least {self.proven:.3f}, not {self.limit:g}"
        if self.violated:
            return f"violation proven: epsilon is at least {self.proven:.3f}, not {self.limit:g}"
        if self.failed and self.replay:
            return f"the rules are broken: {'; '.join(self.replay.findings)}"
        if self.limit == inf:
            return f"nothing is claimed; epsilon is at least {self.proven:.3f}"
        return f"no violation found above {self.proven:.3f}"

    @property
    def command(self) -> str:
        """Runs the same trials again."""
        words = ["coterie", "audit", self.algorithm]
        for name, value in self.options.items():
            text = f"{value:.15g}" if isinstance(value, float) else str(value)
            words += [f"--{name}", text] if name in ("mode", "epsilon") else ["--set", f"{name}={text}"]
        return shlex.join([*words, "--view", self.view, "--trials", str(self.trials), "--seed", str(self.seed)])


def audit(
    algorithm: str,
    options: Mapping[str, Any] | None = None,
    *,
    view: str | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    progress: Progress = lambda done, total, label: None,
) -> Audit:
    """Audit an algorithm, by its name or by the path of a file of one's own."""
    if trials < TRIALS_AT_LEAST:
        raise UsageError(f"--trials must be a whole number >= {TRIALS_AT_LEAST}, got {trials}")
    if seed < 0:
        raise UsageError(f"--seed must be a whole number >= 0, got {seed}")
    stage = set_stage(algorithm, options or {})
    method = stage.case.method
    view = view or default_view(method)
    parts = visible(stage, view)
    progress(0, 1, "replay")
    excused = bool(method.node.caveat) and view != "public"  # choices rest on raw rewards, and nobody sees them
    replayed = None if excused else replay(stage.case, seed)
    table = Table(stage, parts, seed, _counter(stage, seed, trials, progress))
    canaries = choose_canaries(table)
    error = (1 - CONFIDENCE) / max(len(canaries), 1)
    games = [play(table, canary, keep, trials, method.claim.delta, error) for canary, keep in canaries.items()]
    said = statement(method.claim, table.booked, method.node.caveat)
    return Audit(algorithm, dict(options or {}), view, covered(method, view), said, replayed, games, trials, seed)


def _counter(stage: Stage, seed: int, trials: int, progress: Progress) -> Callable[[int], None]:
    pilot = 2 * PILOT * len(candidates(stage, seed))
    total, done = pilot + 2 * CANARIES * trials, 0

    def count(played: int) -> None:
        nonlocal done
        done += played
        progress(done, total, "looking for rewards that show" if done <= pilot else "trials")

    return count


def document(found: Audit) -> dict[str, Any]:
    """The audit as JSON: an infinite or absent epsilon is null."""
    facts = {
        "algorithm": found.algorithm,
        "parameters": found.options,
        "view": found.view,
        "covered_by_claim": found.covered,
        "privacy": found.statement,
        "limit": found.limit,
        "proven": {"epsilon": found.proven, "confidence": CONFIDENCE},
        "violation": found.violated,
        "failed": found.failed,
        "verdict": found.verdict,
        "replay": found.replay and {**found.replay._asdict(), "findings": list(found.replay.findings)},
        "games": [_game(game) for game in sorted(found.games, key=lambda game: -game.epsilon)],
        "trials": found.trials,
        "seed": found.seed,
        "command": found.command,
    }
    return rewritten(facts, finite_or_null)


def _game(game: Game) -> dict[str, Any]:
    event = game.event
    return {
        "canary": {**game.canary._asdict(), "text": str(game.canary)},
        "epsilon": game.epsilon,
        "trials": game.trials,
        "hits": game.hits,
        "misses": game.misses,
        "event": event and {
            "statistic": event.statistic.name,
            "about": event.statistic.about,
            "threshold": event.threshold,
            "side": 0 if event.turned else 1,
        },
        "scores": _bars(game),
    }


def _bars(game: Game) -> dict[str, list[float]]:
    """Of the scores that certify: edges of bars, and how many trials of either side fall into each."""
    both = np.concatenate([game.zero, game.one])
    both = both[np.isfinite(both)]
    low, high = np.quantile(both, [0.001, 0.999]) if len(both) else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BARS + 1)
    counts = [np.histogram(np.clip(side, edges[0], edges[-1]), edges)[0].tolist() for side in (game.zero, game.one)]
    return {"edges": edges.tolist(), "zero": counts[0], "one": counts[1]}
