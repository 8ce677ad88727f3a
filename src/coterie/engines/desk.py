"""The desk of a deployed agent: the decisions of a plan, and their rewards until the plan is finished.

A reward is a real number in a stated range. It is put on the integer grid, inwards at the ends of the range, so that two
rewards lie no further apart than the reach by which noise is scaled. Rewards are booked all together, as a sum for each arm:
neither the order nor the time in which they came shows anywhere.
"""

from fractions import Fraction
from math import ceil, floor, inf
from numbers import Real
from typing import Any

import numpy as np

from coterie.errors import ProtocolError, UsageError
from coterie.kernel import UNIT
from coterie.privacy.exact import on_grid

LARGEST = 2.0**24  # of a reward, where nothing else bounds it: sums of millions then stay whole numbers of 64 bits


class Desk:
    """`clip`: rewards outside the range count as its ends. `missing`: what a reward counts as that never comes."""

    def __init__(self, low: float, high: float, clip: bool = False, missing: float | None = None):
        if not low < high:
            raise UsageError(f"range of rewards must be low < high, got {low:g}, {high:g}")
        self.low, self.high, self.clip, self.bounded = max(low, -LARGEST), min(high, LARGEST), clip, (low, high) != (-inf, inf)
        if self.bounded and (low, high) != (self.low, self.high):
            raise UsageError(f"range of rewards must be within {-LARGEST:.0f}..{LARGEST:.0f}, got {low:g}, {high:g}")
        self.least, self.most = ceil(UNIT * Fraction(self.low)), floor(UNIT * Fraction(self.high))
        if self.least > self.most:
            raise UsageError(f"range of rewards must be wider than 1/{UNIT}, got {low:g}, {high:g}")
        if missing is not None and not low <= missing <= high:
            raise UsageError(f"missing must be a number in {low:g}..{high:g}, got {missing:g}")
        self.missing = None if missing is None else self.steps(missing)
        self.left: list[int] = []  # decisions that were not asked for, of each entry of the plan
        self.arms: list[int] = []
        self.turn = self.ticket = self.step = 0
        self.waiting: dict[int, int] = {}  # the arm of each decision
        self.told: dict[int, int] = {}  # and its reward, if it has come

    def lay_out(self, plan: Any, in_turn: bool = True) -> None:
        """The decisions of a plan: its arms in turn, or one after the other."""
        self.step = 1 if in_turn else 0
        self.arms, self.left = ([int(n) for n in column[: plan.entries]] for column in (plan.arm, plan.pulls))
        self.turn, self.waiting, self.told = 0, {}, {}

    def decide(self) -> tuple[int, int]:
        """(ticket, arm) of the next decision."""
        while self.left[self.turn] == 0:
            self.turn = (self.turn + 1) % len(self.left)
        self.left[self.turn] -= 1
        arm, self.turn = self.arms[self.turn], (self.turn + self.step) % len(self.left)
        self.ticket += 1
        self.waiting[self.ticket] = arm
        return self.ticket, arm

    def steps(self, reward: Any) -> int:
        """A reward on the grid. The error does not show it."""
        number = isinstance(reward, Real) and reward == reward
        if not number or not (self.clip or self.low <= reward <= self.high):
            raise ProtocolError(f"a reward must be a number in {self.low:.10g}..{self.high:.10g}, got another")
        return on_grid(float(min(max(reward, self.low), self.high)), self.low, self.high)

    def take(self, ticket: Any, reward: Any) -> None:
        """The same again has no effect."""
        if not isinstance(ticket, int) or ticket not in self.waiting:
            raise ProtocolError(f"ticket must be of a decision of this plan that was asked for, got {ticket!r:.20}")
        steps = self.steps(reward)
        if self.told.get(ticket, steps) != steps:
            raise ProtocolError(f"the reward of ticket {ticket} must be told once, got another one")
        self.told[ticket] = steps

    def sums(self) -> dict[int, tuple[int, int]]:
        """(pulls, sum) of each arm. Changes nothing."""
        if any(self.left):
            raise ProtocolError(f"all decisions of a plan must be asked for before it is finished, {sum(self.left)} are left")
        missing = len(self.waiting) - len(self.told)
        if missing and self.missing is None:
            raise ProtocolError(f"all rewards of a plan must be told before it is finished, {missing} are missing")
        sums: dict[int, tuple[int, int]] = {}
        for ticket, arm in self.waiting.items():
            pulls, total = sums.get(arm, (0, 0))
            sums[arm] = pulls + 1, total + self.told.get(ticket, self.missing or 0)
        return sums

    def checked_sums(self, sums: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
        """Sums that were made elsewhere: of the pulls of this plan, and of rewards in the range."""
        wanted: dict[int, int] = {}
        for arm, pulls in zip(self.arms, self.left, strict=True):
            wanted[arm] = wanted.get(arm, 0) + pulls
        if self.waiting or {arm: pulls for arm, (pulls, _) in sums.items()} != wanted:
            raise ProtocolError("sums of a plan must be of its arms and of all their pulls, got others")
        if not all(pulls * self.least <= total <= pulls * self.most for pulls, total in sums.values()):
            raise ProtocolError("sums of a plan must be of rewards in their range, got others")
        return sums

    def clear(self) -> None:
        self.left, self.waiting, self.told = [], {}, {}

    def checked_reach(self, reach: Any) -> Any:
        """How far one reward can move a sum: never less than the range. An arm of reach 0 has no rewards."""
        if reach is None and self.bounded:
            return self.high - self.low
        if reach is None:
            raise UsageError("reach must be a number where the range of rewards is infinite, got none")
        for each in np.ravel(np.asarray(reach, float)).tolist():
            if not 0 <= each < inf or (self.bounded and 0 < UNIT * Fraction(each) < self.most - self.least):
                raise UsageError(f"reach must be a finite number, {self.high - self.low:.10g} or more, got {each:g}")
        return reach
