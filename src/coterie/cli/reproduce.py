"""`coterie reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coterie.cli.console import output
from coterie.cli.interrupts import keeps
from coterie.cli.options import place, whole
from coterie.cli.progress import HELP, waiting
from coterie.errors import FAILED, UsageError, hint
from coterie.files import check_writable
from coterie.helper import expect_compiling

if TYPE_CHECKING:
    from coterie.claims import Lab, Paper
    from coterie.claims.claim import Figure, Panel
    from coterie.report.paper import Drawn


def reproduce(
    what: list[str] = typer.Argument(
        None, metavar="PAPER|FIGURE", help="li-song, zhu, dubey, solanki, or a figure such as li-song/4. Default: all."
    ),
    full: bool = typer.Option(False, "--full", help="At the papers' repetitions and horizons: tens of minutes for all."),
    out: Path = typer.Option(
        Path("reproduction"), metavar="DIR", parser=place("--out", "a folder"), help="Where the pages go."
    ),
    workers: int = typer.Option(None, metavar="N", parser=whole("--workers", 1), help="Worker threads. Default: all cores."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
) -> None:
    """Every figure and every claim of the papers: our pictures, our numbers, and a verdict. One page per paper, and an index.

    Finished studies are kept in runs/ and not run again. Exit code 1: a claim is not as it is recorded.

    Example: coterie reproduce li-song
    """
    expect_compiling(workers)
    from coterie.claims import Lab, judge
    from coterie.claims.judging import Judged
    from coterie.claims.lab import run_all
    from coterie.plots import need_matplotlib
    from coterie.report.paper import sentence, write_index, write_paper

    need_matplotlib()
    check_writable(out, "index.html")
    with waiting("reading claims", progress) as shown:
        keeps("finished studies are kept in runs/; the same command goes on from there")
        labs = [Lab(paper, full, Path("runs"), workers=workers) for paper in chosen(what or [])]
        judged: dict[str, list[Judged]] = {}

        def finished(lab: Lab) -> None:
            """Drawn and written here, while other papers' studies still run."""
            paper = lab.paper
            judged[paper.id] = [judge(claim, lab) for claim in paper.claim]
            pictures = {figure.id: drawn(lab, figure, out) for figure in paper.figure}
            write_paper(out / f"{paper.id}.html", paper, judged[paper.id], pictures, full)

        run_all(labs, shown.show, finished)
        shown.do("writing", "the index")
        write_index(out / "index.html")
    console = output()
    for paper in (lab.paper for lab in labs):
        console.print(f"{paper.authors} ({paper.year}): {sentence(judged[paper.id])}")
    console.print(f"page: {out / 'index.html'}", soft_wrap=True)
    if any(not one.confirmed for of_paper in judged.values() for one in of_paper):
        raise typer.Exit(FAILED)


def chosen(words: list[str]) -> list["Paper"]:
    """Whole papers, and of others the figures that are named with the claims that are read off them."""
    from coterie.claims.claim import named, papers

    whole_papers = [word for word in words if "/" not in word]
    figures: dict[str, list[str]] = {}
    for word in words:
        paper, slash, figure = word.partition("/")
        if slash:
            (one,) = named([paper])
            known = [each.id for each in one.figure]
            if figure not in known:
                raise UsageError(f"figure of {paper} must be one of {', '.join(known)}, got {figure!r}{hint(figure, known)}")
            figures.setdefault(paper, []).append(figure)
    parts = [_part(papers()[paper], ids) for paper, ids in figures.items() if paper not in whole_papers]
    return [*(named(whole_papers) if whole_papers or not parts else ()), *parts]


def _part(paper: "Paper", figures: list[str]) -> "Paper":
    return paper.model_copy(update={
        "figure": tuple(figure for figure in paper.figure if figure.id in figures),
        "claim": tuple(claim for claim in paper.claim if claim.figure in figures),
    })  # fmt: skip


def drawn(lab: "Lab", figure: "Figure", folder: Path) -> list["Drawn"]:
    """Our pictures of a figure, each in a file of its own with its numbers beside it."""
    from markupsafe import Markup

    from coterie import files
    from coterie.plots import picture_file
    from coterie.plots.panels import draw, lines_of, numbers_of
    from coterie.report.paper import Drawn

    found = []
    for number, panel in enumerate(figure.panel, 1):
        path, lines = folder / f"{lab.paper.id}-{figure.id}-{number}.svg", lines_of(lab, panel)
        with picture_file(path) as axes:
            draw(panel, lines, axes)
        files.write(path.with_suffix(".csv"), numbers_of(panel, lines))
        text = path.read_text(encoding="utf-8")
        picture = Markup(text[text.index("<svg") :])
        found.append(Drawn(picture, panel, sizes(lab, panel), path.name, path.with_suffix(".csv").name))
    return found


def sizes(lab: "Lab", panel: "Panel") -> str:
    """Runs and rounds of what is drawn."""
    told = [lab.result(pick.study).study for pick in panel.picks]
    runs, rounds = ({study.replications for study in told}, {study.horizon for study in told})
    texts = [" or ".join(f"{value:,}" for value in sorted(values)) for values in (runs, rounds)]
    return f"{texts[0]} runs of {texts[1]} rounds"
