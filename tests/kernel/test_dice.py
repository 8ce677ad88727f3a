"""The dice: every coordinate counts, none can be traded for another, and what they show is uniform."""

import numpy as np
from numba import njit
from scipy.stats import chisquare, kstest

from coterie.kernel import CHOICE, FAULT, IDLE, NETWORK, NOISE, REWARD, fold, pick, side, stream, uniform
from coterie.kernel.dice import word

PURPOSES = np.array([REWARD, NOISE, CHOICE, NETWORK, FAULT, IDLE])
SERVER = -1


@njit
def all_words(seed, replications, purposes, rounds, nodes, sides, draws):
    """One word for each combination; side -1 stands for the stream itself, from which hooks draw."""
    words = np.empty(replications * len(purposes) * rounds * (nodes + 1) * (sides + 1) * draws, np.uint64)
    n = 0
    for replication in range(replications):
        key = fold(seed, replication)
        for purpose in purposes:
            for t in range(rounds):
                for who in range(-1, nodes):
                    for i in range(-1, sides):
                        die = stream(key, who, purpose, t)
                        for draw in range(draws):
                            words[n] = word(side(die, i) if i >= 0 else die, draw)
                            n += 1
    return words


def test_the_purposes_are_told_apart():
    assert len(set(PURPOSES.tolist())) == len(PURPOSES)


def test_no_two_coordinates_share_a_word():
    """1.4 million words, neighbours in every coordinate among them: an accident has a chance of 6e-8."""
    words = all_words(7, 3, PURPOSES, 6, 16, 16, 45)
    assert len(np.unique(words)) == len(words) > 1_400_000


def test_distant_nodes_and_draws_share_no_word_either():
    """Long rows along one coordinate at a time, crossing at the origin only: an accident has a chance of 1e-9."""
    die, far = stream(fold(7, 0), 0, REWARD, 1), 50_000
    rows = [
        [word(die, n) for n in range(far)],
        [word(side(die, n), 0) for n in range(far)],
        [word(stream(fold(7, 0), n, REWARD, 1), 0) for n in range(1, far)],
        [word(stream(fold(7, 0), 0, REWARD, n), 0) for n in range(2, far)],
    ]
    words = np.concatenate([np.array(row, np.uint64) for row in rows])
    assert len(np.unique(words)) == len(words)


def test_steps_by_the_first_side_come_by_every_side():
    """Loops that go through all sides in turn rest on it."""
    start = die = stream(fold(7, 0), 3, NOISE, 5)
    for i in range(100):
        die = side(die, 0)
        assert die == side(start, i)


def test_a_seed_and_a_replication_cannot_be_exchanged():
    """An accident has a chance of 1e-10."""
    keys = [fold(seed, replication) for seed in range(200) for replication in range(200)]
    assert len(set(keys)) == len(keys)


@njit
def many_uniforms(key, count):
    numbers = np.empty(count)
    for i in range(count):
        numbers[i] = uniform(side(key, i), i % 3)
    return numbers


def test_uniform_numbers_fill_the_unit_interval_evenly():
    """Kolmogorov-Smirnov and five and a half standard errors: false alarm below 1e-6."""
    numbers = many_uniforms(fold(11, 0), 400_000)
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    assert abs(numbers.mean() - 0.5) < 5.5 * np.sqrt(1 / 12 / len(numbers))
    assert kstest(numbers, "uniform").pvalue > 1e-6
    assert (numbers * 2.0**52 == np.floor(numbers * 2.0**52)).all()


def test_neighbours_in_any_coordinate_are_uncorrelated():
    """Five and a half standard errors each: false alarm below 1e-6 in all three together."""
    key, count = fold(12, 0), 100_000
    base = np.array([uniform(stream(key, i, CHOICE, 1), 0) for i in range(count)])
    others = {
        "the next draw": [uniform(stream(key, i, CHOICE, 1), 1) for i in range(count)],
        "the next round": [uniform(stream(key, i, CHOICE, 2), 0) for i in range(count)],
        "a side": [uniform(side(stream(key, i, CHOICE, 1), 0), 0) for i in range(count)],
    }
    for name, numbers in others.items():
        assert abs(np.corrcoef(base, numbers)[0, 1]) < 5.5 / np.sqrt(count), name
    assert abs(np.corrcoef(base[1:], base[:-1])[0, 1]) < 5.5 / np.sqrt(count)


def test_pick_is_uniform_on_its_range():
    """Chi-squared, false alarm 1e-6."""
    for count in (1, 2, 7, 100):
        picks = [pick(side(fold(13, count), i), 0, count) for i in range(40_000)]
        seen = np.bincount(picks, minlength=count)
        assert len(seen) == count
        assert count == 1 or chisquare(seen).pvalue > 1e-6


def test_a_die_is_a_function_of_its_coordinates_only():
    first = [uniform(stream(fold(5, 1), 2, NOISE, 3), draw) for draw in (0, 1, 2)]
    assert [uniform(stream(fold(5, 1), 2, NOISE, 3), draw) for draw in (2, 1, 0)] == first[::-1]
    assert stream(fold(5, 1), SERVER, NOISE, 3) != stream(fold(5, 1), 0, NOISE, 3)
