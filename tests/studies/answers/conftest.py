"""Rows whose runs are written down, so that every sentence can be checked by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from coterie.studies.answers import find_answer
from coterie.studies.answers.told import Told, with_all_rows
from coterie.studies.spread import spread

HORIZON = 1000
WOBBLE = np.array([-0.2, 0.1, 0.0, 0.2, -0.1])  # per mille of a decision: the runs of a row differ by this much


def make_row(label: str, mean: float, promised: Any = None, holds: Any = None, **more: Any) -> dict[str, Any]:
    """`mean` is regret in 1,000 decisions. Promised and held are epsilons; a row sends nothing if `alone`."""
    state = "nothing"
    if promised is not None:
        state = "broken" if holds is None or holds > promised else "weak" if holds > 3 else "kept"
    alone, name = more.pop("alone", False), label.split()[0]
    row = {
        "label": label, "algorithm": name, "method": name, "alone": alone, "parameters": {}, "faults": {}, "warnings": [],
        "agents": 3, "arms": 4, "horizon": HORIZON, "mean": mean,
        "promise": {"state": state, "promised": promised, "holds": holds, "guess": 0.7},
        "privacy": {"claimed": promised and {"epsilon": promised, "delta": 0.0}, "accounted": {"epsilon": holds, "delta": 0.0},
                    "unit": "one reward of one agent"},
        "communication": {"messages": 0, "bytes": 0, "cost": 0.0} if alone else {"messages": 9, "bytes": 3000, "cost": 10.0},
        "found": {"count": 4, "of": 5}, "found_by": {"count": 14, "of": 15},
    }  # fmt: skip
    return row | more


@pytest.fixture
def row() -> Callable[..., dict[str, Any]]:
    return make_row


def make_told(rows: list[dict[str, Any]], runs: int = 5, wobbles: Any = None, **study: Any) -> Told:
    """Rows have the same chance in each run, unless `wobbles` tells otherwise: paired, any difference is beyond it."""
    wobbles = np.zeros((len(rows), runs)) if wobbles is None else np.asarray(wobbles)
    shared = np.resize(WOBBLE, runs)
    numbers = [(row["mean"] + shared + own) / 1000 for row, own in zip(rows, wobbles, strict=True)]
    for row, own in zip(rows, numbers, strict=True):
        row |= {"per_decision": spread(own), "replications": runs}
    return Told({"words": {}, "problem": {"kind": "bernoulli"}} | study, rows, numbers)


@pytest.fixture
def told() -> Callable[..., Told]:
    return make_told


@pytest.fixture
def answered() -> Callable[..., Any]:
    """(kind, what is said) of rows, with plain spaces."""

    def tell(*rows: dict[str, Any], **how: Any) -> Any:
        found = make_told(list(rows), **how)
        kind, said = find_answer(found)
        return kind, with_all_rows(found, said._replace(sentence=said.sentence.replace("\xa0", " ")))

    return tell
