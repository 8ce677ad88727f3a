"""Titles and labels stay true when values of a study are changed."""

import re
import tomllib

import pytest

from coterie.studies import BUILTIN, builtin_names, builtin_studies, load_study

NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand|million"
NAMED = re.compile(rf"\d|\b({NUMBERS})\b", re.IGNORECASE)
SOURCE = re.compile(r"Fig\. \d+(\(\w\))?(, case \dp?)?")  # where a study stands in its paper
HOSPITALS = tomllib.loads((BUILTIN / "hospitals.toml").read_text())["algorithm"]


@pytest.mark.parametrize("name", builtin_names())
def test_no_title_or_label_of_a_built_in_study_names_a_number_by_itself(name):
    study = tomllib.loads((BUILTIN / f"{name}.toml").read_text())
    for text in [study["title"], *(table.get("label", "") for table in study["algorithm"])]:
        assert not NAMED.search(SOURCE.sub("", text)), text


def test_a_title_follows_what_is_set():
    found = load_study("dubey-1a-long", ["problem.agents=40", "horizon=500"]).specification
    assert found.title == "Do 40 agents gain by sharing noised sums over 500 rounds? (Dubey & Pentland, Fig. 1(a))"
    first = next(place for place, row in enumerate(HOSPITALS) if row.get("label", "").startswith("Fed_UCB as printed"))
    labels = [row.label for row in load_study("hospitals", [f"algorithm.{first}.epsilon=2.5"]).specification.rows]
    assert "Fed_UCB as printed, epsilon=2.5" in labels


def test_titles_are_listed_with_their_numbers():
    listed = builtin_studies()
    assert listed["quickstart"].startswith("20 shops, 10 offers") and listed["suppliers"].startswith("6 rival firms")
    assert not [title for title in listed.values() if "{" in title]


@pytest.mark.parametrize("text", ["{", "}", "{}", "{x}", "{0}", "{{horizon}}", "{horizon!r}", "{problem}", "{problem.means}",
                                  "{horizon.real.real}", "{__class__}", "{rows}", "{problem.kind.upper}"])  # fmt: skip
def test_other_braces_are_text(text):
    table = {"name": "cdp-mab", "label": text}
    study = {"title": text, "horizon": 30, "problem": {"means": [0.5, 0.4], "agents": 2}, "algorithm": [table]}
    found = load_study(study).specification
    assert (found.title, found.rows[0].label) == (text.replace("{horizon}", "30"), text)
