"""Where commands print. What a user wrote (a title, a label, the name of a file) is text: never markup, never a control code.

Colour and weight are given as styles, or by `rich.text.Text`, and never inside a string.
"""

import json
import re
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

CONTROL = re.compile(  # all but tab and new line; halves of characters; marks that turn the direction of what follows
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def visible(text: str) -> str:
    """Control characters as they are written in a file: a terminal would obey them.

    >>> visible("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def one_line(text: str) -> str:
    return visible(" ".join(text.split("\n")))


class PlainConsole(Console):
    """Every string that is printed, alone or in a cell of a table, passes `render_str`."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(visible(text), **how)


def output() -> Console:
    return PlainConsole()


def messages() -> Console:
    """For all that is no result: progress and notes."""
    return PlainConsole(stderr=True)


def write_json(facts: Any) -> None:
    sys.stdout.write(json.dumps(facts, indent=1, allow_nan=False) + "\n")
