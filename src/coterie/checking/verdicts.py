"""Which files of a user's own were audited, and how it ended: kept beside the compiled engines, by what the file held."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie import algorithms
from coterie.errors import StorageError
from coterie.files import write
from coterie.kernel.caching import cache_folder


def note_audit(path: str, options: Mapping[str, Any], failed: bool) -> None:
    """An audit of the file with these options has ended. Where nothing can be written nothing is kept."""
    entry, known = algorithms.find(path), _read(path)
    known[_key(entry.options(**options))] = not failed
    with contextlib.suppress(StorageError):
        write(_file(path), json.dumps(known))


def audited(path: str, options: Any) -> bool:
    """Whether an audit of what the file holds now, with these options, found nothing wrong."""
    return _read(path).get(_key(options), False)


def _key(options: Any) -> str:
    return json.dumps(options.model_dump(), sort_keys=True)


def _file(path: str) -> Path:
    return cache_folder() / f"audited_{algorithms.digest(Path(path))}.json"


def _read(path: str) -> dict[str, bool]:
    try:
        found = json.loads(_file(path).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
