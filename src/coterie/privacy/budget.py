"""What may be spent: the events of one node so far, and the refusal of those that would cost too much.

Nothing is ever given back. A refusal changes nothing, and it tells nothing: covers and prices are functions of what was
released before (see laplace.md), and so is whether the budget allows them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import inf

from coterie.errors import BudgetError, UsageError
from coterie.limits import EPSILON_LEAST
from coterie.privacy.accountant import Loss, once, price_of, spent
from coterie.privacy.events import Event


class Budget:
    """An epsilon (at a delta) for every reward of one node, and the events that were paid from it."""

    def __init__(self, epsilon: float, delta: float = 0.0):
        if not EPSILON_LEAST <= epsilon < inf:
            raise UsageError(f"epsilon of a budget must be a finite number >= {EPSILON_LEAST:g}, got {epsilon}")
        if not 0 <= delta < 1:
            raise UsageError(f"delta of a budget must be a number in [0, 1), got {delta}")
        self.epsilon, self.delta = epsilon, delta
        self.events: list[Event] = []
        self._streams: list[Event] = []
        self._arms: dict[int, Places] = {}

    @property
    def spent(self) -> float:
        """The epsilon of the dearest reward so far, rounded up."""
        return spent(self.events, self.delta)

    def spend(self, events: Sequence[Event]) -> None:
        """Pay for all of these or, where that is too much, for none."""
        fresh = list(once([*self._streams, *events]))[len(self._streams) :]
        arms = {event.arm: self._arms[event.arm].copy() if event.arm in self._arms else Places() for event in fresh}
        dearest = max((arms[event.arm].add(event, self.delta) for event in fresh), default=0.0)
        if dearest > self.epsilon:
            raise BudgetError(f"a release must stay within the budget of epsilon {self.epsilon:g}, got {dearest:g} in all")
        self._arms |= arms
        self._streams += [event for event in fresh if event.kind.covers == "stream"]
        self.events += events


class Places:
    """What the rewards of one arm have lost: a step function on the arm's clock. Steps start at `starts`."""

    def __init__(self, starts: Sequence[int] = (0,), losses: Sequence[Loss] = (Loss(),)):
        self.starts, self.losses = list(starts), list(losses)

    def copy(self) -> "Places":
        return Places(self.starts, self.losses)

    def add(self, event: Event, delta: float) -> float:
        """The epsilon of the dearest reward that the event covers, with it."""
        first, end = self._step(event.first), self._step(event.last + 1)
        price = price_of(event)
        self.losses[first:end] = [loss.plus(price) for loss in self.losses[first:end]]
        return max(loss.epsilon(delta) for loss in set(self.losses[first:end]))

    def _step(self, place: int) -> int:
        """The step that starts here; it is made where there is none."""
        step = bisect_left(self.starts, place)
        if step == len(self.starts) or self.starts[step] != place:
            self.starts.insert(step, place)
            self.losses.insert(step, self.losses[step - 1])
        return step
