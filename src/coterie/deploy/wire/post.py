"""Brings a member's words to the broker, and those of others from it: each is sent and heard once, in the order of its lane.

Sending is compare-and-swap on the lane's last word. If the lane has moved on, its last word tells why:

    own bytes                      they are there: the answer was lost
    own signature, unknown bytes   another process speaks with these keys, and this one stops (6); at a start, if there are
                                   releases that the ledger does not know, it is an old copy (4)
    no own signature               junk, such as a broker's acknowledgement: step over it
    nothing, or less than was sent  the broker lost its tail: send again from the outbox, which is kept

A word that is sent before others bears the mark of the last of them, signed. So a lane that ends in the middle, because its
sender was killed there, still tells an old copy of it.

Nobody is stopped by what others write. A member with a new key finds only junk in its lanes and sends all of them again.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any

from coterie.deploy.federation import Federation
from coterie.deploy.keys import Keys
from coterie.deploy.stores import Store, ledger
from coterie.deploy.wire.accept import Accepted, Gate
from coterie.deploy.wire.envelope import SIGNATURE, Envelope, decode, is_signed, sealer, signed
from coterie.deploy.wire.hello import hello, read_hello
from coterie.deploy.wire.lanes import SAY
from coterie.deploy.wire.wire import Delivery, Passed, Unreachable, Wire
from coterie.errors import AuthError, FencedError, StateError, StorageError

DIGEST = sha256().digest_size
MOMENT = 0.1  # seconds in which a task that was cancelled ends
PAUSE_FIRST, PAUSE_MOST = 0.05, 5.0  # seconds between two attempts to reach the broker
PROOFS_MOST = 3  # that a member is behind: nobody can make another fill its outbox
REMINDERS = [2**n for n in range(12)]  # quiet moments with the same gaps in lanes after which their senders are told again


class Lane:
    """How far one of the own lanes is."""

    def __init__(self, name: str, subject: str):
        self.name, self.subject = name, subject
        self.number: int | None = None  # of its last word in the stream; None: to be looked up
        self.known = False  # it was looked at, and ended with nothing unknown
        self.sent = 0  # words of it that the broker has
        self.claim = 0  # the number of this start's hello in it
        self.again: int | None = None  # somebody lacks what comes after this one
        self.waiting = 0
        self.news = asyncio.Event()

    @property
    def claimed(self) -> bool:
        return 0 < self.claim <= self.sent


class Post:
    """All of a member's lanes, from its start to its end."""

    def __init__(
        self, federation: Federation, name: str, keys: Keys, wire: Wire, store: Store, node: Any, incarnation: int,
        pause: Callable[[float], Awaitable[Any]] = asyncio.sleep, entropy: Callable[[int], bytes] = os.urandom,
    ):  # fmt: skip
        self.name, self.keys, self.wire, self.store, self.node, self.pause = name, keys, wire, store, node, pause
        self.entropy = entropy
        self.gate, self.seal = Gate(federation, name), sealer(federation, name, incarnation)
        lanes = self.gate.lanes
        self.own = {lane: Lane(lane, lanes.subject(lane)) for lane in lanes.own}
        self.whole: dict[str, int] = {}  # of each lane that is heard: words without a gap
        self.beyond: dict[str, set[int]] = {}  # and those that came before others
        self.answered = Counter[str]()
        self.listening, self.claimed = False, asyncio.Event()

    async def run(self) -> None:
        """Until it is cancelled, or must stop: FencedError, StateError, AuthError, StorageError."""
        await self._look_back()
        await self._say_hello(list(self.own), claim=True)
        works = [self._receive(), self._listen_to_the_node(), self._start_again(), *map(self._send, self.own.values())]
        tasks = [asyncio.create_task(work) for work in works]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)  # none of them ends but by an error
            ended.pop().result()
        finally:
            await end(tasks)

    # --- sending --------------------------------------------------------------------------------------

    async def _send(self, lane: Lane) -> None:
        pause = PAUSE_FIRST
        while True:
            lane.news.clear()
            try:
                while await self._send_what_waits(lane):
                    pause = PAUSE_FIRST
                self._reached()
                self._check_claim()
            except (Unreachable, AuthError) as why:
                self._away(why)
                lane.number = None
                await self.pause(pause)
                pause = min(2 * pause, PAUSE_MOST)
            else:
                await lane.news.wait()

    async def _send_what_waits(self, lane: Lane) -> bool:
        """False: the broker has all there is, or not all lanes were looked at yet.

        Before that nothing is said in any: an old copy would claim those in which it has missed nothing, and so stop the true
        one for ever.
        """
        if lane.number is None:
            await self._look(lane)
        if not all(each.known for each in self.own.values()):
            return False
        if lane.again is not None:
            lane.sent, lane.again = min(lane.sent, lane.again), None
        after = lane.sent
        words = await self.store.do(lambda c: ledger.outbox(c, lane.name, after))
        if self.node.holding:  # whatever has woken this lane; the tick will do so again
            return False
        for index, word in enumerate(words):
            self._unsent(lane, len(words) - index)
            assert lane.number is not None
            data, last = signed(self.keys.sign, lane.subject, word.body), words[-1]
            beyond = "" if word is last else signed(self.keys.sign, lane.subject, mark_of(word.body, last.body)).hex()
            try:
                lane.number = await self.wire.append(lane.subject, data, lane.number, beyond)
            except Passed:
                lane.number = None
                return True
            lane.sent = word.seq
        self._unsent(lane, 0)
        return bool(words) or lane.again is not None

    async def _look(self, lane: Lane) -> None:
        """What the lane ends with, and what follows from it."""
        last = await self.wire.last(lane.subject)
        lane.number = last.number
        if not last.number:
            lane.sent = 0
        elif self._is_mine(lane, last.data):
            lane.sent = await self._own_word(lane, last.data[SIGNATURE:], last.beyond)
        else:
            self.node.seen.reject("junk")
        if not lane.known:
            lane.known = True
            self._wake()

    async def _own_word(self, lane: Lane, envelope: bytes, beyond: str) -> int:
        """The number of a word that was said with the own key, if it is in the outbox as it is, and with it what came after."""
        found = decoded(envelope)
        if found is None or await self._said(lane, found.seq) != envelope or not await self._knows(lane, envelope, beyond):
            if not lane.known and await self._has_forgotten(lane):
                raise StateError(behind(self.name, "the broker"))
            raise FencedError(f"another process speaks with the keys of {self.name}; this one stops and releases nothing more")
        return found.seq

    async def _knows(self, lane: Lane, envelope: bytes, beyond: str) -> bool:
        """The word of a mark: it was in the outbox when this one was sent, maybe not for the first time.

        A mark that others have made says nothing.
        """
        try:
            mark = bytes.fromhex(beyond)
        except ValueError:
            return True
        about, last = mark[SIGNATURE:-DIGEST], mark[-DIGEST:]
        if not self._is_mine(lane, mark) or about != mark_of(envelope):
            return True
        words = await self.store.do(lambda c: ledger.outbox(c, lane.name))
        return any(sha256(word.body).digest() == last for word in words)

    async def _has_forgotten(self, lane: Lane) -> bool:
        """Whether it said in some lane what rests on releases that its ledger does not know."""
        if lane.claim == 1:  # it knows of no word at all
            return True
        for each in self.own.values():
            last = await self.wire.last(each.subject)
            found = decoded(last.data[SIGNATURE:]) if self._is_mine(each, last.data) else None
            if found is not None and not await self.store.do(partial(ledger.knows, head=found.head)):
                return True
        return False

    def _is_mine(self, lane: Lane, data: bytes) -> bool:
        return len(data) > SIGNATURE and is_signed(self.keys.sign.public_key(), lane.subject, data)

    async def _said(self, lane: Lane, seq: int) -> bytes | None:
        """One's own word of this number, as the outbox has it."""
        query = "SELECT body FROM outbox WHERE lane = ? AND seq = ?"
        row = await self.store.do(lambda c: c.execute(query, (lane.name, seq)).fetchone())
        return row and row[0]

    def _unsent(self, lane: Lane, waiting: int) -> None:
        lane.waiting = waiting
        self.node.seen.unsent = sum(each.waiting for each in self.own.values())

    async def _listen_to_the_node(self) -> None:
        while True:
            await self.node.outgoing.wait()
            self._wake()

    async def _start_again(self) -> None:
        """Another connection may lead to a broker that has lost its tail, and another stream may hold nothing at all."""
        while True:
            await self.wire.renewal()
            for lane in self.own.values():
                lane.number = None
            self._wake()

    def _wake(self) -> None:
        for lane in self.own.values():
            lane.news.set()

    def _check_claim(self) -> None:
        if self.listening and all(lane.claimed for lane in self.own.values()):
            self.claimed.set()

    def _reached(self) -> None:
        self.node.seen.connected = True
        self.node.seen.calm("broker")

    def _away(self, why: Exception) -> None:
        """At a start a key, certificate or permission that does not do is the end; later decisions go on without the broker."""
        if isinstance(why, AuthError) and not self.claimed.is_set():
            raise why
        self.node.seen.connected = False
        self.node.seen.alarm("broker", str(why))

    # --- hearing --------------------------------------------------------------------------------------

    async def _receive(self) -> None:
        """What was waiting comes first; then it is told what is missing even so."""
        caught_up, pause, quiet, before = False, PAUSE_FIRST, 0, dict[str, int]()
        while True:
            try:
                deliveries = await self.wire.receive(wait=caught_up)
                pause = PAUSE_FIRST
            except (Unreachable, AuthError) as why:
                self._away(why)
                await self.pause(pause)
                pause = min(2 * pause, PAUSE_MOST)
                continue
            self._reached()
            self.listening = True
            self._check_claim()
            await asyncio.gather(*map(self._take, deliveries))  # in one commit, in this order
            gaps = {lane: self.whole[lane] for lane, beyond in self.beyond.items() if beyond}
            quiet, before = (quiet + bool(gaps and not deliveries) if gaps == before else 0), gaps
            if not deliveries and (not caught_up or quiet in REMINDERS):
                caught_up = True
                await self._tell_what_is_missing()

    async def _take(self, delivery: Delivery) -> None:
        found = self.gate.accept(delivery.subject, delivery.data)
        if isinstance(found, Accepted):  # noted now, as others are judged before it is stored
            self.gate.note(found.message.lane, found.message.seq, found.envelope.incarnation)
            try:
                await self._store(found, delivery.data[:SIGNATURE])
            except StorageError as error:  # a full disk may clear: what is not acknowledged comes again
                if self.store.broken:
                    raise
                self.node.seen.alarm("storage", str(error))
                return
        else:
            self.node.seen.reject(found.reason)
            self.node.seen.alarm(found.reason, found.text)
        with suppress(Unreachable):  # it then comes again
            await delivery.acknowledge()

    async def _store(self, found: Accepted, signature: bytes) -> None:
        message = found.message
        kept = await self.node.receive(message, found.raw, signature)
        if kept == "other":
            self.node.seen.reject("other")
            self.node.seen.alarm("quarantine", f"{message.sender} said two different things as word {message.seq} of one lane")
            if self.answered[message.sender] < PROOFS_MOST:
                self.answered[message.sender] += 1
                await self._prove_behind(message.lane, message.sender)
        if kept == "new":
            self._count(message.lane, message.seq)
            if message.kind == "hello" and message.sender != self.name:
                await self._answer_hello(message.sender, message.body)

    def _count(self, lane: str, seq: int) -> None:
        beyond = self.beyond.setdefault(lane, set())
        beyond.add(seq)
        whole = self.whole.get(lane, 0)
        while whole + 1 in beyond:
            whole += 1
            beyond.remove(whole)
        self.whole[lane] = whole

    # --- hello ----------------------------------------------------------------------------------------

    async def _look_back(self) -> None:
        """What has come so far, by the inbox."""
        rows = await self.store.do(lambda c: c.execute("SELECT lane, COUNT(*), MAX(seq) FROM inbox GROUP BY lane").fetchall())
        for lane, count, last in rows:
            _, seq, envelope = await self._furthest(lane)
            self.gate.note(lane, seq, decode(envelope).incarnation)
            if count == last:
                self.whole[lane] = last
            else:
                await self._count_all(lane)

    async def _count_all(self, lane: str) -> None:
        query = "SELECT seq FROM inbox WHERE lane = ?"
        for (seq,) in await self.store.do(lambda c: c.execute(query, (lane,)).fetchall()):
            self._count(lane, seq)

    async def _furthest(self, lane: str) -> tuple[bytes, int, bytes]:
        """(signature, seq, envelope) of the last word of a lane that is heard."""
        query = "SELECT signature, seq, body FROM inbox WHERE lane = ? ORDER BY seq DESC LIMIT 1"
        return await self.store.do(lambda c: c.execute(query, (lane,)).fetchone())

    async def _say_hello(self, lanes: list[str], claim: bool = False, **told: Any) -> None:
        def put(c: Any) -> dict[str, int]:
            last, head = ledger.lanes(c), ledger.head(c)
            state = ledger.last_state(c)
            said = [ledger.Said(lane, last.get(lane, 0) + 1, b"") for lane in lanes]
            word = hello(state.turn if state else 0, entropy=self.entropy, **told)
            ledger.put_outbox(c, [each._replace(body=self.seal(each.lane, each.seq, word, head)) for each in said])
            return {each.lane: each.seq for each in said}

        for lane, seq in (await self.store.do(put)).items():
            if claim:
                self.own[lane].claim = seq
            self.own[lane].news.set()

    async def _tell_what_is_missing(self) -> None:
        """Each sender, what has come of its words; who has said more says it again."""
        senders = sorted({sender for _, sender in self.gate.lanes.heard.values()} - {self.name})
        whole = {name: (self.whole.get(f"say.{name}", 0), self.whole.get(f"to.{name}", 0)) for name in senders}
        direct = [lane for lane in self.own if lane != SAY]
        for lane in direct:
            await self._say_hello([lane], whole={name: told for name, told in whole.items() if lane == f"to.{name}"})
        if rest := {name: told for name, told in whole.items() if f"to.{name}" not in direct}:
            await self._say_hello([SAY], whole=rest)
        if self.beyond.get(f"say.{self.name}"):
            self._say_again(SAY, self.whole[f"say.{self.name}"])

    async def _prove_behind(self, lane: str, sender: str) -> None:
        """Show a member its own last word: if it has forgotten it, it is an old copy of itself."""
        row = await self._furthest(lane)
        mine = f"to.{sender}" if f"to.{sender}" in self.own else SAY
        told = SAY if lane.startswith("say.") else f"to.{self.name}"
        await self._say_hello([mine], proof=row[0] + row[2], lane=told)

    async def _answer_hello(self, sender: str, body: bytes) -> None:
        said = read_hello(body)
        if said is None:
            self.node.seen.reject("form")
            return
        if said.proof and said.lane in self.own:
            lane = self.own[said.lane]
            if self._is_mine(lane, said.proof):
                await self._check_proof(lane, said.proof[SIGNATURE:], sender)
        for lane_name, whole in zip((SAY, f"to.{sender}"), said.whole.get(self.name, ()), strict=False):
            self._say_again(lane_name, whole)

    def _say_again(self, lane_name: str, whole: int) -> None:
        """What comes after the words that are there without a gap."""
        if lane_name in self.own and 0 <= whole < self.own[lane_name].sent:
            self.own[lane_name].again = whole
            self.own[lane_name].news.set()

    async def _check_proof(self, lane: Lane, envelope: bytes, sender: str) -> None:
        found = decoded(envelope)
        if found is None or await self._said(lane, found.seq) != envelope:
            raise StateError(behind(self.name, sender))


async def end(tasks: list[asyncio.Task]) -> None:
    """More than one cancellation may be needed: that of a request whose answer comes at the same moment is lost.

    Who waits here may be cancelled as well, and not only once: that has to wait, or tasks would be left to themselves.
    """
    cancelled: asyncio.CancelledError | None = None
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        try:
            await asyncio.wait(waiting, timeout=MOMENT)
        except asyncio.CancelledError as error:
            cancelled = error
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it was looked at: the first one is what counts
    if cancelled:
        raise cancelled


def mark_of(word: bytes, *last: bytes) -> bytes:
    """That the last of some words was to follow this one. It is no word itself."""
    return b"beyond" + b"".join(sha256(each).digest() for each in (word, *last))


def decoded(envelope: bytes) -> Envelope | None:
    """None: no member of ours has written it, whoever has signed it."""
    try:
        return decode(envelope)
    except (ValueError, RecursionError):  # a text that is not UTF-8 is not the library's own error
        return None


def behind(name: str, who: str) -> str:
    return f"the ledger of {name} is older than what {who} has from it: a restored copy releases nothing, as it would pay twice"
