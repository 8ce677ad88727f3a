"""Streams against the matrices they stand for: prefix sums A = L R, noise L z, and what a shift of z costs.

The matrices are built here from the definition of a tree and of a square root, not from the code of the doors.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.linalg import toeplitz
from scipy.special import comb
from scipy.stats import dlaplace, norm

from coterie.contract import Algorithm, offer_all, out_record
from coterie.kernel import NOISE, UNIT, discrete_laplace, fold, normal, one, rows, stream
from coterie.privacy.accountant import accounted
from coterie.privacy.door import clear, look_up
from coterie.privacy.gauss import delta_of, mu_of
from coterie.privacy.ledger import ledger_record
from coterie.privacy.mechanisms import MECHANISMS
from coterie.privacy.mechanisms.streams import add_digits, add_root, digits_height, digits_used, root_norm
from coterie.privacy.secret import make_secrets, take_in

ARM, LASTING = 2, stream(fold(31, 0), 0, NOISE, -1)
SIZES = [1, 2, 13, 40]


class Params(NamedTuple):
    arms: int = 4


NORM = {"digits": digits_height, "root": root_norm}
OUT, LEDGER = out_record(Algorithm("any"), Params()), ledger_record(4, 1)


def secret_of(mechanism, rewards, reach=1.0):
    return make_secrets(1, Params().arms, 1, reach, rewards, MECHANISMS[mechanism].norm(rewards)).view(np.recarray)[0]


def passed(mechanism, rewards, m, reach=1.0, price=1.0, arm=ARM, value=0, lasting=LASTING):
    """(outbox, ledger) of the sum of the first m of at most `rewards` rewards."""
    out, ledger, secret = one(OUT), one(LEDGER), secret_of(mechanism, rewards, reach)
    take_in(secret, arm, m, value)
    offer_all(out, arm, price)
    look_up(out, secret, ledger, Params().arms, False)
    assert secret.refused == 0
    MECHANISMS[mechanism].book(out, ledger)
    MECHANISMS[mechanism].add(out, secret, 0, lasting)
    return out, ledger


def noise(mechanism, rewards, m, sensitivity=1.0, price=1.0, arm=ARM, value=0, lasting=LASTING):
    """What the door adds."""
    return int(passed(mechanism, rewards, m, sensitivity, price, arm, value, lasting)[0].value[0]) - value


# --- the matrices -----------------------------------------------------------------------------------------


class Factors(NamedTuple):
    left: np.ndarray  # L [prefix, z]
    right: np.ndarray  # R [z, reward]
    places: list  # coordinates of each z


def prefix_sums(n):
    return np.tril(np.ones((n, n)))


def digits_factors(n):
    """Every node of a ternary tree is a row of R; those with a sign in a prefix are in its row of L."""
    height = next(h for h in range(40) if 3**h >= 2 * n + 1)
    nodes = [(level, place) for level in range(height) for place in range(-(-n // 3**level) + 1)]
    right = np.array([[level_of(i, level) == place for i in range(n)] for level, place in nodes], int)
    left = np.zeros((n, len(nodes)), int)
    for m in range(1, n + 1):
        for level, place, sign in signed_nodes(m):
            left[m - 1, nodes.index((level, place))] = sign
    return Factors(left, right, nodes)


def level_of(reward, level):
    return reward // 3**level


def signed_nodes(m):
    """1..m as a signed sum of nodes, from the highest level down: end at the multiple of 3^level nearest to m."""
    end = 0
    for level in reversed(range(40)):
        nearest = (2 * m + 3**level) // (2 * 3**level) * 3**level  # halves do not occur: 3^level is odd
        if nearest != end:
            sign = 1 if nearest > end else -1
            yield level, min(nearest, end) // 3**level, sign
        end = nearest


def root_factors(n):
    column = comb(2 * np.arange(n), np.arange(n)) / 4.0 ** np.arange(n)
    square_root = toeplitz(column, np.zeros(n))
    return Factors(square_root, square_root, list(range(1, n + 1)))


FACTORS = {"digits": digits_factors, "root": root_factors}


@pytest.mark.parametrize("n", SIZES)
def test_signed_digits_factor_the_prefix_sums_exactly(n):
    factors = digits_factors(n)
    assert (factors.left @ factors.right == prefix_sums(n)).all()


@pytest.mark.parametrize("n", SIZES)
def test_the_root_factors_the_prefix_sums(n):
    factors = root_factors(n)
    assert np.abs(factors.left @ factors.right - prefix_sums(n)).max() < 1e-12


@pytest.mark.parametrize("n", [*SIZES, 4, 5, 121, 122])
def test_the_height_is_the_l1_norm_of_every_column(n):
    assert (np.abs(digits_factors(n).right).sum(axis=0) == digits_height(n)).all()


@pytest.mark.parametrize("n", SIZES)
def test_the_norm_of_the_root_is_the_l2_norm_of_its_longest_column(n):
    lengths = np.linalg.norm(root_factors(n).right, axis=0)
    assert root_norm(n) == pytest.approx(lengths[0], rel=1e-12)
    assert lengths.max() == lengths[0]


@pytest.mark.parametrize("n", SIZES)
def test_the_digits_in_use_are_the_entries_of_a_row(n):
    assert [digits_used(m) for m in range(1, n + 1)] == np.abs(digits_factors(n).left).sum(axis=1).tolist()


# --- the doors --------------------------------------------------------------------------------------------


def numbers(mechanism, n, sensitivity, price):
    """The vector z of an arm, in units of the grid: independent numbers at the coordinates of their places."""
    die, scale = fold(LASTING, ARM), UNIT * sensitivity * NORM[mechanism](n) / price
    if mechanism == "root":
        return np.array([scale * normal(fold(die, place), 0) for place in root_factors(n).places])
    return np.array([discrete_laplace(fold(fold(die, level), place), scale) for level, place in digits_factors(n).places])


@pytest.mark.parametrize("n", [13, 40])
@pytest.mark.parametrize("mechanism", FACTORS)
def test_the_door_adds_l_z_for_one_vector_of_independent_numbers(mechanism, n):
    z = numbers(mechanism, n, 2.0, 0.5)
    added = [noise(mechanism, n, m, 2.0, 0.5) for m in range(1, n + 1)]
    assert np.abs(added - FACTORS[mechanism](n).left @ z).max() <= (0.5 + 1e-3 if mechanism == "root" else 0)
    assert len(set(z.tolist())) == len(z)


@pytest.mark.parametrize("mechanism", FACTORS)
def test_noise_is_a_function_of_agent_arm_and_place_and_of_no_earlier_question(mechanism):
    plain = [noise(mechanism, 13, m) for m in range(1, 14)]
    assert [noise(mechanism, 13, m, value=10**9) for m in reversed(range(1, 14))] == plain[::-1]
    assert not set(plain) & {noise(mechanism, 13, m, arm=1) for m in range(1, 14)}
    assert not set(plain) & {noise(mechanism, 13, m, lasting=LASTING + 1) for m in range(1, 14)}
    assert noise(mechanism, 13, 5, sensitivity=3.0, price=1.5) == noise(mechanism, 13, 5, sensitivity=2.0)
    assert noise(mechanism, 13, 5, sensitivity=2.0) == pytest.approx(2 * plain[4], abs=8)  # rounding of each number


@njit(error_model="numpy")
def many(add, out, secrets, key, count):
    drawn = np.empty(count, np.int64)
    for n in range(count):
        out[0].value[0] = 0
        add(out[0], secrets[0], 0, stream(key, n, NOISE, -1))
        drawn[n] = out[0].value[0]
    return drawn


@njit(error_model="numpy")
def compiled_digits(out, secret, die, lasting):
    add_digits(out, secret, die, lasting)


@njit(error_model="numpy")
def compiled_root(out, secret, die, lasting):
    add_root(out, secret, die, lasting)


@pytest.mark.parametrize(
    "mechanism, law",
    [
        ("digits", lambda scale: dlaplace(1 / scale)),  # the prefix 1 is one node
        ("root", lambda scale: norm(-0.5, scale)),  # a whole number z stands for z - 1/2 .. z + 1/2
    ],
)
def test_the_first_number_of_a_stream_has_the_law_its_price_buys(mechanism, law, chance_of_fit):
    """False-alarm rate 1e-6."""
    out, secrets = rows(1, OUT, True), rows(1, secret_of(mechanism, 13).dtype, True)
    out[0], secrets[0] = passed(mechanism, 13, 1, 2.0, 0.5)[0], secret_of(mechanism, 13, 2.0)
    drawn = many(compiled_digits if mechanism == "digits" else compiled_root, out, secrets, fold(32, 0), 20_000)
    assert chance_of_fit(drawn, law(UNIT * 2.0 * NORM[mechanism](13) / 0.5)) > 1e-6


@pytest.mark.parametrize("mechanism", FACTORS)
def test_an_infinite_price_adds_nothing_and_is_booked(mechanism):
    assert [noise(mechanism, 13, m, price=inf) for m in range(1, 14)] == [0] * 13
    assert book(mechanism, [inf]).loss[ARM, 0] == inf


@pytest.mark.parametrize("mechanism", FACTORS)
def test_a_stream_without_a_reward_shows_no_noise_that_a_later_sum_is_hidden_by(mechanism):
    """The sum of no rewards is 0 to everybody. Were the noise of the first sum added, it would undo that of the first sum."""
    out, ledger = passed(mechanism, 13, 0)
    assert (out.entries, out.value[0], ledger.entries.sum()) == (1, 0, 0)
    assert noise(mechanism, 13, 1) != 0


# --- the price --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", FACTORS)
def test_a_changed_reward_and_a_shift_of_z_by_its_column_give_the_same_outputs(mechanism):
    n, factors = 40, FACTORS[mechanism](40)
    rng = np.random.default_rng(5)
    x, z = rng.integers(0, UNIT, n), numbers(mechanism, n, 1.0, 1.0)
    outputs = prefix_sums(n) @ x + factors.left @ z
    for i in range(n):
        d = UNIT - 2 * x[i]  # the reward turned round
        changed, shifted = x + d * np.eye(n, dtype=int)[i], z - d * factors.right[:, i]
        again = prefix_sums(n) @ changed + factors.left @ shifted
        assert np.abs(again - outputs).max() <= (0 if mechanism == "digits" else 1e-6)
        early = np.abs(factors.left[:i] @ shifted - factors.left[:i] @ z)
        assert early.max(initial=0) <= (0 if mechanism == "digits" else 1e-6)  # sums before the reward do not move


@pytest.mark.parametrize("sensitivity, price", [(1.0, 1.0), (5.0, 0.25)])
def test_the_shift_of_a_full_range_costs_the_declared_price(sensitivity, price):
    for n in SIZES:
        scale = sensitivity * digits_height(n) / price
        losses = np.abs(sensitivity * digits_factors(n).right).sum(axis=0) / scale  # of Laplace: L1 over scale
        assert losses == pytest.approx(np.full(n, price), rel=1e-12)
        sigma = sensitivity * root_norm(n) / price
        losses = np.linalg.norm(sensitivity * root_factors(n).right, axis=0) / sigma  # of normal: mu is L2 over sigma
        assert losses[0] == pytest.approx(price, rel=1e-12)
        assert (losses <= price * (1 + 1e-12)).all()


def book(mechanism, prices):
    out, ledger, secret = one(OUT), one(LEDGER), secret_of(mechanism, 100)
    for price in prices:
        clear(out)
        take_in(secret, ARM, 1, 0)
        offer_all(out, ARM, price)
        look_up(out, secret, ledger, Params().arms, False)
        MECHANISMS[mechanism].book(out, ledger)
    assert secret.refused == 0
    return ledger


@pytest.mark.parametrize("mechanism", FACTORS)
def test_a_stream_is_paid_for_once_however_many_sums_are_asked_for(mechanism):
    for sums in (1, 2, 50):
        ledger = book(mechanism, [0.7] * sums)
        assert ledger.loss[ARM, 0] == 0.7
        assert ledger.squares[ARM, 0] == 0.7 * 0.7
        assert ledger.entries[ARM, 0] == sums
        assert ledger.loss.sum() == 0.7


def test_the_accountant_reads_a_root_at_its_delta_and_digits_as_they_are():
    for epsilon, delta in [(0.1, 1e-9), (1.0, 1e-6), (5.0, 1e-3)]:
        mu = mu_of(epsilon, delta)
        ledgers = np.array([book("root", [mu] * 3)])
        found = accounted(ledgers, MECHANISMS["root"], delta)[0]
        assert epsilon - 1e-9 < found <= epsilon * (1 + 1e-12)
        assert delta_of(sqrt(ledgers["squares"].max()), found) <= delta
    assert accounted(np.array([book("digits", [0.7] * 3)]), MECHANISMS["digits"], 0.0)[0] == 0.7
