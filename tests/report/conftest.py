"""Rows of a summary, as a run leaves them, with small numbers that can be checked by hand."""

from collections.abc import Callable
from typing import Any

import pytest

MakeRow = Callable[..., dict[str, Any]]
T_19 = 2.093024  # standard errors to half a 95 % interval, with twenty replications: from a table of Student's t


def make_row(
    label: str = "a",
    per_agent: float = 10.0,
    margin: float | None = 0.1,
    *,
    claimed: float | None = None,
    accounted: float | None = None,
    private: bool | None = None,
    delta: float = 0.0,
    size: float = 1000.0,
    **changes: Any,
) -> dict[str, Any]:
    """Four agents, three checkpoints; `delta` is accounted and not claimed, `size` counts the bytes sent."""
    end = 4 * per_agent
    regret, total = ({"margin": half, "sem": half and half / T_19} for half in (margin, margin and 4 * margin))
    within = claimed is not None and accounted is not None and accounted <= claimed
    return {
        "label": label,
        "algorithm": label.split()[0],
        "parameters": {},
        "faults": {},
        "agents": 4,
        "arms": 3,
        "horizon": 100,
        "replications": 20,
        "regret": total | {"mean": end, "min": end / 2, "max": 2 * end},
        "regret_per_agent": regret | {"mean": per_agent, "min": per_agent / 2, "max": 2 * per_agent},
        "curve": {
            "round": [1, 10, 100],
            "mean": [end / 100, end / 10, end],
            "low": [0.0, end / 20, end / 2],
            "high": [end / 50, end / 5, 2 * end],
        },
        "best_arm_rate": 1.0,
        "by_agent": {"regret": 4 * [per_agent], "found": 4 * [1.0]},
        "communication": {"rounds": 1, "messages": 2, "bytes": size, "cost": 1.0},
        "privacy": {
            "claimed": None if claimed is None else {"epsilon": claimed, "delta": 0.0},
            "accounted": {"epsilon": accounted, "delta": delta},
            "private": within if private is None else private,
            "unit": "one reward of one agent",
            "adversary": "one who sees every message",
            "note": "",
        },
        "extra": {},
        "warnings": [],
        "seconds": 0.5,
        "agent_rounds_per_second": 1e6,
    } | changes


@pytest.fixture
def row() -> MakeRow:
    return make_row


def make_buying_row(
    label: str = "nf-cb", per_agent: float = 10.0, after: float | None = None, **changes: Any
) -> dict[str, Any]:
    """A row of a procurement: four agents, three producers. `violations` are those of the first agent in 100 rounds."""
    violations, against = changes.pop("violations", 0.0), changes.pop("against", {})
    later = per_agent / 2 if after is None else after
    row = make_row(label, per_agent, **changes) | {"best_arm_rate": None}
    row["parameters"] = changes.get("parameters", {})
    row["procurement"] = {
        "alpha": 0.4,
        "exploration": 5,
        "regret_after": {"mean": later, "sem": 0.1 / T_19, "margin": 0.1, "min": later / 2, "max": 2 * later},
        "median_after": later / 2,
        "violations": {"mean": violations / 4, "sem": 0.0, "margin": 0.0, "min": violations / 4, "max": violations / 4},
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
