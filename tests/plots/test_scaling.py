"""The picture of a scaling has its exponents in the key, and all its numbers beside it."""

import csv

import pytest

from coterie.errors import UsageError
from coterie.plots.scaling import save
from coterie.studies.scaling import Growth, Scaling

ROWS = [Growth("a", [3.0, 30.0], [0.1, 1.0], 1.0, 0.05), Growth("b", [0.0, 2.0], [None, None], None, None)]
FOUND = Scaling("problem.agents", [10.0, 100.0], ROWS)


def test_picture_and_numbers(tmp_path):
    numbers = save(FOUND, tmp_path / "growth.svg")
    assert "a: exponent 1.00 ± 0.05" in (tmp_path / "growth.svg").read_text()
    lines = list(csv.reader(numbers.open()))
    assert lines[1] == ["a", "10", "3", "0.1", "1", "0.05"] and lines[3] == ["b", "10", "0", "", "", ""]


def test_a_name_without_a_format_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"must have a name that ends in one of pdf, svg, png, got 'growth\.gif'"):
        save(FOUND, tmp_path / "growth.gif")
    assert not list(tmp_path.iterdir())


def test_an_interval_is_named_only_where_one_is_drawn(tmp_path):
    few = FOUND._replace(rows=[row._replace(margin=[None, None], exponent_margin=None) for row in ROWS])
    for found, said in ((FOUND, True), (few, False)):
        save(found, tmp_path / "growth.svg")
        assert ("95 % interval" in (tmp_path / "growth.svg").read_text()) == said
