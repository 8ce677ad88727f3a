"""The page about privacy says what the code does."""

import re
from pathlib import Path

import pytest

from coterie.algorithms import entries
from coterie.cli.budget import budget
from coterie.studies.guarantees import HEADINGS, renewed, rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/privacy.md").read_text()


def test_the_table_of_the_page_is_up_to_date():
    assert renewed(PAGE) == PAGE, "make it anew: python -m coterie.studies.guarantees docs/privacy.md"


@pytest.mark.parametrize("name", entries())
def test_every_algorithm_is_on_the_page(name):
    assert f"| `{name}` |" in PAGE


def test_every_row_of_the_table_has_all_columns():
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert {line.count(" | ") for line in lines} == {len(HEADINGS) - 1}


def test_printed_forms_show_their_true_cost():
    table = {row[:2]: row[2:] for name in ("cdp-mab", "fed-ucb") for row in rows(entries()[name])}
    assert table["`cdp-mab`", "mode = paper"][:4] == ("1", "10", "10", "10")
    assert table["`cdp-mab`", "noise = central"][:4] == ("1", "**none**", "1", "**none**")
    assert table["`fed-ucb`", "mode = paper"][:4] == ("1", "no server", "**none**", "**none**")
    assert table["`fed-ucb`", "-"][:4] == ("1", "no server", "1", "1")


def test_the_command_on_the_page_is_the_example_of_its_help():
    [command] = re.findall(r"```sh\n(.*?)\n```", PAGE, re.S)
    assert f"Example: {command}" in budget.__doc__


def test_files_that_the_page_links_to_exist():
    links = re.findall(r"\]\((\S+?)\)", PAGE)
    assert links and all((ROOT / "docs" / link).is_file() for link in links)
