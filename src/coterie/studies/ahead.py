"""Compile what studies need before it is needed, in processes that help.

A helper makes the first engine up to its linking, with all the parts that engines share, and only then becomes several
processes: each of them has these parts already. They go through one list and leave out what lies in the cache or what another
one is compiling: the system's locks are all they have to agree on. What they leave, because they died, or because the cache
cannot be written, this process compiles after them. Two commands on one machine help each other in the same way.

A helper hears no Ctrl-C. It ends when its list does, when it is told to, or when this process is gone: its input then ends.
"""

import contextlib
import gc
import importlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from coterie.algorithms import find
from coterie.cache import cache_folder, named_folder
from coterie.engines.compiled import Engine, compiling, expect, missing
from coterie.errors import StorageError
from coterie.helper import end, end_with_the_input, get_helper
from coterie.kernel.compiling import before_linking, get_ready
from coterie.kernel.waiting import TICK, start
from coterie.studies.case import make_case
from coterie.studies.parcel import pack, unpack
from coterie.studies.spec import Specification

COLLECTED_EVERY = 8  # engines: each leaves some 30 MB behind, and to look for garbage takes a quarter of a second
PATIENCE = 180.0  # seconds without a new engine; one takes some six of a processor
Progress = Callable[[int, int, str], None]  # done, total, what is being done; some five times a second


class Want(NamedTuple):
    """Who needs an engine: a row of a study, on the instance of one replication."""

    study: int
    row: int
    replication: int = 0


class Ahead:
    """`wanted`: engines, and who needs each first, in the order in which they are needed."""

    def __init__(self, studies: Sequence[Specification], wanted: Mapping[Engine | None, Want], workers: int):
        self.studies, self.missing = studies, missing(wanted)
        self.hands = min(workers, len(self.missing))
        self.helpers, self.tried, self.stopped = list[subprocess.Popen](), set[Engine](), threading.Event()

    @classmethod
    def of(cls, studies: Sequence[Specification], workers: int | None = None, progress: Progress | None = None) -> "Ahead":
        """For all rows of these studies."""
        wants = [Want(number, row) for number, study in enumerate(studies) for row in range(len(study.rows))]
        wanted: dict[Engine | None, Want] = {}
        for done, want in enumerate(wants):
            if progress:
                progress(0, 0, f"looking at row {done + 1} of {len(wants)}")
            wanted.setdefault(engine_for(studies, want), want)
        return cls(studies, wanted, workers or os.cpu_count() or 1)

    def start(self) -> None:
        expect({engine: self._name(want) for engine, want in self.missing.items()}, self.is_helped)
        if self.missing:
            if self.hands > 1:
                self.helpers.append(get_helper())
                self._tell(self.helpers[0])
            start(self._compile)

    def is_ready(self, engine: Engine | None) -> bool:
        """Whether nobody has to wait for it any more. What could not be compiled is for those who call it to find out."""
        return engine not in self.missing or engine in self.tried or engine.is_there()

    def is_helped(self) -> bool:
        return any(helper.poll() is None for helper in self.helpers)

    def left(self) -> int:
        return sum(not self.is_ready(engine) for engine in self.missing)

    def _wait_for(self, helper: subprocess.Popen) -> None:
        """As long as it gets on: one that somebody has stopped would hold its engine for ever."""
        left, since = self.left(), time.monotonic()
        while helper.poll() is None and not self.stopped.wait(TICK):
            if self.left() != left:
                left, since = self.left(), time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                end(helper)

    def stop(self) -> None:
        """Whatever is being compiled elsewhere is given up."""
        self.stopped.set()
        for helper in self.helpers:
            end(helper)
        for helper in self.helpers:
            helper.communicate()
        self.helpers.clear()

    def _tell(self, helper: subprocess.Popen) -> None:
        assert helper.stdin
        with contextlib.suppress(OSError):  # it is gone already: then there is none
            pickle.dump(([pack(study) for study in self.studies], [*self.missing.values()], self.hands), helper.stdin)
            helper.stdin.flush()

    def _name(self, want: Want) -> str:
        return find(self.studies[want.study].rows[want.row].reference).name

    def _get_ready(self) -> None:
        """While others compile the first engine this process can load what it will need."""
        get_ready()
        importlib.import_module("scipy.special")

    def _compile(self) -> None:
        self._get_ready()
        for helper in self.helpers:
            self._wait_for(helper)
        compile_missing(self.missing, True, self.tried.add, self.stopped.is_set)


def warm(studies: Sequence[Specification], workers: int | None = None, progress: Progress | None = None) -> int:
    """Compile all that these studies need and that is missing; how many engines that were."""
    if cache_folder() != (folder := named_folder()):
        raise StorageError(f"{folder or 'a cache'}: cannot be written, so that nothing of what was compiled is kept")
    ahead = Ahead.of(studies, workers, progress)
    try:
        ahead.start()
        while ahead.left():
            if progress:
                progress(0, 0, str(compiling() or "compiling"))
            time.sleep(TICK)
    finally:
        ahead.stop()
    for engine in ahead.missing:
        if not engine.is_there():
            engine.compile()  # what stopped the compiler is raised here
        if not engine.on_disk():
            raise StorageError(f"{folder}: cannot be written, so that nothing of what was compiled is kept")
    return len(ahead.missing)


def engine_for(studies: Sequence[Specification], want: Want) -> Engine | None:
    study = studies[want.study]
    return make_case(study, study.rows[want.row], want.replication).engine()


def compile_missing(
    engines: Iterable[Engine], wait: bool, tried: Callable[[Engine], None], is_over: Callable[[], bool] = lambda: False
) -> None:
    for engine in engines:
        if is_over():
            return
        with contextlib.suppress(Exception):  # it is raised again where the engine is called, and told there in words of ours
            if not engine.is_there():
                engine.compile(wait)
        tried(engine)


class _Tidy:
    """Nobody else looks for garbage in a helper."""

    def __init__(self) -> None:
        self.tried = 0

    def __call__(self, engine: Engine) -> None:
        self.tried += 1
        if self.tried % COLLECTED_EVERY == 0:
            gc.collect()


def help() -> None:
    """What a helper does. Before it links its first engine it becomes several processes: by then it has all shared parts."""
    get_ready()
    try:
        packed, wants, hands = pickle.load(sys.stdin.buffer)
    except EOFError:
        return  # nothing was missing
    studies = [unpack(study) for study in packed]
    engines = [engine for want in wants if (engine := engine_for(studies, want))]
    children = list[int]()

    def become_several() -> None:
        for number in range(1, hands if hasattr(os, "fork") else 1):
            if (child := os.fork()) == 0:
                raise _Another(number)
            children.append(child)

    before_linking(become_several)
    try:
        compile_missing(in_turn(engines, 0, hands), False, _Tidy())
    except _Another as another:
        children.clear()
        end_with_the_input()
        compile_missing(in_turn(engines, another.number, hands), False, _Tidy())
    for child in children:
        os.waitpid(child, 0)
    os._exit(0)


class _Another(BaseException):
    """This is another process now, and what it was about to link is left to the first."""

    def __init__(self, number: int):
        self.number = number


def in_turn(engines: list[Engine], number: int, hands: int) -> list[Engine]:
    """One's own stretch of the list, as neighbours share parts; then those of others from their ends, which they reach last."""
    first, end = (len(engines) * share // hands for share in (number, number + 1))
    return engines[first:end] + (engines[end:] + engines[:first])[::-1]
