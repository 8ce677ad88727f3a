"""A row of a summary, and its name inside a sentence.

Sentences are plain text in which a row is named by its label in quotation marks: a user's label may hold commas or
read like part of the sentence. The page shows it in bold type instead.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie.report.numbers import listed
from coterie.report.words import Words

NAMES_MAX = 6

Row = Mapping[str, Any]  # one entry of `summary["rows"]`


class Finding(NamedTuple):
    """A sentence about rows, or the opening of one with its cases."""

    text: str
    cases: tuple[str, ...] = ()


def named(row: Row) -> str:
    return f"“{row['label']}”"


def all_named(rows: Sequence[Row]) -> str:
    return listed([named(row) for row in rows])


def some_named(rows: Sequence[Row]) -> str:
    """All by name, or of many the first and how many more there are."""
    return all_named(rows) if len(rows) <= NAMES_MAX else f"{named(rows[0])} and {len(rows) - 1} others"


def warnings_of(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Each warning once, after the rows it is about."""
    about: dict[str, list[Row]] = {}
    for row in rows:
        for warning in row["warnings"]:
            about.setdefault(warning, []).append(row)
    return [(some_named(concerned), warning) for warning, concerned in about.items()]


def emphasised(text: str, rows: Sequence[Row], words: Words) -> Markup:
    """The text, escaped and in the study's words, with the names of rows in bold type instead of quotation marks."""
    names = {named(row): row["label"] for row in rows}
    pieces = re.split(f"({'|'.join(map(re.escape, names))})", text)
    return Markup("").join(
        Markup("<b>{}</b>").format(names[piece]) if piece in names else words.in_place_of_ours(piece)
        for piece in pieces
    )
