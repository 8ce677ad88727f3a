"""What a study will take, before anything is allocated or created: memory, disk and time.

Memory follows from what the engines lay out (`engines.simulate`, `engines.memory`): the sizes of an algorithm's own records,
the links and masks of its network, one batch for each worker, and the curves of all replications. Time is a count of what the
engines go through, with a cost in nanoseconds for each kind: some measured on one core of a server of 2 GHz, those around a
server, of orders and of deliveries guessed from there. Ten studies came out between half and twice their time; rows of one
cheap algorithm come out three times too dear, and of an algorithm whose plans depend on what it hears it is a guess. It is a
reason to ask, not a promise.
"""

import os
import shutil
from functools import partial
from math import ceil, log, log2, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coterie.building import build
from coterie.contract import Algorithm, Method, Setting, Terms, out_record, plan_record
from coterie.engines.forecast import plans_of_a_peer
from coterie.engines.memory import role_ledger
from coterie.errors import UsageError
from coterie.privacy.secret import envelope_record, secret_record
from coterie.problem import bernoulli, suppliers
from coterie.studies.case import entry_of, errors_of, is_random
from coterie.studies.problems import Procurement
from coterie.studies.running import batch_size
from coterie.studies.spec import Row, Specification
from coterie.studies.wiring import Wires, heard_of, wires_of

GIB = 2.0**30
SECONDS_UNASKED = 600.0  # a longer run wants a word from whoever waits for it
SPARE = 0.9  # of the memory and disk that are free: others want some, too
AROUND = 300e6  # the interpreter, the libraries and compiled code
NS_TURN, NS_ARM, NS_LINK, NS_WORD = 110.0, 4.0, 3.0, 0.5  # of a round of one peer, of each arm and link there, of a word heard
NS_LOST = 8.0  # a factor: of a link whose message may be lost
NS_DRAW, NS_PULL = 25.0, 12.0  # around a server: of one arm in an epoch, of a reward that is drawn by itself
NS_INDEX, NS_SEAT = 350.0, 1500.0  # there, where arms have an index: of each of them, and of each agent (or group) sent to one
NS_ORDER = 12.0  # of a producer in a round
NS_COIN = 6.0  # of a round that may be sat out
NS_BYTE, NS_FETCHED, BYTES_NEAR = 0.04, 250.0, 1000  # of a message: by its hearer's record beyond so much
AGENTS_TRIED = 127, 63  # of which records that have a place for each agent are full
AGENTS_BUILT, HEARD_BUILT = AGENTS_TRIED[0], 10_000
BYTES_OF_POINT = 8 * 3 + 60  # of a curve: in its batch, put together, and as a line of a table
BYTES_OF_POINT_ON_DISK, BYTES_OF_RUN, BYTES_OF_BATCH = 30, 1000, 3000


class Estimate(NamedTuple):
    """Of a whole study."""

    memory: float  # bytes
    disk: float
    seconds: float

    def refuse(self, folder: Path | None = None) -> None:
        """Raise if the machine has not got what is needed."""
        free = memory_free()
        if self.memory > SPARE * free:
            remedy = "fewer agents, arms, replications, hops or workers need less"
            raise UsageError(f"this needs about {size_text(self.memory)} of memory, and {size_text(free)} are free: {remedy}")
        room = disk_free(folder) if folder is not None else float("inf")
        if self.disk > SPARE * room:
            free_there = f"{size_text(room)} are free in {folder}"
            raise UsageError(f"this writes about {size_text(self.disk)}, and {free_there}: fewer replications need less")


def size_text(size: float) -> str:
    """
    >>> size_text(3.2e11)
    '298 GiB'
    """
    return f"{size / GIB:,.3g} GiB" if size < 1000 * GIB else f"{size / GIB:,.0f} GiB"


def time_text(seconds: float) -> str:
    """
    >>> time_text(7500), time_text(1e9)
    ('2 hours', '32 years')
    """
    for unit, length in (("year", 31_557_600), ("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count:,} {unit}{'s' if count != 1 else ''}"
    return "less than a minute"


# --- what the machine has ---------------------------------------------------------------------------------


def memory_free() -> float:
    """Bytes that a new program may still take; infinite where the system does not tell."""
    found = float("inf")
    try:
        told = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        found = 1024.0 * int(told["MemAvailable"].split()[0])
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text(encoding="ascii") for name in ("max", "current"))
        found = min(found, float(limit) - float(used))
    except (OSError, ValueError, KeyError):
        if found == float("inf") and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            found = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return found


def disk_free(folder: Path) -> float:
    """Where the folder is, or will be."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return float(shutil.disk_usage(place).free)


# --- of a study --------------------------------------------------------------------------------------------


def estimate_study(study: Specification, workers: int | None = None) -> Estimate:
    """On so many workers; default: one for each core."""
    hands = min(workers or os.cpu_count() or 1, max(1, ceil(study.replications / batch_size(study)) * len(study.rows)))
    points = len(study.rows) * study.replications * study.checkpoints
    batches = len(study.rows) * ceil(study.replications / batch_size(study))
    told = BYTES_OF_RUN * len(study.rows) * study.replications
    memory = AROUND + BYTES_OF_POINT * points + told + BYTES_OF_BATCH * batches
    check_procurement(study, memory)
    found = [estimate_row(study, row) for row in study.rows]
    networks = {case.wires for case in found}  # rows whose messages live equally long share one
    shared = sum(wires.kept for wires in networks) + len(found) * world_bytes(study)
    if is_random(study):
        shared = hands * (max(wires.kept for wires in networks) + world_bytes(study))
    memory += shared + hands * max(case.batch for case in found)
    seconds = sum(case.seconds for case in found) / hands
    return Estimate(memory, BYTES_OF_POINT_ON_DISK * points + told, seconds)


class OfRow(NamedTuple):
    """Its network, what one batch takes beside it, and the processor seconds of all replications."""

    wires: Wires
    batch: float
    seconds: float


def estimate_row(study: Specification, row: Row) -> OfRow:
    method, growth = made_small(study, row)
    runs, size = study.replications, min(batch_size(study), study.replications)
    wires, peers = wires_of(study, method), method.structure == "peers"
    cases = runs if is_random(study) else 1
    batch = wires.building + size * (peer_bytes if peers else star_bytes)(study, row, method, wires, growth)
    nanoseconds = runs * (peer_time if peers else star_time)(study, row, method, wires)
    return OfRow(wires, batch, 1e-9 * (nanoseconds + cases * wires.nanoseconds))


def made_small(study: Specification, row: Row) -> tuple[Method, float]:
    """The method as it is for AGENTS_BUILT agents at most, and by how many bytes a node's record grows with each further one.

    Tables about all agents take time to make. Who cannot do with fewer agents (so many must be honest) is made as it is.
    """
    with errors_of(study, row):
        entry, agents = entry_of(study, row), study.problem.agents
    try:
        if agents > AGENTS_BUILT:
            small, half = (build(entry, row.options, setting_of(study, row, count)) for count in AGENTS_TRIED)
            further = small.node.open(small.p).itemsize - half.node.open(half.p).itemsize
            return small, further / (AGENTS_TRIED[0] - AGENTS_TRIED[1])
    except UsageError:
        pass
    with errors_of(study, row):
        return build(entry, row.options, setting_of(study, row, agents)), 0.0


def setting_of(study: Specification, row: Row, agents: int) -> Setting:
    """What an algorithm's parameters are made of, but without its numbers: nothing is drawn."""
    about, (low, high) = study.problem, study.problem.range
    shape = agents, about.arms
    terms = None
    if isinstance(about, Procurement):
        terms = Terms(np.broadcast_to(0.3, shape), np.broadcast_to(1, shape), about.alpha, about.rho)
    return Setting(
        *shape, study.horizon, gap=0.1, low=low, high=high, proxy=min((high - low) / 2, getattr(about, "sigma", np.inf)),
        weights=(about.weights or ())[:agents], components=(agents,), heard=partial(heard, study, agents),
        reward_values=getattr(about, "values", ()), terms=terms,
        liars=max(row.faults.liars, row.faults.contamination),
    )  # fmt: skip


def heard(study: Specification, built: int, life: int | str | None) -> int:
    """As many as in the whole network, also where fewer agents are built; unless that were a large table by itself."""
    most = heard_of(study.network, study.problem.agents, life)
    return most if most <= HEARD_BUILT else built - 1


def sells(study: Specification) -> bool:
    return isinstance(study.problem, Procurement)


def check_procurement(study: Specification, memory: float) -> None:
    """Before an algorithm is handed a table with a line for each agent and producer."""
    if sells(study):
        Estimate(memory + world_bytes(study), 0.0, 0.0).refuse()


def world_bytes(study: Specification) -> float:
    """Means are one row for all agents, or a row for each."""
    about = study.problem
    if isinstance(about, Procurement):
        most = suppliers.CAPACITY_DRAWN if about.distribution else int(about.largest_reward)
        return about.agents * about.producers * 8.0 * (most + 16)
    told = (about.means is not None and isinstance(about.means[0], tuple)) or bool(about.file)
    rows = about.agents if told or about.heterogeneity else 1
    if about.in_order:
        return 60.0 * about.told_by_table()["data"]["rewards"]
    return 3.0 * rows * bernoulli.world(np.zeros((1, about.arms))).itemsize


# --- memory of one replication -------------------------------------------------------------------------------


def role_bytes(role: Algorithm, p: Any, sells_units: bool) -> float:
    """One node's records, and what is noted of it."""
    kinds = [secret_record(p.arms, role.marks(p), not sells_units), role.inner(p), role.open(p), role_ledger(role, p)]
    return sum(kind.itemsize for kind in kinds) + 4 * 8.0


def common_bytes(method: Method, checkpoints: int) -> float:
    return 2.0 * (out_record(method.node, method.p).itemsize + plan_record(method.p).itemsize) + 8.0 * checkpoints


def star_bytes(study: Specification, row: Row, method: Method, wires: Wires, growth: float) -> float:
    agents, server = study.problem.agents, method.server
    assert server is not None
    places = places_of(study, method, row, wires)
    teams = agents if method.structure == "alone" else 1
    each = role_bytes(method.node, method.p, False) + method.node.peer(method.p).itemsize + server.peer(method.p).itemsize
    each += envelope_record(method.p.arms).itemsize + 16 + growth * max(0, agents - AGENTS_BUILT)
    return places * each + teams * role_bytes(server, method.p, False) + 24.0 * agents + common_bytes(method, study.checkpoints)


def peer_bytes(study: Specification, row: Row, method: Method, wires: Wires, growth: float) -> float:
    node, p, agents = method.node, method.p, study.problem.agents
    message, ring = node.message(p).itemsize, wires.delay + 1
    each = role_bytes(node, p, sells(study)) + growth * max(0, agents - AGENTS_BUILT) + 40 + ring * (message + 8) + 4 * p.arms
    each += plan_record(p).itemsize + (40 if node.commits else 16)
    if not node.additive:
        return agents * each + wires.links * node.peer(p).itemsize + common_bytes(method, study.checkpoints)
    former = wires.links if singly(study, row) or wires.sparse else agents
    each += message * (ring + p.arms) + 16 * ring
    counted = (former + ring * agents / 63) * p.arms * message
    return agents * each + counted + common_bytes(method, study.checkpoints)


def places_of(study: Specification, method: Method, row: Row, wires: Wires) -> int:
    """Records of agents, where those that act alike share one."""
    fair = not row.content and not row.troubles()
    if fair and method.folds and wires.delay == 0:
        return 1
    return len(method.crowds) if fair and method.crowds else study.problem.agents


def singly(study: Specification, row: Row) -> bool:
    """Whether every link is looked at by itself: see engines.pool."""
    return bool(row.faults.churn or row.faults.loss or study.network.switch_every)


# --- time of one replication, in nanoseconds ---------------------------------------------------------------------


def star_time(study: Specification, row: Row, method: Method, wires: Wires) -> float:
    """Epochs are few where each takes up to four times the samples of the last; an index is looked at in many more."""
    agents, arms, horizon = study.problem.agents, study.problem.arms, study.horizon
    drawn_singly = study.problem.kind == "gaussian" and study.problem.range[1] < float("inf")
    pulled = agents * horizon * NS_PULL if drawn_singly else 0.0
    if growth := getattr(method.p, "growth", 0.0):
        return pulled + index_time(study, row, method, wires, growth)
    return pulled + agents * arms * NS_DRAW * min(horizon, 4 + log2(horizon) / 2)


def index_time(study: Specification, row: Row, method: Method, wires: Wires, growth: float) -> float:
    """Arms are released one by one, whenever their pulls have grown by so much; then all are looked at, and agents sent out.

    The number of epochs was fitted to teams of 1 to 1000 agents with 10 to 100 arms, of which it is within a third.
    """
    teams = study.problem.agents if method.structure == "alone" else 1
    arms, horizon, team = study.problem.arms, study.horizon, study.problem.agents // teams
    epochs = min(horizon, log(horizon + 1) / log(growth) * (1.5 + 0.4 * arms / sqrt(team)))
    each = arms * NS_INDEX + method.p.groups * NS_SEAT
    return epochs * (teams * each + places_of(study, method, row, wires) * NS_TURN)


def peer_time(study: Specification, row: Row, method: Method, wires: Wires) -> float:
    node, p, agents = method.node, method.p, study.problem.agents
    arms, senders = study.problem.arms, wires.links / agents
    each = NS_TURN + arms * NS_ARM
    if sells(study):
        each += arms * NS_ORDER
    if node.commits:
        stepped = bool(row.faults.churn or study.network.switch_every or method.meetings)  # see engines.leap
        return agents * (plans_time(study, row, method, senders) + (study.horizon * NS_COIN if stepped else 0.0))
    if node.additive and not singly(study, row) and not wires.sparse:
        each += agents * NS_LINK / 8
    elif not node.seldom:
        each += senders * (NS_LINK + node.message(p).itemsize / 8 * NS_WORD) * (NS_LOST if row.faults.loss else 1.0)
    return agents * study.horizon * each


def plans_time(study: Specification, row: Row, method: Method, senders: float) -> float:
    """Of one agent that commits. It speaks when a plan ends, and liars in every round; few of their words are new."""
    node, p, faults, horizon = method.node, method.p, row.faults, study.horizon
    plans = plans_of_a_peer(method, horizon)
    fetched = min(NS_FETCHED, NS_BYTE * max(0, node.open(p).itemsize - BYTES_NEAR))
    heard = NS_LINK + node.message(p).itemsize / 8 * NS_WORD
    told = senders * ((1 - faults.liars) * plans * (heard + fetched) + faults.liars * horizon * heard)
    each = NS_TURN + study.problem.arms * NS_ARM + 4 * fetched
    return plans * each + told + (horizon * NS_COIN if faults.dropout else 0.0)
