"""Rewards in a range of one's own, low..high: algorithms see them scaled to 0..1, and regret is told in their own unit.

Each is drawn as `low` or `high`: of all rewards in that range with the same mean these vary most, and an algorithm knows no
more of them than their range.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from coterie.choices import Finite
from coterie.problem import bernoulli
from coterie.problem.bernoulli import Bernoulli, draw, reach
from coterie.problem.linear import lay_out, regret, regret_until, violates

__all__ = ["Bounded", "draw", "lay_out", "reach", "regret", "regret_until", "violates", "world"]


class Bounded(Bernoulli):
    low: Finite = Field(0.0, title="the lowest reward")
    high: Finite = Field(1.0, title="the highest")

    mean = Finite

    @model_validator(mode="after")
    def the_means_lie_in_the_range(self) -> Self:
        if self.high <= self.low:
            raise ValueError(f"must have a high above its low, got {self.low:g} and {self.high:g}")
        if getattr(self, "instance", None) or getattr(self, "dataset", None):
            raise ValueError("must have means or a file where rewards have a range: instances and data sets have means in 0..1")
        means = np.array(getattr(self, "means", None) or self.low, float)
        outside = means[(means < self.low) | (means > self.high)]
        if outside.size:
            raise ValueError(f"must have means in [{self.low:g}, {self.high:g}], its low and high, got {outside[0]:g}")
        return self

    @property
    def given(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def unit(self) -> float:
        return self.high - self.low

    def scaled(self, means: np.ndarray) -> np.ndarray:
        return ((means - self.low) / self.unit).clip(0.0, 1.0)

    def world_of(self, means: np.ndarray, weights: Sequence[float] | None) -> np.ndarray:
        return world(means, weights, self.unit)

    @staticmethod
    def sentence(problem: Mapping[str, Any]) -> str:
        return f"Every choice brings a reward of {problem['low']:g} or {problem['high']:g}"


def world(means: np.ndarray, weights: Sequence[float] | None = None, unit: float = 1.0) -> np.ndarray:
    """As for Bernoulli rewards, of which each is worth a `unit`."""
    worlds = bernoulli.world(means, weights)
    worlds["gaps"] *= unit
    return worlds
