"""The words of the study in place of ours."""

from typing import Any

import pytest

from coterie.errors import UsageError
from coterie.studies import load_study
from coterie.studies.words import Words, plural_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an agent pulls an arm", "a hospital pulls an option"),
        ("Agents and arms", "Hospitals and options"),
        ("regret per agent, total over agents", "regret per hospital, total over hospitals"),
        ("3\u00a0agents, “Best arm”", "3\u00a0hospitals, “Best option”"),
        ("An agent's harm to an army of reagents", "A hospital's harm to an army of reagents"),
        ("the agents' own arms", "the hospitals' own options"),
        ("best_arm", "best_arm"),
    ],
)
def test_whole_words_are_replaced_with_their_number_case_and_article(text: str, expected: str) -> None:
    assert Words("hospital", "option").in_place_of_ours(text) == expected


def test_a_word_of_the_study_may_be_one_of_ours() -> None:
    assert Words("arm", "agent").in_place_of_ours("an agent and two arms") == "an arm and two agents"


def test_without_words_of_its_own_the_text_stays_the_same() -> None:
    text = "An agent pulls an arm; agents talk."
    assert Words().in_place_of_ours(text) == text


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("clinic", "clinics"),
        ("pharmacy", "pharmacies"),
        ("day", "days"),
        ("bus", "buses"),
        ("branch", "branches"),
        ("box", "boxes"),
    ],
)
def test_plurals_are_written_as_people_do(noun: str, plural: str) -> None:
    assert plural_of(noun) == plural


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
@pytest.mark.parametrize(("table", "key"), [("words", "agent"), ("words", "arm"), ("", "title"), ("algorithm", "label")])
def test_blank_words_titles_and_labels_are_refused(table: str, key: str, blank: str) -> None:
    study: dict[str, Any] = {"horizon": 5, "problem": {"means": [0.5, 0.4], "agents": 2}, "algorithm": [{"name": "ucb1"}]}
    target = study["algorithm"][0] if table == "algorithm" else study.setdefault(table, {}) if table else study
    target[key] = blank
    where = {"words": "words.", "algorithm": r"algorithm\[0\]."}.get(table, "")
    with pytest.raises(UsageError, match=f"^study: {where}{key} must be text that is not blank, got '"):
        load_study(study)
