"""Settings and rows as people say them: `epsilon=0.5` is ε = 0.5, `mode=paper` as printed."""

import re
from math import inf
from typing import Any

from coterie.studies.numbers import GLUE, percent, plural
from coterie.studies.reading import spelled
from coterie.studies.rows import SummaryRow
from coterie.studies.spec import Faults

MODES = {"paper": "as printed", "corrected": "corrected", "private": "private"}
SIGNS = {"epsilon": "ε", "delta": "δ"}


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
    if key == "life" and not isinstance(value, str | None):
        return plural(value, "hop")
    if isinstance(value, bool):
        return said if value else f"no {said}"
    if value is None:
        return "no noise" if key == "epsilon" else f"no {said}"
    return f"{said}{GLUE}={GLUE}{value:g}" if isinstance(value, int | float) else f"{said} {value}"


def row_name(row: SummaryRow) -> str:
    """The label, with its settings as people say them."""
    name, settings = row["label"], settings_of(row)
    for text, key in settings_in(row).items():
        said = setting_text(key, settings[key])
        name = re.sub(rf"(?<!\S){re.escape(text)}(?!\S)", f"\0{said}\0".replace("\\", r"\\"), name)
    name = re.sub("\0 \0", ", ", name)
    return re.sub(rf"({'|'.join(MODES.values())}), ", r"\1 ", name).replace("\0", "")


def name_without(row: SummaryRow, keys: tuple[str, ...]) -> str:
    """The label without the words that spell these settings."""
    name = row["label"]
    for text, key in settings_in(row).items():
        name = re.sub(rf"(?<!\S){re.escape(text)}(?!\S)", "", name) if key in keys else name
    return " ".join(name.split()) or row["label"]
