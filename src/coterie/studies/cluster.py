"""A crew on a Ray cluster: a batch is a task, and tells how far it is while it runs.

A node needs nothing but Coterie in the same version. Files that a study names travel with it. Engines are compiled on the
nodes, once on each: its processes share a cache and its locks. A task that is lost with its process or its node is given out
again; as a batch follows from the study alone, nothing else changes. What is finished is kept by whoever waits for it, as in
any run.
"""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from math import inf
from queue import SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from coterie.errors import StateError, StorageError, UsageError
from coterie.kernel.waiting import TICK, next_of, start
from coterie.studies.crew import Crew
from coterie.studies.parcel import pack, unpack
from coterie.studies.spec import Specification
from coterie.version import VERSION

ATTEMPTS = 5  # of a batch whose process dies: one that kills every process must come to an end
TOLD_EVERY = 5  # ticks
LISTENS_WITHIN = 5.0  # seconds, somebody at the address
ANSWERS_WITHIN = 15.0  # seconds, and it is Ray; it takes one
SPARE = 1  # tasks that wait for each processor, so that none waits for a task
LOOKED_EVERY = 2.0  # seconds, whether the cluster is there and how large it is
HEARD_WITHIN = 1.0  # seconds, of its first machine
KNOCKS = 3  # that nobody hears, and the cluster is gone


class Told(NamedTuple):
    """Of a batch that is under way: agent-rounds so far, and what its node is compiling."""

    played: int
    note: str


class Cluster:
    """What `Crew` is on one machine."""

    def __init__(self, study: Specification, pieces: Iterable[Any], workers: int | None, address: str | None):
        self.study, self.waiting, self.workers, self.address = study, deque(pieces), workers, address
        self.session: Session | None = None
        self.tasks: dict[Any, Any] = {}  # streams of what a task tells, with their pieces
        self.told, self.lost = dict[Any, Told](), dict[Any, int]()
        self.home, self.processors, self.silent, self.looked, self.is_heard = "", 0, 0, -inf, False

    def start(self) -> None:
        self.ray = _ray()
        if not self.ray.is_initialized():
            self.session = Session(self.ray, min(self.workers or os.cpu_count() or 1, len(self.waiting)), self.address)
            self.session.start()
        elif self.address is not None:
            remedy = f"got {self.address!r}: leave it out to use that one, or end it by ray.shutdown()"
            raise UsageError(f"the address must be left out where this process has a session of Ray already, {remedy}")
        self._check_nodes()
        self.bundle = self.ray.put(pack(self.study))
        self.task = self.ray.remote(max_retries=0, num_returns="streaming")(play)
        self.home = self.ray.get_runtime_context().gcs_address

    def _check_nodes(self) -> None:
        """Whether each node that is there has memory for a batch on each of its processors; processes share nothing."""
        from coterie.studies.estimate import estimate_study, size_text

        need = estimate_study(self.study, 1).memory
        for node in self.ray.nodes():
            has = node["Resources"] if node["Alive"] else {}
            hands = min(int(has.get("CPU", 0)), self.workers or sys.maxsize, len(self.waiting))
            if hands * need > has.get("memory", inf):
                needed = f"{hands} batches at a time need about {size_text(hands * need)} of memory"
                remedy = "fewer agents, arms or hops need less, as does a node that offers Ray fewer processors (--num-cpus)"
                raise UsageError(f"{needed}, and a node has {size_text(has['memory'])} for them: {remedy}")

    def next(self) -> tuple[Any, Any] | None:
        """As of a crew."""
        self._look()
        self._give_out()
        ready, _ = self.ray.wait(list(self.tasks), timeout=TICK)
        for stream in ready:
            piece = self.tasks[stream]
            try:
                said = self.ray.get(next(stream))
            except (StopIteration, self.ray.exceptions.RayError) as error:
                self._give_out_again(stream, piece, error)
                continue
            self.is_heard = True
            if isinstance(said, Told):
                self.told[piece] = said
                continue
            del self.tasks[stream]
            self.told.pop(piece, None)
            if isinstance(said, BaseException):
                raise said
            return piece, said
        return None

    def _look(self) -> None:
        """Where the first machine is gone Ray would wait for a minute, and end the process: it is asked nothing before."""
        if monotonic() < self.looked + LOOKED_EVERY:
            return
        try:
            _knock(self.home, HEARD_WITHIN)
            self.silent, self.processors = 0, int(self.ray.cluster_resources().get("CPU", 0))
        except OSError as error:
            self.silent += 1
            if self.silent == KNOCKS:
                told = f"the Ray cluster at {self.home} has gone while it was at work"
                raise StateError(f"{told}: the same command goes on from the batches that are kept") from error
        self.looked = monotonic()

    def _give_out(self) -> None:
        """As many as the cluster has processors now: it may grow and shrink."""
        places = self.workers or max(1, self.processors) * (1 + SPARE)
        while self.waiting and len(self.tasks) < places:
            piece = self.waiting.popleft()
            self.tasks[self.task.remote(self.bundle, piece)] = piece

    def _give_out_again(self, stream: Any, piece: Any, error: BaseException) -> None:
        if isinstance(error, self.ray.exceptions.RayTaskError):  # of Python: it would come again
            if "No module named 'coterie" in str(error):
                raise UsageError(f"all nodes must have Coterie {VERSION}, and one of them has none, or another one") from error
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
        if not self.home:
            return "starting Ray" if self.address is None else f"connecting to {self.address}"
        if not self.processors:
            return "waiting for the cluster: no node offers a processor"
        if not self.is_heard:
            return "waiting for the cluster"
        return next((told.note for told in self.told.values() if told.note), "")

    def stop(self) -> None:
        """Tasks end with the connection; in a session that is not ours they are called off."""
        if self.session:
            self.session.stop()
            return
        for stream in self.tasks:
            with contextlib.suppress(Exception):  # it would hide what went wrong before
                self.ray.cancel(stream)


class Session:
    """With a cluster, or with one of its own on this machine.

    A thread holds it from its beginning to its end: the main thread hears signals while Ray starts, and the processes of a
    cluster of its own, which end with the thread that has started them, end when this process does.
    """

    def __init__(self, ray: Any, processes: int, address: str | None):
        self.ray, self.address, self.over = ray, address, threading.Event()
        self.answers: SimpleQueue[BaseException | None] = SimpleQueue()
        own = {"address": "local", "num_cpus": processes, "include_dashboard": False}  # local, whatever RAY_ADDRESS says
        self.where = own if address is None else {"address": address}
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Ray's own answer to a signal is taken back: ours is quicker."""
        if self.address is not None:
            _check(os.environ.get("RAY_ADDRESS") or "auto" if self.address == "auto" else self.address)
        before = signal.getsignal(signal.SIGTERM)
        thread = start(self._hold)
        error = next_of(self.answers)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
        if error is None:
            self.thread = thread
            return
        why = " ".join(str(error).split())
        if self.address is None:
            raise StorageError(f"Ray did not start on this machine: {why}") from error
        raise _no_cluster(self.address, why) from error

    def _hold(self) -> None:
        try:
            with _quiet():
                self.ray.init(log_to_driver=False, logging_level="ERROR", configure_logging=False, **self.where)
        except BaseException as error:  # it raises whatever it meets
            self.answers.put(error)
            return
        self.answers.put(None)
        self.over.wait()
        self.ray.shutdown()

    def stop(self) -> None:
        """One that is still starting ends once it has: nobody waits for that."""
        self.over.set()
        if self.thread:
            self.thread.join(ANSWERS_WITHIN)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Ray warns that it sets no handler for signals, and of what it has decided about tokens."""
    logger = logging.getLogger("ray")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("engine ray needs Ray, which is not installed: pip install 'coterie[ray]'") from None
    return ray


def _check(address: str) -> None:
    """Where something else listens, or nobody, Ray asks for minutes. So another process asks, which can be ended."""
    if not isinstance(address, str):
        raise _no_cluster(address, "it is no text")
    if not address.strip():
        raise _no_cluster(address, "it is empty")
    if ":" not in address or "/" in address:
        return  # a word or another scheme, which Ray knows or refuses at once
    port = address.rpartition(":")[2]
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535):
        raise _no_cluster(address, "a port is a whole number in 1..65535")
    try:
        _knock(address, LISTENS_WITHIN)
        question = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--skip-version-check", f"--address={address}"]
        subprocess.run(question, check=True, capture_output=True, text=True, errors="replace", timeout=ANSWERS_WITHIN)
    except subprocess.TimeoutExpired as error:
        raise _no_cluster(address, f"no Ray has answered within {ANSWERS_WITHIN:.0f} seconds") from error
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        raise _no_cluster(address, last.partition(". ")[0].partition(": ")[2] or last) from error
    except (OSError, ValueError) as error:
        raise _no_cluster(address, getattr(error, "strerror", None) or str(error)) from error


def _knock(address: str, within: float) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=within).close()


def _no_cluster(address: Any, why: str) -> UsageError:
    return UsageError(f"the address must be that of a Ray cluster that answers, got {address!r}: {why}")


@cache
def _at_hand(packed: bytes) -> Any:
    """A process plays many batches of a study."""
    from coterie.studies.running import batch_work

    return batch_work(unpack(packed))


def play(packed: bytes, batch: Any) -> Iterator[Any]:
    """A task: what it tells now and then, and at last the batch's columns, or what went wrong.

    One that is called off stops playing: its process goes on to serve others.
    """
    try:
        crew, ticks = Crew(_at_hand(packed), [batch], 1), 0
        try:
            crew.start()
            while not (answer := crew.next()):
                ticks += 1
                if ticks % TOLD_EVERY == 0:
                    yield Told(sum(crew.played().values()), crew.note())
            yield answer[1]
        finally:
            crew.stop()
    except Exception as error:
        yield error
