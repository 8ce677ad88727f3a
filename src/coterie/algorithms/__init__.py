"""One file per family. A file exports `ENTRIES`; a new algorithm is one new file here, or a user's own file named by path."""

import difflib
import functools
import hashlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from coterie.contract import Entry
from coterie.errors import UsageError


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
        near = difflib.get_close_matches(name, names(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"algorithm name must be one of {', '.join(names())}, or a path ending in .py, got {name!r}{hint}")
    return entries()[name]


def _load(path: Path) -> Entry:
    """The module's name holds a hash of its text: compiled engines are cached under it."""
    if not path.is_file():
        raise UsageError(f"algorithm must be the path of a file that exists, got {str(path)!r}")
    name = f"coterie_own_{path.stem}_{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[name]
            raise UsageError(f"algorithm file {path} must import without error, got {type(error).__name__}: {error}") from error
    found: Sequence[Any] = getattr(sys.modules[name], "ENTRIES", ())
    if len(found) != 1 or not isinstance(found[0], Entry):
        raise UsageError(f"algorithm file {path} must define ENTRIES = (Entry(...),) with one entry, got {len(found)}")
    return found[0]
