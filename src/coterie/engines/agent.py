"""The deployed node: the very same hooks, one event at a time. No I/O here: the caller moves bytes and keeps time.

    greet -> hear ... -> begin -> ask / tell ... -> finish -> meet -> speak

A decision counts as a pull when it is made: a reward that never comes is told as 0 by the caller, so that counts stay
functions of visible actions. While rewards or messages are under way `ask` answers the algorithm's `idle` arm, with no ticket:
such a decision is not learned from.

Messages that add up are summed as they come, by what they change for their arm, and heard at the next `begin`: a repeated
word changes nothing, and a lost one is made up for by the next.

A node with a budget is refused a release that would exceed it, before any noise is drawn. From then on it releases nothing and
goes on deciding from what was released before; an agent does not speak any more, and to others it has dropped out.
"""

from typing import Any

import numpy as np

from coterie.contract import Algorithm, out_record, plan_record
from coterie.engines.chance import Chance
from coterie.engines.memory import role_ledger, role_secrets
from coterie.engines.turn import possible
from coterie.errors import AlgorithmError, BudgetError, UsageError
from coterie.kernel import one
from coterie.privacy.budget import Budget
from coterie.privacy.door import PLAN, clear, look_up, why_refused
from coterie.privacy.events import events_of
from coterie.privacy.secret import hand_in, take_in


class Agent:
    """One role of an algorithm: an agent, or a server."""

    def __init__(
        self, algorithm: Algorithm, p: Any, chance: Chance, *, rehearsal: bool = False, budget: Budget | None = None,
        reach: Any = 1.0, holders: int = 1,
    ):  # fmt: skip
        if chance.rehearsed and not rehearsal:
            raise UsageError("chance of a deployed agent must be the operating system's, got a keyed one")
        self.algorithm, self.p, self.chance, self.budget, self.exhausted = algorithm, p, chance, budget, False
        self.secret = role_secrets(algorithm, p, 1, reach, holders).view(np.recarray)[0]
        self.inner, self.open = one(algorithm.inner(p)), one(algorithm.open(p))
        self.plan, self.out = one(plan_record(p)), one(out_record(algorithm, p))
        self.ledger = one(role_ledger(algorithm, p))
        self.card, self.message = one(algorithm.card(p)), one(algorithm.message(p))
        self.heard_type = (algorithm.hears or algorithm.message)(p)
        self.peers: np.ndarray = np.zeros(0, algorithm.peer(p)).view(np.recarray)
        self.senders: list[Any] = []
        self.former: dict[Any, Any] = {}
        self.sums: dict[int, Any] = {}
        self.left: list[int] = []
        self.waiting: dict[int, int] = {}
        self.t = self.turn = self.ticket = 0

    def know(self, sender: Any, **facts: Any) -> None:
        """Register a sender, in the order in which the hooks shall see them, with what is known of it beforehand."""
        self.senders.append(sender)
        self.peers = np.concatenate([self.peers, np.zeros(1, self.peers.dtype)]).view(np.recarray)
        for field, value in facts.items():
            if field in (self.peers.dtype.names or ()):
                self.peers[field][-1] = value

    def begin(self, t: int) -> None:
        """Make the plan of this turn."""
        self.t, plan, rule = t, self.plan, self.algorithm
        self.hear_sums(t)
        plan.entries = 0
        if rule.weigh:
            rule.weigh(self.open, self.peers, self.p, t)
        if rule.peek:
            rule.peek(self.secret.copy(), self.inner, self.open.copy(), self.p, t, self.chance.die(t), plan)
        else:
            rule.choose(self.open, self.p, t, self.chance.die(t), plan)
        if not possible(plan, self.p.arms):
            raise AlgorithmError(f"{rule.name}: turn {t} has {why_refused(PLAN)}")
        self.left = [int(n) for n in plan.pulls[: plan.entries]]
        self.turn, self.waiting = 0, {}

    def ask(self) -> tuple[int | None, int]:
        """(ticket, arm) of the next decision, in turn over the plan's arms. Without a ticket it is not of the plan."""
        if not any(self.left):
            arm = int(self.algorithm.idle(self.open, self.p, self.t, self.chance.idle_die(self.t)))
            return None, arm if arm >= 0 else int(self.plan.arm[0])
        while self.left[self.turn] == 0:
            self.turn = (self.turn + 1) % len(self.left)
        self.left[self.turn] -= 1
        arm, self.turn = int(self.plan.arm[self.turn]), (self.turn + 1) % len(self.left)
        self.ticket += 1
        self.waiting[self.ticket] = arm
        return self.ticket, arm

    def tell(self, ticket: int | None, reward: int) -> None:
        """A reward on the grid arrived, in any order."""
        if ticket is not None:
            take_in(self.secret, self.waiting.pop(ticket), 1, reward)

    def finish(self) -> None:
        """All rewards are told: pass the door."""
        if any(self.left) or self.waiting:
            missing = sum(self.left) + len(self.waiting)
            raise UsageError(f"all rewards of a plan must be told before it is finished, {missing} are missing")
        self.release()

    def release(self) -> None:
        """Before anything is noised the budget is asked. Once it refuses nothing is released any more, and decisions go on."""
        rule, out = self.algorithm, self.out
        clear(out)
        if not self.exhausted:
            rule.release(self.open, self.p, self.t, self.plan, out)
            look_up(out, self.secret, self.ledger, self.p.arms, rule.mechanism.covers == "pair")
            if self.secret.refused:
                raise AlgorithmError(f"{rule.name}: in turn {self.t} nothing may leave by {why_refused(self.secret.refused)}")
            self.spend()
        rule.mechanism.book(out, self.ledger)
        self.chance.noise(rule.mechanism, self.secret, self.t, out)
        rule.publish(self.open, self.p, self.t, self.plan, out)

    def spend(self) -> None:
        try:
            if self.budget:
                self.budget.spend(events_of(self.out, self.algorithm.mechanism))
        except BudgetError:
            self.exhausted = True
            clear(self.out)

    def speak(self, t: int) -> bytes | None:
        """The words said, and nothing else of the message. An agent without budget is silent."""
        return None if self.exhausted else self._say(t)

    def _say(self, t: int) -> bytes | None:
        self.t = t
        words = self.algorithm.speak(self.open, self.p, t, self.message)
        if words <= 0:
            return None
        return self.message.tobytes()[: 8 * words] + (self.raw_news() if self.algorithm.trusts else b"")

    def raw_news(self) -> bytes:
        """For a trusted server: (arm, pulls, sum) of all rewards it has not got yet, and how many of these there are."""
        news = role_secrets(self.algorithm, self.p, 1, 1.0).view(np.recarray)[0]
        words = hand_in(self.secret, news, self.p.arms)
        arms = [k for k in range(self.p.arms) if news.count[k] > 0]
        told = [number for k in arms for number in (k, news.count[k], news.total[k])]
        return np.array([*told, words // 3], np.int64).tobytes()

    def take_raw_news(self, data: bytes) -> bytes:
        """Take them in, and leave the message."""
        news = int(np.frombuffer(data[-8:], np.int64)[0])
        rest = len(data) - 8 - 24 * news
        for arm, pulls, total in np.frombuffer(data[rest:-8], np.int64).reshape(-1, 3).tolist():
            take_in(self.secret, arm, pulls, total)
        return data[:rest]

    def announce(self, t: int) -> bytes | None:
        """A server's word: it looks at all senders first. Its decisions go on without budget."""
        if self.algorithm.weigh:
            self.algorithm.weigh(self.open, self.peers, self.p, t)
        return self._say(t)

    def hear(self, t: int, sender: Any, data: bytes) -> None:
        if self.algorithm.trusted:
            data = self.take_raw_news(data)
        message, peer = self.read(data, self.heard_type), self.peers[self.senders.index(sender)]
        if self.algorithm.additive:
            self.add(sender, np.frombuffer(message.tobytes(), np.int64))
        else:
            self.listen(t, peer, message)

    def add(self, sender: Any, words: np.ndarray) -> None:
        """What a message changes in the sum of all messages on its arm."""
        arm = int(words[0])
        if not 0 <= arm < self.p.arms:
            raise UsageError(f"arm of a message must be in 0..{self.p.arms - 1}, got {arm}")
        former = self.former.get((sender, arm), 0) if self.algorithm.additive == "words" else 0
        self.sums[arm] = self.sums.get(arm, 0) + words - former
        self.former[sender, arm] = words

    def hear_sums(self, t: int) -> None:
        for arm in sorted(self.sums):
            amounts = self.sums.pop(arm)
            amounts[0] = arm
            self.listen(t, one(self.algorithm.peer(self.p)), self.read(amounts.tobytes(), self.heard_type))

    def listen(self, t: int, peer: Any, message: Any) -> None:
        rule = self.algorithm
        if rule.overhear:
            rule.overhear(self.secret.copy(), self.inner, self.open.copy(), peer, self.p, t, message)
        else:
            rule.hear(self.open, peer, self.p, t, message)

    def greet(self, t: int) -> bytes:
        """To be called before the messages of round t are heard."""
        words = self.algorithm.greet(self.open, self.p, t, self.card)
        return self.card.tobytes()[: 8 * words]

    def meet(self, t: int, data: bytes) -> None:
        self.algorithm.meet(self.open, self.p, t, self.card, self.read(data, self.card.dtype))

    def leave(self, t: int) -> bytes:
        self.algorithm.leave(self.open, self.p, t, self.card)
        return self.card.tobytes()

    def inherit(self, t: int, data: bytes) -> None:
        self.algorithm.inherit(self.open, self.p, t, self.read(data, self.card.dtype))

    @staticmethod
    def read(data: bytes, kind: np.dtype) -> Any:
        """A message is the first words of its record; the rest reads as zeros."""
        if len(data) > kind.itemsize or len(data) % 8:
            raise UsageError(f"a message must have at most {kind.itemsize} bytes, in whole words of 8, got {len(data)}")
        return np.frombuffer(data.ljust(kind.itemsize, b"\0"), kind).view(np.recarray)[0]
