"""The pages of a reproduction: for each paper our pictures of its figures and what became of its claims; and an index."""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from coterie import files
from coterie.claims import Judged, Paper
from coterie.claims.claim import Figure, Panel, papers
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
    """What the page of a paper tells, as it lies there: also one of an earlier call."""

    paper: Paper
    figures: list[str]
    verdicts: list[str]
    wrong: int
    size: str

    @property
    def sentence(self) -> str:
        return counted(self.verdicts, self.wrong)

    @property
    def name(self) -> str:
        figures = [figure for figure in self.paper.figure if figure.id in self.figures]
        only = "" if len(figures) == len(self.paper.figure) else f" ({listed([figure.where for figure in figures])})"
        return f"{self.paper.authors}, {self.paper.year}{only}"


def told_by(path: Path, paper: Paper) -> Told:
    """Read off its marks, so that nothing has to be kept beside it."""
    page = files.read(path).decode(errors="replace")
    verdicts = [word.replace("-", " ") for word in re.findall(r'class="verdict v-([a-z-]+)"', page)]
    figures, wrong = re.findall(r'<section id="figure-([^"]+)"', page), page.count('<span class="wrong">')
    return Told(paper, figures, [word for word in verdicts if word in NAMES], wrong, size(size(True) in html.unescape(page)))


def write_index(path: Path) -> None:
    """Of all pages of papers that lie beside it."""
    pages = [(path.with_name(f"{paper.id}.html"), paper) for paper in papers().values()]
    told = [told_by(page, paper) for page, paper in pages if page.is_file()]
    everything = counted([verdict for one in told for verdict in one.verdicts], sum(one.wrong for one in told))
    sizes = listed(list(dict.fromkeys(one.size for one in told)))
    page = filled(
        "paper.html.j2", Words(), paper=None, title=heading(told), sentence=everything, size=sizes, papers=told,
    )  # fmt: skip
    files.write(path, page)


def heading(told: Sequence[Told]) -> str:
    """What was run: by number where it is everything, else by name."""
    whole = all(len(one.figures) == len(one.paper.figure) for one in told)
    if whole and len(told) == len(papers()):
        return "Four papers, reproduced"
    return f"{'; '.join(one.name for one in told)}: reproduced"


def sentence(judged: Sequence[Judged]) -> str:
    """Of 30 claims 21 hold, 6 do not hold and 3 cannot be tested."""
    return counted([one.claim.verdict for one in judged], sum(not one.confirmed for one in judged))


def counted(verdicts: Sequence[str], wrong: int) -> str:
    counts = {verdict: verdicts.count(verdict) for verdict in NAMES}
    told = listed([f"{count} {NAMES[verdict][count != 1]}" for verdict, count in counts.items() if count])
    return f"Of {plural(len(verdicts), 'claim')} {told}." + (f" {wrong} came out otherwise than recorded." if wrong else "")


def size(whole: bool) -> str:
    return "at the papers' repetitions" if whole else "reduced: fewer runs, some with fewer rounds"
