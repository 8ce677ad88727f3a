"""The study of three hospitals: together they find the treatment that is best for all, and can do so in private.

Hospital 1 (the second) does best with another treatment than the network: alone it cannot know.
"""

from functools import cache

import pytest

from coterie.studies import load_study

ALONE, TOGETHER, PRINTED = "each hospital alone", "together, no privacy", "Fed_UCB as printed, epsilon=1"
PRIVATE = {f"together, private epsilon={epsilon}": epsilon for epsilon in (1, 2, 5)}
REPLICATIONS = 5


@cache
def rows():
    result = load_study("hospitals", [f"replications={REPLICATIONS}"]).run(workers=1)
    return {row["label"]: row for row in result.summary}


def test_the_rows_are_those_of_the_question():
    assert list(rows()) == [
        ALONE, TOGETHER, PRINTED, *PRIVATE, "by elimination, private, epsilon=1",
        "as one learner, no privacy", "as one learner, private, epsilon=1",
    ]  # fmt: skip


def test_together_every_hospital_finds_the_best_treatment_and_hospital_1_alone_does_not():
    assert rows()[TOGETHER]["by_agent"]["found"] == [1.0, 1.0, 1.0]
    assert rows()[ALONE]["by_agent"]["found"][1] <= 0.4
    alone, together = (rows()[label]["by_agent"]["regret"][1] for label in (ALONE, TOGETHER))
    assert together < 0.25 * alone


@pytest.mark.parametrize("label", PRIVATE)
def test_in_private_the_hospitals_do_nearly_as_well(label):
    found = rows()[label]["by_agent"]["found"]
    assert min(found) >= 0.8
    assert rows()[label]["regret_per_agent"]["max"] < 0.5 * rows()[ALONE]["regret_per_agent"]["min"]
    assert rows()[label]["regret_per_agent"]["max"] < 0.2 * rows()[PRINTED]["regret_per_agent"]["min"]


@pytest.mark.parametrize("label", PRIVATE)
def test_what_is_said_to_be_private_is_and_costs_what_is_stated(label):
    said = rows()[label]["privacy"]
    assert said["private"] is True
    assert said["claimed"] == said["accounted"] == {"epsilon": PRIVATE[label], "delta": 0.0}


def test_as_printed_it_is_not_private_and_the_page_can_say_why():
    said = rows()[PRINTED]["privacy"]
    assert said["private"] is False
    assert said["accounted"]["epsilon"] is None
    first, why = said["note"].split(". ")
    assert first == "not private: first reward of each arm is sent without noise"
    assert why == "no finite epsilon holds: a number leaves an agent without noise"


@pytest.mark.parametrize("label", [ALONE, TOGETHER])
def test_without_noise_nothing_is_claimed(label):
    assert (rows()[label]["privacy"]["private"], rows()[label]["privacy"]["claimed"]) == (False, None)


def test_what_single_hospitals_lose_adds_up_to_the_regret_of_all():
    for row in rows().values():
        regrets = row["by_agent"]["regret"]
        assert sum(regrets) / len(regrets) == pytest.approx(row["regret_per_agent"]["mean"], rel=1e-9)
