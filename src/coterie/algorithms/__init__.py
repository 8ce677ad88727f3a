"""One file per family. A file exports `ENTRIES`; a new algorithm is one new file here, or a user's own file named by path."""

import functools
import hashlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from coterie.contract import Entry, Method, Setting
from coterie.errors import AlgorithmError, CoterieError, UsageError, hint
from coterie.guests import OWN, module_name, place_of, reason_of, shown


@functools.cache
def entries() -> dict[str, Entry]:
    """All built-in algorithms by name."""
    modules = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return {entry.name: entry for module in modules for entry in module.ENTRIES}


def names() -> list[str]:
    return sorted(entries())


def find(name: str) -> Entry:
    """By name, or by the path of a file of one's own."""
    if name.endswith(".py"):
        return _load(Path(name))
    if name not in entries():
        wanted = f"one of {', '.join(names())}, or a path ending in .py"
        raise UsageError(f"algorithm name must be {wanted}, got {name!r}{hint(name, names())}")
    return entries()[name]


def digest(path: Path) -> str:
    """Of what a user's own file holds."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        raise UsageError(f"algorithm must be the path of a file that exists, got {str(path)!r}") from None


def _load(path: Path) -> Entry:
    """The module's name holds a hash of its text: compiled engines are cached under it."""
    name = module_name(f"{OWN}{path.stem}_{digest(path)}")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            if isinstance(error, KeyboardInterrupt):  # of the user, at the keyboard: a file that raises it is found apart
                raise
            raise AlgorithmError(f"{place_of(error, path)}: {reason_of(error)}") from error
    found = getattr(sys.modules[name], "ENTRIES", None)
    if not isinstance(found, tuple | list) or len(found) != 1 or not isinstance(found[0], Entry):
        given = f"{len(found)} of them" if isinstance(found, tuple | list) else "none" if found is None else repr(found)[:40]
        raise AlgorithmError(f"{shown(path)}: must define ENTRIES = (Entry(...),) with one entry, got {given}")
    return found[0]._replace(build=_careful(found[0], path))


def _careful(entry: Entry, path: Path) -> Callable[[Any, Setting], Method]:
    """What goes wrong in a user's `build` is told as an error of that file."""

    def build(options: Any, setting: Setting) -> Method:
        try:
            return entry.build(options, setting)
        except CoterieError:
            raise
        except Exception as error:
            raise AlgorithmError(f"{place_of(error, path)}: {reason_of(error)}") from error

    return build
