"""The desk of a deployed node: rewards in a queue for each arm, and what the plan still needs of them.

A plan needs so many rewards of each arm, and rewards of one arm are interchangeable: whichever decision they come from, they
serve the plan that is there, or wait for the next one. Nothing is taken out of the queues before the whole need is there, so a
plan can be dropped without a trace. What was taken out can be put back until it is committed.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from coterie.deploy.stores.rewards import Queued


class Desk:
    """in_turn: the plan's arms in turn; else one after the other."""

    def __init__(self, arms: int, in_turn: bool = True):
        self.in_turn = in_turn
        self.queues: list[deque[Queued]] = [deque() for _ in range(arms)]
        self.used: list[Queued] = []  # since the last commit
        self.clear()

    def clear(self) -> None:
        """There is no plan."""
        self.need: dict[int, int] = {}  # rewards of the plan, by arm
        self.left: dict[int, int] = {}  # of these: neither in a queue nor asked for
        self.lacking = self.turn = 0  # of these: not in a queue

    def lay_out(self, plan: Any) -> None:
        """The need of a plan; what is queued serves it first."""
        self.clear()
        for e in range(plan.entries):
            arm = int(plan.arm[e])
            self.need[arm] = self.need.get(arm, 0) + int(plan.pulls[e])
        self.left = {arm: self._lacks(arm) for arm in self.need}
        self.lacking = sum(self.left.values())

    @property
    def ready(self) -> bool:
        return self.lacking == 0

    def decide(self) -> int | None:
        """The arm to answer: one that the plan has not asked for, else one that it waits for. None: it needs nothing.

        So a decision that never gets its reward holds nothing up: its arm is asked for again.
        """
        if self.ready:
            return None
        arm = self._next(self.left.__getitem__)
        if arm is None:
            return self._next(self._lacks)
        self.left[arm] -= 1
        return arm

    def add(self, reward: Queued) -> None:
        """A reward that counts from now on."""
        lacks = self._lacks(reward.arm)
        self.queues[reward.arm].append(reward)
        if lacks > 0:
            self.lacking -= 1
            self.left[reward.arm] = min(self.left[reward.arm], lacks - 1)

    def serve(self) -> dict[int, tuple[int, int]]:
        """(pulls, sum) of each arm of the plan, which is then done."""
        sums = {}
        for arm, pulls in self.need.items():
            rewards = [self.queues[arm].popleft() for _ in range(pulls)]
            self.used += rewards
            sums[arm] = pulls, sum(reward.value for reward in rewards)
        self.clear()
        return sums

    def unserve(self) -> None:
        """All that was served since the last commit is back in its queue, in its order, and there is no plan."""
        self.clear()
        for reward in reversed(self.used):
            self.queues[reward.arm].appendleft(reward)
        self.used = []

    def _lacks(self, arm: int) -> int:
        return max(0, self.need.get(arm, 0) - len(self.queues[arm]))

    def _next(self, wanted: Callable[[int], int]) -> int | None:
        arms = list(self.need)
        for ahead in range(len(arms)):
            place = (self.turn + ahead) % len(arms)
            if wanted(arms[place]) > 0:
                self.turn = (place + 1) % len(arms) if self.in_turn else place
                return arms[place]
        return None
