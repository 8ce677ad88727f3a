"""Three keys: whoever turns a hook's die back into a key has the key of hooks' dice, and it does not tell rewards or noise.

The hash of the dice can be undone step by step. A deployed agent has fresh dice and noise of the operating system; the keys are
for a simulation, where a hook that reads its die must not see through the noise either.
"""

from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from numpy import int64

from coterie.contract import Algorithm, Claim, Method, offer, order, out_record
from coterie.engines.memory import Keys, keys_of, seeds_of
from coterie.engines.simulate import Links, simulate_mesh
from coterie.kernel import CHOICE, NOISE, REWARD, UNIT, dice, fold, node, one, record, side, stream, uniform
from coterie.privacy.mechanisms import LAPLACE
from coterie.problem import bernoulli

SEED, AGENTS, ROUNDS, REPLICATION, WORD = 11, 3, 6, 2, 1 << 64
NOBODY = Links(np.zeros(AGENTS + 1, int64), np.zeros(0, int64), np.zeros(0, int64), np.zeros((0, 2), int64))
KEY_FACTOR, STEP, NODE = 0xD1342543DE82EF95, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


class Params(NamedTuple):
    arms: int = 2


def diary(p):
    return record(die=(int64, ROUNDS + 1), released=(int64, ROUNDS + 1))


@node
def choose_and_note(open, p, t, die, plan):
    open.die[t] = die
    order(plan, 0, 1)


@node
def offer_reward(open, p, t, plan, out):
    offer(out, 0, 0.5)


@node
def note_release(open, p, t, plan, out):
    open.released[t] = out.value[0]


CURIOUS = Algorithm("curious", diary, choose=choose_and_note, release=offer_reward, publish=note_release)


@pytest.fixture(scope="module")
def opens():
    """Of a run in which every reward is 1."""
    method, worlds = Method(CURIOUS, Params(), Claim(1.0)), bernoulli.world(np.ones((1, 2)))
    about = (method, bernoulli, worlds, AGENTS, ROUNDS, np.array([ROUNDS]), NOBODY)
    return simulate_mesh(*about, seed=SEED, first=REPLICATION, compiled=False).opens[0]


# --- undoing the hash ---------------------------------------------------------------------------------


def unshift(x, bits):
    """The number whose x ^ (x >> bits) this is."""
    found = x
    for _ in range(64 // bits):
        found = x ^ (found >> bits)
    return found


def unmix(x):
    x = unshift(x, 31) * pow(0x94D049BB133111EB, -1, WORD) % WORD
    x = unshift(x, 27) * pow(0xBF58476D1CE4E5B9, -1, WORD) % WORD
    return unshift(x, 30)


def unfold(folded, coordinate):
    """The key that was folded with the coordinate."""
    term = int(dice._mix(np.uint64((coordinate + STEP) % WORD)))
    return (unmix(int(folded) % WORD) - term) * pow(KEY_FACTOR, -1, WORD) % WORD


def key_of(die, who, purpose, t):
    """The key that a die was streamed from, as a signed number."""
    key = unfold(unfold((int(die) - (who + 1) * NODE) % WORD, t), purpose)
    return key - WORD if key >= WORD // 2 else key


@pytest.mark.parametrize(("who", "purpose", "t"), list(product((-1, 0, 7), (CHOICE, NOISE), (-1, 0, 1000))))
def test_a_die_can_be_turned_back_into_its_key(who, purpose, t):
    for key in (0, -1, 5, 2**63 - 1, -(2**63)):
        assert key_of(stream(key, who, purpose, t), who, purpose, t) == key


def noise_from(key, who, t):
    """What the door adds in turn t if this is the key of noise."""
    out = one(out_record(CURIOUS, Params()))
    out.entries, out.price[0], out.sensitivity[0] = 1, 0.5, 1.0
    LAPLACE.add(out, None, stream(key, who, NOISE, t), stream(key, who, NOISE, -1))
    return int(out.value[0])


def test_a_hook_that_undoes_its_die_has_the_key_of_dice_and_not_that_of_the_noise(opens):
    """Noise of scale 2 * 65536 agrees by chance in one of 18 draws with a probability below 1e-4; all 18 never."""
    keys, matches = keys_of(seeds_of(SEED), REPLICATION), 0
    for i, t in product(range(AGENTS), range(1, ROUNDS + 1)):
        found, noise = key_of(opens[i].die[t], i, CHOICE, t), opens[i].released[t] - UNIT
        assert found == keys.dice
        assert noise_from(keys.noise, i, t) == noise
        matches += noise_from(found, i, t) == noise
        matches += noise_from(int(keys.world), i, t) == noise
    assert matches == 0


def test_the_key_of_dice_does_not_tell_rewards():
    """Coins of one half, 400 of each key: equal in half of the cases, within six standard deviations (false alarm 2e-9)."""
    keys = keys_of(seeds_of(SEED), REPLICATION)
    coins = [[uniform(side(stream(key, 0, REWARD, t), 0), 0) < 0.5 for t in range(400)] for key in keys]
    for one_key, other in combinations(coins, 2):
        assert abs(np.equal(one_key, other).sum() - 200) < 60


# --- the keys among themselves ------------------------------------------------------------------------

SEEDS = {seed: seeds_of(seed) for seed in range(-2, 12)}


def test_the_keys_of_all_seeds_are_distinct_and_not_small():
    found = [key for keys in SEEDS.values() for key in keys]
    assert len(set(found)) == len(found) == 3 * len(SEEDS)
    assert min(abs(key) for key in found) > 2**40
    assert seeds_of(7) == SEEDS[7]
    assert Keys._fields == ("world", "noise", "dice")


def test_no_key_is_another_one_folded_or_moved_by_small_coordinates():
    """Replications, purposes, rounds, nodes and sides of one key never meet another key: with 64 bits, never by chance."""
    found = {int(key) for keys in SEEDS.values() for key in keys}
    for keys in SEEDS.values():
        for key in keys:
            folded = [fold(key, c) for c in range(-3, 300)]
            twice = [fold(fold(key, a), b) for a in range(-1, 8) for b in range(-1, 30)]
            streamed = [stream(key, who, purpose, t) for who in range(-2, 4) for purpose in range(7) for t in range(-1, 10)]
            sides = [side(key, i) for i in range(100)]
            assert not {int(reached) for reached in (*folded, *twice, *streamed, *sides)} & found


def test_the_keys_of_replications_are_distinct_too():
    found = [int(key) for r in range(200) for key in keys_of(SEEDS[3], r)]
    assert len(set(found)) == 600
