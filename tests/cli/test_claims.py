"""`coterie claims` and `coterie reproduce`."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from coterie.claims import Judged, papers
from coterie.cli.reproduce import chosen
from coterie.errors import UsageError
from coterie.report.paper import sentence, write_index, write_paper


def test_claims_are_listed_without_running_anything(command):
    found = json.loads(command("claims", "--json").stdout)
    assert [paper["id"] for paper in found] == list(papers())
    assert all(claim.keys() == {"id", "where", "says", "verdict", "why"} for paper in found for claim in paper["claims"])
    printed = command("claims", "dubey")
    assert printed.returncode == 0 and papers()["dubey"].claim[0].id in printed.stdout and "Zhu" not in printed.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("claims", "duby"), "paper must be one of dubey, li-song, solanki, zhu, got 'duby'; did you mean 'dubey'?"),
        (("claims", "--full"), "--full must be given with --check, got it alone"),
        (("reproduce", "zhu/2d"), "figure of zhu must be one of 2a, 2b, 2c, got '2d'"),
    ],
)
def test_wrong_words(command, words, line):
    done = command(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"coterie: {line}\n")


def test_a_folder_that_cannot_be_is_refused_before_anything_is_run(command, tmp_path):
    (tmp_path / "page").write_text("a file")
    done = command("reproduce", "li-song/10", "--out", str(tmp_path / "page"), "--progress", "none")
    assert (done.returncode, done.stdout) == (7, "") and "page: cannot be written" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_figure_brings_its_claims_and_no_others():
    (part,) = chosen(["li-song/5"])
    assert [figure.id for figure in part.figure] == ["5"] and {claim.figure for claim in part.claim} == {"5"}
    assert [paper.id for paper in chosen(["zhu", "zhu/2a"])] == ["zhu"] and len(chosen([])) == 4
    with pytest.raises(UsageError):
        chosen(["nobody/5"])


def test_a_figure_is_drawn_and_judged(command, tmp_path):
    """Figure 10 of Li and Song, on a complete graph and others: eight short runs, as printed and private."""
    done = command("reproduce", "li-song/10", "--progress", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "reproduction/li-song.html").read_text()
    figure = next(figure for figure in papers()["li-song"].figure if figure.id == "10")
    claims = sum(claim.figure == "10" for claim in papers()["li-song"].claim)
    assert page.count("<svg") == len(figure.panel) and "Not as recorded" not in page and f"Of {claims}" in page
    assert (tmp_path / "reproduction/index.html").exists() and len(list((tmp_path / "runs").iterdir())) == 8
    for number, panel in enumerate(figure.panel, 1):
        picture = tmp_path / f"reproduction/li-song-10-{number}"
        assert panel.up in picture.with_suffix(".svg").read_text() and picture.with_suffix(".csv").exists()


def test_killed_it_goes_on_and_repeats_no_finished_study(command, tmp_path):
    """Killed as soon as a study is finished. What was finished then stays as it was, to the time of its writing."""
    words = ["reproduce", "li-song/10", "--progress", "none", "--workers", "1"]
    killed = subprocess.Popen([sys.executable, "-c", "from coterie.cli import start; start()", *words], cwd=tmp_path)
    finished: list = []
    while not finished and killed.poll() is None:
        finished = sorted((tmp_path / "runs").glob("*/summary.json"))
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL and not (tmp_path / "reproduction/index.html").exists()
    before = {path: path.stat().st_mtime_ns for path in finished}
    assert 1 <= len(before) < 8
    assert command(*words).returncode == 0 and (tmp_path / "reproduction/index.html").exists()
    assert {path: path.stat().st_mtime_ns for path in finished} == before
    assert len(list((tmp_path / "runs").glob("*/summary.json"))) == 8


def wrote(folder, word, confirmed=True, whole=False):
    (part,) = chosen([word])
    judged = [Judged(claim, [], confirmed) for claim in part.claim]
    write_paper(folder / f"{part.id}.html", part, judged, {}, whole)
    write_index(folder / "index.html")
    return judged


def test_a_page_of_an_earlier_call_stays_in_the_index_and_counts(tmp_path):
    first, second = wrote(tmp_path, "dubey/1a"), wrote(tmp_path, "zhu/2a", whole=True)
    page = (tmp_path / "index.html").read_text()
    assert 'href="dubey.html"' in page and 'href="zhu.html"' in page
    assert sentence([*first, *second]) in page and sentence(first) in page


def test_the_heading_says_what_was_run(tmp_path):
    wrote(tmp_path, "dubey/1a")
    assert "<h1>Dubey and Pentland, 2020 (Figure 1(a)): reproduced</h1>" in (tmp_path / "index.html").read_text()
    for paper in papers():
        wrote(tmp_path, paper)
    assert "<h1>Four papers, reproduced</h1>" in (tmp_path / "index.html").read_text()
