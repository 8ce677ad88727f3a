"""What coroutines of a node wait for: that something happens, that an answer is given, that a time is over."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

Sleep = Callable[[float], Awaitable[Any]]


class Broadcast:
    """Wakes all who wait for the next time that something happens."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def wait(self) -> Awaitable[Any]:
        """From this call on."""
        return self.event.wait()

    def tell(self) -> None:
        self.event.set()
        self.event = asyncio.Event()


class Answers:
    """Those under way: questions and rewards that wait for the disk."""

    def __init__(self) -> None:
        self.count, self.given = 0, Broadcast()

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1
            self.given.tell()

    async def next(self) -> None:
        """Until one of them is given; at once where there is none."""
        if self.count:
            await self.given.wait()


async def within(happens: Awaitable[Any], seconds: float | None, sleep: Sleep) -> bool:
    """Whether it happens before so many seconds are over."""
    if seconds is None:
        await happens
        return True
    tasks = [asyncio.ensure_future(each) for each in (happens, sleep(seconds))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
