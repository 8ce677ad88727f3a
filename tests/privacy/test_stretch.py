"""A stretch as one word: what goes in comes out, and what cannot be said is refused."""

from itertools import product

import pytest

from coterie.privacy.stretch import MARKS_MOST, NOW, NOWHERE, START, keep_of, since_of, stretch_of, until_of

MARKS = (0, 1, 7, MARKS_MOST - 1)


ALL = list(product((START, NOW, *MARKS), (NOW, *MARKS), (NOWHERE, *MARKS)))


@pytest.mark.parametrize("since, until, keep", ALL)
def test_a_word_tells_the_three_numbers_it_was_made_of(since, until, keep):
    word = stretch_of(since, until, keep)
    assert (since_of(word), until_of(word), keep_of(word)) == (since, until, keep)


@pytest.mark.parametrize("wrong", (-3, MARKS_MOST, MARKS_MOST + 5, 2**40, -(2**40)))
@pytest.mark.parametrize("place", range(3))
def test_what_is_no_mark_begins_before_the_start_and_never_means_another_stretch(wrong, place):
    ends = [0, 0, 0]
    ends[place] = wrong
    assert since_of(stretch_of(*ends)) < START
