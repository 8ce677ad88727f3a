"""Several lives of the same agents: with the same seed, compiled, and with one reward changed."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import numpy as np

from coterie.checking.shape import roles_of
from coterie.checking.stage import Form
from coterie.engines.agent import Agent
from coterie.engines.chance import Chance, Keyed
from coterie.engines.rehearsal import Rehearsal, keyed_agent
from coterie.errors import AlgorithmError
from coterie.privacy.mechanisms import Mechanism

PARTS = ("secret", "inner", "open", "ledger")


def differing(one: Any, other: Any) -> str:
    """The first field in which two records of one kind differ."""
    pairs = ((field, np.asarray(one[field]), np.asarray(other[field])) for field in one.dtype.names)
    return next((field for field, a, b in pairs if a.tobytes() != b.tobytes()), "")


def first_difference(ours: Sequence[Agent], theirs: Sequence[Agent], parts: Sequence[str] = PARTS) -> str:
    """In words: the record, whose it is, and the field."""
    for part in parts:
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if field := differing(getattr(one, part), getattr(other, part)):
                return f"{part}.{field} of {one.algorithm.name} {i}"
    return ""


def check_again(form: Form, first: Sequence[Agent], rough: bool, place: str) -> None:
    """The same seed once more."""
    found = first_difference(first, form.watched(rough))
    if found:
        why = "a hook keeps something outside its records, or has a chance of its own"
        raise AlgorithmError(f"{place}: two runs with the same seed differ in {found}: {why}")


# --- compiled, interpreted, deployed -------------------------------------------------------------------


def check_three_ways(form: Form, place: str) -> None:
    """To the byte. A compiler error is told by the engine, as an error of the file."""
    compiled, interpreted, deployed = form.simulate(True), form.simulate(False), form.rehearse(epochs=inf)
    for found in _differences(compiled, interpreted, deployed):
        raise AlgorithmError(f"{place}: {found}")


def _differences(compiled: Any, interpreted: Any, deployed: Rehearsal) -> Iterator[str]:
    told = "float(a) / b for quotients of whole numbers, x * x for squares and functions of math make them agree"
    own = {"secret": "secrets", "inner": "inners", "open": "opens", "ledger": "ledgers"}
    parts = [(part, rows, deployed.agents) for part, rows in own.items()]
    parts += [("open", "servers", deployed.servers), ("ledger", "server_ledgers", deployed.servers)]
    for part, rows, agents in parts:
        fast, slow = getattr(compiled, rows), getattr(interpreted, rows)
        for i, agent in enumerate(agents):
            whose = f"of {agent.algorithm.name} {i}"
            if field := differing(fast[0, i], slow[0, i]):
                yield f"compiled and interpreted runs differ in {part}.{field} {whose}; {told}"
            if field := differing(slow[0, i], getattr(agent, part)):
                yield f"simulated and deployed runs differ in {part}.{field} {whose}"
    for part in ("curves", "late", "tallies"):
        if getattr(compiled, part).tobytes() != getattr(interpreted, part).tobytes():
            yield f"compiled and interpreted runs differ in their {part}; {told}"


# --- one changed reward --------------------------------------------------------------------------------


class Script:
    """Chance whose door keeps the noised sums of a first life, or hands them out in a second one."""

    rehearsed = True

    def __init__(self, chance: Chance, kept: list[np.ndarray] | None):
        self.chance, self.die, self.idle_die = chance, chance.die, chance.idle_die
        self.passed, self.kept = list[np.ndarray](), kept

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None:
        turn = len(self.passed)
        if self.kept is None:
            self.chance.noise(mechanism, secret, t, out)
        elif turn >= len(self.kept) or len(self.kept[turn]) != out.entries:
            raise AlgorithmError("the number of sums that leave")
        else:
            out.value[: out.entries] = self.kept[turn]
        self.passed.append(out.value[: out.entries].copy())


class Changeling(Agent):
    """An agent one of whose rewards is another."""

    changed = 0  # the ticket of its decision

    def tell(self, ticket: int | None, reward: float) -> None:
        super().tell(ticket, 1.0 - reward if ticket is not None and ticket == self.changed else reward)


def live(form: Form, changed: int, kept: dict[int, list[np.ndarray]] | None) -> list[Agent]:
    """All nodes at the end of a life; `changed` is a ticket of agent 0."""
    nodes = list[Agent]()

    def make(role: Any, p: Any, chance: Keyed, reach: Any = 1.0, holders: int = 1) -> Agent:
        script = Script(chance, None if kept is None else kept[len(nodes)])
        node = keyed_agent(role, p, script, reach, holders, kind=Changeling)
        node.changed = changed if not nodes else 0
        nodes.append(node)
        return node

    form.rehearse(make=make)
    return nodes


def check_replay(form: Form, place: str) -> bool:
    """One reward of agent 0 is changed, and every door lets out what it let out before: nothing open may differ.

    False: the algorithm has a caveat, which says that its choices show rewards.
    """
    if any(role.caveat for role in roles_of(form.method)):
        return False
    first = live(form, 0, None)
    kept = {i: node.chance.passed for i, node in enumerate(first) if isinstance(node.chance, Script)}
    for ticket in sorted({1, first[0].ticket // 2} - {0}):
        try:
            found = first_difference(first, live(form, ticket, kept), ("open", "ledger", "plan"))
        except AlgorithmError as error:
            found = str(error)
        if found:
            raise AlgorithmError(f"{place}: one changed reward shows in {found}, though all that passed the door is the same")
    return True
