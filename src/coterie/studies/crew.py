"""Worker threads that take pieces of work in their order.

They are daemons, and whoever started them does nothing but wait: an interrupt is answered at once, not when a piece is done.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from coterie.engines.memory import PLAYED, STOPPED, make_pulse
from coterie.engines.waiting import TICK, part_from, start

Work = Callable[[Any, np.ndarray], Any]  # a piece and its pulse


class Crew:
    def __init__(self, work: Work, pieces: Iterable[Any], workers: int):
        self.work, self.waiting = work, deque(pieces)
        self.answers: SimpleQueue[tuple[Any, Any, BaseException | None]] = SimpleQueue()
        self.pulses: dict[Any, np.ndarray] = {}  # of pieces that were begun and not yet handed out
        self.stopped = threading.Event()
        self.workers, self.threads = min(workers, len(self.waiting)), list[threading.Thread]()

    def start(self) -> None:
        for _ in range(self.workers):
            self.threads.append(start(self._take))

    def _take(self) -> None:
        while not self.stopped.is_set():
            try:
                piece = self.waiting.popleft()
            except IndexError:
                return
            self.pulses[piece] = pulse = make_pulse()
            try:
                self.answers.put((piece, self.work(piece, pulse), None))
            except BaseException as error:
                self.answers.put((piece, None, error))

    def next(self) -> tuple[Any, Any] | None:
        """A piece that is done, with what came of it; None: there is nothing yet. What went wrong with it is raised here."""
        try:
            piece, result, error = self.answers.get(timeout=TICK)
        except Empty:
            return None
        del self.pulses[piece]
        if error is not None:
            raise error
        return piece, result

    def played(self) -> dict[Any, int]:
        """Agent-rounds, of each piece that was begun."""
        return {piece: int(pulse[PLAYED]) for piece, pulse in list(self.pulses.items())}

    def stop(self) -> None:
        """Whatever is still at work is given up."""
        self.stopped.set()
        for pulse in list(self.pulses.values()):
            pulse[STOPPED] = 1
        part_from(self.threads)
