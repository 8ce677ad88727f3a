"""The laws of all samplers against scipy's. Chi-squared tests ask for 1e-7: false alarms stay below 1e-6 each."""

from functools import cache

import numpy as np
import pytest
from numba import njit
from scipy.stats import beta as beta_law
from scipy.stats import binom, binomtest, dlaplace, kstest, norm, poisson

from coterie.kernel import NOISE, beta, binomial, discrete_laplace, fold, laplace_sum, normal, rounded_normal, side, stream
from coterie.kernel.dice import word
from coterie.kernel.samplers import BROAD, WIDE, _log_poisson, _poisson, wide_laplace

DRAWS = 200_000
SCALES = [0.05, 0.7, 2.5, 63.0, 65.0, 4000.0, 65536.0]


@cache
def loop_over(sampler):
    @njit(error_model="numpy")
    def loop(key, count, arguments):
        draws = np.empty(count, np.int64)
        for i in range(count):
            draws[i] = sampler(side(key, i), *arguments)
        return draws

    return loop


def many(sampler, key, count, arguments):
    return loop_over(sampler)(key, count, arguments)


def within(estimate, truth, standard_error):
    """Five and a half standard errors: false alarm 4e-8."""
    return abs(estimate - truth) <= 5.5 * standard_error


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_has_its_law(scale, chance_of_fit):
    draws = many(discrete_laplace, fold(1, 0), DRAWS, (scale,))
    law = dlaplace(1 / scale)
    zeros, plus = int((draws == 0).sum()), int((draws > 0).sum())
    assert binomtest(zeros, DRAWS, np.tanh(0.5 / scale)).pvalue > 1e-6
    assert zeros == DRAWS or binomtest(plus, DRAWS - zeros, 0.5).pvalue > 1e-6
    if scale > 0.1:  # below, a draw other than 0 has a chance of 1e-3 in the whole test
        q = np.exp(-1 / scale)
        variance, kurtosis = 2 * q / (1 - q) ** 2, (1 + 10 * q + q * q) / (2 * q)
        assert within(draws.mean(), 0.0, np.sqrt(variance / DRAWS))
        assert within(draws.var(), variance, variance * np.sqrt((kurtosis - 1) / DRAWS))
        assert chance_of_fit(draws, law) > 1e-7


def die_that_shows(bits):
    """The die whose first word these are: every step of the hash, a product or a shift, can be undone."""
    x = bits
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        x ^= (x >> shift) ^ (x >> 2 * shift)
        x = x * pow(factor, -1, 2**64) % 2**64
    return np.uint64(x).astype(np.int64)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_discrete_laplace_inverts_its_law_to_within_1e_9(scale, size):
    """|z| falls as the 52 upper bits of the word grow: bisect for the last ones that give at least `size`. No luck."""
    low, high = 0, 2**52
    while low < high:
        middle = (low + high) // 2
        assert word(die_that_shows(middle << 12), 0) == middle << 12
        if abs(discrete_laplace(die_that_shows(middle << 12), scale)) >= size:
            low = middle + 1
        else:
            high = middle
    q = np.exp(-1 / scale)
    assert low / 2**52 == pytest.approx(2 * q**size / (1 + q), rel=1e-9, abs=1e-15)


def test_the_lowest_bit_of_the_word_decides_the_sign():
    for scale in (2.5, 65536.0):
        one, other = (discrete_laplace(die_that_shows((12345 << 40) + bit), scale) for bit in (0, 1))
        assert one == -other != 0


def test_both_ways_to_draw_a_discrete_laplace_number_meet_where_they_change_over(chance_of_fit):
    for scale in (np.nextafter(WIDE, 0), WIDE, np.nextafter(WIDE, 100)):
        assert chance_of_fit(many(discrete_laplace, fold(2, 0), DRAWS, (scale,)), dlaplace(1 / WIDE)) > 1e-7
    assert chance_of_fit(many(discrete_laplace, fold(2, 0), DRAWS, (WIDE,)), dlaplace(1 / 60)) < 1e-7


def test_the_fast_path_is_the_general_one_at_wide_scales():
    for scale in (64.5, 65536.0, 3e9):
        fast, general = (many(sampler, fold(3, 0), 1000, (scale,)) for sampler in (wide_laplace, discrete_laplace))
        assert fast.tolist() == general.tolist()


@pytest.mark.parametrize(
    ("path", "n", "p"),
    [
        ("one coin", 1, 0.3),
        ("coins", 2, 0.75),
        ("coins", 63, 0.5),
        ("coins", 64, 0.1),
        ("coins", 65, 0.9),
        ("coins", 128, 0.98),
        ("coins", 128, 1 / 3),
        ("jumps", 129, 0.01),
        ("jumps", 1000, 0.0099),
        ("jumps", 10**9, 3e-9),
        ("mirrored jumps", 500, 0.99),
        ("rejection", 129, 0.5),
        ("rejection", 1000, 0.0101),
        ("rejection", 10**6, 0.25),
        ("rejection", 10**12, 1e-6),
        ("mirrored rejection", 150, 0.9),
        ("mirrored rejection", 10**6, 0.9999),
    ],
)
def test_binomial_has_its_law(path, n, p, chance_of_fit):
    draws, law = many(binomial, fold(4, n), DRAWS, (n, p)), binom(n, p)
    assert draws.min() >= 0
    assert draws.max() <= n
    assert within(draws.mean(), law.mean(), law.std() / np.sqrt(DRAWS))
    assert chance_of_fit(draws, law) > 1e-7


@pytest.mark.parametrize(
    ("sampler", "arguments", "law"),
    [(binomial, (129, 0.0776), binom(129, 0.0776)), (_poisson, (10.01,), poisson(10.01)), (_poisson, (9.99,), poisson(9.99))],
)
def test_the_smallest_means_that_are_left_to_rejection_show_no_fault_of_its_bound(sampler, arguments, law, chance_of_fit):
    """Its corrections are largest here; a wrong sign in the last of them shows in as many draws as these."""
    assert chance_of_fit(many(sampler, fold(14, 0), 5_000_000, arguments), law) > 1e-7


@pytest.mark.parametrize("n", [0, 1, 2, 64, 128, 129, 10**6, 10**15])
def test_certain_and_impossible_successes_need_no_luck(n):
    assert set(many(binomial, fold(5, 0), 100, (n, 0.0))) == {0}
    assert set(many(binomial, fold(5, 0), 100, (n, 1.0))) == {n}


@pytest.mark.parametrize("n", [1, 100, 10**4])
def test_binomial_next_to_certainty_hardly_ever_misses(n):
    """Each draw differs with a chance of at most 1e-11: false alarm 1e-8."""
    assert set(many(binomial, fold(6, 0), 1000, (n, 1e-15))) == {0}
    assert set(many(binomial, fold(6, 0), 1000, (n, 1 - 1e-15))) == {n}


@njit(error_model="numpy")
def summed_shares(key, count, scale, holders):
    sums = np.zeros(count, np.int64)
    for n in range(count):
        for holder in range(holders):
            sums[n] += laplace_sum(stream(key, holder, NOISE, n), scale, 1.0 / holders)
    return sums


@pytest.mark.parametrize("holders", [2, 7, 50])
@pytest.mark.parametrize("scale", [3.0, 65536.0])
def test_all_shares_together_are_one_discrete_laplace_number(scale, holders, chance_of_fit):
    count = 40_000
    sums = summed_shares(fold(7, holders), count, scale, holders)
    q = np.exp(-1 / scale)
    variance, kurtosis = 2 * q / (1 - q) ** 2, (1 + 10 * q + q * q) / (2 * q)
    assert within(sums.mean(), 0.0, np.sqrt(variance / count))
    assert within(sums.var(), variance, variance * np.sqrt((kurtosis - 1) / count))
    assert chance_of_fit(sums, dlaplace(1 / scale)) > 1e-7


def test_one_share_has_its_part_of_the_variance_and_no_more():
    """Excess kurtoses of n equal independent parts are n times that of their sum, which is 3 here."""
    holders, scale = 7, 65536.0
    shares = many(laplace_sum, fold(8, 0), DRAWS, (scale, 1 / holders))
    variance, kurtosis = 2 * scale**2 / holders, 3 + holders * 3
    assert within(shares.var(), variance, variance * np.sqrt((kurtosis - 1) / DRAWS))


class Sum:
    """The law of a sum of independent discrete Laplace numbers, by convolution."""

    def __init__(self, scale, draws):
        reach = int(40 * scale)
        one = dlaplace.pmf(np.arange(-reach, reach + 1), 1 / scale)
        chances = np.ones(1)
        for _ in range(draws):
            chances = np.convolve(chances, one)
        self.low, self.below = -(len(chances) // 2), np.cumsum(chances)

    def cdf(self, k):
        return self.below[np.clip(np.asarray(k, int) - self.low, 0, len(self.below) - 1)]

    def ppf(self, level):
        return self.low + np.searchsorted(self.below, level)


@pytest.mark.parametrize(("scale", "draws"), [(0.7, 2), (3.0, 1), (3.0, 30), (20.0, 7)])
def test_a_sum_of_draws_has_the_law_of_their_sum(scale, draws, chance_of_fit):
    assert chance_of_fit(many(laplace_sum, fold(12, draws), DRAWS, (scale, float(draws))), Sum(scale, draws)) > 1e-7


@pytest.mark.parametrize("scale", [5.0, 4000.0, 65536.0, 2.0**45])
@pytest.mark.parametrize("draws", [1.0, 2.5, 100.0, 1e6])
def test_a_sum_of_draws_has_their_variance_and_kurtosis(scale, draws):
    """Cumulants add up: the excess kurtosis of one draw is 3 and a little, and that of n draws an n-th of it."""
    numbers = many(laplace_sum, fold(13, int(draws)), DRAWS, (scale, draws)).astype(float)
    variance, kurtosis = draws / (2 * np.sinh(0.5 / scale) ** 2), 3 + 3.1 / draws
    assert within(numbers.mean(), 0.0, np.sqrt(variance / DRAWS))
    assert within(numbers.var(), variance, variance * np.sqrt((kurtosis - 1) / DRAWS))
    assert within((numbers**4).mean() / variance**2, 3 + 3 / draws, np.sqrt((96 + 2500 / draws) / DRAWS))


@pytest.mark.parametrize("draws", [1.0, 1.5, 2.0, 50.0])
def test_where_the_scale_is_broad_rounding_is_as_good_as_a_grid(draws):
    """Characteristic functions of both laws, to 1e-9. That of a rounded number adds up all that a grid does not tell apart."""
    u = np.concatenate([[1e-12], np.geomspace(1e-9, np.pi, 4000)])
    exact = (np.sinh(0.5 / BROAD) ** 2 / (np.sinh(0.5 / BROAD) ** 2 + np.sin(u / 2) ** 2)) ** draws
    scale_squared = BROAD**2 - 1 / 12 - 1 / (24 * draws)
    places = u + 2 * np.pi * np.arange(-60, 61)[:, None]
    rounded = ((1 + scale_squared * places**2) ** -draws * np.sinc(places / (2 * np.pi))).sum(axis=0)
    assert np.abs(rounded - exact).max() < 1e-9


@pytest.mark.parametrize("mean", [12.0, 1e4, 1e9, 8e10])
def test_chances_of_poisson_numbers_keep_their_digits(mean):
    """The next one is mean / (k + 1) times as likely. Far out they add up, so a thousand steps are one of a hundred times."""
    for k in np.floor(mean + np.sqrt(mean) * np.array([-3.0, -1.0, 0.0, 0.5, 4.0])):
        steps = -np.log1p((np.arange(k + 1, k + 1001) - mean) / mean).sum()
        assert abs(_log_poisson(k + 1000, mean) - _log_poisson(k, mean) - steps) < 1e-8 * max(1.0, abs(steps))
    assert abs(_log_poisson(15.0, 12.0) - poisson.logpmf(15, 12.0)) < 1e-9


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 40.0), (7.5, 3.0), (20_001.0, 9_001.0)])
def test_beta_numbers_have_their_law(a, b):
    draws = [beta(side(4, i), a, b) for i in range(20_000)]
    assert kstest(draws, beta_law(a, b).cdf).pvalue > 1e-7


def test_normal_numbers_are_normal_and_new_in_every_draw():
    """Kolmogorov-Smirnov and five and a half standard errors: false alarm below 1e-6."""
    numbers = np.array([[normal(side(fold(11, 0), i), draw) for draw in (0, 1)] for i in range(20_000)])
    assert kstest(numbers[:, 0], "norm").pvalue > 1e-6
    assert kstest(numbers[:, 1], "norm").pvalue > 1e-6
    assert abs(np.corrcoef(numbers.T)[0, 1]) < 5.5 / np.sqrt(20_000)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5, 65536.0])
def test_rounded_normal_numbers_are_normal_numbers_rounded(sigma, chance_of_fit):
    """P(z <= k) = Phi((k + 1/2) / sigma)."""
    draws = many(rounded_normal, fold(9, 0), DRAWS, (sigma,))
    rounded = sum(k * k * (norm.cdf((k + 0.5) / sigma) - norm.cdf((k - 0.5) / sigma)) for k in range(-60, 61))
    variance = rounded if sigma < 5 else sigma**2 + 1 / 12
    assert within(draws.mean(), 0.0, np.sqrt(variance / DRAWS))
    assert within(draws.var(), variance, np.sqrt(((draws - draws.mean()) ** 4).mean() / DRAWS))
    assert chance_of_fit(draws, norm(-0.5, sigma)) > 1e-7


@pytest.mark.parametrize(
    ("sampler", "arguments"),
    [
        *[(discrete_laplace, (scale,)) for scale in SCALES],
        *[(binomial, about) for about in ((1, 0.3), (100, 0.3), (200, 0.01), (10**5, 0.4), (10**5, 0.7))],
        *[(laplace_sum, about) for about in ((3.0, 1 / 7), (65536.0, 1 / 50), (3.0, 20.0), (65536.0, 1e6))],
        *[(rounded_normal, (sigma,)) for sigma in (0.7, 65536.0)],
    ],
)
def test_a_sampler_gives_the_same_bits_called_one_by_one_and_inside_a_compiled_loop(sampler, arguments):
    key, count = fold(10, 0), 2000
    alone = [int(sampler(side(key, i), *arguments)) for i in range(count)]
    assert many(sampler, key, count, arguments).tolist() == alone
