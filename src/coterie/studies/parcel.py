"""A study on its way to another process, here or on another machine: with every file that it names."""

import hashlib
import pickle
from pathlib import Path
from typing import Any

from coterie.algorithms import find
from coterie.cache import keep
from coterie.errors import UsageError
from coterie.studies.spec import Specification
from coterie.version import VERSION


def pack(study: Specification) -> bytes:
    files = {row.reference: Path(row.reference).read_bytes() for row in study.rows if row.content}
    if named := getattr(study.problem, "file", None):
        files[str(named)] = Path(named).read_bytes()
    return pickle.dumps((VERSION, files, pickle.dumps(study)))


def unpack(packed: bytes) -> Specification:
    """Options of a user's own file can be read once that file has been."""
    version, files, study = pickle.loads(packed)
    if version != VERSION:
        raise UsageError(f"all nodes must have Coterie {version}, got {VERSION} on one of them")
    places = {name: str(_laid_down(name, content)) for name, content in files.items()}
    for place in places.values():
        if place.endswith(".py"):
            find(place)
    found: Specification = pickle.loads(study)
    rows = tuple(row.model_copy(update={"reference": places.get(row.reference, row.reference)}) for row in found.rows)
    changed: dict[str, Any] = {"rows": rows}
    if named := getattr(found.problem, "file", None):
        changed["problem"] = found.problem.model_copy(update={"file": places[str(named)]})
    return found.model_copy(update=changed)


def _laid_down(name: str, content: bytes) -> Path:
    """In a folder of its own, as the name of a file is part of what it is."""
    return keep(f"sent/{hashlib.sha256(content).hexdigest()[:16]}/{Path(name).name}", content)
