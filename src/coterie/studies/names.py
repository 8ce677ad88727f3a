"""Settings and rows as people say them: `epsilon=0.5` is ε = 0.5, `mode=paper` as printed."""

import re
from collections.abc import Sequence
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import Any

from coterie.studies.numbers import GLUE, percent, plural
from coterie.studies.reading import spelled
from coterie.studies.rows import SummaryRow
from coterie.studies.spec import Faults

MODES = {"paper": "as printed", "corrected": "corrected", "private": "private"}
SIGNS = {"epsilon": "ε", "delta": "δ"}
COUNTED = {"life": "hop", "rounds": "round"}


def settings_of(row: SummaryRow) -> dict[str, Any]:
    """What a row was run with: the algorithm's options, and all faults."""
    calm = {key: field.default for key, field in Faults.model_fields.items()}
    return row["parameters"] | calm | row["faults"]


def settings_in(row: SummaryRow) -> dict[str, str]:
    """The words by which a label can spell the row's settings, and what each is about. JSON has null for infinity."""
    return {spelled(key, inf if value is None else value): key for key, value in settings_of(row).items()}


def setting_text(key: str, value: Any) -> str:
    """
    >>> setting_text("epsilon", 0.5), setting_text("own_clip", False), setting_text("liars", 0.3)
    ('ε\\xa0=\\xa00.5', 'no own clip', '30\\xa0% liars')
    """
    said = SIGNS.get(key, key.replace("_", " "))
    if key == "mode":
        return MODES.get(value, str(value))
    if key == "liars":
        return f"{percent(value)} liars" if value else "no liars"
    if key in COUNTED and not isinstance(value, str | None):
        return plural(value, COUNTED[key])
    if isinstance(value, bool):
        return said if value else f"no {said}"
    if value is None:
        return "no noise" if key == "epsilon" else f"no {said}"
    return f"{said}{GLUE}={GLUE}{value:g}" if isinstance(value, int | float) else f"{said} {value}"


def row_name(row: SummaryRow, without: tuple[str, ...] = ()) -> str:
    """The label, with its settings as people say them, but for those of some keys.

    >>> settings = {"mode": "paper", "epsilon": 1, "rate": 2}
    >>> row_name({"label": "fed-ucb mode=paper epsilon=1 rate=2", "parameters": settings, "faults": {}}, ("epsilon",))
    'fed-ucb as printed (rate\\xa0=\\xa02)'
    """
    settings, keys = settings_of(row), settings_in(row)
    spelled_out = "|".join(map(re.escape, sorted(keys, key=len, reverse=True)))
    parts = []
    for piece in re.split(rf"(?<!\S)({spelled_out})(?!\S)", row["label"]):
        key = keys.get(piece, "")
        if piece.strip() and key not in without:
            parts.append((key not in ("", "mode"), setting_text(key, settings[key]) if key else " ".join(piece.split())))
    runs = [(beside, [text for _, text in run]) for beside, run in groupby(parts, key=itemgetter(0))]
    return " ".join(in_brackets(texts) if beside else " ".join(texts) for beside, texts in runs).strip(" ,") or row["label"]


def way_name(row: SummaryRow) -> str:
    """The name without its epsilon, and without the word that an epsilon makes needless.

    >>> way_name({"label": "as one, private, epsilon=1", "parameters": {"epsilon": 1}, "faults": {}})
    'as one'
    """
    return row_name(row, ("epsilon",)).removesuffix("private").rstrip(" ,") or row["label"]


def sends_nothing(row: SummaryRow) -> bool:
    """No message to read and nothing promised: no epsilon says anything of such a row."""
    return row["alone"] and row["privacy"]["claimed"] is None


def in_brackets(texts: Sequence[str]) -> str:
    """Settings after a name; a single epsilon reads well without brackets."""
    return texts[0] if len(texts) == 1 and texts[0].startswith("ε") else f"({', '.join(texts)})"


def shared_settings(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """What is the same in all of several rows need not be said of each."""
    first, *others = map(settings_of, rows)
    return tuple(key for key in first if others and all(key in other and other[key] == first[key] for other in others))


def names_of(rows: Sequence[SummaryRow]) -> list[str]:
    """Of all rows, by what tells them apart; by their whole labels where that is not enough."""
    names = [row_name(row, shared_settings(rows)) for row in rows]
    return names if len(set(names)) == len(names) else [row_name(row) for row in rows]
