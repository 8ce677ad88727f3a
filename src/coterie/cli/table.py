"""What a run prints: its most telling rows, and what the columns mean."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from rich.text import Text

from coterie.cli.console import one_line, visible
from coterie.cli.layout import Entry, lines
from coterie.privacy.statement import Promise, epsilon_text, promise
from coterie.report.groups import drawn
from coterie.report.problems import told_by
from coterie.report.regret import mean_regret
from coterie.report.rows import Row
from coterie.studies.numbers import decimals_of, plural, sent_text
from coterie.studies.rows import Spread
from coterie.studies.words import Words

COLOURS = {Promise.KEPT: "green", Promise.WEAK: "yellow", Promise.BROKEN: "red", Promise.NOTHING: "default"}
MARKS = {kind: kind.mark for kind in Promise}  # words would leave no room for the rows' names
ROWS_MOST = 25  # a longer table is not read
ELSEWHERE = "all are on the page and in summary.json, and --all prints them"


def summary_lines(document: dict[str, Any], width: int, every: bool = False) -> list[Text]:
    """Title, table and key, in lines that fit."""
    rows, words = document["rows"], Words(**document["study"]["words"])
    shown, why = (rows, "") if every else telling(rows)
    below = [*key(rows, shown), *([f"{len(shown)} of {len(rows)} rows, {why}; {ELSEWHERE}"] if why else [])]
    told = [Text(visible(words.in_place_of_ours(line))) for line in below]
    return [Text(one_line(document["study"]["title"]), "bold"), Text(""), *_table(shown, words, width), Text(""), *told]


def _table(rows: Sequence[Row], words: Words, width: int) -> list[Text]:
    """Where that spares a second line for each row, messages are left to the page."""
    headings = ["regret\nper agent", "\n".join(told_by(rows[0]).judged).lower(), "\nmessages", "data\nsent"]
    headings = [words.in_place_of_ours(heading) for heading in (*headings, "promised\nε", "ε that\nholds")]
    decimals = decimals_of([median(row["regret_per_agent"]["margin"] or 0.0 for row in rows)])
    entries = [Entry(row["label"], cells(row, decimals)) for row in rows]
    whole = lines(headings, entries, width)
    few = [Entry(label, [*own[:2], *own[3:]]) for label, own, _ in entries]
    fewer = lines([*headings[:2], *headings[3:]], few, width)
    return fewer if len(fewer) < len(whole) else whole


def cells(row: Row, decimals: int) -> list[Text | str]:
    said, privacy, kind = row["communication"], row["privacy"], promise(row["privacy"])
    holds = epsilon_text(privacy["accounted"]).partition(", delta")[0]
    return [
        regret_text(row["regret_per_agent"], decimals),
        told_by(row).outcome(row),
        f"{said['messages']:,.0f}",
        sent_text(said["bytes"]),
        epsilon_text(privacy["claimed"]).partition(", delta")[0],
        Text(f"{holds} {MARKS[kind]}", COLOURS[kind]),
    ]


def regret_text(regret: Spread, decimals: int) -> str:
    """With half of its 95 % interval: a dash where none is known, and 0 only where it is."""
    margin = regret["margin"]
    if margin is None:
        return f"{regret['mean']:,.{decimals}f} ± -"
    near = f"{margin:,.{decimals}f}"
    return f"{regret['mean']:,.{decimals}f} ± {near if margin == 0 or float(near.replace(',', '')) else f'{margin:.1g}'}"


def key(rows: Sequence[Row], shown: Sequence[Row]) -> list[str]:
    """What was run, and what the columns mean."""
    first, found = rows[0], {promise(row["privacy"]) for row in shown}
    sizes = {"agent": first["agents"], "arm": first["arms"], "round": first["horizon"], "run": first["replications"]}
    told = [", ".join(plural(count, noun) for noun, count in sizes.items())]
    known = first["regret_per_agent"]["margin"] is not None
    told += ["±: 95 % interval of the mean over the runs (Student's t)" if known else "±: not known after one run"]
    told += [f"{' '.join(told_by(first).judged).lower()}: {told_by(first).judging}"]
    told += [f"ε: of {first['privacy']['unit']}"]
    told += [", ".join(f"{mark} {kind.value}" for kind, mark in MARKS.items() if kind in found)]
    return [line for line in told if line]


def telling(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """All rows, or those that tell most, and which they are."""
    chosen = [rows[place] for place in drawn(rows)] if len(rows) > ROWS_MOST else list(rows)
    if len(chosen) <= ROWS_MOST:
        fewer = "of each algorithm that with the fewest faults and that with the highest regret"
        return chosen, fewer if len(chosen) < len(rows) else ""
    ends = [min(rows, key=mean_regret), max(rows, key=mean_regret)]
    steps = ROWS_MOST - len(ends) - 1
    spaced = [chosen[round(step * (len(chosen) - 1) / steps)] for step in range(steps + 1)]
    kept = [row for row in rows if any(row is one for one in (*spaced, *ends))]
    return kept, "the lowest and the highest regret among them, the others evenly spaced"
