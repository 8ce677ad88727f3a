"""Compile what studies need before it is needed: one thread of this process, and helpers, which are processes of their own.

All go through the same list, this process from its beginning and helpers from its end, and leave out what lies in the cache or
what another one is compiling: the system's locks are all they have to agree on. A helper that dies lets go of its engine, and
this process compiles it after all, as it does where the cache cannot be written. Two commands on one machine help each other
in the same way.

A helper hears no Ctrl-C. It ends when its list does, when it is told to, or when this process is gone: its input then ends.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from coterie.algorithms import find
from coterie.engines.compiled import Engine, compiling, expect, missing
from coterie.engines.waiting import TICK, start
from coterie.studies.case import make_case
from coterie.studies.parcel import pack, unpack
from coterie.studies.spec import Specification

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
        self.count = min(workers, len(self.missing)) - 1
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
            for number in range(self.count):
                self.helpers.append(_helper(self.studies, self._turned(number)))
            start(self._compile)

    def is_ready(self, engine: Engine | None) -> bool:
        """Whether nobody has to wait for it any more. What could not be compiled is for those who call it to find out."""
        return engine not in self.missing or engine in self.tried or engine.is_there()

    def is_helped(self) -> bool:
        return any(helper.poll() is None for helper in self.helpers)

    def left(self) -> int:
        return sum(not self.is_ready(engine) for engine in self.missing)

    def stop(self) -> None:
        """Whatever is being compiled elsewhere is given up."""
        self.stopped.set()
        for helper in self.helpers:
            helper.kill()
        for helper in self.helpers:
            helper.communicate()
        self.helpers.clear()

    def _name(self, want: Want) -> str:
        return find(self.studies[want.study].rows[want.row].reference).name

    def _turned(self, number: int) -> list[Want]:
        """The list from its end; every helper begins elsewhere."""
        wants = [*reversed(self.missing.values())]
        first = number * len(wants) // max(1, self.count)
        return wants[first:] + wants[:first]

    def _compile(self) -> None:
        for wait in (False, True):
            compile_missing(self.missing, wait, self.tried.add if wait else _nothing, self.stopped.is_set)


def warm(studies: Sequence[Specification], workers: int | None = None, progress: Progress | None = None) -> int:
    """Compile all that these studies need and that is missing; how many engines that were."""
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


def _nothing(engine: Engine) -> None:
    pass


def _helper(studies: Sequence[Specification], wants: list[Want]) -> subprocess.Popen:
    paths = {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    helper = subprocess.Popen(
        [sys.executable, "-P", "-m", "coterie.studies.ahead"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | paths,
        start_new_session=True,
    )  # fmt: skip
    assert helper.stdin
    with contextlib.suppress(OSError):  # it is gone already: then there is one less
        pickle.dump(([pack(study) for study in studies], wants), helper.stdin)
        helper.stdin.flush()
    return helper


def main() -> None:
    """A helper."""
    packed, wants = pickle.load(sys.stdin.buffer)
    start(_end_with_the_input)
    studies = [unpack(study) for study in packed]
    engines = (engine_for(studies, want) for want in wants)
    compile_missing((engine for engine in engines if engine), False, _nothing)
    os._exit(0)


def _end_with_the_input() -> None:
    sys.stdin.buffer.read(1)
    os._exit(0)


if __name__ == "__main__":
    main()
