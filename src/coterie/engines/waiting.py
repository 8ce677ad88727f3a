"""Waiting for compiled code so that Ctrl-C is heard.

Only the main thread hears it, and not while it is inside compiled code or the compiler. So neither is ever the main thread's
business: it waits for another thread. A thread that is given up is told to stop by its pulse, which engines look at after every
round; one that is inside the compiler sees it later. Nobody waits for those: they are daemons.
"""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

import numpy as np

from coterie.engines.memory import STOPPED

TICK = 0.2  # seconds after which a waiting thread looks up, on systems where nothing else wakes it
FAREWELL = 0.3  # seconds that threads are given to stop


class GivenUp(Exception):
    """A run that was told to stop: it has no results."""


def call(run: Callable[..., Any], arguments: tuple, pulse: np.ndarray, compiled: bool = True) -> None:
    """Call an engine, from any thread."""
    if not compiled or threading.current_thread() is not threading.main_thread():
        run(*arguments)
    else:
        _apart(lambda: run(*arguments), pulse)
    if pulse[STOPPED]:
        raise GivenUp


def _apart(work: Callable[[], Any], pulse: np.ndarray) -> None:
    answers: SimpleQueue[BaseException | None] = SimpleQueue()

    def worked() -> None:
        try:
            work()
            answers.put(None)
        except BaseException as error:
            answers.put(error)

    helpers = list[threading.Thread]()
    try:
        helpers.append(start(worked))
        error = next_of(answers)
    except BaseException:  # from the first moment on: the helper must not be left to itself
        pulse[STOPPED] = 1
        part_from(helpers)
        raise
    if error is not None:
        raise error


def next_of(answers: "SimpleQueue[Any]") -> Any:
    """From a queue, with a time limit: an interrupt leaves no lock taken, and is heard on every system."""
    while True:
        try:
            return answers.get(timeout=TICK)
        except Empty:
            continue


def start(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def part_from(threads: list[threading.Thread]) -> None:
    """Those that have been told to stop get a moment to do so."""
    end = monotonic() + FAREWELL
    for thread in threads:
        thread.join(max(0.0, end - monotonic()))
