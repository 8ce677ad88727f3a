"""What a node has done, as far as anybody may see it: counts, releases, who spoke last, alarms. Nothing rests on it."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from math import isnan
from typing import Any

from coterie.deploy.federation import Federation
from coterie.deploy.message import Message
from coterie.deploy.stores.ledger import Release
from coterie.deploy.view import AlarmView, ArmView, BudgetView, PeerView, ReleaseView, View
from coterie.privacy.accountant import spent

SHOWN = 20  # releases and alarms on a page


class Seen:
    """`changed` is called when there is something new to see."""

    def __init__(self, federation: Federation, name: str, now: Callable[[], float], changed: Callable[[], None]):
        self.federation, self.name, self.now, self.changed = federation, name, now, changed
        self.choices, self.learned, self.waiting = Counter[int](), 0, 0
        self.released, self.releases = 0, deque[ReleaseView](maxlen=SHOWN)
        self.peers = {sender: PeerView(sender) for sender, _ in federation.hears(name)}
        self.alarms, self.rejected = deque[AlarmView](maxlen=SHOWN), Counter[str]()
        self.connected: bool | None = None  # these four are set by who knows; `paid`: events, once they may be seen
        self.unsent, self.missing, self.paid = 0, tuple[str, ...](), 0
        self.accounted = 0, 0.0

    def alarm(self, kind: str, text: str) -> None:
        """The same again is told once."""
        if all((alarm.kind, alarm.text) != (kind, text) for alarm in self.alarms):
            self.alarms.append(AlarmView(kind, text, self.now()))
            self.changed()

    def calm(self, kind: str) -> None:
        """What alarmed is over."""
        if any(alarm.kind == kind for alarm in self.alarms):
            self.alarms = deque((alarm for alarm in self.alarms if alarm.kind != kind), maxlen=SHOWN)
            self.changed()

    def reject(self, reason: str) -> None:
        """A message of another was not taken in."""
        self.rejected[reason] += 1
        self.changed()

    def decide(self, arm: int, learns: bool) -> None:
        self.choices[arm] += 1
        self.learned += learns
        self.waiting += learns
        self.changed()

    def release(self, t: int, released: Iterable[Release]) -> None:
        for each in released:
            if each.first <= each.last:
                self.released += 1
                rewards = each.last - each.first + 1
                self.releases.append(ReleaseView(t, self.federation.arms[each.arm], rewards, each.price, each.at))

    def hear(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.peers[message.sender] = PeerView(message.sender, message.turn, self.now())

    def recall(self, messages: Iterable[Message]) -> None:
        """What came before this start; when, nobody knows any more."""
        for message in messages:
            self.peers[message.sender] = PeerView(message.sender, message.turn)

    def view(self, t: int, agent: Any, worth: Callable[[int], float], withheld: set[int], silent: str | None) -> View:
        """`agent` is None at a coordinator, which has neither answers nor a budget."""
        federation, (epsilon, delta) = self.federation, self.federation.allowance
        private, paid = federation.privacy != "none", self._spent(agent)
        worths = [worth(k) if agent else float("nan") for k in range(len(federation.arms))]
        left = max(0.0, epsilon - paid) if private else None
        return View(
            name=self.name, role="agent" if agent else "coordinator", run=federation.run.hex()[:16],
            algorithm=federation.algorithm.name, clock=federation.clock, turn=t, horizon=federation.horizon,
            budget=BudgetView(epsilon if private else None, delta, paid, left, bool(agent and agent.exhausted)),
            arms=tuple(
                ArmView(name, self.choices[k], None if isnan(worths[k]) else worths[k], k in withheld)
                for k, name in enumerate(federation.arms)
            ),
            decisions=self.choices.total(), learned=self.learned, waiting=max(0, self.waiting),
            missing=self.missing, quorum=federation.epochs.quorum if federation.clock == "epochs" else None,
            released=self.released, releases=tuple(reversed(self.releases)),
            peers=tuple(PeerView(p.name, p.turn, p.at, p.turn and max(0, t - p.turn)) for p in self.peers.values()),
            connected=self.connected, unsent=self.unsent, rejected=dict(self.rejected), alarms=tuple(reversed(self.alarms)),
            silent=silent,
        )  # fmt: skip

    def _spent(self, agent: Any) -> float:
        """The accountant goes through all events, so it is asked only when there are new ones that may be seen: a crash may
        undo what is not on disk yet, and nobody is to see spending fall, nor when noise was drawn.
        """
        if agent and agent.budget and self.accounted[0] != self.paid:
            self.accounted = self.paid, spent(agent.budget.events[: self.paid], agent.budget.delta)
        return self.accounted[1]
