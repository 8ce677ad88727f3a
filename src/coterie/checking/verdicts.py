"""Which files of a user's own were audited, and how it ended: kept beside the compiled engines, by what the file held.

An audit tells of the numbers of agents and arms that it had: a file may do something else with others.
"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie import algorithms
from coterie.cache import cache_folder
from coterie.errors import StorageError
from coterie.files import write


def note_audit(path: str, options: Mapping[str, Any], agents: int, arms: int, failed: bool) -> None:
    """An audit of the file with these options and sizes has ended. Where nothing can be written nothing is kept."""
    entry, known = algorithms.find(path), _read(path)
    known[_key(entry.options(**options), agents, arms)] = not failed
    with contextlib.suppress(StorageError):
        write(_file(path), json.dumps(known))


def audited(path: str, options: Any, agents: int, arms: int) -> bool:
    """Whether an audit of what the file holds now, with these options and sizes, found nothing wrong."""
    return _read(path).get(_key(options, agents, arms), False)


def _key(options: Any, agents: int, arms: int) -> str:
    return json.dumps([agents, arms, options.model_dump()], sort_keys=True)


def _file(path: str) -> Path:
    return cache_folder() / f"audited_{algorithms.digest(Path(path))}.json"


def _read(path: str) -> dict[str, bool]:
    try:
        found = json.loads(_file(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
