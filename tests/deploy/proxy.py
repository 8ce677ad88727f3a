"""A network between a member and the broker that does what networks do: it cuts, stalls, delays, narrows and partitions."""

import asyncio
import contextlib
import random


class Proxy:
    """Every connection to `port` goes on to the broker's, as long as it lasts."""

    def __init__(self, target):
        self.target, self.port, self.server = target, 0, None
        self.links = set()
        self.open = asyncio.Event()
        self.open.set()
        self.parted, self.delay, self.bytes_a_second = False, 0.0, 0.0
        self.cuts = 0

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error):
        self.server.close()
        self.cut()

    def cut(self):
        """All connections end, in the middle of whatever is said."""
        for writer in self.links:
            self.cuts += 1
            writer.transport.abort()
        self.links.clear()

    def stall(self, stalled):
        """Connections stay, and nothing comes through."""
        if stalled:
            self.open.clear()
        else:
            self.open.set()

    def part(self, parted):
        self.parted = parted
        if parted:
            self.cut()

    async def _serve(self, reader, writer):
        if self.parted:
            writer.transport.abort()
            return
        with contextlib.suppress(OSError):
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.target)
            self.links |= {writer, other_writer}
            await asyncio.gather(self._carry(reader, other_writer), self._carry(other_reader, writer))
        writer.transport.abort()

    async def _carry(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while data := await reader.read(4096):
                await self.open.wait()
                if self.delay or self.bytes_a_second:
                    await asyncio.sleep(self.delay + (len(data) / self.bytes_a_second if self.bytes_a_second else 0.0))
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


async def trouble(proxies, seed, pause=0.05):
    """One thing after the other, until it is cancelled."""
    rng = random.Random(seed)
    done = dict.fromkeys(("cut", "stall", "delay", "narrow", "part"), 0)
    try:
        while True:
            proxy, what = rng.choice(proxies), rng.choice(list(done))
            done[what] += 1
            if what == "cut":
                proxy.cut()
            elif what == "delay":
                proxy.delay = 0.02 - proxy.delay
            elif what == "narrow":
                proxy.bytes_a_second = 50_000.0 if not proxy.bytes_a_second else proxy.bytes_a_second / 2
                if proxy.bytes_a_second < 10_000:
                    proxy.bytes_a_second = 0.0
            else:
                switch = proxy.stall if what == "stall" else proxy.part
                switch(True)
                await asyncio.sleep(pause * rng.random() * 4)
                switch(False)
            await asyncio.sleep(pause * rng.random() * 2)
    finally:
        for proxy in proxies:
            proxy.stall(False)
            proxy.part(False)
            proxy.delay = proxy.bytes_a_second = 0.0
