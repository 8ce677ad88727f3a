"""A node: questions and rewards of an application on one side, turns on the other, and what must be on disk in between.

An answer waits for one row on disk, and for nothing else: not for the broker, a peer or a release. A question can always be
answered: from the plan, else with an arm it waits for, else with the algorithm's `idle`.

Turns are advanced by a clock (see clocks), one coroutine that calls `hear`, `begin`, `played`, `end`. At the end of a turn that
releases, all is done in memory first, noise included; then the secret is committed, then what may be seen. In between nothing
of it is visible: answers and pages read what was there before. A turn that neither releases nor says anything needs no commit.
After a crash it happens again, from the same queue.
"""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from math import inf, isnan, nan
from typing import Any, Literal, NamedTuple, TypeVar

from coterie.deploy.desk import Desk
from coterie.deploy.federation import Federation
from coterie.deploy.journal import Note, pack
from coterie.deploy.mailbox import Mailbox
from coterie.deploy.message import Message, Word
from coterie.deploy.recovery import recover
from coterie.deploy.refusals import Unfit, UnknownDecision
from coterie.deploy.roles import SERVER, make_roles
from coterie.deploy.secure.sealing import Box
from coterie.deploy.seen import Seen
from coterie.deploy.stores import Store, ledger, rewards, secrets
from coterie.deploy.stores.chain import digest
from coterie.deploy.stores.persons import Persons
from coterie.deploy.view import View
from coterie.deploy.waiting import Answers, Broadcast, Sleep, within
from coterie.engines.chance import Chance
from coterie.engines.guard import refill
from coterie.engines.protocol import Event, Turn
from coterie.errors import ProtocolError, StorageError, UsageError, hint

KEY_BYTES_MOST = 200
UNCOMMITTED_MOST = 1000  # events and rewards before they are committed: a start plays their turns again
PASSES_MOST = 6  # of the event loop, that who told a reward waits for the next plan
PATIENCE = 60  # seconds that a full disk has to clear
CLOCK_SLACK = 60.0  # seconds that a clock may have been set back

R = TypeVar("R")
Seal = Callable[[str, int, Word, bytes], bytes]
Unseal = Callable[[str, bytes], Message]
Entropy = Callable[[int], bytes]


class Stores(NamedTuple):
    rewards: Store
    ledger: Store


class Decision(NamedTuple):
    """`learned`: whether its reward will be learned from."""

    id: str
    arm: int
    name: str
    learned: bool


class Node:
    """See `open`."""

    def __init__(
        self, federation: Federation, name: str, stores: Stores, now: Callable[[], float], seal: Seal, sleep: Sleep,
        chances: dict[str, Chance] | None, entropy: Entropy, persons: Persons | None,
    ):  # fmt: skip
        self.federation, self.name, self.stores, self.seal, self.sleep = federation, name, stores, seal, sleep
        self.entropy, self.persons = entropy, persons
        self.notes: list[Note] = []  # since the last commit, as are `words`
        self.words: list[Word] = []
        self.roles = make_roles(federation, name, chances, self.notes)
        self.agent: Any = self.roles.get("agent")  # a coordinator has none
        self.server: Any = self.roles.get(SERVER)
        self.desk = Desk(len(federation.arms), in_turn=not federation.method().node.commits)
        self.mail = Mailbox({})
        self.whose, self.origin = digest(federation.run, name), entropy(16)  # of rewards.db: see stores.secrets
        self.memo = b""  # what a clock has to remember; it is committed with the state
        self.box: Box | None = None  # to seal and open pieces of secure sums; who has the keys puts it here
        self.s, self.kept, self.secret = 0, self._give(), self._give_secret()
        self.shown: Any = self.agent and self.agent.open  # what answers and pages read
        self.stopped, self.withheld = False, set[int]()
        self.over = False  # said by a clock
        self.changed, self.outgoing, self.progress, self.answers = Broadcast(), Broadcast(), Broadcast(), Answers()
        self.writing = False  # a turn is on its way to the disk
        self.holding = False  # what was released is on disk, and nothing leaves before its tick
        self._now, self._latest = now, 0.0
        self._oldest = -inf  # no open decision was made before: the windows of none are looked at until that one's is over
        self._ids, self._asked = entropy(8).hex(), 0
        self._refused_since: float | None = None  # what was to be written
        self.seen = Seen(federation, name, self.now, self.changed.tell)

    @classmethod
    async def open(
        cls, federation: Federation, name: str, stores: Stores, now: Callable[[], float], *, seal: Seal, unseal: Unseal,
        sleep: Sleep = asyncio.sleep, chances: dict[str, Chance] | None = None, entropy: Entropy = os.urandom,
        persons: Persons | None = None,
    ) -> "Node":  # fmt: skip
        """Go on where the stores stand, or begin.

        now           seconds since 1970, never falling; read for the closing of windows and for pages
        seal, unseal  a word as the bytes that are kept and sent, and a message from those that came
        chances       of each role, where a test brings its own
        entropy       so many fresh bytes, for the names of decisions and whatever else must not come twice
        persons       the budget of persons, where the agent keeps one
        """
        node = cls(federation, name, stores, now, seal, sleep, chances, entropy, persons)
        await recover(node, unseal)
        return node

    def check_clock(self, latest: float) -> None:
        """Against the last decision or closing on disk."""
        self._latest = latest
        if (behind := latest - self._now()) > CLOCK_SLACK:
            raise UsageError(f"the clock must not be behind the last decision or closing, got one {behind:.0f} seconds behind")

    def now(self) -> float:
        """Never before anything that is on disk."""
        self._latest = max(self._latest, self._now())
        return self._latest

    # --- the application's side -----------------------------------------------------------------------

    async def ask(self, key: str | None = None, person: str | None = None) -> Decision:
        """The next decision; for a key that is known, the one it got before.

        Where persons have a budget, only what is charged to one is learned from.
        """
        self._check_agent()
        for what, text in (("key", key), ("person", person)):
            if text is not None and not 0 < _size(text) <= KEY_BYTES_MOST:
                raise Unfit(f"{what} of a decision must be text of 1 to {KEY_BYTES_MOST} bytes, got another")
        if person is not None and self.persons is None:
            raise Unfit("person of a decision must be left out where settings.toml has no budget.person, got one")
        id, queued = self._new_id(), self.silent in (None, "budget")
        if self.persons is not None:
            queued = await self._charge(id, key, person)
        arm, at = self._choose() if queued or self.persons is None else self._idle(), self.now()
        self._oldest = min(self._oldest, at)
        with self.answers:
            try:
                made = await self.stores.rewards.do(lambda c: rewards.decide(c, id, key, arm, at, queued))
            except StorageError as error:
                if self.stores.rewards.closed:  # the agent stops: nobody could go on from this answer
                    raise
                made = await self._without_disk(key, error) or rewards.Decision(id, arm, learns=False, new=False)
        learned = made.learns and not made.void and self.silent is None  # without a budget plans go on, and tell nothing
        if made.new:
            self.seen.decide(arm, learned)
        if made.arm in self.withheld:  # safety outranks a key: it gets another decision, as often as it asks
            return await self.ask()
        return Decision(made.id, made.arm, self.federation.arms[made.arm], learned)

    async def _charge(self, id: str, key: str | None, person: str | None) -> bool:
        """Whether a new decision may be learned from, and is paid for. What was answered before stays as it is."""
        assert self.persons is not None
        if person is None or self.silent is not None:
            return False
        try:
            if key is None:
                return await self.persons.charge(person, None, id)
            known, erasures = await self.stores.rewards.do(lambda c: (rewards.find(c, key), rewards.erasures(c)))
            return known is None and await self.persons.charge(person, key, self.origin, erasures)
        except StorageError as error:
            self._trouble(error)
            return False

    async def _without_disk(self, key: str | None, error: StorageError) -> rewards.Decision | None:
        """Decisions go on where nothing can be written; what is known of a key may still be read."""
        self._trouble(error)
        try:
            return None if key is None else await self.stores.rewards.do(lambda c: rewards.find(c, key))
        except StorageError:
            return None

    def _new_id(self) -> str:
        """No other start has the same; entropy for every single one would take longer than all else."""
        self._asked += 1
        return f"{self._ids}{self._asked:x}"

    def _choose(self) -> int:
        if self.stopped:
            return self._best()
        arm = self.desk.decide()
        return self._idle() if arm is None else arm

    def _idle(self) -> int:
        """What to play where no reward is waited for, or will be learned from."""
        if self.stopped:
            return self._best()
        idle = int(self._read(self.agent.algorithm.idle, -1, self.agent.chance.idle_die(self.t)))
        return idle if 0 <= idle < len(self.federation.arms) else int(self.agent.plan.arm[0])

    def _best(self) -> int:
        """Of the arms that are not withheld; one without an estimate is worst."""
        worths = {k: self.worth(k) for k in range(len(self.federation.arms)) if k not in self.withheld}
        return max(worths, key=lambda k: -inf if isnan(worths[k]) else worths[k])

    def worth(self, arm: int) -> float:
        """The present estimate of an arm, made of what was released; nan: none."""
        return float(self._read(self.agent.algorithm.worth, nan, arm))

    def _read(self, hook: Callable, otherwise: float, *more: Any) -> float:
        """What a hook makes of what may be seen. A question is answered even if the hook breaks off."""
        try:
            return hook(self.shown.copy(), self.agent.p, self.t, *more)
        except Exception as fault:
            self.seen.alarm("algorithm", f"{self.agent.algorithm.name}: {hook.__name__} broke off with {type(fault).__name__}")
            return otherwise

    async def tell(self, id: str, reward: float) -> Literal["new", "same"]:
        """A reward, late and in any order. Once it is on disk it counts, whether or not anybody still waits for the answer."""
        self._check_agent()
        self._check_id(id)
        try:
            steps = self.agent.desk.steps(None if isinstance(reward, bool) else reward)
        except ProtocolError as error:
            raise Unfit(str(error)) from None
        at_once = self.federation.rewards.within == "at once"
        word, queued = await self._of_decision(lambda c: rewards.tell(c, id, steps, at_once), self._told)
        if queued:
            await self._let_a_plan_begin()
        return word

    async def _let_a_plan_begin(self) -> None:
        """A turn gives way to answers: who has told the last reward of a plan and asks without a pause would meet it between
        two plans, every time, and be answered an idle arm. Nobody waits for a commit."""
        for _ in range(PASSES_MOST):
            if not self.desk.ready or self.writing or self.holding or self.silent:
                return
            await asyncio.sleep(0)

    def _told(self, told: tuple[str, rewards.Queued | None]) -> None:
        _, queued = told
        if queued:
            self.seen.waiting -= 1
            self._add([queued])

    async def cancel(self, id: str) -> Literal["new", "same"]:
        """A decision was not carried out. If the plan needs its arm, that is asked for again."""
        self._check_agent()
        self._check_id(id)
        word = await self._of_decision(lambda c: rewards.cancel(c, id))
        self.seen.waiting -= word == "new"
        self.changed.tell()
        return word

    async def _of_decision(self, work: Callable[[Any], R], then: Callable[[R], None] | None = None) -> R:
        """A word about a decision. While the disk refuses, one that is not known may be one that could not be kept."""
        try:
            with self.answers:
                return await self.stores.rewards.do(work, then)
        except StorageError as error:
            self._trouble(error)
            raise
        except UnknownDecision:
            if self._refused_since is None:
                raise
            raise StorageError("a decision must be on disk to be told of, and this one is not: the disk refuses") from None

    async def withhold(self, arm: str, yes: bool = True) -> None:
        """A safety stop: from the next question on this arm is not answered. The agent reports no more in this run."""
        arms = self.federation.arms
        if arm not in arms:
            raise Unfit(f"an arm must be one of {', '.join(arms)}, got another{hint(str(arm), arms)}")
        place = arms.index(arm)
        if yes and len(self.withheld | {place}) == len(arms):
            raise Unfit("one arm at least must not be withheld, got all of them")
        (self.withheld.add if yes else self.withheld.discard)(place)
        self.stopped = self.stopped or yes
        self._tell_all()
        await self.stores.ledger.do(lambda c: ledger.withhold(c, place, yes))

    def _check_agent(self) -> None:
        if self.agent is None:
            raise ProtocolError("questions and rewards must go to an agent, got a coordinator")

    def _check_id(self, id: Any) -> None:
        if not 0 < _size(id) <= KEY_BYTES_MOST:
            raise UnknownDecision("a decision must be one that was made here, got another")

    async def close_windows(self) -> None:
        """Rewards whose window is over count from here on, in the order of their decisions."""
        within, missing = self.federation.rewards.within, self.federation.rewards.missing
        if within == "at once" or self.agent is None:
            return
        until = self.now() - within
        counted = await self._close_until(until, missing) if until >= self._oldest else []
        self.seen.waiting -= len(counted)
        self._add(counted)

    async def _close_until(self, until: float, missing: float | None) -> list[rewards.Queued]:
        steps = None if missing is None else self.agent.desk.steps(missing)
        self._oldest, before = inf, self._oldest  # those that are made meanwhile count from here
        try:
            work = self.stores.rewards.do(lambda c: (rewards.close_until(c, until, steps), rewards.oldest_open(c)), large=True)
            counted, before = await work
        finally:
            self._oldest = min(self._oldest, before)
        return counted

    async def keep_windows(self) -> None:
        """Once in a tick, for as long as the node lives and has a disk."""
        while True:
            try:
                await self.close_windows()
                if self._refused_since is not None or self.stores.rewards.broken:
                    for store in (self.stores.rewards, *([self.persons.store] if self.persons else [])):
                        await store.probe()
                self._refused_since = None
                self.seen.calm("storage")
            except StorageError as error:
                self._trouble(error)
                if self.stores.rewards.broken or self.now() - (self._refused_since or 0.0) > PATIENCE:
                    raise
            await self.sleep(self.federation.tick)

    def _trouble(self, error: StorageError) -> None:
        self._refused_since = self.now() if self._refused_since is None else self._refused_since
        self.seen.alarm("storage", str(error))

    def _add(self, counted: list[rewards.Queued]) -> None:
        for reward in counted:
            self.desk.add(reward)
        self._tell_all()

    def _tell_all(self) -> None:
        self.progress.tell()
        self.changed.tell()

    @property
    def silent(self) -> str | None:
        """Why nothing is reported any more, and no answer is learned from."""
        if self.stopped:
            return "withheld"
        if self.agent and self.agent.exhausted:
            return "budget"
        return "horizon" if self.over else None

    # --- turns, for the clocks ------------------------------------------------------------------------

    @property
    def arrived(self) -> list[Message]:
        """Messages to be heard, each lane in order."""
        return list(self.mail.arrived)

    @property
    def t(self) -> int:
        return (self.agent or self.server).t

    @property
    def playing(self) -> bool:
        return self.agent is not None and self.agent.protocol.turn is Turn.PLAYING

    def hear(self, message: Message, role: str = "agent", t: int = 0) -> bool:
        """Whether it was one that an honest node could have sent, by turn t; else it has no effect, and is counted."""
        who = self.roles[role if role in self.roles else SERVER]
        who.protocol.check(Event.HEAR)
        self.skip(message)
        t, sender = max(who.t, message.turn, t), SERVER if who is self.agent and SERVER in who.senders else message.sender
        try:
            good = who.fits(t, message.body)
            if good:
                who.hear(t, sender, message.body)
        except ProtocolError:
            good = False
        if not good:
            self.seen.reject("fits")
        return good

    def skip(self, message: Message) -> None:
        """A message that has no effect, or whose effect is elsewhere: it counts as heard."""
        self.mail.hear(message)

    async def arrival(self, seconds: float | None = None) -> bool:
        """Something came, or something happened that a clock should look at; False: so many seconds are over."""
        return await within(self.progress.wait(), seconds, self.sleep)

    def begin(self, t: int) -> None:
        """Make a plan, and serve it. An agent that has stopped makes none."""
        if not self.stopped:
            self.agent.begin(t)
            self.desk.lay_out(self.agent.plan)
            self.changed.tell()

    async def played(self, unless: Callable[[], bool] = lambda: False) -> bool:
        """All rewards that the plan needs are there. False: it will not be finished, or should not."""
        await self._give_way()
        while self.playing and not self.stopped and not unless() and not self.desk.ready:
            await self.progress.wait()
            await self._give_way()
        return self.playing and not self.stopped and not unless()

    def drop(self) -> None:
        """Back to the last commit: what was heard since then is unheard, and what was used is in its queue."""
        self.desk.unserve()
        self.go_back()
        self.mail.unhear()
        self.notes.clear()
        self.words.clear()

    def announce(self, t: int) -> bytes | None:
        return self.server.announce(t)

    def close(self) -> None:
        self.server.release()

    def greet(self, t: int) -> bytes:
        return self.agent.greet(t)

    def meet(self, t: int, card: bytes) -> None:
        self.agent.meet(t, card)

    def say(self, kind: str, body: bytes | None, to: str | None = None, turn: int | None = None) -> None:
        """It leaves after the next commit."""
        self.words.append(Word(kind, self.t if turn is None else turn, body or b"", to))

    async def _give_way(self) -> None:
        """Who waits for an answer comes first, and the next question is on its way to the disk while a turn is reckoned."""
        await self.answers.next()
        await self.sleep(0)

    async def end(self, t: int | None, speak: Callable[[], None] = lambda: None) -> None:
        """The plan's rewards are booked and what may leave passes the door; `speak` says what there is to say.

        What was released is visible at the next tick, so that nobody sees how long its noise took.
        """
        agent, exhausted = self.agent, self.agent.exhausted
        self.shown = agent.open.copy()
        used = len(self.desk.used)
        sums = self.desk.serve()
        self.notes.append(("agent", "used", [reward.place for reward in self.desk.used[used:]]))
        agent.finish(t, sums)
        speak()
        released = ledger.releases_of(agent.out, agent.algorithm.mechanism, self.now())
        many = len(self.notes) + len(self.desk.used) >= UNCOMMITTED_MOST
        said, self.holding = bool(self.words), bool(released)
        if released or said or exhausted != agent.exhausted or many:
            await self._commit(released)
        if released:
            await self.tick()
            self.seen.release(agent.t, released)
            self.seen.paid = len(agent.budget.events) if agent.budget else 0
        self.shown, self.holding = agent.open, False
        self._tell_all()
        if said or released:
            self.outgoing.tell()
        await self._give_way()

    async def commit(self, speak: Callable[[], None] = lambda: None) -> None:
        """What was said and heard outside of a plan's end is on disk then, and leaves."""
        speak()
        await self._commit(())
        self._tell_all()
        self.outgoing.tell()

    async def reply(self, message: Message, word: Word, memo: bytes) -> None:
        """An answer beside the turn under way: it, what it answers and the memo are on disk before it leaves, and no more."""
        self.mail.arrived.remove(message)
        state = self.kept | {"memo": memo}
        await self._write(state, self.secret, (), [], (word,), ((message.lane, message.seq),), b"")
        self.memo = memo
        self._tell_all()
        self.outgoing.tell()

    async def _commit(self, released: tuple[ledger.Release, ...]) -> None:
        used, words, journal = [reward.place for reward in self.desk.used], tuple(self.words), pack(self.notes)
        heard = tuple((message.lane, message.seq) for message in self.mail.heard)
        await self._write(self._give(), self._give_secret(), released, used, words, heard, journal)
        self.desk.used = []
        self.notes.clear()
        self.words.clear()
        self.mail.committed(len(heard))

    async def _write(
        self, state: dict[str, bytes], secret: bytes, released: tuple[ledger.Release, ...], used: list[int],
        words: tuple[Word, ...], heard: tuple[tuple[str, int], ...], journal: bytes,
    ) -> None:  # fmt: skip
        """First the secret, then what may be seen."""
        s, t, refused = self.s + 1, self.t, bool(self.agent and self.agent.exhausted)

        def become_visible(c: Any) -> None:
            head = ledger.head_after(ledger.head(c), s, t, released)
            last = {lane: ledger.last_seq(c, lane) for lane in {word.lane for word in words}}
            said = []
            for word in words:
                last[word.lane] += 1
                said.append(ledger.Said(word.lane, last[word.lane], self.seal(word.lane, last[word.lane], word, head)))
            done = ledger.Turn(s, t, state, released, tuple(said), heard, refused=refused, journal=journal)
            ledger.commit_turn(c, done)

        self.writing = True
        try:
            await self.answers.next()  # one sync for it and for the answer after that
            await self._patiently(self.stores.rewards, lambda c: rewards.keep_secret(c, s, secret, used))
            await self._patiently(self.stores.ledger, become_visible)
        finally:
            self.writing = False
        self.s, self.kept, self.secret = s, state, secret

    async def _patiently(self, store: Store, work: Callable[[Any], R]) -> R:
        """A full disk may clear; nothing else does."""
        seconds = 0
        while True:
            try:
                answer = await store.do(work)
            except StorageError as error:
                if store.broken or seconds == PATIENCE:
                    raise
                self.seen.alarm("storage", str(error))
                await self.sleep(1.0)
                seconds += 1
            else:
                self.seen.calm("storage")
                return answer

    async def tick(self) -> None:
        """Until the next one; a rehearsal has none."""
        tick = 0.0 if self.federation.rehearsal else self.federation.tick
        await self.sleep(tick - self.now() % tick if tick else 0)

    def _give(self) -> dict[str, bytes]:
        roles = {f"{role}/{part}": data for role, who in self.roles.items() for part, data in who.give().items()}
        return roles | {"memo": self.memo}

    def _give_secret(self) -> bytes:
        kept = {role: who.secret.tobytes() for role, who in self.roles.items()}
        return secrets.pack(secrets.Secret(kept, self.whose, self.origin))

    def go_back(self) -> None:
        """To the last commit."""
        secret, self.memo = secrets.unpack(self.secret, self.whose), self.kept["memo"]
        for role, who in self.roles.items():
            start = f"{role}/"
            who.take({part.removeprefix(start): data for part, data in self.kept.items() if part.startswith(start)})
            refill(who.secret, secret.roles[role])
        if self.playing:
            self.desk.lay_out(self.agent.plan)

    # --- what others say ------------------------------------------------------------------------------

    async def receive(self, message: Message, raw: bytes, signature: bytes = b"") -> Literal["new", "same", "other"]:
        """A message whose sender is sure. Once it is on disk it will be heard, in the order of its lane."""
        return await asyncio.shield(self._receive(message, raw, signature))

    async def _receive(self, message: Message, raw: bytes, signature: bytes) -> Literal["new", "same", "other"]:
        work = partial(ledger.put_inbox, lane=message.lane, seq=message.seq, body=raw, signature=signature)
        word = await self._patiently(self.stores.ledger, work)
        if word == "new":
            self.seen.hear(self.mail.arrive(message))
            self._tell_all()
        return word

    # --- what may be seen -----------------------------------------------------------------------------

    def view(self) -> View:
        return self.seen.view(self.t, self.agent, self.worth, self.withheld, self.silent)


def _size(text: Any) -> int:
    """In bytes; -1 where it is no text."""
    try:
        return len(text.encode()) if isinstance(text, str) else -1
    except UnicodeEncodeError:
        return -1
