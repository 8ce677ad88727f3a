"""Templates escape, and numbers that can be saved end no element."""

import csv
import json

import pytest
from jinja2 import Environment, FileSystemLoader

from coterie.report.template import HERE, csv_text, filled
from coterie.studies.words import Words


def test_numbers_to_be_saved_are_csv_and_keep_every_letter() -> None:
    text = csv_text(["name", "value"], [('a, "b"', 0.123456789), ("</script><script>", None), ("c", 3)])
    assert list(csv.reader(text.splitlines())) == [
        ["name", "value"], ['a, "b"', "0.123457"], ["</script><script>", ""], ["c", "3"],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_a_name_is_no_formula_and_a_number_below_zero_stays_one(name: str) -> None:
    assert list(csv.reader(csv_text(["name", "value"], [(name, -1.5)]).splitlines()))[1] == [f"'{name}", "-1.5"]


def test_numbers_end_no_element_of_a_page() -> None:
    numbers = csv_text(["name"], [("</script><!-- <script>",)])
    made = Environment(loader=FileSystemLoader(HERE), autoescape=True).from_string(
        '{% import "parts.html.j2" as parts %}{% call parts.figure("a", numbers) %}{% endcall %}'
    )
    _, _, rest = made.render(numbers=numbers).partition('<script type="application/json">')
    inside, end, _ = rest.partition("</script>")
    assert end and "<" not in inside and json.loads(inside) == numbers


def test_a_page_has_one_style_sheet_with_the_colours_of_its_rows_and_all_scripts() -> None:
    page = filled("base.html.j2", Words(), ".r1{--row:#123456}")
    assert page.count("<style>") == 1 and ".r1{--row:#123456}" in page and page.count("<script>") == 2
    assert page.startswith("<!DOCTYPE html>") and "<main>" in page
