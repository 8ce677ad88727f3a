"""Every broken promise has its red line."""

import pytest

from coterie.studies.answers.promises import epsilons, red_line


def test_broken_promises_are_named_with_what_holds(row, told):
    kept, broken, void = row("a", 1.0, 1.0, 1.0), row("b epsilon=1", 1.0, 1.0, 5.0), row("c", 1.0, 2.0, None)
    broken["parameters"] = {"epsilon": 1.0}
    assert red_line(told([kept]), "") is None and red_line(told([row("open", 1.0)]), "") is None
    assert spaced(red_line(told([kept, broken]), "")) == "One promise is broken: b promises ε = 1, but ε = 5 holds."
    assert spaced(red_line(told([kept, broken, void]), "")) == (
        "2 promises are broken: b promises ε = 1, but ε = 5 holds; c promises ε = 2, but no limit holds."
    )
    void_only = told([void, row("open", 1.0)])
    assert spaced(red_line(void_only, "")) == "No row keeps its promise: c promises ε = 2, but no limit holds."


def test_what_the_sentence_says_is_not_said_again(row, told):
    rows = told([row("a", 1.0, 1.0, 5.0)])
    assert spaced(red_line(rows, "It falls. No row keeps its promise.")) == "Promised ε = 1, but ε = 5 holds."
    assert red_line(rows, "Where ε = 1 is promised, ε\xa0=\xa05 holds with a.") == "No row keeps its promise."
    both = told([row("a", 1.0, 1.0, 5.0), row("b", 1.0, 1.0, 5.0)])
    assert spaced(red_line(both, "No row keeps its promise.")) == "Promised ε = 1, but ε = 5 holds."
    two = told([row("a", 1.0, 1.0, 5.0), row("b", 1.0, 1.0, None)])
    assert spaced(red_line(two, "Yes, but no row keeps its promise.")) == (
        "a promises ε = 1, but ε = 5 holds; b promises ε = 1, but no limit holds."
    )


def test_those_of_one_method_are_told_together(row, told):
    rows = [row("m", 1.0, promised, 10 * promised) for promised in (1.0, 0.1, 0.5)] + [row("m", 1.0, 0.2, None)]
    assert spaced(red_line(told(rows), "")) == (
        "No row keeps its promise: m promises ε = 0.1 to 1, but ε = 1 to 10 holds, or no limit."
    )


RANGES = [([1.0], "ε = 1"), ([2, 1, 1], "ε = 1 to 2"), ([None, 1.00001], "ε = 1.01"), ([None], "")]


@pytest.mark.parametrize(("values", "text"), RANGES)
def test_ranges_of_epsilon(values, text):
    assert spaced(epsilons(values)) == text


def spaced(text):
    return text.replace("\xa0", " ")
