"""The page about privacy says what the code does."""

import re
from pathlib import Path

import pytest

from coterie.algorithms import entries
from coterie.cli.budget import budget
from coterie.cli.statement import statement
from coterie.privacy.gauss import delta_of
from coterie.privacy.statement import ONE_ORDER, SEES_ALL, SEES_NO_CHOICES, SEES_NO_REPORT, SEES_SUMS, UNIT_OF_PRIVACY
from coterie.studies.guarantees import DELTA, HEADINGS, prices, renewed, rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/privacy.md").read_text()


def test_the_tables_of_the_page_are_up_to_date():
    assert renewed(PAGE) == PAGE, "make it anew: python -m coterie.studies.guarantees docs/privacy.md"


@pytest.mark.parametrize("name", entries())
def test_every_algorithm_is_on_the_page(name):
    assert f"| `{name}` |" in PAGE


def test_every_row_of_the_table_has_all_columns():
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert {line.count(" | ") for line in lines} == {len(HEADINGS) - 1}


def test_printed_forms_show_their_true_cost():
    table = {row[:2]: row[2:] for name in ("cdp-mab", "fed-ucb") for row in rows(entries()[name])}
    assert table["`cdp-mab`", "mode = paper"][:5] == ("1", "broken", "10", "10", "10")
    assert table["`cdp-mab`", "noise = central"][:5] == ("1", "promised and kept", "**no limit**", "1", "**no limit**")
    assert table["`fed-ucb`", "mode = paper"][:5] == ("1", "broken", "no server", "**no limit**", "**no limit**")
    assert table["`fed-ucb`", "-"][:5] == ("1", "promised and kept", "no server", "1", "1")


@pytest.mark.parametrize("name", entries())
def test_the_table_is_about_rounds_in_which_everything_happens_at_least_twice(name):
    """Else a loss of 0 would be one of too few rounds."""
    for _, price in prices(name):
        assert price.course.releases != 1
        assert price.course.releases or price.doors.structure == "alone" or price.parameters.get("learning") == "echo"


@pytest.mark.parametrize("name", ["single-mab", "cdp-mab", "ddp-mab", "hdp-mab"])
def test_without_noise_there_is_no_limit_for_those_who_see_all(name):
    [line] = [line for line in rows(entries()[name]) if line[1] == "epsilon = inf"]
    assert line[HEADINGS.index("promised")] == "nothing"
    assert line[HEADINGS.index("everyone together")] == "**no limit**"


# (name, options that matter): adversary, beginning of whom to trust, beginning of why nothing holds
SENT = "no finite epsilon holds: what is sent rests on choices"
SPECIAL = {
    ("cdp-mab", "noise=central"): (SEES_NO_REPORT, "the server to keep raw sums", ""),
    ("cdp-mab", "noise=secagg"): (SEES_SUMS, "secure aggregation to show no single report", ""),
    ("pooled-ucb", "noise=central"): (SEES_NO_REPORT, "the server to keep raw sums", ""),
    ("pooled-ucb", "noise=secagg"): (SEES_SUMS, "secure aggregation to show no single report", ""),
    ("nf-cb", ""): (SEES_NO_CHOICES, "the agent to keep its choices", ""),
    ("fcb", ""): (SEES_NO_CHOICES, "the agent to keep its choices", SENT),
    ("fcb-periodic", ""): (SEES_NO_CHOICES, "the agent to keep its choices", SENT),
    ("private-ucb", "mode=paper"): (SEES_NO_CHOICES, "the agent to keep its choices", SENT),
    ("private-ucb", "noise=kept"): (SEES_ALL, "nobody", "no finite epsilon holds: one draw of noise"),
}


@pytest.mark.parametrize("name", [name for name in entries() if name != "p-fcb"])
def test_whom_a_promise_is_about_is_as_the_table_has_it(name):
    for example, price in prices(name):
        options = {f"{key}={value}" for key, value in example.items()} | {""}
        told = [words for (who, what), words in SPECIAL.items() if who == name and what in options]
        [expected] = told or [(SEES_ALL, "nobody", "")]
        doors = price.doors
        assert doors.adversary == expected[0]
        assert doors.trust.startswith(expected[1]) and doors.void.startswith(expected[2])
        assert bool(doors.void) == bool(expected[2])
        assert doors.unit == (ONE_ORDER if entries()[name].problem == "procurement" else UNIT_OF_PRIVACY)


def test_the_printed_procurement_keeps_nothing_from_who_sees_orders():
    for example, price in prices("p-fcb"):
        if example.get("mode") == "paper":
            assert (price.doors.adversary, price.doors.unit) == (SEES_NO_CHOICES, ONE_ORDER)
            assert price.doors.void.startswith(SENT)


def test_a_person_loses_by_normal_noise_what_the_exact_curve_says():
    """mu is that of epsilon 1; m rewards have m mu, whose delta at the epsilon of the page is the one that is promised."""
    lines = re.findall(r"^\| (\d+) \| (\d+) \| ([\d.]+) \|$", PAGE, re.M)
    assert len(lines) == 6
    low, high = 0.0, 1.0  # the mu of epsilon 1, by bisection on the curve itself
    for _ in range(60):
        low, high = (low, (low + high) / 2) if delta_of((low + high) / 2, 1.0) > DELTA else ((low + high) / 2, high)
    for rewards, laplace, normal in lines:
        assert laplace == rewards
        delta = delta_of(int(rewards) * low, float(normal))
        assert delta <= DELTA * (1 + 1e-6) and 1.2 * delta > DELTA


def test_the_commands_on_the_page_are_the_examples_of_their_help():
    first, second = re.findall(r"```sh\n(.*?)\n```", PAGE, re.S)
    assert f"Example: {first}" in budget.__doc__ and f"Example: {second}" in statement.__doc__


def test_files_that_the_page_links_to_exist():
    links = re.findall(r"\]\((\S+?)\)", PAGE)
    assert links and all((ROOT / "docs" / link).is_file() for link in links)
