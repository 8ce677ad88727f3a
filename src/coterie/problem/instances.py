"""The reward means a study runs on: one value per arm, or one per agent and arm.

All means are probabilities. What matters to the group is the mean over agents of each arm; `heterogeneous` spreads
the agents around it without moving it.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import AfterValidator, Field

from coterie.choices import Kind, Probability, ascending
from coterie.contract import Options
from coterie.errors import UsageError

TIE = 1e-12  # column means of equal arms differ by rounding; smaller gaps than this are ties


def grid(arms: int) -> np.ndarray:
    """Evenly spaced means (k + 1/2) / arms, the last arm best."""
    _require_arms(arms)
    return (np.arange(arms) + 0.5) / arms


def middle(arms: int) -> np.ndarray:
    """The grid squeezed into the middle, 0.3 + 0.4 * grid."""
    return 0.3 + 0.4 * grid(arms)


def uniform(arms: int, rng: np.random.Generator, between: tuple[float, float] | None = None) -> np.ndarray:
    """Independent means, each uniform on [0, 1), or between two numbers."""
    _require_arms(arms)
    low, high = between or (0.0, 1.0)
    return low + (high - low) * rng.random(arms)


class UniformOptions(Options):
    between: Annotated[tuple[Probability, Probability], AfterValidator(ascending)] | None = Field(
        None, title="where means are drawn; by default from 0 to 1"
    )


def _uniform_said(problem: Mapping[str, Any]) -> str:
    return "drawn at random between {:g} and {:g}".format(*(problem.get("between") or (0, 1)))


def guess(arms: int, rng: np.random.Generator, best: float, gap: float) -> np.ndarray:
    """What fits a guess: the best mean, the second a gap below it, the others one to four gaps (none below 0), in any order."""
    _require_arms(arms)
    if not 0 < gap < best:
        raise UsageError(f"problem.gap must be a number > 0 and < problem.best, {best:g}, got {gap:g}")
    below = np.concatenate([[0.0, 1.0], rng.uniform(1.0, 4.0, arms - 2)])
    return rng.permutation(np.maximum(best - gap * below, 0.0))


class GuessOptions(Options):
    best: float = Field(0.6, gt=0, lt=1, description="the mean of the best arm")
    gap: float = Field(0.1, gt=0, lt=1, description="by how much the second is worse")


def _guess_said(problem: Mapping[str, Any]) -> str:
    best, gap = (problem.get(key) or GuessOptions.model_fields[key].default for key in ("best", "gap"))
    return f"drawn at random: the best is {best:g}, the second {gap:g} below it, the others up to {4 * gap:g} below it"


INSTANCES = {
    "grid": Kind(grid, "evenly spaced between 0 and 1"),
    "uniform": Kind(uniform, _uniform_said, UniformOptions, drawn=True),
    "middle": Kind(middle, "evenly spaced between 0.3 and 0.7"),
    "guess": Kind(guess, _guess_said, GuessOptions, drawn=True),
}


def heterogeneous(means: ArrayLike, agents: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Means [agents, arms] whose column means are `means` and whose entries stay in [0, 1].

    mean[i, k] = means[k] + spread * min(means[k], 1 - means[k]) * offset[i, k], where the offsets of an arm are
    uniform draws on (-1, 1), shifted to mean 0 over the agents and scaled to a largest absolute value of 1. With
    spread 1 the most extreme agent of an arm is as far off as [0, 1] allows in both directions; with spread 0, or a
    single agent, all rows are `means`.
    """
    means = np.asarray(means, dtype=float)
    _require_probabilities(means)
    if agents < 1:
        raise UsageError(f"agents must number at least 1, got {agents}")
    if not 0 <= spread <= 1:
        raise UsageError(f"spread must lie in [0, 1], got {spread}")
    offset = rng.uniform(-1, 1, size=(agents, len(means)))
    offset -= offset.mean(axis=0)
    largest = np.abs(offset).max(axis=0)
    offset /= np.where(largest > 0, largest, 1)  # a single agent has offset 0
    return means + spread * np.minimum(means, 1 - means) * offset


def smallest_gap(means: ArrayLike) -> float:
    """The smallest positive gap between the best arm and another one, of means [arms] or of the column means of
    [agents, arms]. There is none if all arms tie (up to rounding), which is a UsageError.
    """
    means = np.asarray(means, dtype=float)
    columns = means.mean(axis=0) if means.ndim == 2 else means
    gaps = columns.max() - columns
    if not (gaps > TIE).any():
        raise UsageError(f"means must differ between arms to have a smallest gap, got {columns.size} equal ones")
    return float(gaps[gaps > TIE].min())


def _require_arms(arms: int) -> None:
    if arms < 2:
        raise UsageError(f"arms must number at least 2, got {arms}")


def _require_probabilities(means: np.ndarray) -> None:
    if means.ndim != 1:
        raise UsageError(f"means must be one number per arm, got values of shape {means.shape}")
    bad = means[~((means >= 0) & (means <= 1))]  # also true of NaN
    if bad.size:
        raise UsageError(f"means must lie in [0, 1], got {bad[0]}")
