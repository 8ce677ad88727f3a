"""What the page shows of a row outside pictures and findings: table cells, further measurements, cards on privacy."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any, Literal

from coterie.privacy.statement import epsilon_text
from coterie.report import releases
from coterie.report.groups import crowded, groups
from coterie.report.privacy import Verdict, claims_privacy, privacy_text, verdict
from coterie.report.problems import told_by
from coterie.report.regret import decisions_shown, per_decisions
from coterie.report.rows import Row, all_named
from coterie.report.theory import MEASUREMENTS
from coterie.studies.numbers import decimals_of, margin_text, number, sent_text
from coterie.studies.rows import Communication, Spread

SHOWN_ELSEWHERE = {*MEASUREMENTS, *releases.MEASUREMENTS}


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One entry for each row, all cells as text; numbers of a column share their decimals."""
    letters, further, decisions = protections(rows), further_columns(rows), decisions_shown(rows)
    keys: tuple[Literal["regret", "regret_per_agent"], ...] = ("regret", "regret_per_agent")
    decimals = {key: decimals_of([row[key]["margin"] for row in rows]) for key in keys}
    group_of = {row["label"]: name for name, group in groups(rows).items() for row in group} if crowded(rows) else {}
    return [
        {
            "index": index,
            "label": row["label"],
            "short": _apart_from(group_of.get(row["label"], ""), row["label"]),
            "group": group_of.get(row["label"], ""),
            "regret": [_cells(row[key], places) for key, places in decimals.items()],
            "per_decisions": number(per_decisions(row, decisions)),
            "best_arm": told_by(row).outcome(row),
            "traffic": _traffic(row["communication"]),
            "claimed": epsilon_text(row["privacy"]["claimed"]),
            "accounted": epsilon_text(row["privacy"]["accounted"]),
            "verdict": verdict(row),
            "protection": letters[_protection(row)] if claims_privacy(row) else "-",
            "further": [_measurement(row["extra"].get(column)) for column in further] if _further(row) else [],
        }
        for index, row in enumerate(rows)
    ]


def _apart_from(group: str, label: str) -> str:
    """What a label says beside the name of its group."""
    known = group.split()
    return " ".join(word for word in label.split() if word not in known) or label


def _cells(statistic: Spread, decimals: int) -> tuple[str, str]:
    return f"{statistic['mean']:,.{decimals}f}", margin_text(statistic, decimals)


def _traffic(communication: Communication) -> list[str]:
    counts = [number(communication["rounds"]), number(communication["messages"])]
    return [*counts, sent_text(communication["bytes"]), number(communication["cost"])]


def protections(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """The distinct pairs (unit, adversary) of rows that claim privacy, and the letters that name them in the table."""
    pairs = dict.fromkeys(_protection(row) for row in rows if claims_privacy(row))
    return dict(zip(pairs, ascii_uppercase, strict=False))


def _protection(row: Row) -> tuple[str, str]:
    return row["privacy"]["unit"], row["privacy"]["adversary"]


def further_columns(rows: Sequence[Row]) -> list[str]:
    """The families' own measurements: delays, active sets; theory, sums of releases and procurement have their own tables."""
    return list(dict.fromkeys(key for row in rows for key in _further(row)))


def _further(row: Row) -> list[str]:
    return [key for key in row["extra"] if key not in SHOWN_ELSEWHERE and not told_by(row).shows(key)]


def _measurement(value: float | None) -> str:
    return "-" if value is None else number(value)


def cards(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of the same verdict, unit and adversary share a card; the worst verdicts come first.

    Inside a card, rows that have the same note share it, and rows of which the same is to be said share a line.
    """
    found: dict[tuple[Verdict, tuple[str, ...]], dict[str, dict[str, list[Row]]]] = {}
    for row in sorted(rows, key=lambda row: list(Verdict).index(verdict(row))):
        notes = found.setdefault((verdict(row), _protection(row) if claims_privacy(row) else ()), {})
        notes.setdefault(row["privacy"]["note"], {}).setdefault(privacy_text(row), []).append(row)
    return [
        {
            "verdict": kind,
            "facts": dict(zip(("Unit", "Adversary"), protection, strict=False)),
            "notes": [
                ([f"{all_named(alike)}: {text}." for text, alike in texts.items()], _as_sentence(note))
                for note, texts in notes.items()
            ],
        }
        for (kind, protection), notes in found.items()
    ]


def _as_sentence(text: str) -> str:
    """Notes of several origins are joined by full stops; each begins with a capital."""
    sentences = [f"{part[0].upper()}{part[1:]}" for part in text.removesuffix(".").split(". ") if part]
    return ". ".join(sentences) + "." if sentences else ""
