"""Runs that claims are judged by: each study once, kept, and found again."""

from time import sleep

import numpy as np
import pytest

from coterie.claims.claim import Curve, Figure, Panel, Paper, Pick
from coterie.claims.lab import Lab, run_all
from coterie.errors import UsageError

SMALL = ("replications=5", "horizon=2000", "problem.arms=5", "problem.agents=4")
PAPER = Paper(id="x", authors="a", year=1, title="t", reduced={"*": SMALL})
EPSILONS = ("epsilon=0.1", "epsilon=1")


@pytest.fixture(scope="module")
def lab():
    return Lab(PAPER)


def test_rows_are_those_of_the_study(lab):
    pick = Pick(study="li-song-4", rows=EPSILONS)
    regret, frame = lab.runs(pick, "regret"), lab.result("li-song-4").frame()
    last = frame.filter((frame["round"] == 2000) & (frame["row"] == 3)).sort("replication")["regret"].to_numpy()
    assert regret.shape == (2, 5) and np.array_equal(regret[1], last)
    assert (lab.runs(pick, "regret", 0.5) < regret).all()
    assert lab.told(pick, "privacy.accounted.epsilon") == [0.4, 4.0]
    assert lab.told(Pick(study="li-song-4", rows=("epsilon=inf",)), "privacy.accounted.epsilon") == [None]


def test_words_that_fit_no_row_or_several_are_refused(lab):
    for words in ("epsilon=7", "cdp-mab"):
        with pytest.raises(UsageError, match="rows must be told by words of one label only"):
            lab.rows(Pick(study="li-song-4", rows=(words,)))


def test_settings_may_follow_a_name(lab):
    private = lab.study("li-song-4 algorithm.mode=private").specification
    assert all(row.options.mode == "private" for row in private.rows) and private.horizon == 2000
    assert Lab(PAPER, whole=True).study("li-song-4").specification.horizon == 100_000


def test_progress_is_over_all_studies_and_runs_are_kept(tmp_path):
    seen = []
    first = Lab(Paper(**PAPER.model_dump(exclude={"figure", "claim"}), figure=(figure(),)), out=tmp_path)
    run_all([first], lambda done, total, label: seen.append((done, total, label)))
    assert seen[0] == (0, 0, "looking at row 1 of 2")
    assert len({total for _, total, _ in seen if total}) == 1 and all(0 <= done <= total for done, total, _ in seen)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 2 and all(name.startswith("li-song-8") for name in kept)
    again = Lab(first.paper, out=tmp_path)
    pick = Pick(study="li-song-8-homogeneous", rows=("cdp-mab",))
    assert np.array_equal(first.runs(pick, "regret"), again.runs(pick, "regret"))


def test_without_papers_there_is_nothing_to_do():
    seen = []
    run_all([], lambda *progress: seen.append(progress), seen.append)
    assert seen == []


def paper_of(*studies):
    return Paper(**PAPER.model_dump(exclude={"figure", "claim"}), figure=(figure(*studies),))


def test_a_lab_is_finished_when_its_own_studies_are(tmp_path):
    """And a study that two papers look at is run once."""
    labs = [Lab(paper_of("homogeneous", "heterogeneous"), out=tmp_path), Lab(paper_of("homogeneous"), out=tmp_path)]
    ended = []
    run_all(labs, finished=lambda lab: ended.append((lab, {pick: lab.runs(pick, "regret").sum() for pick in lab.paper.picks})))
    assert {lab for lab, _ in ended} == set(labs) and len(ended) == 2
    (one, two) = (dict(ended)[lab] for lab in labs)
    assert len(one) == 2 and two.items() <= one.items() and len(list(tmp_path.iterdir())) == 2


def test_what_goes_wrong_in_a_study_ends_all(tmp_path, monkeypatch):
    """Also an interrupt, which comes while the main thread waits."""
    ends = []

    def result(self, name, progress=None, ahead=None):
        if "homogeneous" in name.split("-"):
            raise UsageError("no")
        while True:
            try:
                progress(0, 1, "")
                sleep(0.01)
            finally:
                ends.append(name)

    monkeypatch.setattr(Lab, "result", result)
    with pytest.raises(UsageError, match="no"):
        run_all([Lab(paper_of("homogeneous", "heterogeneous"))])
    assert ends  # told to stop by what it tells of its progress
    count = len(ends)
    sleep(0.1)
    assert len(ends) <= count + 1

    def interrupted(*progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all([Lab(paper_of("heterogeneous"))], interrupted)


def figure(*studies):
    """Of some studies (both, unless told) a curve each, over time."""
    picks = [Pick(study=f"li-song-8-{rewards}", rows=("cdp-mab",)) for rewards in studies or ("homogeneous", "heterogeneous")]
    curves = tuple(Curve(name=pick.study, of=(pick,)) for pick in picks)
    panel = Panel(title="t", kind="over time", across="x", up="y", curves=curves)
    return Figure(id="8", where="w", shows="s", said="s", silent="s", panel=(panel,))


def test_only_rows_that_are_looked_at_are_run():
    """The same numbers as in the whole study: rows know nothing of each other."""
    paper = Paper(**PAPER.model_dump(exclude={"figure", "claim"}), figure=(figure(),))
    part, whole = Lab(paper).result("li-song-8-homogeneous"), Lab(PAPER).result("li-song-8-homogeneous")
    assert [row["label"] for row in part.summary] == ["cdp-mab mode=paper epsilon=1"] and len(whole.summary) == 2
    pick = Pick(study="li-song-8-homogeneous", rows=("cdp-mab",))
    assert np.array_equal(Lab(paper).runs(pick, "regret"), Lab(PAPER).runs(pick, "regret"))


def test_a_course_ends_in_the_last_regret(lab):
    pick = Pick(study="li-song-4", rows=("epsilon=1",))
    rounds, regret = lab.course(pick)
    assert rounds[-1] == 2000 and regret.shape == (5, len(rounds))
    assert np.array_equal(regret[:, -1], lab.runs(pick, "regret")[0]) and (np.diff(regret) >= 0).all()
