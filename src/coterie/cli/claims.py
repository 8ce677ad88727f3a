"""`coterie claims`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from coterie.cli.console import output, write_json
from coterie.cli.interrupts import keeps
from coterie.cli.layout import INDENT, wrapped
from coterie.cli.options import whole
from coterie.cli.progress import HELP, waiting
from coterie.errors import FAILED, UsageError

if TYPE_CHECKING:
    from coterie.claims import Claim, Judged, Paper

MARKS = {"holds": "●", "does not hold": "✕", "holds only if": "◐", "not testable": "○"}
COLOURS = {"holds": "green", "does not hold": "red", "holds only if": "yellow", "not testable": "default"}


def claims(
    paper: list[str] = typer.Argument(None, metavar="PAPER", help="li-song, zhu, dubey or solanki. Default: all."),
    check: bool = typer.Option(False, "--check", help="Run the studies, and judge every claim by their numbers."),
    full: bool = typer.Option(False, "--full", help="With --check: at the papers' repetitions."),
    workers: int = typer.Option(None, metavar="N", parser=whole("--workers", 1), help="Worker threads. Default: all cores."),
    progress: str = typer.Option("bar", metavar="bar|json|none", help=HELP),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """List what the papers claim and what became of it; with --check, measure it now.

    Exit code 1: a claim is not as it is recorded.

    Example: coterie claims li-song --check
    """
    from coterie.claims.claim import named
    from coterie.claims.judging import judge_papers
    from coterie.cli.options import left_out

    chosen = named(paper or [])
    told: list[tuple[Paper, list[tuple[Claim, Judged | None]]]]
    if not check:
        if full:
            raise UsageError("--full must be given with --check, got it alone")
        left_out({"--workers": workers}, "without --check")
        told = [(one, [(claim, None) for claim in one.claim]) for one in chosen]
    else:
        with waiting("reading claims", progress) as shown:
            keeps("finished studies are kept in runs/; the same command goes on from there")
            judged = judge_papers(chosen, full, Path("runs"), workers, shown.show)
        told = [(one, [(each.claim, each) for each in found]) for one, found in zip(chosen, judged, strict=True)]
    if as_json:
        write_json([document(one, found) for one, found in told])
    else:
        console = output()
        for one, found in told:
            for line in lines_of(one, found, console.width):
                console.print(line)
    if any(judged is not None and not judged.confirmed for _, found in told for _, judged in found):
        raise typer.Exit(FAILED)


def document(paper: "Paper", found: Sequence[tuple["Claim", "Judged | None"]]) -> dict[str, Any]:
    about = paper.model_dump(include={"id", "authors", "year", "title"})
    return about | {"claims": [claim_of(claim) | judged_of(judged) for claim, judged in found]}


def claim_of(claim: "Claim") -> dict[str, Any]:
    return claim.model_dump(include={"id", "where", "says", "verdict", "why"})


def judged_of(judged: "Judged | None") -> dict[str, Any]:
    if judged is None:
        return {}
    numbers = [{"value": _finite(one.value), "low": _finite(one.low), "high": _finite(one.high), "text": one.text}
               for one in judged.findings]  # fmt: skip
    return {"measured": numbers, "confirmed": judged.confirmed}


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) < float("inf") else None


def lines_of(paper: "Paper", found: Sequence[tuple["Claim", "Judged | None"]], width: int) -> list[Text]:
    head = Text(f"{paper.authors} ({paper.year}): {paper.title}", "bold")
    lines = [head, *wrapped(counted(claim for claim, _ in found), width), Text("")]
    for claim, judged in found:
        wrong = judged is not None and not judged.confirmed
        mark = Text(f"{'!' if wrong else MARKS[claim.verdict]} ", "red" if wrong else COLOURS[claim.verdict])
        verdict = f"{claim.where}: {claim.verdict}{', and now it is not so' if wrong else ''}"
        lines.append(mark + Text(f"{claim.id}  ", "bold") + Text(verdict))
        measured = judged.text if judged is not None and judged.findings else ""
        for text in (claim.says, measured and f"measured: {measured}", claim.why):
            lines += wrapped(text, width, INDENT, "" if text == claim.says else "dim")
    return [*lines, Text("")]


def counted(found: Any) -> str:
    verdicts = [claim.verdict for claim in found]
    return ", ".join(f"{verdicts.count(verdict)} {mark} {verdict}" for verdict, mark in MARKS.items() if verdict in verdicts)
