"""Titles and labels that name a value of their study, so that they cannot tell another one: "{problem.agents} agents".

Any other braces are a user's own text and stay as they are.
"""

import re
from typing import Any

from pydantic import BaseModel

PLACE = re.compile(r"\{([a-z_0-9.]+)\}")


def filled(text: str, source: Any) -> str:
    """The text with the number or the word that stands at each place of the source, a table of fields."""
    return PLACE.sub(lambda found: written(value_at(source, found[1])) or found[0], text)


def value_at(source: Any, place: str) -> Any:
    """Fields only, not what else an object may have."""
    for name in place.split("."):
        source = getattr(source, name) if isinstance(source, BaseModel) and name in type(source).model_fields else None
    return source


def written(value: Any) -> str:
    """Numbers and words only; nothing else has a place in a title."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.15g}"
