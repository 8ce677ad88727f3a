"""The wire over a NATS server with JetStream.

Lost connections are made again here and not by the library, which would send from a buffer of its own what was written
meanwhile. The library shows a denied subject only beside the call that then times out, so it is remembered here.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from coterie.deploy.federation import Federation
from coterie.deploy.keys import Keys
from coterie.deploy.wire.lanes import Lanes
from coterie.deploy.wire.wire import Delivery, Last, Passed, Unreachable
from coterie.errors import AuthError, UsageError

PATIENCE = 2.0  # seconds for an answer
LINGER = 5.0  # seconds for words to come
BATCH = 256
PULL = 30.0  # seconds that a request for words stands
ONCE: Any = {"allow_reconnect": False, "max_reconnect_attempts": 1, "reconnect_time_wait": 0, "connect_timeout": PATIENCE}
WRONG_LAST = (10071, 10164)  # the server's codes for a lane that has moved on
DENIED = re.compile(r'permissions violation for (?:publish|subscription) to "([^"]+)"', re.IGNORECASE)
REFUSED = ("authorization violation", "authentication", "user authentication")


class NobodyThere(Unreachable):
    """The broker answers, but has nobody to whom this could go."""


class NatsWire:
    """`inbox`: where answers go, where somebody else may have the member's own."""

    def __init__(self, federation: Federation, name: str, keys: Keys, inbox: str | None = None):
        assert federation.broker is not None
        lanes = Lanes(federation, name)
        self.name, self.seed, self.stream, self.address = name, keys.seed, lanes.stream, federation.broker.address
        self.trust = trust_of(federation)
        self.client: Client | None = None
        self.inbox = f"_INBOX_{name}" + (f".{inbox}" if inbox else "")
        self.next_words = f"$JS.API.CONSUMER.MSG.NEXT.{lanes.stream}.{name}"
        self.arrived: asyncio.Queue[Msg | None] = asyncio.Queue()
        self.asked_until, self.asked = 0.0, 0  # of the standing request for words
        self.denied: set[str] = set()  # subjects that the broker does not grant, as the library tells them: in lower case
        self.error: Exception | None = None  # the last that the library told
        self.lost = asyncio.Event()
        self.connecting, self.renewed = asyncio.Lock(), asyncio.Event()

    # --- the wire -------------------------------------------------------------------------------------

    async def append(self, subject: str, data: bytes, after: int) -> int:
        headers = {"Nats-Expected-Last-Subject-Sequence": str(after), "Nats-Expected-Stream": self.stream}
        answer = json.loads((await self._request(subject, data, headers)).data)
        if error := answer.get("error"):
            if error.get("err_code") in WRONG_LAST:
                raise Passed
            raise Unreachable(f"the broker does not take a word: {error.get('description')}")
        return int(answer["seq"])

    async def last(self, subject: str) -> Last:
        found = await self._request(f"$JS.API.DIRECT.GET.{self.stream}.{subject}", b"")
        headers = found.headers or {}
        if headers.get("Status") == "404":
            return Last()
        if "Nats-Sequence" not in headers:
            raise Unreachable(f"the broker does not show a lane: {headers.get('Description', 'no reason given')}")
        return Last(int(headers["Nats-Sequence"]), found.data)

    async def receive(self, wait: bool) -> list[Delivery]:
        client = await self._connected()
        await self._ask_for_words(client)
        try:
            async with asyncio.timeout(LINGER if wait else PATIENCE / 4):  # wait_for may swallow a cancellation
                found = [await self.arrived.get()]
        except TimeoutError:
            self._check_denied(self.next_words)
            return []
        while len(found) < BATCH and not self.arrived.empty():
            found.append(self.arrived.get_nowait())
        if None in found:
            raise Unreachable("the connection to the broker was lost")
        return [Delivery(message.subject, message.data, self._acknowledge(message)) for message in found if message]

    async def renewal(self) -> None:
        await self.renewed.wait()
        self.renewed.clear()

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()

    # --- for who only looks ---------------------------------------------------------------------------

    async def answers(self, subject: str, data: bytes) -> bool:
        """Whether there is anybody to answer such a request, whatever the answer is. Unreachable, AuthError."""
        try:
            await self._request(subject, data)
        except NobodyThere:
            return False
        return True

    async def denials(self, publish: list[str], subscribe: list[str], data: bytes, headers: dict[str, str]) -> set[str]:
        """Those of these subjects that the broker does not grant. Unreachable."""
        client = await self._connected()
        try:
            for subject in publish:
                await client.publish(subject, data, reply=f"{self.inbox}.nobody", headers=headers)
            for subject in subscribe:
                await client.subscribe(subject)
            for _ in range(2):  # the library's first ping overtakes what it has buffered; after the second all is answered
                await client.flush(int(PATIENCE))
        except (TimeoutError, nats.errors.Error, OSError):
            raise Unreachable("the broker does not answer") from None
        return {subject for subject in (*publish, *subscribe) if subject.lower() in self.denied}

    # --- connections ----------------------------------------------------------------------------------

    async def _connected(self) -> Client:
        async with self.connecting:
            if self.client is None or not self.client.is_connected:
                again = self.client is not None
                if self.client is not None and not self.client.is_closed:
                    await self.client.close()
                self.client = await self._connect()
                if again:
                    self.renewed.set()
        return self.client

    async def _connect(self) -> Client:
        self.denied, self.asked, self.arrived, self.lost = set(), 0, asyncio.Queue(), asyncio.Event()
        arrived, lost = self.arrived, self.lost

        async def take(message: Msg) -> None:
            self._take(message, arrived)

        async def closed() -> None:
            lost.set()
            arrived.put_nowait(None)

        try:
            client = await nats.connect(
                self.address, nkeys_seed_str=self.seed, tls=self.trust, inbox_prefix=self.inbox, name=self.name,
                ping_interval=5, max_outstanding_pings=2, error_cb=self._note_error, closed_cb=closed, **ONCE,
            )  # fmt: skip
            await client.subscribe(f"{self.inbox}.words", cb=take)
            return client
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", None) or error.reason
            raise AuthError(f"broker.address {self.address}: its certificate does not do: {why}") from None
        except (TimeoutError, nats.errors.Error, OSError) as error:
            if any(words in str(error).lower() for words in REFUSED):
                raise AuthError(f"the broker at {self.address} does not know the key of {self.name}") from None
            raise Unreachable(f"the broker at {self.address} does not answer") from None

    async def _request(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> Msg:
        client = await self._connected()
        try:
            return await self._unless_lost(client.request(subject, data, timeout=PATIENCE, headers=headers))
        except nats.errors.NoRespondersError:
            wanted = "`coterie federation broker` makes it"
            raise NobodyThere(f"the broker has no stream {self.stream} for this run: {wanted}") from None
        except (TimeoutError, nats.errors.Error, OSError):
            self._check_denied(subject)
            raise Unreachable("the broker does not answer") from None

    async def _unless_lost(self, request: Coroutine[Any, Any, Msg]) -> Msg:
        """Nobody waits for an answer over a connection that is gone."""
        asked, lost = asyncio.ensure_future(request), asyncio.ensure_future(self.lost.wait())
        try:
            await asyncio.wait((asked, lost), return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            raise Unreachable("the connection to the broker was lost")
        finally:
            for task in (asked, lost):
                task.cancel()

    async def _note_error(self, error: Exception) -> None:
        self.error = error
        if found := DENIED.search(str(error)):
            self.denied.add(found[1].lower())

    def _check_denied(self, subject: str) -> None:
        if subject.lower() in self.denied:
            raise AuthError(f"the broker does not grant {self.name} the subject {subject}: is it set up for this file?")

    # --- words for this member ------------------------------------------------------------------------

    async def _ask_for_words(self, client: Client) -> None:
        """Keep a request standing, so that a word comes as soon as it is there."""
        now = asyncio.get_running_loop().time()
        if self.asked > BATCH // 2 and now < self.asked_until:
            return
        wanted = json.dumps({"batch": 2 * BATCH, "expires": int(PULL * 1e9)}).encode()
        self.asked, self.asked_until = 2 * BATCH, now + PULL - LINGER
        try:
            await client.publish(self.next_words, wanted, reply=f"{self.inbox}.words")
        except (nats.errors.Error, OSError):
            raise Unreachable("the connection to the broker was lost") from None

    def _take(self, message: Msg, arrived: asyncio.Queue[Msg | None]) -> None:
        if message.headers and "Status" in message.headers and not message.reply:
            self.asked = 0  # the request has ended: for what reason does not matter, the next one finds out
        else:
            self.asked -= 1
            arrived.put_nowait(message)

    def _acknowledge(self, message: Msg) -> Callable[[], Awaitable[None]]:
        async def acknowledge() -> None:
            try:
                await message.ack()
            except (nats.errors.Error, OSError):
                raise Unreachable("the connection to the broker was lost") from None

        return acknowledge


def trust_of(federation: Federation) -> ssl.SSLContext | None:
    """Which certificates count: those of the file's authority, else those of the system. None: no TLS, on this machine."""
    broker = federation.broker
    if broker is None or not broker.address.startswith("tls:"):
        return None
    path = None if broker.ca is None else Path(federation.folder) / broker.ca
    try:
        return ssl.create_default_context(cafile=path)
    except (OSError, ssl.SSLError):
        raise UsageError(f"{federation.place}: broker.ca must be the path of a certificate, got {broker.ca!r}") from None
