"""A row of a summary, and its name inside a sentence.

Sentences are plain text in which a row is named by its label in quotation marks: a user's label may hold commas or
read like part of the sentence. The page shows it in bold type instead.
"""

import re
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.studies.numbers import listed
from coterie.studies.reading import spelled
from coterie.studies.rows import SummaryRow as Row
from coterie.studies.spec import Faults
from coterie.studies.words import Words

NAMES_MAX = 6


def settings_of(row: Row) -> dict[str, Any]:
    """What a row was run with: the algorithm's options, and all faults."""
    calm = {key: field.default for key, field in Faults.model_fields.items()}
    return row["parameters"] | calm | row["faults"]


def settings_in(row: Row) -> dict[str, str]:
    """The words by which a label can spell the row's settings, and what each is about. JSON has null for infinity."""
    return {spelled(key, inf if value is None else value): key for key, value in settings_of(row).items()}


def renamed(row: Row, label: str) -> Row:
    other = row.copy()
    other["label"] = label
    return other


class Finding(NamedTuple):
    """A sentence about rows, or the opening of one with its cases."""

    text: str
    cases: tuple[str, ...] = ()


def quoted(label: str) -> str:
    return f"“{label}”"


def named(row: Row) -> str:
    return quoted(row["label"])


def all_named(rows: Sequence[Row]) -> str:
    return listed([named(row) for row in rows])


def some_named(rows: Sequence[Row]) -> str:
    """All by name, or of many the first and how many more there are."""
    return all_named(rows) if len(rows) <= NAMES_MAX else f"{named(rows[0])} and {len(rows) - 1} others"


def warnings_of(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Each warning once, after the rows it is about."""
    rows_by_warning: dict[str, list[Row]] = {}
    for row in rows:
        for warning in row["warnings"]:
            rows_by_warning.setdefault(warning, []).append(row)
    return [(some_named(concerned), warning) for warning, concerned in rows_by_warning.items()]


def emphasised(text: str, labels: Sequence[str], words: Words) -> Markup:
    """The text, escaped and in the study's words, with the names of rows in bold type instead of quotation marks."""
    names = {quoted(label): label for label in labels}
    pieces = re.split(f"({'|'.join(map(re.escape, names))})", text)
    return Markup("").join(
        Markup("<b>{}</b>").format(names[piece]) if piece in names else words.in_place_of_ours(piece)
        for piece in pieces
    )
