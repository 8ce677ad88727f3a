"""Waiting for compiled code so that Ctrl-C is heard.

Only the main thread hears it, and not while it is inside compiled code or the compiler. So neither is ever the main thread's
business: it waits for another thread. Nobody waits for one that is given up: it is a daemon.
"""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

TICK = 0.2  # seconds after which a waiting thread looks up, on systems where nothing else wakes it
FAREWELL = 0.3  # seconds that threads are given to stop


def elsewhere(work: Callable[[], Any], give_up: Callable[[], None] = lambda: None) -> Any:
    """What `work` gives, called from any thread and done by one that is not the main one."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def worked() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:
            answers.put((None, error))

    helpers = list[threading.Thread]()
    try:
        helpers.append(start(worked))
        result, error = next_of(answers)
    except BaseException:  # from the first moment on: the helper must not be left to itself
        give_up()
        part_from(helpers)
        raise
    if error is not None:
        raise error
    return result


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
