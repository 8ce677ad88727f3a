"""What pairs of lives have shown: what differs that must not, and what the changed reward has cost at the doors."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from coterie.audit.compare import differences
from coterie.audit.stage import Stage
from coterie.audit.tape import FAULTS, FULL
from coterie.contract import Method
from coterie.engines.simulate import Run
from coterie.kernel import UNIT
from coterie.studies.running import booked


class Changes(NamedTuple):
    """The changed rewards of a batch of pairs: in which pair, whose, which, and how."""

    pair: np.ndarray
    agent: np.ndarray
    arm: np.ndarray
    number: np.ndarray
    was: np.ndarray
    value: np.ndarray


class Lives(NamedTuple):
    """A batch of pairs."""

    first: Run
    second: Run
    start: int  # number of the first pair
    changes: Changes


class Collected:
    """Findings of all batches."""

    def __init__(self, stage: Stage):
        self.stage, self.method = stage, stage.case.method
        self.found: dict[str, list[str]] = {}
        self.excused: dict[str, None] = {}
        self.left_out, self.price, self.booked = 0, 0.0, 0.0

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(f"{what} ({examples[0]}; {len(examples):,} times)" for what, examples in self.found.items())

    def add(self, lives: Lives, weather: str) -> list[int]:
        """Returns pairs that show something of several changed rewards, nobody knows of which."""
        full, several = too_long(lives), np.bincount(lives.changes.pair) > 1
        self.left_out += int(full.sum())
        self.booked = max(self.booked, float(booked(self.method, lives.first).max(initial=0.0)))
        troubles, cost = self.troubles(lives)
        unclear = {at for at, _, _ in troubles if several[at] and not full[at]}
        for at, what, where in troubles:
            if not full[at] and at not in unclear:
                self.found.setdefault(what, []).append(f"{where}{reward_words(lives, at)}, {weather}")
        self.price = max(self.price, float(np.delete(cost, list(unclear)).max(initial=0.0)))
        return sorted(unclear)

    def add_apart(self, singles: Iterable[Lives], weather: str) -> int:
        """What shows of several changed rewards, one by one. Returns how many they are."""
        before = sum(map(len, self.found.values()))
        count = sum(len(lives.changes.pair) for lives in singles if self.add(lives, weather) == [])
        if sum(map(len, self.found.values())) == before:
            self.found.setdefault("rewards show together that do not by themselves", []).append(weather)
        return count

    def excuse(self, lives: Lives) -> None:
        for difference in differences(self.stage, lives.first, lives.second):
            if difference.channel == "choice":
                self.excused["choices show the reward"] = None

    def troubles(self, lives: Lives) -> tuple[list[tuple[int, str, str]], np.ndarray]:
        """(pair, what is wrong, where); and what was charged in each pair at most."""
        found = [(difference.pair, difference.what, difference.where)
                 for difference in differences(self.stage, lives.first, lives.second)]  # fmt: skip
        most = np.zeros(len(lives.first.totals))
        for door in doors(self.method, lives):
            for bit, what in FAULTS.items():
                found += [(at, what, "") for at in np.flatnonzero(door.faults & bit).tolist()]
            cost, paid = door.prices()
            most = np.maximum(most, cost)
            found += [(at, "more is lost than was booked", "") for at in np.flatnonzero(cost > paid * (1 + 1e-12)).tolist()]
        return found, most


class Door(NamedTuple):
    """What has moved at the doors of one node, of each pair."""

    opens: np.ndarray
    ledgers: Mapping[str, np.ndarray]  # of the arm of the changed reward
    adds_up: str
    stream: bool

    @property
    def faults(self) -> np.ndarray:
        return self.opens["audit_faults"]

    def prices(self) -> tuple[np.ndarray, np.ndarray]:
        """What the numbers that moved have cost together, and what was booked for the arm."""
        loss, squares = self.ledgers["loss"].sum(axis=-1), np.sqrt(self.ledgers["squares"].sum(axis=-1))
        if self.stream:
            return self.opens["audit_dearest"], np.minimum(loss, squares)
        if self.adds_up == "squares":
            return np.sqrt(self.opens["audit_squares"]), squares
        return self.opens["audit_cost"], loss


def doors(method: Method, lives: Lives) -> Iterator[Door]:
    """Of every agent, of every server that is trusted, and of one that opens sums, for which the agents have paid."""
    second, changes, every = lives.second, lives.changes, np.arange(len(lives.first.totals))
    agents = second.totals.shape[1]
    arms = np.zeros((len(every), agents), np.int64)  # where nothing is changed no arm is charged
    arms[changes.pair, changes.agent] = changes.arm
    nodes: list[tuple[Any, Any, Any, Any]] = [(second.opens, second.ledgers, arms, method.node)]
    if method.server is not None and method.server.trusted:
        nodes.append((second.servers, second.server_ledgers, np.tile(changes.arm[:, None], agents), method.server))
    for opens, ledgers, arm, role in nodes:
        for i in range(opens.shape[1]):
            own = {name: ledgers[name][every, i, arm[:, i]] for name in ("loss", "squares")}
            yield Door(opens[:, i], own, role.mechanism.adds_up, role.mechanism.covers == "stream")
    if method.server is not None and method.server.sums:
        assert second.servers is not None
        paid = {name: second.ledgers[name][every, changes.agent, changes.arm] for name in ("loss", "squares")}
        for i in range(second.servers.shape[1]):
            yield Door(second.servers[:, i], paid, method.node.mechanism.adds_up, stream=False)


def too_long(lives: Lives) -> np.ndarray:
    full = np.asarray((lives.first.opens["audit_faults"] & FULL).any(axis=1))
    if lives.first.servers is not None:
        full = full | np.asarray((lives.first.servers["audit_faults"] & FULL).any(axis=1))
    return full


def reward_words(lives: Lives, at: int) -> str:
    agent, arm, number, was, value = (int(column[lives.changes.pair == at][0]) for column in lives.changes[1:])
    return f"agent {agent}, arm {arm}, reward {number}, {was / UNIT:g} to {value / UNIT:g}"
