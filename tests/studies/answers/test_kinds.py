"""The whole answer: its keys, its caveats, and that names of studies do not matter."""

from functools import partial

import pytest

from coterie.engines.simulate import simulate_mesh
from coterie.studies import case, load_study
from coterie.studies.answers import caveats
from coterie.studies.answers.told import Said


@pytest.fixture(scope="module")
def documents():
    """Interpreted: a few rounds are not worth a compiler."""
    study = {"horizon": 40, "replications": 5, "problem": {"means": [0.2, 0.8], "agents": 3}, "network": {"graph": "complete"},
             "algorithm": [{"name": "ucb1"}, {"name": "coop-ucb", "label": "together"}]}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        return [load_study(study | more).run(1).document() for more in ({}, {"title": "zhu-2a"}, {"words": {"agent": "shop"}})]


def test_a_title_changes_nothing_and_words_do(documents):
    plain, titled, worded = (document["answer"] for document in documents)
    assert plain == titled and plain["kind"] == "privacy" and (plain["alone"], plain["together"]) == (0, 1)
    assert worded["sentence"] == plain["sentence"].replace("an agent", "a shop")


def test_every_row_has_one_place_and_one_group(documents):
    answer = documents[0]["answer"]
    assert sorted(answer["order"]) == [0, 1] and answer["names"] == ["ucb1", "together"]
    assert sorted(row for group in answer["groups"] for row in group["rows"]) == [0, 1]
    assert len(answer["figures"]) == 4 and answer["differences"][0]["runs"] == 5


def test_caveats_are_about_few_runs_old_records_and_what_is_protected(row, told):
    rows = [row("a", 1.0, 1.0, 1.0)]
    assert caveats(told(rows), Said("")) == ["ε protects one reward of one agent, not one person."]
    few = caveats(told(rows, runs=1, problem={"kind": "bernoulli", "dataset": "diabetes"}), Said(""))
    assert few[0].startswith("One run: too few for an interval") and "not a medical finding" in few[1]
    beside = caveats(told([row("a", 1.0)]), Said("", caveats=["a: it is so."]))
    assert beside == ["A: it is so."]


@pytest.mark.parametrize(("means", "said"), [([[0.0, 1.0], [1.0, 0.0]], True), ([[0.0, 1.0], [1.0, 0.1]], False)])
def test_where_all_arms_are_equally_good_the_answer_is_that_there_is_nothing_to_learn(means, said, monkeypatch):
    monkeypatch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
    study = {"horizon": 40, "replications": 5, "problem": {"means": means, "agents": 2}, "network": {"graph": "complete"},
             "algorithm": [{"name": "ucb1"}, {"name": "coop-ucb"}], "words": {"arm": "offer"}}  # fmt: skip
    answer = load_study(study).run(1).document()["answer"]
    expected = "All offers are equally good on average, so there is nothing to learn."
    assert (answer["sentence"] == expected) == said and (answer["verdict"] is None or not said)
