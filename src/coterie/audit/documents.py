"""Audits as JSON: an infinite or absent epsilon is null."""

import shlex
from typing import Any

import numpy as np

from coterie.audit.auditing import CONFIDENCE, Audit
from coterie.audit.game import Game
from coterie.audit.replay import Replay
from coterie.audit.rows import StudyAudit
from coterie.studies.spec import finite_or_null, rewritten

BARS = 40  # of the picture of the scores


def document(audit: Audit) -> dict[str, Any]:
    facts = {
        "algorithm": audit.algorithm,
        "parameters": audit.options,
        "view": audit.view,
        "covered_by_claim": audit.covered,
        "privacy": audit.statement,
        "limit": audit.limit,
        "proven": {"epsilon": audit.proven, "confidence": CONFIDENCE},
        "violation": audit.violated,
        "failed": audit.failed,
        "verdict": audit.verdict,
        "replay": _replay(audit.replay),
        "games": [_game(game) for game in sorted(audit.games, key=lambda game: -game.epsilon)],
        "trials": audit.trials,
        "seed": audit.seed,
        "command": audit.command,
    }
    return rewritten(facts, finite_or_null)


def study_document(audits: StudyAudit) -> dict[str, Any]:
    words = ["coterie", "audit", audits.study, *(word for text in audits.sets for word in ("--set", text))]
    words += ["--horizon", str(audits.horizon)] if audits.horizon else []
    words += ["--quick"] if audits.quick else []
    rows = [
        {
            "label": row.label, "agents": row.agents, "arms": row.arms, "horizon": row.horizon, "privacy": row.statement,
            "replay": _replay(row.replay), "failed": row.failed, "verdict": row.verdict,
        }
        for row in audits.rows
    ]  # fmt: skip
    facts = {"study": audits.study, "rows": rows, "failed": audits.failed, "verdict": audits.verdict, "seed": audits.seed}
    return rewritten(facts | {"command": shlex.join([*words, "--seed", str(audits.seed)])}, finite_or_null)


def _replay(replay: Replay) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in replay._asdict().items()}


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
    }  # fmt: skip


def _bars(game: Game) -> dict[str, list[float]]:
    """Of the scores that certify: edges of bars, and how many trials of either side fall into each."""
    both = np.concatenate([game.zero, game.one])
    both = both[np.isfinite(both)]
    low, high = np.quantile(both, [0.001, 0.999]) if len(both) else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BARS + 1)
    counts = [np.histogram(np.clip(side, edges[0], edges[-1]), edges)[0].tolist() for side in (game.zero, game.one)]
    return {"edges": edges.tolist(), "zero": counts[0], "one": counts[1]}
