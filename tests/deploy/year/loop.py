"""A loop whose time passes only when everybody waits: a year takes as long as what happens in it."""

import asyncio
import selectors


class Stuck(Exception):
    """Everybody waits, and nothing will ever happen."""


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.seconds = 0.0
        super().__init__(_Passing(self))
        self._clock_resolution = 1e-6  # sums of times are rounded

    def time(self) -> float:
        return self.seconds


class _Passing(selectors.SelectSelector):
    """Instead of waiting for the system."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self.loop = loop

    def select(self, timeout: float | None = None) -> list:
        if timeout is None:
            raise Stuck
        self.loop.seconds += max(0.0, timeout)
        return []
