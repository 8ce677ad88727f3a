"""Small functions against those of Python and numpy."""

import sys
from math import log

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.kernel import argmax, highest, larger, level, nearest, ones, real, wrap
from coterie.kernel.tools import bits_of, of_bits, quick_log


def error(x):
    """Beside the unit, or beside the logarithm where that is larger: its own last digit is worth more then."""
    return abs(quick_log(x) - log(x)) / max(1.0, abs(log(x)))


@given(st.floats(sys.float_info.min, sys.float_info.max))
@example(sys.float_info.min)
@example(sys.float_info.max)
@example(np.nextafter(1.0, 0))
@example(1.0)
@example(np.nextafter(np.sqrt(0.5), 0))
@example(np.nextafter(np.sqrt(2.0), 2))
@example(2.0**-53)
def test_quick_log_is_the_logarithm_to_within_1e_10(x):
    assert error(x) < 1e-10


def test_quick_log_is_as_good_on_a_fine_grid_over_many_powers_of_two():
    mantissas = np.linspace(0.5, 2, 3001)
    assert max(error(float(m) * 2.0**k) for m in mantissas for k in (-1000, -53, -1, 0, 1, 60, 1000)) < 1e-10


def test_quick_log_of_one_is_nothing():
    assert quick_log(1.0) == 0.0


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.data())
def test_argmax_is_the_first_of_the_largest_among_the_first(values, data):
    count = data.draw(st.integers(1, len(values)))
    assert argmax(np.array(values), count) == values.index(max(values[:count]))


@given(st.integers(0, 2**64 - 1))
def test_ones_are_counted(word):
    assert ones(np.uint64(word)) == word.bit_count()


@given(st.integers(1, 2**62))
def test_the_level_of_a_number_is_that_of_its_lowest_set_bit(m):
    assert m % 2 ** level(m) == 0
    assert m // 2 ** level(m) % 2 == 1


@given(st.integers(1, 2**63 - 1))
def test_the_highest_set_bit_of_a_number_is_that_of_its_length(m):
    assert highest(m) == m.bit_length() - 1


@given(st.integers(1, 1000), st.data())
def test_wrap_is_the_remainder(size, data):
    position = data.draw(st.integers(0, 2 * size - 1))
    assert wrap(position, size) == position % size


@given(st.integers(-(2**61), 2**61), st.integers(-(2**61), 2**61))
def test_larger_is_the_maximum_of_two_integers(a, b):
    assert larger(np.int64(a), np.int64(b)) == max(a, b)


@given(st.floats(-(2.0**51) + 1, 2.0**51 - 1))
@example(0.5)
@example(-2.5)
@example(-0.0)
def test_nearest_rounds_as_python_does(x):
    assert nearest(x) == round(x)


@given(st.integers(-(2**63), 2**63 - 1))
@example(2**63 - 1)
@example(-(2**63))
@example(2**53 + 1)
@example(-1)
def test_a_whole_number_is_the_float_that_python_makes_of_it(n):
    assert real(n) == float(n) and isinstance(real(n), float)


@given(st.floats(allow_nan=False))
@example(-0.0)
def test_a_number_comes_back_from_its_bits(x):
    assert bits_of(x) == int(np.array(x).view(np.int64))
    assert str(of_bits(bits_of(x))) == str(x)
