"""Two lives, word by word: where the second one first differs from the first in what can be seen."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie.audit.recorder import Recorded
from coterie.audit.stage import Stage
from coterie.engines.simulate import Run

SHOWN = {"choice": "a choice", "idle": "a choice", "door": "how many numbers leave", "message": "a message", "card": "a card"}


class Difference(NamedTuple):
    pair: int
    channel: str
    what: str
    where: str


def differences(stage: Stage, first: Run, second: Run) -> Iterator[Difference]:
    """Of each pair of lives that differ, the first difference."""
    found: dict[int, tuple[float, Difference]] = {}
    for who, node, one, other in nodes(stage, first, second):
        for pair, turn, difference in of_node(who, node, one, other):
            if pair not in found or turn < found[pair][0]:
                found[pair] = turn, difference
    for name in ("ledgers", "server_ledgers", "tallies"):
        one, other = getattr(first, name), getattr(second, name)
        for pair in np.flatnonzero(unlike(one, other)).tolist() if one is not None else ():
            what = "the ledger" if name != "tallies" else "the number of messages"
            found.setdefault(pair, (np.inf, Difference(pair, "ledger", f"{what} shows the reward", "")))
    yield from (difference for _, difference in found.values())


def nodes(stage: Stage, first: Run, second: Run) -> Iterator[tuple[str, Recorded, np.ndarray, np.ndarray]]:
    for i in range(first.opens.shape[1]):
        yield f"agent {i}", stage.agent, first.opens[:, i], second.opens[:, i]
    if stage.server is not None and first.servers is not None and second.servers is not None:
        for i in range(first.servers.shape[1]):
            yield "the server", stage.server, first.servers[:, i], second.servers[:, i]


def of_node(who: str, node: Recorded, one: np.ndarray, other: np.ndarray) -> Iterator[tuple[int, float, Difference]]:
    """(pair, turn, difference); in the open record that is not seen from outside the turn counts as the last."""
    seen = one["audit_seen"] != other["audit_seen"]
    for pair in np.flatnonzero(seen.any(axis=1)).tolist():
        turn, column = divmod(int(seen[pair].argmax()), len(node.columns))
        named = node.columns[column]
        where = f"{named.word} in the {named.channel} of {who}, turn {node.first + turn}; "
        yield pair, turn, Difference(pair, named.channel, f"{SHOWN[named.channel]} shows the reward", where)
    for name in (name for name in one.dtype.names or () if not name.startswith("audit_")):
        for pair in np.flatnonzero(unlike(one[name], other[name])).tolist():
            where = f"field {name} of {who}; "
            yield pair, float(node.turns), Difference(pair, "open", "the open record shows the reward", where)


def unlike(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """[pair]: whether any byte differs."""
    sides = [np.ascontiguousarray(side).reshape(len(side), -1).view(np.uint8) for side in (one, other)]
    return (sides[0] != sides[1]).any(axis=1)
