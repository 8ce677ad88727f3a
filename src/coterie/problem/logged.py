"""Rewards of a log, each met once: how an algorithm that learns is judged by what others have seen.

The rewards that an agent has of an arm wait in a queue, in an order of its own for each run; who plays the arm gets the next.
Rewards do not depend on when they are met, so a life on the queues is one the algorithm could have had (the queues of Mandel
and others, 2016, after Li and others, 2011), as long as no queue runs out: a study refuses to answer if one does. Where the log
has probabilities, a row is kept by the chance least / probability, the least of its agent and arm: what is kept does not depend
on what made the choice likely. Without a column of agents the rows are dealt out among them.

Runs differ in the order alone: their intervals say nothing about other logs.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy import float64, int64
from pydantic import PrivateAttr, model_validator

from coterie.kernel import UNIT, capacity, node, record
from coterie.problem.bernoulli import reach
from coterie.problem.bounded import Bounded
from coterie.problem.decisions import Rows
from coterie.problem.linear import lay_out, quality, regret, regret_until, violates

__all__ = ["FromLog", "draw", "lay_out", "reach", "regret", "regret_until", "violates"]


class FromLog(Bounded):
    in_order = True
    _rows: Rows | None = PrivateAttr(None)

    @model_validator(mode="after")
    def there_is_a_log(self) -> Self:
        if getattr(self, "file", None) is None:
            raise ValueError("must have a file with one row for each choice where kind is 'logged', got none")
        return self

    @property
    def values(self) -> tuple[float, ...]:
        return ()

    def keep(self, rows: Rows) -> None:
        """The log's rows, once they are read."""
        self._rows = rows

    def drawn_world(self, means: np.ndarray, weights: Any, agents: int, rng: np.random.Generator) -> np.ndarray:
        assert self._rows is not None
        return worlds_of(self._rows, means, weights, agents, (self.low, self.unit), rng)

    @staticmethod
    def sentence(problem: Mapping[str, Any]) -> str:
        return "Every choice brings the next reward that the log has of it, each once and in an order of its own for each run"


def worlds_of(
    rows: Rows, means: np.ndarray, weights: Any, agents: int, scale: tuple[float, float], rng: np.random.Generator
) -> np.ndarray:
    """Queues as running sums on the grid: those of arm k begin at first[k] with 0."""
    arms, overall, (low, unit) = means.shape[1], quality(means, weights), scale
    kept = rng.random(len(rows.reward)) * rows.probability <= rows.least[rows.cell]
    cell, value = rows.cell[kept], np.rint(UNIT * (rows.reward[kept] - low) / unit).astype(np.int64)
    agent = cell // arms if len(means) > 1 else rng.permutation(len(cell)) % agents
    order = rng.permutation(len(cell))
    place = (agent * arms + cell % arms)[order]
    order = order[np.argsort(place, kind="stable")]
    sizes = np.bincount(place, minlength=agents * arms).reshape(agents, arms)
    slots, room = capacity(arms), capacity(int(sizes.sum(axis=1).max()) + arms)
    fields = {"gaps": (float64, slots), "first": (int64, slots), "length": (int64, slots), "sums": (int64, room)}
    worlds = np.zeros(agents, record(**fields))
    worlds["gaps"][:, :arms] = unit * (overall.max() - overall)
    worlds["length"][:, :arms] = sizes
    worlds["first"][:, :arms] = np.cumsum(sizes + 1, axis=1) - sizes - 1
    ends = np.cumsum(sizes.ravel())
    for number, (start, end) in enumerate(zip(ends - sizes.ravel(), ends, strict=True)):
        i, first = number // arms, worlds["first"][number // arms, number % arms]
        worlds["sums"][i, first + 1 : first + 1 + end - start] = np.cumsum(value[order[start:end]])
    return worlds


@node
def draw(world, secret, plan, harvest, die):
    """Beyond the end of a queue it begins anew: such a run is no answer, and is refused when it is over."""
    for e in range(plan.entries):
        k, left, total = plan.arm[e], plan.pulls[e], 0
        first, length = world.first[k], max(world.length[k], 1)
        place = secret.count[k] % length
        while left > 0:
            taken = min(left, length - place)
            total += world.sums[first + place + taken] - world.sums[first + place]
            left, place = left - taken, 0
        harvest.total[e] = total
