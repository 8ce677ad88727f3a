"""Worker threads that take pieces of work in their order, as far as these are ready to be worked on.

They are daemons, and whoever started them does nothing but wait: an interrupt is answered at once, not when a piece is done.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from coterie.engines.compiled import compiling
from coterie.engines.memory import PLAYED, STOPPED, make_pulse
from coterie.kernel.waiting import TICK, part_from, start

Work = Callable[[Any, np.ndarray], Any]  # a piece and its pulse
LOOK = 0.05  # seconds after which a thread looks again whether a piece is ready


class Crew:
    def __init__(self, work: Work, pieces: Iterable[Any], workers: int, is_ready: Callable[[Any], bool] = lambda piece: True):
        self.work, self.waiting, self.is_ready, self.lock = work, deque(pieces), is_ready, threading.Lock()
        self.answers: SimpleQueue[tuple[Any, Any, BaseException | None]] = SimpleQueue()
        self.pulses: dict[Any, np.ndarray] = {}  # of pieces that were begun and not yet handed out
        self.stopped = threading.Event()
        self.workers, self.threads = min(workers, len(self.waiting)), list[threading.Thread]()

    def start(self) -> None:
        for _ in range(self.workers):
            self.threads.append(start(self._take))

    def _take(self) -> None:
        while self.waiting and not self.stopped.is_set():
            piece = self._first_ready()
            if piece is None:
                self.stopped.wait(LOOK)
                continue
            self.pulses[piece] = pulse = make_pulse()
            try:
                self.answers.put((piece, self.work(piece, pulse), None))
            except BaseException as error:
                self.answers.put((piece, None, error))

    def _first_ready(self) -> Any:
        with self.lock:
            piece = next((piece for piece in self.waiting if self.is_ready(piece)), None)
            if piece is not None:
                self.waiting.remove(piece)
            return piece

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

    def note(self) -> str:
        """What holds pieces up."""
        return str(compiling() or "")

    def stop(self) -> None:
        """Whatever is still at work is given up."""
        self.stopped.set()
        for pulse in list(self.pulses.values()):
            pulse[STOPPED] = 1
        part_from(self.threads)
