"""The colour of a row: its hue says the method, its strength the parameter that is swept.

Grey learns alone and orange in the open; a hue is never used twice. Colours are plain hex numbers in custom properties, so a
picture that is saved looks the same elsewhere. Each hue has two ends, both of which stand out from the paper by 3 to 1. The
strong ends are chosen so that they stay apart for those who do not see red, green or blue.
"""

from collections.abc import Iterable
from typing import NamedTuple

PAPER = {"light": "#fcfcfa", "dark": "#16181b"}


class Hue(NamedTuple):
    """Strong and faint end, on light and on dark paper."""

    light: tuple[str, str]
    dark: tuple[str, str]


HUES = {
    "alone": Hue(("#5d6469", "#83898e"), ("#9aa1a6", "#6f767b")),
    "open": Hue(("#a04e00", "#cc7a24"), ("#f07828", "#a8561f")),
    "blue": Hue(("#0b3c7d", "#548fce"), ("#c8ddff", "#5b93d8")),
    "magenta": Hue(("#ac5ca8", "#be7aba"), ("#f08adf", "#b0509f")),
    "ink": Hue(("#1f2225", "#1f2225"), ("#f2f4f3", "#f2f4f3")),
    "green": Hue(("#388b5a", "#4f9f70"), ("#5fcf7f", "#3f9a5d")),
}
PLAIN = Hue(("#64708a", "#64708a"), ("#8f9bb5", "#8f9bb5"))  # of methods beyond the sixth: numbers and panels tell them apart


class Colour(NamedTuple):
    light: str
    dark: str


def shade(hue: Hue, share: float) -> Colour:
    """From the strong end (0) to the faint one (1)."""
    return Colour(_mix(*hue.light, share), _mix(*hue.dark, share))


def hues_of(methods: Iterable[str], alone: str | None, opened: str | None) -> dict[str, Hue]:
    """A hue for each method in its order: grey and orange are kept for who learns alone and in the open."""
    found = {method: HUES[name] for method, name in ((alone, "alone"), (opened, "open")) if method is not None}
    free = [hue for name, hue in HUES.items() if name not in ("alone", "open")]
    others = [method for method in dict.fromkeys(methods) if method not in found]
    for method in others:
        found[method] = free.pop(0) if free else PLAIN
    return found


def style(colours: Iterable[Colour]) -> str:
    """Rules that give each row its colour as `--row`: classes r1, r2, ... in the order given. Paper is light."""
    colours = list(colours)
    light, dark = (
        "".join(f".r{number}{{--row:{getattr(one, paper)}}}" for number, one in enumerate(colours, 1))
        for paper in ("light", "dark")
    )
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def contrast(one: str, other: str) -> float:
    """By the rule of the Web Content Accessibility Guidelines: 1 (the same) to 21.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [value / 255 for value in _parts(colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mix(strong: str, faint: str, share: float) -> str:
    pairs = zip(_parts(strong), _parts(faint), strict=True)
    return "#" + "".join(f"{round(one + share * (other - one)):02x}" for one, other in pairs)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
