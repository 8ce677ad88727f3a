"""The deployed node: the very same hooks, one event at a time. No I/O here: the caller moves bytes and keeps time.

What may happen when (`protocol.TABLES`); all else is refused, and a refusal changes nothing:

    FRESH    know, hear, ask, tell, greet, meet, leave, inherit -> FRESH; begin -> PLAYING; rest -> QUIET; announce -> HEARING
    PLAYING  ask, tell -> PLAYING; finish -> DONE
    DONE     know, ask, tell, greet, meet -> DONE; speak, hear, leave, inherit, rest -> QUIET; begin -> PLAYING
    QUIET    know, hear, ask, tell, greet, meet, leave, inherit, rest -> QUIET; begin -> PLAYING
    HEARING  know, hear, announce -> HEARING; release -> CLOSED
    CLOSED   know -> CLOSED; announce -> HEARING
    FAILED   nothing

A peer that commits to plans of many rounds may in PLAYING also know, hear, greet, meet, leave and inherit -> PLAYING.
An agent begins, a server announces. Beside the turns there are meetings of two, each on a card of this turn:

    APART    greet -> SHOWN; leave, inherit -> APART
    SHOWN    greet -> SHOWN; meet, leave, inherit -> APART

Turns are numbered upwards. Rewards are told in any order and wait at a desk (desk.py); `finish` books them all. Outside of a
plan, and while its rewards or messages are under way, `ask` answers the algorithm's `idle` arm, with no ticket: such a decision
is not learned from.

Messages that add up are summed as they come, by what they change for their arm, and heard at the next `begin` or `rest`: a
repeated word changes nothing, and a lost one is made up for by the next.

A node with a budget is refused a release that would exceed it, before any noise is drawn. From then on it releases nothing and
goes on deciding from what was released before; an agent does not speak any more, and to others it has dropped out. An algorithm
that breaks the contract ends in FAILED, and there is no way back.
"""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from coterie.contract import Algorithm, out_record, plan_record
from coterie.engines.chance import Chance, check_exact
from coterie.engines.desk import Desk
from coterie.engines.guard import Guarded, refill
from coterie.engines.mail import WORD, News, Sums, pack_news, read, unpack_news
from coterie.engines.memory import role_ledger, role_secrets
from coterie.engines.protocol import TURNS_AT_MOST, Protocol, Turn, step, turn_number
from coterie.engines.turn import has_pulls, within_reach
from coterie.errors import AlgorithmError, BudgetError, ProtocolError, UsageError
from coterie.kernel import one
from coterie.kernel.records import named
from coterie.privacy.budget import Budget
from coterie.privacy.door import PLAN, clear, look_up, why_refused, wipe
from coterie.privacy.events import events_of
from coterie.privacy.offers import offers_of
from coterie.privacy.secret import empty, enclose, envelope_record, reach_of, seal, take_in

RECORDS = ("open", "inner", "ledger", "plan", "card")  # those that last beyond a call


def possible(plan: Any) -> bool:
    """Whether a plan makes sense that was not made by orders alone."""
    arms, pulls = plan.arm[: plan.entries], plan.pulls[: plan.entries]
    return 0 <= plan.entries <= len(plan.arm) and bool(((arms >= 0) & (arms < plan.arms) & (pulls >= 0)).all())


class Agent(Guarded):
    """One role of an algorithm: an agent, or a server.

    low, high  every reward lies between them; infinite only in a rehearsal, and then `reach` is to be said
    clip       rewards outside count as the ends
    missing    what a reward counts as that has not come when a plan is finished; None: it must come
    reach      how far one reward can move a sum, for all arms or for each; more than high - low where one is of many decisions
    """

    def __init__(
        self, algorithm: Algorithm, p: Any, chance: Chance, *, rehearsal: bool = False, budget: Budget | None = None,
        low: float = 0.0, high: float = 1.0, clip: bool = False, missing: float | None = None, reach: Any = None,
        holders: int = 1,
    ):  # fmt: skip
        if chance.rehearsed and not rehearsal:
            raise UsageError("chance of a deployed agent must be the operating system's, got a keyed one")
        if not chance.rehearsed:
            check_exact(algorithm.mechanism)
        self.protocol, self.desk = Protocol(algorithm.commits), Desk(low, high, clip, missing)
        self.sums = Sums(p.arms, replaces=algorithm.additive == "words")
        if not rehearsal and not self.desk.bounded:
            raise UsageError(f"range of a deployed agent's rewards must be finite, got {low:g}..{high:g}")
        self.algorithm, self.p, self.chance, self.budget, self.exhausted = algorithm, p, chance, budget, False
        self.secret = named(role_secrets(algorithm, p, 1, self.desk.checked_reach(reach), holders))[0]
        self.inner, self.open = one(algorithm.inner(p)), one(algorithm.open(p))
        self.plan, self.out = one(plan_record(p)), one(out_record(algorithm, p))
        self.ledger, self.envelope = one(role_ledger(algorithm, p)), one(envelope_record(p.arms))
        self.card, self.message = one(algorithm.card(p)), one(algorithm.message(p))
        self.heard_type = (algorithm.hears or algorithm.message)(p)
        self.peers: np.ndarray = named(np.zeros(0, algorithm.peer(p)))
        self.senders: list[Any] = []
        self.t = self.shown = algorithm.first_round - 1

    read = staticmethod(read)

    @property
    def left(self) -> list[int]:
        """Decisions of the plan that were not asked for, of each of its entries."""
        return self.desk.left

    @property
    def waiting(self) -> dict[int, int]:
        """The arm of each decision of the plan, by ticket."""
        return self.desk.waiting

    @property
    def ticket(self) -> int:
        """Of the last decision. They are numbered from 1 on."""
        return self.desk.ticket

    @step
    def know(self, sender: Any, **facts: Any) -> None:
        """Register a sender, in the order in which the hooks shall see them, with what is known of it beforehand."""
        if sender in self.senders:
            raise ProtocolError("a sender must be new, got one that is known")
        peers = named(np.concatenate([self.peers, np.zeros(1, self.peers.dtype)]))
        for field in set(facts) & set(peers.dtype.names or ()):
            try:
                peers[field][-1] = facts[field]
            except (TypeError, ValueError, OverflowError):
                raise ProtocolError(f"{field} of a sender must be a number, got {type(facts[field]).__name__}") from None
        self.senders.append(sender)
        self.peers = peers

    # --- a turn of an agent ---------------------------------------------------------------------------

    @step
    def begin(self, t: int) -> None:
        """Make the plan of this turn."""
        self.t, plan, rule = turn_number(t, self.t + 1), self.plan, self.algorithm
        with self._beyond_recall():
            self._hear_sums()
            plan.entries, plan.arms, plan.wrong = 0, self.p.arms, 0
            if rule.weigh:
                self._call(rule.weigh, self.open, self.peers, self.p, t)
            if rule.peek:
                self._call(rule.peek, self.secret.copy(), self.inner, self.open.copy(), self.p, t, self.chance.die(t), plan)
            else:
                self._call(rule.choose, self.open, self.p, t, self.chance.die(t), plan)
            idle = rule.commits and not has_pulls(plan)
            if plan.wrong or not possible(plan) or not within_reach(self.secret, plan) or idle:
                raise AlgorithmError(f"{rule.name}: turn {t} has {why_refused(PLAN)}")
            if any(plan.pulls[e] > 0 and reach_of(self.secret, plan.arm[e]) <= 0 for e in range(plan.entries)):
                raise AlgorithmError(f"{rule.name}: turn {t} has a plan with an arm whose rewards have no reach")
        self.desk.lay_out(plan, in_turn=not rule.commits)

    @step
    def ask(self) -> tuple[int | None, int]:
        """(ticket, arm) of the next decision: the plan's arms in turn; of a peer that commits, one after the other.

        Without a ticket it is not of the plan.
        """
        if any(self.desk.left):
            return self.desk.decide()
        with self._beyond_recall():
            arm = int(self._call(self.algorithm.idle, self.open, self.p, self.t, self.chance.idle_die(self.t)))
        return None, arm if 0 <= arm < self.p.arms else int(self.plan.arm[0])

    @step
    def tell(self, ticket: int | None, reward: float) -> None:
        """A reward arrived, in any order. The same again has no effect, and one without a ticket is not looked at."""
        if ticket is not None:
            self.desk.take(ticket, reward)

    @step
    def finish(self, t: int | None = None, sums: dict[int, tuple[int, int]] | None = None) -> None:
        """Book all rewards of the plan, and pass the door: of a peer that commits, in its last round, or later, in t.

        sums: (pulls, sum on the grid) of each arm, where rewards wait at a desk elsewhere.
        """
        sums = self.desk.sums() if sums is None else self.desk.checked_sums(sums)
        last = self.t + max(1, int(self.plan.pulls[: self.plan.entries].sum())) - 1 if self.algorithm.commits else self.t
        self.t = last if t is None else turn_number(t, last, TURNS_AT_MOST if self.algorithm.commits else last)
        with self._beyond_recall():
            for arm, (pulls, total) in sums.items():
                take_in(self.secret, arm, pulls, total)
            self.desk.clear()
            self.pass_door()

    @step
    def rest(self, t: int) -> None:
        """Sit a turn out: hear what has come, and no more."""
        self.t = turn_number(t, self.t + 1)
        with self._beyond_recall():
            self._hear_sums()

    @step
    def speak(self, t: int) -> bytes | None:
        """The words said of the turn that is done, and nothing else of the message. An agent without budget is silent.

        Raw rewards for a trusted server are told once: the caller must see to it that they arrive.
        """
        turn_number(t, self.t, self.t)
        return None if self.exhausted else self._say()

    # --- a turn of a server ---------------------------------------------------------------------------

    @step
    def announce(self, t: int) -> bytes | None:
        """A server's word: it looks at all senders first. Its decisions go on without budget."""
        self.t = turn_number(t, self.t + 1)
        with self._beyond_recall():
            if self.algorithm.weigh:
                self._call(self.algorithm.weigh, self.open, self.peers, self.p, t)
        return self._say()

    @step
    def release(self) -> None:
        """All reports of this turn have come that will come: pass the door."""
        with self._beyond_recall():
            self.pass_door()

    # --- what others say ------------------------------------------------------------------------------

    @step
    def hear(self, t: int, sender: Any, data: bytes) -> None:
        """A message arrived; a trusted server takes in the raw rewards behind it."""
        turn_number(t, self.t)
        if sender not in self.senders:
            raise ProtocolError(f"sender of a message must be one of the {len(self.senders)} known, got another")
        place, news = self.senders.index(sender), News()
        if self.algorithm.trusted:
            data, news = unpack_news(data, self.secret, self.p.arms, self.desk.least, self.desk.most)
        elif self.algorithm.sums:
            data, news = unpack_news(data, self.secret, self.p.arms, -inf, inf)
        message = read(data, self.heard_type)
        if self.algorithm.additive:
            self.sums.add(place, data, message)
        else:
            self._attempt(self._listen, t, self.peers[place], message, peer=self.peers[place])
        for arm, pulls, total in news:
            take_in(self.secret, arm, pulls, total)

    def _hear_sums(self) -> None:
        for message in self.sums.take_out(self.heard_type):
            self._call(self._listen, self.t, one(self.algorithm.peer(self.p)), message)

    def _listen(self, t: int, peer: Any, message: Any) -> None:
        rule = self.algorithm
        if rule.overhear:
            rule.overhear(self.secret.copy(), self.inner, self.open.copy(), peer, self.p, t, message)
        else:
            rule.hear(self.open, peer, self.p, t, message)

    @step
    def greet(self, t: int) -> bytes:
        """To be called before the messages of round t are heard."""
        self.shown = turn_number(t, self.t)
        with self._beyond_recall():
            words = self._call(self.algorithm.greet, self.open, self.p, t, self.card)
        return self.card.tobytes()[: 8 * words]

    @step
    def meet(self, t: int, data: bytes) -> None:
        turn_number(t, self.shown, self.shown)
        self._attempt(self.algorithm.meet, self.open, self.p, t, self.card, read(data, self.card.dtype))

    @step
    def leave(self, t: int) -> bytes:
        turn_number(t, self.t)
        with self._beyond_recall():
            self._call(self.algorithm.leave, self.open, self.p, t, self.card)
        return self.card.tobytes()

    @step
    def inherit(self, t: int, data: bytes) -> None:
        turn_number(t, self.t)
        self._attempt(self.algorithm.inherit, self.open, self.p, t, read(data, self.card.dtype))

    # --- for who moves the bytes ----------------------------------------------------------------------

    def fits(self, t: int, data: bytes) -> bool:
        """Whether an honest sender could have said this. It takes anything, and changes nothing."""
        return self._could_be(self.algorithm.fits, t, data, self.heard_type)

    def suits(self, t: int, data: bytes) -> bool:
        """The same of a card."""
        return self._could_be(self.algorithm.suits, t, data, self.card.dtype)

    def _could_be(self, hook: Callable | None, t: int, data: bytes, kind: np.dtype) -> bool:
        try:
            return hook is not None and len(data) > 0 and bool(hook(self.open.copy(), self.p, t, read(data, kind)))
        except Exception:
            return False

    def worth(self, arm: int) -> float:
        """The present estimate of an arm; nan where there is none."""
        return float(self._call(self.algorithm.worth, self.open.copy(), self.p, self.t, arm))

    def give(self) -> dict[str, bytes]:
        """All that this node is, but its rewards (`secret`) and its budget, whose events are kept as they are spent."""
        words = {"place": [self.t, self.shown, self.exhausted, *self.protocol.give()]}
        words["amounts"] = [number for arm, word in self.sums.amounts.items() for number in (arm, *word)]
        words["former"] = [number for (place, _), word in self.sums.former.items() for number in (place, *word)]
        records = {name: getattr(self, name).tobytes() for name in (*RECORDS, "peers")}
        return records | {name: np.array(numbers, np.int64).tobytes() for name, numbers in words.items()}

    def take(self, given: dict[str, bytes]) -> None:
        """Become the node that gave this. All its senders must be known already."""
        for name in RECORDS:
            refill(getattr(self, name), given[name])
        for peer, kept in zip(self.peers, np.frombuffer(given["peers"], self.peers.dtype), strict=True):
            refill(peer, kept.tobytes())
        self.t, self.shown, exhausted, *where = np.frombuffer(given["place"], np.int64).tolist()
        self.exhausted = bool(exhausted)
        self.protocol.take(*where)
        row = (-1, 1 + self.heard_type.itemsize // WORD)
        amounts, former = (np.frombuffer(given[name], np.int64).reshape(row).copy() for name in ("amounts", "former"))
        self.sums.amounts = {int(arm): word for arm, word in zip(amounts[:, 0], amounts[:, 1:], strict=True)}
        self.sums.former = {(int(place), int(word[0])): word for place, word in zip(former[:, 0], former[:, 1:], strict=True)}
        if self.protocol.turn is Turn.PLAYING:
            self.desk.lay_out(self.plan, in_turn=not self.algorithm.commits)

    # --- what leaves ----------------------------------------------------------------------------------

    def pass_door(self) -> None:
        """Before anything is noised the budget is asked. Once it refuses nothing is released any more, and decisions go on."""
        rule, out = self.algorithm, self.out
        clear(out)
        if not self.exhausted:
            self._call(rule.release, self.open, self.p, self.t, self.plan, offers_of(out))
            look_up(out, self.secret, self.ledger, self.p.arms, rule.mechanism.covers == "pair")
            if self.secret.refused:
                raise AlgorithmError(f"{rule.name}: in turn {self.t} nothing may leave by {why_refused(self.secret.refused)}")
            self._spend()
        with np.errstate(over="ignore"):  # the square of a price that protects nothing
            rule.mechanism.book(out, self.ledger)
        self.chance.noise(rule.mechanism, self.secret, self.t, out)
        if not rule.mechanism.single:
            empty(self.envelope)
            seal(out, self.envelope)
        self._call(rule.publish, self.open, self.p, self.t, self.plan, out)

    def _spend(self) -> None:
        try:
            if self.budget:
                self.budget.spend(events_of(self.out, self.algorithm.mechanism))
        except BudgetError:
            self.exhausted = True
            wipe(self.out)

    def _say(self) -> bytes | None:
        with self._beyond_recall():
            words = self._call(self.algorithm.speak, self.open, self.p, self.t, self.message)
        if words <= 0:
            return None
        said = self.message.tobytes()[: 8 * words]
        if self.algorithm.trusts:
            enclose(self.secret, self.envelope, self.p.arms)
        return said + pack_news(self.envelope) if self.algorithm.trusts or not self.algorithm.mechanism.single else said
