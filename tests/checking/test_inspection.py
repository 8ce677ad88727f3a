"""The built-in algorithms keep the contract in all their forms, and the checks see what they look for."""

from pathlib import Path

import pytest

from coterie.algorithms import entries, find
from coterie.checking import inspection, lives
from coterie.checking.shape import file_of
from coterie.checking.stage import make_form

EXAMPLE = str(Path(__file__).parents[2] / "examples/own_algorithm.py")


USUAL = ("cdp-mab", "fed-ucb", "pr-ucb", "pooled-ucb", "p-fcb")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in USUAL)) for name in entries()])
def test_a_built_in_algorithm_keeps_the_contract(name):
    steps, forms = list(inspection.interpreted(name)), len(entries()[name].examples)
    assert steps[0] == f"the file: {name} has {forms} form{'s' if forms > 1 else ''}"
    assert any("one seed, one course" in step for step in steps)


@pytest.mark.parametrize("name", [EXAMPLE, *(pytest.param(name, marks=pytest.mark.slow) for name in entries())])
def test_all_forms_run_three_ways_to_the_same_bytes(name):
    assert len(list(inspection.compiled(name))) == len(find(name).examples)


def test_a_form_with_a_caveat_is_not_replayed_and_the_check_says_so():
    assert list(inspection.interpreted("nf-cb"))[-1].startswith("a form has a caveat")


def test_runs_that_differ_are_told_by_record_and_field():
    entry = find("ucb1")
    form = make_form(entry, {}, file_of(entry))
    one, other = form.watched(rough=False), form.watched(rough=False)
    assert lives.first_difference(one, other) == ""
    other[2].open["pulls"][1] += 1
    assert lives.first_difference(one, other) == "open.pulls of ucb1 2"


def test_a_second_life_hears_of_the_first_ones_noise_only():
    entry = find(EXAMPLE)
    form = make_form(entry, {}, EXAMPLE)
    first = lives.live(form, 0, None)
    second = lives.live(form, 1, {i: node.chance.passed for i, node in enumerate(first)})
    free = lives.live(form, 1, None)
    assert lives.first_difference(first, second, ("secret",)) == "secret.total of block_ucb 0"
    assert lives.first_difference(first, second, ("open", "ledger")) == ""
    assert lives.first_difference(first, free, ("open",)) != ""
