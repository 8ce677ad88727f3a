"""Reading the options of commands: numbers within their range, and settings."""

from collections.abc import Callable, Collection
from math import isnan
from pathlib import Path
from typing import Any

from coterie.errors import UsageError, hint

WHOLE_MOST = 2**63 - 1


def whole(option: str, least: int, most: int = WHOLE_MOST) -> Callable[[Any], int]:
    """Reads a whole number of at least, and at most, so much."""

    def read(text: Any) -> int:
        wanted = f"{option} must be a whole number {f'in [{least}, {most}]' if most < WHOLE_MOST else f'>= {least}'}"
        try:
            value = int(text)
        except ValueError:
            raise UsageError(f"{wanted}, got {str(text)[:40]!r}") from None
        if not least <= value <= most:
            fits = " that fits into 64 bits" if abs(value) > WHOLE_MOST == most else ""
            shown = str(value) if len(str(value)) <= 40 else f"one of {len(str(abs(value)))} digits"
            raise UsageError(f"{wanted}{fits}, got {shown}")
        return value

    return read


def number(option: str, allowed: str = "a number > 0") -> Callable[[Any], float]:
    """Reads a number; how large it may be is for others to say."""

    def read(text: Any) -> float:
        wanted = f"{option} must be {allowed}"
        try:
            value = float(text)
        except ValueError:
            raise UsageError(f"{wanted}, got {str(text)[:40]!r}") from None
        if isnan(value):
            raise UsageError(f"{wanted}, got NaN")
        return value

    return read


def place(option: str, wanted: str) -> Callable[[Any], Path]:
    """Reads where something goes: nothing is no place, though a path would take it for the present folder."""

    def read(text: Any) -> Path:
        if not str(text).strip():
            raise UsageError(f"{option} must be {wanted}, got {str(text)!r}")
        return Path(text)

    return read


def run_folder(text: Any) -> Path:
    """Nothing is no folder, though a path would take it for the present one."""
    if not str(text).strip():
        raise UsageError(f"RUN must be the folder of a finished run, got {str(text)!r}")
    return Path(text)


def one_of(option: str, known: Collection[str], value: str) -> None:
    if value not in known:
        raise UsageError(f"{option} must be {' or '.join(known)}, got {value!r}{hint(value, known)}")


def parameters_of(sets: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """What `--set` and the options of their own (by the parameter each stands for) say about an algorithm."""
    from coterie.studies.reading import parse_value, split_setting

    chosen = {name: value for name, value in given.items() if value is not None}
    found: dict[str, Any] = {}
    for setting in sets:
        key, text = split_setting(setting, "mechanism=tree")
        if not key.isidentifier():
            raise UsageError(f"--set must be KEY=VALUE such as mechanism=tree, got {setting!r}")
        if key in found or key in chosen:
            raise UsageError(f"--set {setting}: {key} must be given once, got it twice")
        found[key] = parse_value(text)
    return found | chosen


def left_out(given: dict[str, Any], where: str) -> None:
    """Refuse options that would have no effect there."""
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} must be left out {where}, got {value}")


def is_algorithm(target: str) -> bool:
    """Whether a target names an algorithm (or a file of one) rather than a study; neither is an error."""
    from coterie.algorithms import names
    from coterie.studies import builtin_names

    if target in names() or target.endswith(".py"):
        return True
    if target in builtin_names() or target.lower().endswith(".toml") or Path(target).is_file():
        return False
    wanted = "an algorithm, a .py file of your own, a TOML file or the name of a built-in study"
    near = hint(target, [*names(), *builtin_names()], "`coterie studies` lists studies")
    raise UsageError(f"the target must be {wanted}, got {target!r}{near}")
