"""Rows of a summary, as a run leaves them, with small numbers that can be checked by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.privacy.statement import best_guess

MakeRow = Callable[..., dict[str, Any]]
T_19 = 2.093024  # standard errors to half a 95 % interval, with twenty replications: from a table of Student's t


def spread(mean: float, margin: float | None) -> dict[str, float | None]:
    sem = None if margin is None else margin / T_19
    return {"mean": mean, "sem": sem, "margin": margin, "min": mean / 2, "max": 2 * mean}


def make_row(
    label: str = "a",
    per_agent: float = 10.0,
    margin: float | None = 0.1,
    *,
    claimed: float | None = None,
    accounted: float | None = None,
    size: float = 1000.0,
    **changes: Any,
) -> dict[str, Any]:
    """Four agents, 100 rounds, three checkpoints, 20 runs; `size` counts the bytes that all send."""
    end, half = 4 * per_agent, None if margin is None else margin / 100
    kept = claimed is not None and accounted is not None and accounted <= claimed
    state = "nothing" if claimed is None else ("weak" if accounted > 3 else "kept") if kept else "broken"
    privacy = {
        "claimed": None if claimed is None else {"epsilon": claimed, "delta": 0.0},
        "accounted": {"epsilon": accounted, "delta": 0.0},
        "private": kept,
        "unit": "one reward of one agent",
        "adversary": "one who sees every message",
        "note": "",
    }
    return {
        "label": label,
        "algorithm": label.split()[0],
        "method": label.split()[0],
        "alone": size == 0,
        "parameters": {},
        "faults": {},
        "agents": 4,
        "arms": 3,
        "horizon": 100,
        "replications": 20,
        "regret": spread(end, margin and 4 * margin),
        "regret_per_agent": spread(per_agent, margin),
        "per_decision": spread(per_agent / 100, half),
        "curve": {
            "round": [1, 10, 100],
            "mean": [end / 100, end / 10, end],
            "margin": [half] * 3,
            "low": [0.0, end / 20, end / 2],
            "high": [end / 50, end / 5, 2 * end],
            "per_decision": [3 * per_agent / 100, 2 * per_agent / 100, per_agent / 100],
            "per_decision_margin": [half] * 3,
        },
        "best_arm_rate": 1.0,
        "found": {"count": 19, "of": 20},
        "found_by": {"count": 79, "of": 80},
        "by_agent": {
            "regret": 4 * [per_agent], "margin": 4 * [margin], "found": 4 * [0.95], "count": 4 * [19], "of": 4 * [20]
        },
        "communication": {"rounds": 1, "messages": 2 if size else 0, "bytes": size, "cost": 1.0},
        "privacy": privacy,
        "promise": {"state": state, "promised": claimed, "holds": accounted, "guess": best_guess(privacy["accounted"])},
        "extra": {},
        "warnings": [],
        "seconds": 0.5,
        "agent_rounds_per_second": 1e6,
    } | changes  # fmt: skip


STUDY = {
    "title": "What does noise cost?",
    "name": "noise",
    "replications": 20,
    "seed": 7,
    "problem": {"kind": "bernoulli", "means": None, "instance": "grid", "heterogeneity": 0.0},
    "network": {
        "graph": "complete",
        "probability": None,
        "edges": None,
        "components": None,
        "switch_every": None,
        "link_cost": {"server": 1.0, "peer": 1.0},
    },
    "words": {"agent": "agent", "arm": "arm"},
}


def make_summary(rows: list[dict[str, Any]], study: dict[str, Any] | None = None, **answer: Any) -> dict[str, Any]:
    """A summary of these rows, in units of 100 decisions; all that is not given is the plainest there is."""
    places = list(range(len(rows)))
    plain = {
        "kind": "other",
        "verdict": None,
        "sentence": "An agent loses so much.",
        "red": None,
        "caveats": [],
        "headline": None,
        "alone": None,
        "together": None,
        "names": [row["label"] for row in rows],
        "order": places,
        "groups": [{"name": row["label"], "rows": [place]} for place, row in enumerate(rows)],
        "unit": {"decisions": 100, "text": "per 100 decisions", "decimals": 1},
        "figures": [{"value": "10.5", "label": "rewards lost"}] * 4,
        "swept": None,
        "differences": [],
    }
    return {"study": STUDY | (study or {}), "answer": plain | answer, "rows": rows}


MakeSummary = Callable[..., dict[str, Any]]


@pytest.fixture
def summary() -> MakeSummary:
    return make_summary


@pytest.fixture
def row() -> MakeRow:
    return make_row


def make_buying_row(
    label: str = "nf-cb", per_agent: float = 10.0, after: float | None = None, **changes: Any
) -> dict[str, Any]:
    """A row of a procurement: four agents, three producers. `violations` are those of the first agent in 100 rounds."""
    violations, against = changes.pop("violations", 0.0), changes.pop("against", {})
    later = per_agent / 2 if after is None else after
    row = make_row(label, per_agent, **changes) | {"best_arm_rate": None, "found": None, "found_by": None}
    row["parameters"] = changes.get("parameters", {})
    row["procurement"] = {
        "alpha": 0.4,
        "exploration": 5,
        "regret_after": {"mean": later, "sem": 0.1 / T_19, "margin": 0.1, "min": later / 2, "max": 2 * later},
        "median_after": later / 2,
        "violations": {"mean": violations / 4, "sem": 0.0, "margin": 0.0, "min": violations / 4, "max": violations / 4},
        "below": {"mean": violations / 400, "sem": 0.0, "margin": 0.0, "min": violations / 400, "max": violations / 400},
        "by_agent": {
            "regret_after": [later] * 4,
            "violations": [violations, 0.0, 0.0, 0.0],
            "slack": [-0.02, 0.1, 0.15, None],
            "quality": [0.41, 0.52, 0.6, None],
            "revenue": [3.0, 4.0, 2.0, 0.0],
            "best_revenue": [4.0, 4.0, 2.0, 0.0],
        },
        "orders": None,
        "learned": {"by_agent": [0.0] * 4, "about": None},
        "against": {
            other: {key: {"of_means": ratio, "mean": ratio, "sem": 0.1 / T_19, "margin": 0.1} for key in ("whole", "after")}
            for other, ratio in against.items()
        },
    }
    return row


@pytest.fixture
def buying_row() -> MakeRow:
    return make_buying_row
