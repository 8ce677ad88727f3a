"""The pages of a reproduction: for each paper our pictures of its figures and what became of its claims; and an index."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from coterie import files
from coterie.claims import Judged, Paper
from coterie.claims.claim import Figure, Panel
from coterie.report.template import filled
from coterie.studies.numbers import listed, plural
from coterie.studies.words import Words

NAMES = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "holds only if": ("holds under a condition", "hold under a condition"),
    "not testable": ("cannot be tested", "cannot be tested"),
}


class Drawn(NamedTuple):
    picture: Markup  # SVG
    panel: Panel
    size: str
    file: str  # beside the page, and its numbers
    numbers: str


class Part(NamedTuple):
    figure: Figure
    pictures: list[Drawn]
    claims: list[Judged]


def write_paper(path: Path, paper: Paper, judged: Sequence[Judged], drawn: Mapping[str, list[Drawn]], whole: bool) -> None:
    """`drawn`: the pictures of each figure, by its id."""
    parts = []
    for figure in paper.figure:
        own = [one for one in judged if one.claim.figure == figure.id]
        parts.append(Part(figure, drawn.get(figure.id, []), own))
    shown = {figure.id for figure in paper.figure}
    rest = [one for one in judged if one.claim.figure not in shown]
    page = filled(
        "paper.html.j2", Words(), paper=paper, title=paper.title, sentence=sentence(judged), size=size(whole), parts=parts,
        rest=rest,
    )  # fmt: skip
    files.write(path, page)


class Told(NamedTuple):
    paper: Paper
    sentence: str


def write_index(path: Path, papers: Sequence[tuple[Paper, Sequence[Judged]]], whole: bool) -> None:
    told = [Told(paper, sentence(judged)) for paper, judged in papers]
    everything = [one for _, judged in papers for one in judged]
    page = filled(
        "paper.html.j2", Words(), paper=None, title="Four papers, reproduced", sentence=sentence(everything), size=size(whole),
        papers=told,
    )  # fmt: skip
    files.write(path, page)


def sentence(judged: Sequence[Judged]) -> str:
    """Of 30 claims 21 hold, 6 do not hold and 3 cannot be tested."""
    verdicts: list[str] = [one.claim.verdict for one in judged]
    counts = {verdict: verdicts.count(verdict) for verdict in NAMES}
    told = listed([f"{count} {NAMES[verdict][count != 1]}" for verdict, count in counts.items() if count])
    wrong = sum(not one.confirmed for one in judged)
    return f"Of {plural(len(judged), 'claim')} {told}." + (f" {wrong} came out otherwise than recorded." if wrong else "")


def size(whole: bool) -> str:
    return "at the papers' repetitions" if whole else "reduced: fewer runs, some with fewer rounds"
