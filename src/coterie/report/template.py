"""Fills the templates that lie beside this file: one environment, style sheet and script for all pages."""

import csv
import io
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coterie.studies.words import Words

HERE = Path(__file__).parent
SCRIPTS = ("draw/page.js", "draw/download.js")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def filled(name: str, words: Words, row_style: str = "", **context: Any) -> str:
    """The template of that name. It escapes every text; `worded` puts the study's words in place of ours."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["worded"] = words.in_place_of_ours
    return environment.get_template(name).render(
        style=Markup(_beside("draw/page.css") + row_style), scripts=[Markup(_beside(script)) for script in SCRIPTS], **context
    )


@cache
def _beside(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def csv_text(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """The numbers of a picture, to be saved."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in line] for line in lines)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula has an apostrophe before it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
