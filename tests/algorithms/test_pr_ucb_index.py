"""How often PR-UCB's index is below the mean, whatever sizes honest votes have and whatever liars claim: against drawn votes.

Every check draws 4000 elections with numpy's own binomial and Laplace numbers. The number of failures is compared with its
stated probability at a false-alarm rate of 1e-9 each, less than 1e-6 for the file.
"""

from functools import cache
from itertools import combinations_with_replacement
from math import ceil, inf, log, pi, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from coterie.algorithms import find
from coterie.algorithms.pr_ucb import VoteOptions, bound, cast
from coterie.contract import Setting
from coterie.kernel import one
from coterie.theory.votes import coin_tail, many_coins_tail, tail_allowed, tail_table, vote_tail

RUNS, HORIZON, FALSE_ALARM = 4000, 1000, 1e-9


@cache
def method_of(voters, eps, beta, explore=0.5, told=(0.0, 1.0)):
    """Batches of 1, 2, 4, ... and no own clip: votes alone."""
    options = VoteOptions(epsilon=eps, liars_assumed=beta, explore=explore, batch=1, own_clip=False)
    return find("pr-ucb").build(options, Setting(voters, 2, HORIZON, reward_values=told))


def radius(method, sizes):
    """Of the index at these claimed sizes: the hooks themselves, with votes of 0."""
    open = one(method.node.open(method.p))
    for field, values in method.known.items():
        open[field] = values[0]
    for size in sizes:
        cast(open, 0, int(size).bit_length() - 1, 0.0, 0, 0, 0.0)
    return float(bound(open, method.p, 0, 1.0))


def draw(mu, sizes, eps, seed):
    rng = np.random.default_rng(seed)
    shape = RUNS, len(sizes)
    return rng.binomial(sizes, mu, shape) / sizes + (rng.laplace(size=shape) / (eps * sizes) if eps < inf else 0)


def election(honest, claims, mu, eps, seed=1):
    """(votes, claimed sizes): liars vote as low as it gets."""
    lies = np.full((RUNS, len(claims)), -1e6)
    return np.concatenate([draw(mu, honest, eps, seed), lies], axis=1), np.concatenate([honest, claims])


def rejected(failures, probability):
    return binom.sf(failures - 1, RUNS, probability) < FALSE_ALARM


def mixed(number, small, share, large):
    """A share of the honest votes has small batches, the others large ones."""
    few = round(share * number)
    return np.array([small] * few + [large] * (number - few))


# --- the finding ------------------------------------------------------------------------------------------


def by_the_median_of_sizes(votes, claimed, eps, beta):
    """s (z + c sqrt(pi/2) sqrt(2 ln T / n)) with s of the lower median of claimed sizes: what an index must not do."""
    n = votes.shape[1]
    b = np.sort(claimed)[(n - 1) // 2]
    z = NormalDist().inv_cdf(1 / (2 * (1 - beta))) + 0.5 * sqrt(pi / 2) * sqrt(2 * log(HORIZON) / n)
    return np.median(votes, axis=1) + z * sqrt(1 / (4 * b) + 2 / (eps * b) ** 2)


@pytest.mark.parametrize("n", [50, 100, 200])
def test_with_half_of_the_honest_votes_on_the_first_rung_the_index_still_covers_the_mean(n):
    """Liars claim large batches. An index that goes by the lower median of claimed sizes fails 70 to 98 times in 100."""
    lies = int(0.3 * n)
    votes, claimed = election(mixed(n - lies, 1, 0.5, 256), np.full(lies, 256), 0.5, 1.0)
    assert (by_the_median_of_sizes(votes, claimed, 1.0, 0.3) < 0.5).mean() > 0.7
    failures = (np.median(votes, axis=1) + radius(method_of(n, 1.0, 0.3), claimed) < 0.5).sum()
    assert not rejected(failures, HORIZON**-0.25)


# --- the statement ----------------------------------------------------------------------------------------

MIXTURES = {
    "all alike": lambda h: np.full(h, 16),
    "half on the first rung": lambda h: mixed(h, 1, 0.5, 256),
    "few on the first rung": lambda h: mixed(h, 1, 0.2, 64),
    "most on the first rung": lambda h: mixed(h, 1, 0.8, 512),
    "every rung": lambda h: 2 ** (np.arange(h) % 9),
}
CLAIMS = (512, 1, 16)
SETTINGS = [  # votes, epsilon, beta, explore
    (60, 1.0, 0.3, 0.5), (60, 0.2, 0.3, 0.3), (61, 3.0, 0.45, 0.5), (120, 1.0, 0.3, 0.8), (9, 1.0, 0.3, 0.5),
    (2, 1.0, 0.0, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("mixture", MIXTURES)
@pytest.mark.parametrize("n, eps, beta, explore", SETTINGS)
def test_the_index_is_below_the_mean_no_more_often_than_stated(mixture, n, eps, beta, explore):
    """Whatever liars claim, and whether the arm is good, bad or in between: T^(-c^2)."""
    lies = int(beta * n)
    honest, method = MIXTURES[mixture](n - lies), method_of(n, eps, beta, explore)
    widths = [radius(method, [*honest, *[claim] * lies]) for claim in CLAIMS]
    for mu in (0.05, 0.5, 0.9):
        votes, _ = election(honest, np.full(lies, 1), mu, eps, seed=n)
        for width in widths:
            failures = (np.median(votes, axis=1) + width < mu).sum()
            assert not rejected(failures, HORIZON ** -(explore**2))


@pytest.mark.parametrize("mixture", MIXTURES)
def test_no_claimed_sizes_make_the_radius_less_than_leaving_the_liars_out(mixture):
    """All ways in which 3 liars among 11 can claim sizes: the least radius is that of the largest claims."""
    honest, method = MIXTURES[mixture](8), method_of(11, 1.0, 0.3)
    ways = combinations_with_replacement([1, 4, 16, 128, 512], 3)
    found = {claims: radius(method, [*honest, *claims]) for claims in ways}
    assert min(found.values()) == found[512, 512, 512]
    assert max(found.values()) == found[1, 1, 1]


def test_the_statement_is_not_an_empty_one():
    """At equal sizes, with as many lies as assumed, the index fails more than a fourth as often as it may."""
    votes, claimed = election(np.full(140, 16), np.full(60, 16), 0.5, 1.0)
    failures = (np.median(votes, axis=1) + radius(method_of(200, 1.0, 0.3), claimed) < 0.5).mean()
    assert failures > 0.25 * HORIZON**-0.25


def test_the_own_release_alone_is_off_by_its_radius_once_in_a_horizon():
    """4000 own releases of every size; the own clip adds 1 / T to the probability that an index is too low."""
    method = method_of(2, 1.0, 0.3)
    for rung, width in enumerate(method.p.tables.own_radii[:10]):
        own = draw(0.4, np.array([2**rung]), 1.0, seed=rung)[:, 0]
        assert not rejected((own + width < 0.4).sum(), 1 / HORIZON)
        assert width < 5.5 * sqrt(1 / (4 * 2**rung) + 2 / 4**rung)


def test_rewards_that_are_no_coins_are_covered_by_a_wider_radius():
    """Rewards of 0.3 or 1 with Laplace noise; nothing is known but that they lie in [0, 1]."""
    honest, lies = mixed(42, 1, 0.5, 64), np.full(18, 512)
    method, coins = method_of(60, 1.0, 0.3, told=()), method_of(60, 1.0, 0.3)
    votes, claimed = election(honest, lies, 0.2, 1.0)
    votes[:, :42] += 0.3 - 0.3 * np.random.default_rng(5).binomial(honest, 0.2, (RUNS, 42)) / honest  # of means 0.44
    width = radius(method, claimed)
    assert not rejected((np.median(votes, axis=1) + width < 0.44).sum(), HORIZON**-0.25)
    assert radius(coins, claimed) < width < 3 * radius(coins, claimed)


# --- tails ------------------------------------------------------------------------------------------------


def law_at_worst(radii, size, noise):
    """The largest of P(vote < mu - r), summed one value at a time, over means that are not on a grid of 32 sqrt(size)."""
    means, j = np.linspace(0.0007, 0.9993, 700), np.arange(size + 1)
    below = means[:, None, None] - radii[:, None] - j / size
    share = laplace.cdf(below * size / noise) if noise > 0 else (below > 0).astype(float)
    return (binom.pmf(j, size, means[:, None])[:, None] * share).sum(axis=2).max(axis=0)


@pytest.mark.parametrize("size", [1, 2, 5, 16, 60])
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0, 10.0])
def test_the_tail_of_coins_is_above_the_law_and_hardly_more(size, noise):
    """It may be as much as that of a radius which is smaller by a step of its grid."""
    radii = np.array([0.02, 0.11, 0.37, 0.9])
    found, narrower = coin_tail(radii, size, noise), np.maximum(radii - 1.2 / ceil(32 * sqrt(size)), 0)
    assert (found >= law_at_worst(radii, size, noise)).all()
    assert (found <= law_at_worst(narrower, size, noise) + 0.03).all()


@pytest.mark.parametrize("noise", [0.0, 1.0, 5.0])
def test_tails_of_large_batches_are_above_the_law_and_less_than_three_times_as_wide(noise):
    radii = np.geomspace(0.5, 0.01, 30)
    law, found = law_at_worst(radii, 100, noise), many_coins_tail(radii, 100, noise)
    assert (found >= law).all()
    assert radii[found <= 0.1].min() < 3 * radii[law <= 0.1].min()


@pytest.mark.parametrize("noise", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("coins", [True, False])
def test_tails_in_a_table_fall_with_the_radius_and_with_the_size_and_are_no_less_than_bounds(noise, coins):
    sizes = (1, 2, 3, 8, 40, 1000, 1100, 4000)
    radii, tails = tail_table(sizes, noise, 0.5, coins)
    filled = tails[:, :-1]
    assert radii[0] == inf and (tails[0] == 0).all() and (np.diff(radii[1:]) < 0).all()
    assert (np.diff(tails, axis=0) >= 0).all() and (np.diff(filled, axis=1) <= 0).all()
    for e, size in enumerate(sizes):
        assert (tails[1:, e] >= vote_tail(radii[1:], size, noise, 0.5, coins)).all()


def test_the_tail_of_any_rewards_is_above_that_of_normal_and_of_laplace_numbers():
    radii = np.geomspace(3, 0.01, 60)
    noiseless = vote_tail(radii, 10, 0.0, 0.5, False)
    assert (noiseless >= norm.sf(radii * sqrt(40))).all() and noiseless == pytest.approx(np.exp(-20 * radii**2))
    noisy = vote_tail(radii, 10, 20.0, 1e-6, False)
    assert (noisy >= laplace.sf(radii / 2)).all() and noisy == pytest.approx(laplace.sf(radii / 2), abs=1e-6)
    for size, noise in ((1, 1.0), (10, 3.0), (50, 0.5)):
        assert (vote_tail(radii, size, noise, 0.5, False) >= law_at_worst(radii, size, noise)).all()


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.49])
@pytest.mark.parametrize("miss", [0.6, 0.18, 1e-3])
def test_honest_votes_with_the_allowed_mean_of_tails_win_a_wrong_majority_no_more_often(beta, miss):
    """The number of wrong votes is counted exactly, for probabilities that are alike, and spread as far as they go."""
    allowed = tail_allowed(40, beta, miss)
    for n in range(1, 41):
        lies = int(beta * n + 1e-9)
        honest, needed = n - lies, (n + 1) // 2 - lies
        for spread in (0.0, 0.5, 1.0):
            for certain in range(needed):
                rest = (allowed[n] * honest - spread * certain) / max(1, honest - certain)
                if 0 <= rest <= 1 and certain < honest:
                    law = np.array([1.0])
                    for p in [spread] * certain + [rest] * (honest - certain):
                        law = np.convolve(law, [1 - p, p])
                    assert law[needed:].sum() <= miss * (1 + 1e-9)
