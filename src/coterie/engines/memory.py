"""The memory of a simulated run, in groups. All arrays have a row for each replication.

A group of arrays can be taken apart by replications (`nodes_of`); the compiler does not put single records into a group, so
what a replication has one of (`Common`) is taken out where it is used.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy import int32, int64

from coterie.contract import Algorithm, out_record, plan_record
from coterie.engines.faults import tale_record
from coterie.errors import AlgorithmError
from coterie.kernel import fold, node, record, rows
from coterie.kernel.records import named, rows_together
from coterie.privacy.ledger import ledger_record
from coterie.privacy.secret import make_secrets
from coterie.problem.harvest import harvest_record

TALLY = record(
    rounds=int64, meetings=int64, meeting_words=int64, up_messages=int64, up_words=int64,
    down_messages=int64, down_words=int64, uneven=int64,
)  # fmt: skip
PLAYED, STOPPED = 0, 1  # places of a pulse


class Keys(NamedTuple):
    """Of one replication: for what the world does, for noise, and for the dice of hooks. No hook is handed the first two."""

    world: Any
    noise: Any
    dice: Any


class Span(NamedTuple):
    """Of rounds: from where to where, the last of the exploration, the first of the last tenth, those whose regret is noted."""

    start: int
    horizon: int
    settled: int
    late: int
    marks: np.ndarray


class Nodes(NamedTuple):
    """A row for each node."""

    secrets: np.ndarray
    inners: np.ndarray
    opens: np.ndarray
    peers: np.ndarray  # for each link, where nodes are peers
    ledgers: np.ndarray
    totals: np.ndarray  # regret
    early: np.ndarray  # regret up to the end of the exploration
    violations: np.ndarray
    late: np.ndarray  # [arm]: plays in the last tenth of the rounds


class Common(NamedTuple):
    """What serves all nodes in turn, and what is told of them together."""

    curve: np.ndarray
    tally: np.ndarray
    plan: np.ndarray
    harvest: np.ndarray
    out: np.ndarray
    tale: np.ndarray
    pulse: np.ndarray  # see `beat`


@node
def keys_of(seeds, replication):
    return Keys(fold(seeds.world, replication), fold(seeds.noise, replication), fold(seeds.dice, replication))


def make_pulse() -> np.ndarray:
    """Shared with whoever watches a run from another thread: agent-rounds played so far, and a word that stops it."""
    return np.zeros(2, int64)


@node
def beat(pulse, agent_rounds):
    """So much more was played; False: nobody waits for the rest."""
    pulse[PLAYED] += agent_rounds
    return pulse[STOPPED] == 0


@node
def nodes_of(n, r):
    return Nodes(n.secrets[r], n.inners[r], n.opens[r], n.peers[r], n.ledgers[r], n.totals[r], n.early[r], n.violations[r],
                 n.late[r])  # fmt: skip


@node
def pulls_since_noted(late, secrets):
    """Called at two times, it leaves what was pulled between them: the rounds in between need not count."""
    for i in range(late.shape[0]):
        for k in range(late.shape[1]):
            late[i, k] = secrets[i].count[k] - late[i, k]


def first_late(horizon: int) -> int:
    """The first round of the last tenth, which is rounded up, and cut where a count of it would not fit its 32 bits.

    >>> [first_late(horizon) for horizon in (1, 10, 11, 100)]
    [1, 10, 10, 91]
    """
    return horizon - min(-(-horizon // 10), np.iinfo(int32).max) + 1


def seeds_of(seed: int) -> Keys:
    """Three numbers that do not tell each other: a hook that turns its die back into a key has the key of hooks' dice only."""
    return Keys(*(_digest(f"{seed} {purpose}") for purpose in Keys._fields))


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def make_nodes(
    role: Algorithm, p: Any, replications: int, count: int, peers: int, reach: Any, holders: int, compiled: bool,
    voices: Any = 1,
) -> Nodes:  # fmt: skip
    R, secrets = replications, role_secrets(role, p, (replications, count), reach, holders, voices)
    kinds = {"inners": role.inner(p), "opens": role.open(p), "ledgers": role_ledger(role, p)}
    shapes = {name: ((R, count), kind) for name, kind in kinds.items()} | {"peers": ((R, peers), role.peer(p))}
    return Nodes(
        secrets=secrets if compiled else named(secrets), **rows_together(shapes, compiled),
        totals=np.zeros((R, count)), early=np.zeros((R, count)), violations=np.zeros((R, count), int64),
        late=np.zeros((R, count, p.arms), int32),
    )  # fmt: skip


def make_common(role: Algorithm, p: Any, replications: int, marks: int, compiled: bool, pulse: np.ndarray) -> Common:
    def made(kind: np.dtype) -> np.ndarray:
        return rows(replications, kind, compiled)

    common = Common(
        curve=np.zeros((replications, marks)), tally=made(TALLY), plan=made(plan_record(p)),
        harvest=made(harvest_record(p)), out=made(out_record(role, p)), tale=made(tale_record(p)),
        pulse=pulse,
    )  # fmt: skip
    common.plan["arms"] = p.arms
    return common


def role_secrets(role: Algorithm, p: Any, shape: Any, reach: Any, holders: int = 1, voices: Any = 1) -> np.ndarray:
    """How far one reward moves a sum is a fact of the problem, and of nobody's file."""
    stream = role.stream(p)
    if (role.mechanism.covers == "stream") != (stream > 0):
        raise AlgorithmError(f"stream of {role.name} must be > 0 with a mechanism of streams and else 0, got {stream}")
    return make_secrets(shape, p.arms, role.marks(p), reach, stream, role.mechanism.norm(stream), holders, voices)


def role_ledger(role: Algorithm, p: Any) -> np.dtype:
    return ledger_record(p.arms, role.chains(p))
