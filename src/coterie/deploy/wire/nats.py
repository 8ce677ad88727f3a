"""The wire over a NATS server with JetStream.

Lost connections are made again here and not by the library, which would send from a buffer of its own what was written
meanwhile. The library shows a denied subject only beside the call that then times out, so it is remembered here.
"""

import asyncio
import json
import logging
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

# A broker that hangs up is told by the client; the loop below it would also print a line about its own workings.
logging.getLogger("asyncio").addFilter(lambda record: "eof_received() has no effect when using ssl" not in record.getMessage())

PATIENCE = 2.0  # seconds for an answer
LINGER = 5.0  # seconds for words to come
BATCH = 256
PULL = 30.0  # seconds that a request for words stands
BEAT = 0.5  # seconds after which the broker says that it still does; by that it finds out whose connection is gone
SILENCE = LINGER  # seconds without a word or a beat after which nobody has it any more: a reload forgets all requests
ONCE: Any = {"allow_reconnect": False, "max_reconnect_attempts": 1, "reconnect_time_wait": 0, "connect_timeout": PATIENCE}
WRONG_LAST = (10071, 10164)  # the server's codes for a lane that has moved on
DENIED = re.compile(r'permissions violation for (?:publish|subscription) to "([^"]+)"', re.IGNORECASE)
BEATS, ENDS, NOBODY = ("100",), ("404", "408"), "503"  # statuses: it stands, it is over, and there is nobody to ask
BEYOND = "Coterie-Beyond"  # a header
ABOUT = "$JS.API.INFO"  # what an account may store
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
        self.arrived: asyncio.Queue[Msg | Unreachable] = asyncio.Queue()
        self.asked_until, self.asked = 0.0, 0  # of the standing request for words
        self.sign, self.unanswered = 0.0, 0  # when it last gave a sign of life; requests in a row that gave none
        self.one_by_one = 0  # words that are asked for singly, as an empty one has ended a request
        self.dead, self.inboxes = False, 0  # a request of which the broker believes that it stands; inboxes for words so far
        self.gone = False  # the stream or the consumer was not there
        self.denied: set[str] = set()  # subjects that the broker does not grant, as the library tells them: in lower case
        self.error: Exception | None = None  # the last that the library told
        self.lost = asyncio.Event()
        self.connecting, self.renewed = asyncio.Lock(), asyncio.Event()

    # --- the wire -------------------------------------------------------------------------------------

    async def append(self, subject: str, data: bytes, after: int, beyond: str = "") -> int:
        headers = {"Nats-Expected-Last-Subject-Sequence": str(after), "Nats-Expected-Stream": self.stream}
        headers |= {BEYOND: beyond} if beyond else {}
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
        return Last(int(headers["Nats-Sequence"]), found.data, headers.get(BEYOND, ""))

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
        for each in found:
            if isinstance(each, Unreachable):
                raise each
        return [Delivery(each.subject, each.data, self._acknowledge(each)) for each in found if isinstance(each, Msg)]

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

    async def has_streams(self) -> bool:
        """Whether the member's account has any: then an answer that is sent to one is a request. Unreachable, AuthError."""
        try:
            return "error" not in json.loads((await self._request(ABOUT, b"")).data)
        except NobodyThere:
            return False

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
        self.denied, self.asked, self.unanswered = set(), 0, 0
        self.arrived, self.lost = asyncio.Queue(), asyncio.Event()
        arrived, lost = self.arrived, self.lost

        async def closed() -> None:
            lost.set()
            arrived.put_nowait(Unreachable("the connection to the broker was lost"))

        try:
            client = await nats.connect(
                self.address, nkeys_seed_str=self.seed, tls=self.trust, inbox_prefix=self.inbox, name=self.name,
                ping_interval=5, max_outstanding_pings=2, error_cb=self._note_error, closed_cb=closed, **ONCE,
            )  # fmt: skip
            await self._open_inbox(client)
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
            raise NobodyThere(self._no_stream()) from None
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
        silent = self.asked > 0 and now > self.sign + SILENCE
        if silent and self.unanswered:
            self.asked = 0
            self._miss()
            raise Unreachable("the broker does not answer a request for words")
        batch = 1 if self.one_by_one else 2 * BATCH
        if self.asked > batch // 4 and now < self.asked_until and not silent:
            return
        wanted = {"batch": batch, "expires": int(PULL * 1e9), "idle_heartbeat": int(BEAT * 1e9)}
        self.asked, self.asked_until, self.sign = batch, now + PULL - LINGER, now
        self.unanswered += silent
        try:
            if silent or self.dead:
                await self.words.unsubscribe()
                await self._open_inbox(client)
            await client.publish(self.next_words, json.dumps(wanted).encode(), reply=self.words.subject)
        except (nats.errors.Error, OSError):
            raise Unreachable("the connection to the broker was lost") from None

    async def _open_inbox(self, client: Client) -> None:
        """A new one for each request that follows a dead one, which would take words as long as somebody listens there."""
        arrived = self.arrived

        async def take(message: Msg) -> None:
            self._take(message, arrived)

        self.dead, self.inboxes = False, self.inboxes + 1
        self.words = await client.subscribe(f"{self.inbox}.words.{self.inboxes}", cb=take)

    def _take(self, message: Msg, arrived: asyncio.Queue[Msg | Unreachable]) -> None:
        self.sign, self.unanswered = asyncio.get_running_loop().time(), 0
        status = None if message.reply else (message.headers or {}).get("Status")
        if status in (None, *BEATS, *ENDS):
            self._find()
        if status is None:
            self.asked -= 1
            self.one_by_one = max(self.one_by_one - 1, 0)
            if not message.data and not message.headers:
                self.asked, self.dead = 0, True  # to a server such an answer is the last: what follows it is lost
                self.one_by_one = 2 * BATCH
            arrived.put_nowait(message)
        elif status not in BEATS:
            self.asked = 0
            if status not in ENDS:
                self._miss()
                why = str((message.headers or {}).get("Description", ""))
                none = status == NOBODY or "Deleted" in why
                arrived.put_nowait(Unreachable(self._no_stream() if none else f"the broker gives no words: {why}"))

    def _miss(self) -> None:
        """There is no stream or no consumer. Whatever comes in their place may hold less."""
        self.gone = True
        self.renewed.set()

    def _find(self) -> None:
        """They are there. If they were gone, what the lanes held until now may not be."""
        if self.gone:
            self.gone = False
            self.renewed.set()

    def _no_stream(self) -> str:
        return f"the broker has no stream {self.stream} for this run, or no consumer: `coterie federation broker` makes them"

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
