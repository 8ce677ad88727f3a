"""What coroutines of a node wait for: that something happens, that an answer is given, that a time is over."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

Sleep = Callable[[float], Awaitable[Any]]


class Broadcast:
    """Wakes all who wait for the next time that something happens."""

    def __init__(self) -> None:
        self.event: asyncio.Event | None = None  # where somebody waits

    def wait(self) -> Awaitable[Any]:
        """From this call on."""
        self.event = self.event or asyncio.Event()
        return self.event.wait()

    def tell(self) -> None:
        if self.event:
            self.event.set()
            self.event = None


class Answers:
    """Those under way: questions and rewards that wait for the disk. Each is a `with` of its own."""

    def __init__(self) -> None:
        self.count, self.given = 0, Broadcast()

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *error: object) -> None:
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
