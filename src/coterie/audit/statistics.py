"""Scores that tell one side of a game from the other, from cheap to costly. Each is learned on one third of the trials.

    equality     how often one word had exactly this value on either side
    acts         the same of all arms, counts and lengths together, up to some turn
    low bits     the same of how fine a number is: the place of its lowest set bit
    threshold    one number itself: for noise with one peak its likelihood ratio grows with it
    likelihood   the sum of the log-likelihood ratios of Laplace noise around the two medians, over several words
    logistic     logistic regression on the log-odds of many words

A score is any number, larger where the changed reward is more likely 1. It proves nothing by itself: what is certified is how
often it passes a threshold that was fixed before.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from coterie.audit.views import CHOICES, Place

SEEN_AT_LEAST = 5  # times on both sides together: rarer values have no log-odds
TOP = 5  # words tried for a statistic of one word
WORDS_AT_MOST = 24  # in a regression
WORDS_SUMMED = 6


class Sample(NamedTuple):
    """Trials of one side, as the words a view sees."""

    words: np.ndarray  # [trial, place]
    places: Sequence[Place]

    def word(self, j: int) -> np.ndarray:
        return self.words[:, j]

    def number(self, j: int) -> np.ndarray:
        """Column j as numbers; what is not a number counts as larger than all."""
        column = np.ascontiguousarray(self.words[:, j])
        return column.astype(float) if self.places[j].shown else np.nan_to_num(column.view(float), nan=np.inf)

    def part(self, number: int, size: int) -> "Sample":
        return Sample(self.words[number * size : (number + 1) * size], self.places)


Score = Callable[[Sample], np.ndarray]


class Statistic(NamedTuple):
    name: str
    about: str
    score: Score


def statistics(zero: Sample, one: Sample) -> Iterator[Statistic]:
    """All statistics, learned from trials with the reward 0 and with the reward 1."""
    count = len(zero.places)
    gaps = np.array([gap(zero.number(j), one.number(j)) for j in range(count)])
    exact = np.array([distance(zero.words[:, j], one.words[:, j]) for j in range(count)])
    fine = np.array([distance(grain(zero, j), grain(one, j)) for j in range(count)])
    for j in best(exact, TOP):
        yield Statistic("equality", str(zero.places[j]), table(zero, one, partial(Sample.word, j=j)))
    yield from acts(zero, one)
    for j in best(fine, TOP):
        yield Statistic("low bits", str(zero.places[j]), table(zero, one, partial(grain, j=j)))
    for j in best(gaps, TOP):
        yield Statistic("threshold", str(zero.places[j]), partial(Sample.number, j=j))
    odds = [log_odds(zero, one, j, exact[j] > gaps[j]) for j in best(np.maximum(gaps, exact), WORDS_AT_MOST)]
    if odds:
        yield likelihood(zero, one, odds)
        yield logistic(zero, one, odds)


def best(separations: np.ndarray, count: int) -> list[int]:
    """The columns that separate most, and at all."""
    return [int(j) for j in np.argsort(-separations, kind="stable")[:count] if separations[j] > 0]


# --- how far two samples are apart ------------------------------------------------------------------


def gap(zero: np.ndarray, one: np.ndarray) -> float:
    """The largest difference of the two distribution functions (Kolmogorov and Smirnov)."""
    zero, one = np.sort(zero), np.sort(one)
    both = np.concatenate([zero, one])
    below = np.searchsorted(zero, both, "right") / len(zero) - np.searchsorted(one, both, "right") / len(one)
    return float(np.abs(below).max())


def distance(zero: np.ndarray, one: np.ndarray) -> float:
    """Total variation of the values that occur more than now and then."""
    _, counts = tally(zero, one)
    return float(np.abs(counts[0] / len(zero) - counts[1] / len(one)).sum() / 2)


def tally(zero: np.ndarray, one: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and how often they occur on either side, without the rare ones."""
    values, where = np.unique(np.concatenate([zero, one]), return_inverse=True)
    counts = np.stack([np.bincount(part, minlength=len(values)) for part in (where[: len(zero)], where[len(zero) :])])
    often = counts.sum(axis=0) >= SEEN_AT_LEAST
    return values[often], counts[:, often]


# --- scores -----------------------------------------------------------------------------------------


def table(zero: Sample, one: Sample, key: Callable[[Sample], np.ndarray]) -> Score:
    """Log-odds of a value by its frequencies; 0 for values that were not seen often enough."""
    values, counts = tally(key(zero), key(one))
    shares = (counts + 0.5) / (np.array([[len(zero.words)], [len(one.words)]]) + 1.0)
    odds = np.append(np.log(shares[1] / shares[0]), 0.0)

    def score(sample: Sample) -> np.ndarray:
        found = key(sample)
        at = np.minimum(np.searchsorted(values, found), max(len(values) - 1, 0))
        return odds[np.where(values[at] == found, at, len(values))] if len(values) else np.zeros(len(found))

    return score


def grain(sample: Sample, j: int) -> np.ndarray:
    """The place of a number's lowest set bit: 3 for 8 or 24, -1 for 2.5."""
    if sample.places[j].shown:
        words = sample.words[:, j]
        lowest = (words & -words).view(np.uint64)
        return np.where(words == 0, 64, np.log2(np.maximum(lowest, 1).astype(float)).astype(np.int64))
    mantissa, exponent = np.frexp(np.ascontiguousarray(sample.words[:, j]).view(float))
    usable = np.isfinite(mantissa) & (mantissa != 0)
    whole = (np.where(usable, mantissa, 0.5) * 2.0**53).astype(np.int64)
    return np.where(usable, exponent - 53 + np.log2((whole & -whole).astype(float)).astype(np.int64), 2000)


def acts(zero: Sample, one: Sample) -> Iterator[Statistic]:
    """Everything visible but what messages say, up to some turn, taken together."""
    turns = sorted({place.turn for place in zero.places if is_act(place)})
    for turn in sorted(set(turns[:TOP] + turns[TOP :: TOP] + turns[-1:])):
        columns = [j for j, place in enumerate(zero.places) if is_act(place) and place.turn <= turn]
        key = partial(digest, columns=columns)
        if distance(key(zero), key(one)) > 0:
            yield Statistic("acts", f"arms, counts and lengths up to turn {turn}", table(zero, one, key))


def is_act(place: Place) -> bool:
    return place.channel in CHOICES or place.is_length


def digest(sample: Sample, columns: Sequence[int]) -> np.ndarray:
    """One number for all these words of a trial."""
    total = np.zeros(len(sample.words), np.uint64)
    for j in columns:
        total = (total ^ sample.words[:, j].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
    return total


def log_odds(zero: Sample, one: Sample, j: int, discrete: bool) -> Score:
    """Of one word: by frequencies, or by Laplace noise around the medians of the two sides."""
    if discrete:
        return table(zero, one, partial(Sample.word, j=j))
    middles = [float(np.median(sample.number(j))) for sample in (zero, one)]
    spread = np.mean([np.abs(sample.number(j) - middle).mean() for sample, middle in zip((zero, one), middles, strict=True)])
    if not np.isfinite(spread) or spread == 0:
        return table(zero, one, partial(Sample.word, j=j))

    def score(sample: Sample) -> np.ndarray:
        value = np.clip(sample.number(j), -1e300, 1e300)
        return (np.abs(value - middles[0]) - np.abs(value - middles[1])) / spread

    return score


def likelihood(zero: Sample, one: Sample, odds: Sequence[Score]) -> Statistic:
    """Words are added to the sum as long as they help."""
    chosen: list[Score] = []
    sums, reached = (np.zeros(len(zero.words)), np.zeros(len(one.words))), 0.0
    for score in odds:
        tried = sums[0] + score(zero), sums[1] + score(one)
        apart = gap(*tried)
        if len(chosen) < WORDS_SUMMED and apart > reached + 0.005:
            chosen, sums, reached = [*chosen, score], tried, apart
    about = f"the sum over {len(chosen)} words"
    return Statistic("likelihood", about, lambda sample: sum((score(sample) for score in chosen), np.zeros(len(sample.words))))


def logistic(zero: Sample, one: Sample, odds: Sequence[Score]) -> Statistic:
    matrix = lambda sample: np.column_stack([score(sample) for score in odds])  # noqa: E731
    features = np.concatenate([matrix(zero), matrix(one)])
    side = np.repeat([0.0, 1.0], [len(zero.words), len(one.words)])
    centre, spread = features.mean(axis=0), features.std(axis=0) + 1e-12
    weights = regress((features - centre) / spread, side)
    about = f"regression on {len(odds)} words"
    return Statistic("logistic", about, lambda sample: (matrix(sample) - centre) / spread @ weights)


def regress(features: np.ndarray, side: np.ndarray, ridge: float = 1.0, steps: int = 12) -> np.ndarray:
    """Weights of a logistic regression by Newton's method; the ridge keeps them finite where the sides are disjoint."""
    weights = np.zeros(features.shape[1])
    for _ in range(steps):
        chance = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30, 30)))
        curvature = (features * (chance * (1 - chance))[:, None]).T @ features + ridge * np.eye(len(weights))
        weights += np.linalg.solve(curvature, features.T @ (side - chance) - ridge * weights)
    return weights
