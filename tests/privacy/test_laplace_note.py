"""The proof note and the code name each other, and the formulas of the note are true."""

import pydoc
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import dlaplace, nbinom

from coterie.privacy import door, exact
from coterie.privacy.mechanisms import laplace, shares

NOTE = Path(laplace.__file__).with_name("laplace.md")
NAMES = sorted(set(re.findall(r"`(coterie\.[\w.]+)`", NOTE.read_text())))


@pytest.mark.parametrize("module", [laplace, shares, exact])
def test_the_modules_of_the_mechanism_point_to_the_note(module):
    assert NOTE.name in module.__doc__
    assert Path(module.__file__).name in NOTE.read_text()
    assert Path(door.__file__).name in NOTE.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_what_the_note_names_exists(name):
    assert pydoc.locate(name) is not None


def test_the_note_names_all_that_draws_or_books():
    needed = {"book_entries", "add_laplace", "add_parts", "add_exact", "discrete_laplace", "laplace_sum", "book", "offer"}
    assert needed <= {name.rpartition(".")[2] for name in NAMES}


def test_files_that_the_note_names_exist():
    root = Path(__file__).parents[2]
    named = re.findall(r"`(tests/[\w/]+\.py)`", NOTE.read_text())
    assert named
    assert all((root / name).is_file() for name in named)


@pytest.mark.parametrize("scale", [0.4, 3.0, 50.0])
def test_one_release_loses_its_price(scale):
    """With a sensitivity of 5 steps the price is 5 / scale; it is reached, and nowhere exceeded."""
    y = np.arange(-200, 201)
    losses = [dlaplace.logpmf(y - x, 1 / scale) - dlaplace.logpmf(y, 1 / scale) for x in range(-5, 6)]
    assert np.max(losses) == pytest.approx(5 / scale, rel=1e-9)


@pytest.mark.parametrize("scale", [0.4, 3.0, 50.0])
def test_the_noise_is_no_heavier_than_that_of_laplace_numbers(scale):
    z, u = np.arange(-20_000, 20_001), np.linspace(0.01, 0.9, 30)[:, None] / scale
    moments = (np.exp(u * z + dlaplace.logpmf(z, 1 / scale))).sum(axis=1)
    formula = (np.cosh(1 / scale) - 1) / (np.cosh(1 / scale) - np.cosh(u[:, 0]))
    assert np.allclose(moments, formula, rtol=1e-9)
    assert (formula <= 1 / (1 - (scale * u[:, 0]) ** 2)).all()


@pytest.mark.parametrize("holders", [2, 5])
def test_negative_binomial_parts_of_shape_one_over_n_add_up_to_a_geometric_number(holders):
    q, k = np.exp(-1 / 3.0), np.arange(200)
    part, whole = nbinom.pmf(k, 1 / holders, 1 - q), np.array([1.0])
    for _ in range(holders):
        whole = np.convolve(whole, part)
    assert np.allclose(whole[:200], (1 - q) * q**k, rtol=1e-9, atol=1e-15)
