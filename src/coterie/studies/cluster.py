"""A crew on a Ray cluster: a batch is a task, and tells how far it is while it runs.

A node needs nothing but Coterie in the same version. Files that a study names travel with it. Engines are compiled on the
nodes, once on each: its processes share a cache and its locks. A task that is lost with its process or its node is given out
again; as a batch follows from the study alone, nothing else changes. What is finished is kept by whoever waits for it, as in
any run.
"""

import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from math import inf
from typing import Any, NamedTuple

from coterie.engines.waiting import TICK
from coterie.errors import StateError, StorageError, UsageError
from coterie.studies.crew import Crew
from coterie.studies.parcel import pack, unpack
from coterie.studies.spec import Specification

ATTEMPTS = 5  # of a batch whose process dies: one that kills every process must come to an end
TOLD_EVERY = 5  # ticks
ANSWERS_WITHIN = 5.0  # seconds, of a cluster's first machine
SPARE = 1  # tasks that wait for each processor, so that none waits for a task


class Told(NamedTuple):
    """Of a batch that is under way: agent-rounds so far, and what its node is compiling."""

    played: int
    note: str


class Cluster:
    """What `Crew` is on one machine."""

    def __init__(self, study: Specification, pieces: Iterable[Any], workers: int | None, address: str | None):
        self.study, self.waiting, self.workers, self.address = study, deque(pieces), workers, address
        self.tasks: dict[Any, Any] = {}  # streams of what a task tells, with their pieces
        self.told, self.lost = dict[Any, Told](), dict[Any, int]()

    def start(self) -> None:
        self.ray = _ray()
        _connect(self.ray, self.workers, self.address)
        self._check_nodes()
        self.bundle = self.ray.put(pack(self.study))
        self.task = self.ray.remote(max_retries=0, num_returns="streaming")(play)

    def _check_nodes(self) -> None:
        """Whether each node that is there has memory for a batch on each of its processors; processes share nothing."""
        from coterie.studies.estimate import estimate_study, size_text

        need = estimate_study(self.study, 1).memory
        for node in self.ray.nodes():
            has = node["Resources"] if node["Alive"] else {}
            hands = min(int(has.get("CPU", 0)), self.workers or sys.maxsize)
            if hands * need > has.get("memory", inf):
                needed = f"{hands} batches at a time need about {size_text(hands * need)} of memory"
                remedy = "fewer agents, arms or hops need less, as does a node that offers Ray fewer processors (--num-cpus)"
                raise UsageError(f"{needed}, and a node has {size_text(has['memory'])} for them: {remedy}")

    def next(self) -> tuple[Any, Any] | None:
        """As of a crew."""
        self._give_out()
        ready, _ = self.ray.wait(list(self.tasks), timeout=TICK)
        for stream in ready:
            piece = self.tasks[stream]
            try:
                said = self.ray.get(next(stream))
            except (StopIteration, self.ray.exceptions.RayError) as error:
                self._give_out_again(stream, piece, error)
                continue
            if isinstance(said, Told):
                self.told[piece] = said
                continue
            del self.tasks[stream]
            self.told.pop(piece, None)
            if isinstance(said, BaseException):
                raise said
            return piece, said
        return None

    def _give_out(self) -> None:
        """As many as the cluster has processors now: it may grow and shrink."""
        places = self.workers or max(1, int(self.ray.cluster_resources().get("CPU", 1))) * (1 + SPARE)
        while self.waiting and len(self.tasks) < places:
            piece = self.waiting.popleft()
            self.tasks[self.task.remote(self.bundle, piece)] = piece

    def _give_out_again(self, stream: Any, piece: Any, error: BaseException) -> None:
        if isinstance(error, self.ray.exceptions.RayTaskError):  # of Python: it would come again
            raise error
        del self.tasks[stream]
        self.told.pop(piece, None)
        self.lost[piece] = self.lost.get(piece, 0) + 1
        if self.lost[piece] == ATTEMPTS:
            raise StateError(f"a batch ({piece.name}) was lost {ATTEMPTS} times, each time with the process it ran in")
        self.waiting.appendleft(piece)

    def played(self) -> dict[Any, int]:
        return dict.fromkeys(self.tasks.values(), 0) | {piece: told.played for piece, told in self.told.items()}

    def note(self) -> str:
        if not self.told:
            return "waiting for the cluster"
        return next((told.note for told in self.told.values() if told.note), "")

    def stop(self) -> None:
        """Tasks end with the connection."""
        if hasattr(self, "ray"):
            self.ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("engine ray needs Ray, which is not installed: pip install 'coterie[ray]'") from None
    return ray


def _connect(ray: Any, workers: int | None, address: str | None) -> None:
    """To a cluster, or to one of its own on this machine. Ray's own answer to a signal is taken back: ours is quicker."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    where: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    if address is not None:
        _knock_at(address)
        where = {"address": address}
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", configure_logging=False, **where)
    except Exception as error:  # it raises whatever it meets
        why = " ".join(str(error).split())
        if address is None:
            raise StorageError(f"Ray did not start on this machine: {why}") from error
        raise _no_cluster(address, why) from error
    if is_main:
        signal.signal(signal.SIGTERM, before)


def _knock_at(address: str) -> None:
    """Ray itself asks for minutes where nobody answers."""
    host, colon, port = address.rpartition(":")
    if not address.strip():
        raise _no_cluster(address, "it is empty")
    if not colon or "/" in address:
        return  # a word or another scheme, which Ray knows or refuses at once
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise _no_cluster(address, "a port is a whole number in 1..65535")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWERS_WITHIN).close()
    except (OSError, UnicodeError) as error:
        raise _no_cluster(address, getattr(error, "strerror", None) or str(error)) from error


def _no_cluster(address: str, why: str) -> UsageError:
    return UsageError(f"the address must be that of a Ray cluster that answers, got {address!r}: {why}")


@cache
def _at_hand(packed: bytes) -> Any:
    """A process plays many batches of a study."""
    from coterie.studies.running import batch_work

    return batch_work(unpack(packed))


def play(packed: bytes, batch: Any) -> Iterator[Any]:
    """A task: what it tells now and then, and at last the batch's columns, or what went wrong."""
    try:
        crew, ticks = Crew(_at_hand(packed), [batch], 1), 0
        crew.start()
        while not (answer := crew.next()):
            ticks += 1
            if ticks % TOLD_EVERY == 0:
                yield Told(sum(crew.played().values()), crew.note())
        yield answer[1]
    except Exception as error:
        yield error
