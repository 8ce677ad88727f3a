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
from coterie.errors import BudgetError, UsageError
from coterie.kernel import one
from coterie.privacy.budget import Budget
from coterie.privacy.events import events_of
from coterie.privacy.ledger import ledger_record


class Agent:
    """One role of an algorithm: an agent, or a server."""

    def __init__(self, algorithm: Algorithm, p: Any, chance: Chance, rehearsal: bool = False, budget: Budget | None = None):
        if chance.rehearsed and not rehearsal:
            raise UsageError("chance of a deployed agent must be the operating system's, got a keyed one")
        self.algorithm, self.p, self.chance, self.budget, self.exhausted = algorithm, p, chance, budget, False
        self.secret, self.open = one(algorithm.secret(p)), one(algorithm.open(p))
        self.plan, self.out = one(plan_record(p)), one(out_record(p, algorithm.width))
        self.ledger = one(ledger_record(p.arms, algorithm.chains(p)))
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
        plan.entries, plan.rounds = 0, 1
        if rule.weigh:
            rule.weigh(self.open, self.peers, self.p, t)
        if rule.peek:
            rule.peek(self.secret, self.open, self.p, t, self.chance.die(t), plan)
        else:
            rule.choose(self.open, self.p, t, self.chance.die(t), plan)
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
            self.algorithm.observe(self.secret, self.p, self.t, self.waiting.pop(ticket), 1, reward)

    def finish(self) -> None:
        """All rewards are told: pass the door."""
        if any(self.left) or self.waiting:
            missing = sum(self.left) + len(self.waiting)
            raise UsageError(f"all rewards of a plan must be told before it is finished, {missing} are missing")
        self.release()

    def release(self) -> None:
        """Before anything is noised the budget is asked. Once it refuses nothing is released any more, and decisions go on."""
        self.out.entries = 0
        if not self.exhausted:
            self.algorithm.release(self.secret, self.open, self.p, self.t, self.plan, self.out)
            self.spend()
        self.chance.door(self.algorithm, self.p, self.t, self.out, self.ledger)
        self.algorithm.publish(self.open, self.p, self.t, self.plan, self.out)

    def spend(self) -> None:
        try:
            if self.budget:
                self.budget.spend(events_of(self.out, self.algorithm.mechanism))
        except BudgetError:
            self.exhausted, self.out.entries = True, 0

    def speak(self, t: int) -> bytes | None:
        """The words said, and nothing else of the message. An agent without budget is silent."""
        return None if self.exhausted else self._say(t)

    def _say(self, t: int) -> bytes | None:
        self.t = t
        words = self.algorithm.speak(self.open, self.p, t, self.message)
        return self.message.tobytes()[: 8 * words] if words > 0 else None

    def announce(self, t: int) -> bytes | None:
        """A server's word: it looks at all senders first. Its decisions go on without budget."""
        if self.algorithm.weigh:
            self.algorithm.weigh(self.open, self.peers, self.p, t)
        return self._say(t)

    def hear(self, t: int, sender: Any, data: bytes) -> None:
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
        if rule.collect:
            rule.collect(self.secret, peer, self.p, t, message)
        elif rule.overhear:
            rule.overhear(self.secret, self.open, peer, self.p, t, message)
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
