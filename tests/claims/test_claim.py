"""The files of claims: complete, and each says of which rows it speaks."""

import pytest

from coterie.claims.claim import Check, Claim, Panel, Paper, Pick, named, papers
from coterie.claims.lab import Lab, matches, place_of
from coterie.claims.measures import MEASURES
from coterie.errors import UsageError
from coterie.studies import builtin_names, load_study

ALL = [(paper, claim) for paper in papers().values() for claim in paper.claim]


def test_all_four_papers_are_there_with_sixty_claims_or_more():
    assert set(papers()) == {"li-song", "zhu", "dubey", "solanki"}
    judged = [claim for _, claim in ALL if claim.verdict != "not testable"]
    assert len(judged) >= 60


@pytest.mark.parametrize("paper", papers().values(), ids=papers())
def test_ids_are_told_apart_and_figures_exist(paper):
    ids = [claim.id for claim in paper.claim]
    assert len(set(ids)) == len(ids)
    figures = {figure.id for figure in paper.figure}
    assert {claim.figure for claim in paper.claim} <= {"", *figures}
    assert all(any(claim.figure == figure for claim in paper.claim) for figure in figures), "a figure without a claim"
    assert {name.split(" ")[0] for name in paper.studies} <= set(builtin_names())


@pytest.mark.parametrize("paper", papers().values(), ids=papers())
def test_every_row_that_a_claim_or_a_picture_looks_at_is_one_row(paper):
    assert all(check.measure in MEASURES for claim in paper.claim for check in claim.check)
    for study in paper.studies:
        name, *sets = study.split(" ")
        labels = [row.label for row in load_study(name, sets).specification.rows]
        for words in {words for pick in paper.picks if pick.study == study for words in pick.rows}:
            found = [label for label in labels if label == words] or [label for label in labels if matches(label, words)]
            assert len(found) == 1, (study, words, found)


@pytest.mark.parametrize("paper", papers().values(), ids=papers())
def test_every_private_figure_has_its_private_form_beside_it(paper):
    """Of a row of a private panel the promise is that of the library; figures that say so have nothing private in them."""
    for figure in paper.figure:
        assert any(panel.private for panel in figure.panel) != ("Nothing is private in this figure" in figure.silent)
        for panel in figure.panel:
            for pick in panel.picks:
                name, *sets = pick.study.split(" ")
                rows = load_study(name, sets).specification.rows
                labels = [row.label for row in rows]
                shown = [rows[place_of(labels, words, pick.study)] for words in pick.rows]
                printed = [row.label for row in shown if row.options.model_dump().get("mode") == "paper"]
                assert not (panel.private and printed)


def test_a_panel_has_a_row_for_every_place():
    pick = {"study": "li-song-4", "rows": ("epsilon=1", "epsilon=inf")}
    about = {"title": "t", "kind": "lines", "across": "x", "up": "y"}
    assert Panel(**about, places=(1.0, 2.0), curves=({"name": "a", "of": (pick,)},)).picks[0].rows == pick["rows"]
    for wrong in ({"places": (1.0,)}, {"kind": "over time"}, {"places": (1.0, 2.0), "held": "as a ratio"}):
        with pytest.raises(ValueError, match="t, a: must have"):
            Panel(**about | wrong, curves=({"name": "a", "of": (pick,)},))


@pytest.mark.parametrize(("paper", "claim"), ALL, ids=[f"{paper.id}/{claim.id}" for paper, claim in ALL])
def test_what_is_refuted_has_a_check_that_must_fail(paper, claim):
    """But for claims that two things are the same, which a sure difference refutes."""
    if claim.verdict == "does not hold":
        assert any(check.fails for check in claim.check) or all(check.measure in ("falling", "rising") for check in claim.check)
    if claim.verdict == "holds":
        assert not any(check.fails for check in claim.check)


def test_a_claim_must_be_judged_by_something_and_say_why():
    about = {"id": "a", "where": "here", "says": "so"}
    check = Check(measure="same", of=(Pick(study="li-song-4", rows=("epsilon=1",)),))
    with pytest.raises(ValueError, match="must have a check"):
        Claim(**about, verdict="holds")
    with pytest.raises(ValueError, match="why must be said"):
        Claim(**about, verdict="does not hold", check=(check,))
    assert Claim(**about, verdict="holds", check=(check,)).check == (check,)


def test_papers_are_found_by_name():
    assert [paper.id for paper in named(["zhu"])] == ["zhu"] and len(named([])) == 4
    with pytest.raises(UsageError, match="did you mean 'dubey'"):
        named(["duby"])


def test_what_is_overridden_is_told_by_the_study():
    tables = {"reduced": {"*": ("replications=2",), "b": ()}, "full": {"b": ("seed=1",), "b seed=2": ("seed=3",)}}
    paper = Paper(id="x", authors="a", year=1, title="t", **tables)
    assert paper.overrides("a") == paper.overrides("a seed=2") == ("replications=2",) and paper.overrides("b seed=2") == ()
    assert [paper.overrides(name, whole=True) for name in ("a", "b", "b seed=1", "b seed=2")] == [
        (), ("seed=1",), ("seed=1",), ("seed=3",),
    ]  # fmt: skip


def test_tables_of_overrides_name_studies_that_are_run():
    for paper in papers().values():
        known = {"*", *paper.studies, *(name.split(" ")[0] for name in paper.studies)}
        assert {*paper.reduced, *paper.full} <= known


@pytest.mark.parametrize("paper", papers())
def test_no_study_has_fewer_runs_or_rounds_at_the_papers_repetitions(paper):
    """li-song-4 once had 20 of them for 40: a claim that is sure after 40 was not."""
    quick, whole = Lab(papers()[paper]), Lab(papers()[paper], whole=True)
    for name in papers()[paper].studies:
        small, large = quick.study(name).specification, whole.study(name).specification
        assert small.replications <= large.replications, name
        assert small.horizon <= large.horizon, name


@pytest.mark.parametrize("paper", papers())
def test_no_experiment_is_run_twice(paper):
    """Under two names, as those of Figures 2, 3 and 4 of Solanki et al. once were: a seventh of the time of `--full`."""
    lab, seen = Lab(papers()[paper], whole=True), {}
    for name in papers()[paper].studies:
        study = lab.study(name).specification
        settings = study.model_dump(exclude={"name", "title", "place", "rows"})
        for row in study.rows:
            key = repr((settings, row.name, row.options, row.faults))
            assert seen.setdefault(key, name) == name, row.label


NUMBERED = {
    "li-song": ["Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4", "Corollaries 1 and 2", "Corollary 3", "Remark 1",
                "Remark 2", "Remarks 3 and 5", "Remark 4", "Table I", "Table II", "Facts 1 and 2", "Figures 1, 2, 3 and 9",
                *(f"Figure {number}" for number in (4, 5, 6, 7, 8, 10, 11, 12))],
    "zhu": ["Theorem 1", "Theorem 2", "Lemmas 1, 2 and 3", "Lemmas 4, 5 and 6", "Remark 1", "Remark 2", "Figure 1",
            *(f"Figure 2({letter})" for letter in "abc")],
    "dubey": ["Theorem 2.1", "Lemma 3.2", "Theorem 3.3", "Lemma 3.4", "Lemma 3.5", "Lemma 3.6", "Theorem 3.7", "Theorem 4.2",
              "Theorem 4.3", "Remarks 1 and 2", "Remark 3", "Remark 4", "Remarks 3, 4 and 5", "Remark 6",
              *(f"Figure 1({letter})" for letter in "abc")],
    "solanki": ["Theorem 1", "Claim 1", *(f"Figure {number}" for number in range(1, 6))],
}  # fmt: skip


@pytest.mark.parametrize("paper", papers())
def test_every_numbered_result_abstract_and_conclusion_is_spoken_of(paper):
    places = [claim.where.lower() for claim in papers()[paper].claim]
    wanted = [*NUMBERED[paper], "abstract", "conclusion"]
    assert [one for one in wanted if not any(one.lower() in place for place in places)] == []
