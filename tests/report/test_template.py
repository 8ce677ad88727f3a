"""Templates escape, and numbers that can be saved end no element."""

import csv

from coterie.report.template import csv_text, filled
from coterie.studies.words import Words


def test_numbers_to_be_saved_are_csv_and_hold_no_tag() -> None:
    text = csv_text(["name", "value"], [('a, "b"', 0.123456789), ("</script><script>", None), ("c", 3)])
    assert list(csv.reader(text.splitlines())) == [
        ["name", "value"], ['a, "b"', "0.123457"], ["\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}/script>"
        "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}script>", ""], ["c", "3"],
    ]  # fmt: skip
    assert "<" not in text


def test_a_page_has_one_style_sheet_with_the_colours_of_its_rows_and_all_scripts() -> None:
    page = filled("base.html.j2", Words(), ".r1{--row:#123456}")
    assert page.count("<style>") == 1 and ".r1{--row:#123456}" in page and page.count("<script>") == 2
    assert page.startswith("<!DOCTYPE html>") and "<main>" in page
