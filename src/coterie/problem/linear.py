"""Problems whose loss is a sum over pulls: each pull of an arm costs its gap to the best arm; and what a law of rewards is."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from coterie.choices import Probability
from coterie.contract import Options
from coterie.kernel import node


class Law(Options):
    """How rewards are drawn around their means. Its fields are keys of a study's `problem`, beside those that all laws share.

    A law stands in the file of its `draw` and in the table `laws.LAWS`. It answers what a study, an algorithm and the page ask.
    """

    mean: ClassVar[Any] = Probability  # what a mean may be
    in_order: ClassVar[bool] = False  # whether rewards are those of a log, one after the other

    @property
    def values(self) -> tuple[float, ...]:
        """That a reward may have, where they are few."""
        return ()

    @property
    def range(self) -> tuple[float, float]:
        """Where rewards lie."""
        return 0.0, 1.0

    @property
    def given(self) -> tuple[float, float]:
        """Where rewards lie in a table of one's own: in their own unit, where algorithms see them in another."""
        return self.range

    @property
    def unit(self) -> float:
        """What a reward of 1 is worth there; regret is told in it."""
        return 1.0

    def scaled(self, means: np.ndarray) -> np.ndarray:
        """Means of the unit in which they are given, as algorithms see them."""
        return means

    @property
    def largest_reward(self) -> float:
        """In size, as good as always."""
        return 1.0

    @property
    def proxy(self) -> float:
        """Sub-Gaussian standard deviation of one reward."""
        return (self.range[1] - self.range[0]) / 2

    @abstractmethod
    def world_of(self, means: np.ndarray, weights: Sequence[float] | None) -> np.ndarray:
        """What `draw` is handed: rewards of these means, in the record that the law's file lays out."""

    def drawn_world(
        self, means: np.ndarray, weights: Sequence[float] | None, agents: int, rng: np.random.Generator
    ) -> np.ndarray:
        """That of one replication, where they differ."""
        return self.world_of(means, weights)

    @staticmethod
    @abstractmethod
    def sentence(problem: Mapping[str, Any]) -> str:
        """What the page says of the `problem` of a study."""


def quality(means: np.ndarray, weights: Sequence[float] | None = None) -> np.ndarray:
    """Of each arm: its mean over all agents, or the weighted one. Regret is counted against it, for every agent alike."""
    if weights is None:
        return means.mean(axis=0)
    return np.average(np.broadcast_to(means, (len(weights), means.shape[1])), axis=0, weights=weights)


@node
def lay_out(world, plan, harvest):
    """lap[e] = regret of one pull of each of the first e entries: a plan of several rounds goes round them in order."""
    lap = 0.0
    for e in range(plan.entries):
        harvest.lap[e] = lap
        lap += world.gaps[plan.arm[e]]
    harvest.lap[plan.entries] = lap


@node
def regret(world, plan):
    total = 0.0
    for e in range(plan.entries):
        total += world.gaps[plan.arm[e]] * plan.pulls[e]
    return total


@node
def violates(world, plan):
    return 0  # there is no constraint


@node
def regret_until(world, plan, harvest, slots):
    return (slots // plan.entries) * harvest.lap[plan.entries] + harvest.lap[slots % plan.entries]
