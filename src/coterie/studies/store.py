"""The folder of a run: whose it is, what was finished in it, and whether what lies there is what was written.

`manifest.json` comes first and says whose run it is, `parts/` grows batch by batch, and `summary.json` comes last: where it is,
the run is complete. The manifest then holds a checksum of every result, so that damage is found before anything is read.
"""

import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coterie.errors import StateError, StorageError, UsageError
from coterie.files import SCRATCH, alone, make_folder, read, refused, write
from coterie.studies.rows import Summary
from coterie.version import VERSION

MANIFEST, SUMMARY, PARTS = "manifest.json", "summary.json", "parts"
RESULTS = ("results.parquet", "replications.parquet", SUMMARY)  # in the order in which they are written
FILES = (*reversed(RESULTS), "report.html", MANIFEST)  # in the order in which they are removed: what is left is a run, too
PART = re.compile(r"\d{4,}-\d{7,}\.npz")
CUT = re.compile(rf"{SCRATCH.pattern}|{PART.pattern.replace('npz', 'tmp')}")  # half of a part, now and in earlier releases
ABOUT = {"study": dict, "name": str, "hash": str, "version": str, "seed": int, "platform": str, "created": str}
HOLDS = "holds"  # of a part: the names of its columns, so that a missing one is noticed


@contextlib.contextmanager
def open_folder(folder: Path, about: Mapping[str, Any], fresh: bool = False) -> Iterator[bool]:
    """The folder of the run that the manifest `about` tells of, for this process alone; true: the run is complete there.

    A run that was begun goes on. `fresh`: what a run left there is removed first. What this one has made goes away again where
    it is refused, so that the next can have the folder.
    """
    if not fresh and is_complete(folder, about):
        yield True
        return
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    make_folder(folder)
    with alone(folder):
        _check_kinds(folder)
        if fresh:
            clear(folder)
        elif (names := _names(folder)) and MANIFEST not in names:
            remedy = "--out names another folder"
            raise StateError(f"{folder}: must be empty or hold a run of this study, got other files: {remedy}")
        complete = is_complete(folder, about)
        _sweep(folder)
        if complete is None:
            write(folder / MANIFEST, json_text(about))
        try:
            yield bool(complete)
        except UsageError:
            if complete is None:
                _take_back(folder, made)
            raise


def is_complete(folder: Path, about: Mapping[str, Any]) -> bool | None:
    """Whether the run of that manifest is complete there; None: none was begun. A run of another study is an error."""
    if not os.path.exists(folder / MANIFEST):
        return None
    found = read_manifest(folder, about["version"])
    if found["hash"] != about["hash"]:
        raise StateError(
            f"{folder}: must be empty or hold a run of this study ({about['hash']}, version {about['version']}), "
            f"got one of {found['name']} ({found['hash']}, version {found['version']}): --out names another folder"
        )
    return os.path.exists(folder / SUMMARY)


def read_manifest(folder: Path, version: str | None = None, to_be_run: bool = True) -> dict[str, Any]:
    """`version`: any other one is refused, whatever else its manifest may hold. `to_be_run`: the folder is not only read."""
    path = folder / MANIFEST
    found = _parsed(read(path))
    if not isinstance(found, dict):
        raise damaged(path, "it is no table")
    made = found.get("version")
    if version and isinstance(made, str) and made != version:
        wanted, remedy = ("be empty or hold", "name another folder") if to_be_run else ("hold", "run its study again")
        got = f"a run of version {made}, whose numbers are others"
        raise StateError(f"{folder}: must {wanted} a run of version {version}, got {got}: {remedy}")
    for key, kind in ABOUT.items():
        if not isinstance(found.get(key), kind):
            raise damaged(path, f"it has no {key}")
    return found


def finish(folder: Path, results: Mapping[str, str | bytes]) -> None:
    """Keep the results, one for each name in RESULTS. The summary is the last file: it says that all is there."""
    data = {name: text.encode() if isinstance(text, str) else text for name, text in results.items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    *tables, summary = RESULTS
    for name in tables:
        write(folder / name, data[name])
    write(folder / MANIFEST, json_text(read_manifest(folder) | {"study": json.loads(data[summary])["study"], "sha256": sums}))
    write(folder / summary, data[summary])
    with contextlib.suppress(StorageError):  # what cannot be removed does no harm
        _remove_parts(folder)


def read_results(folder: Path) -> dict[str, bytes]:
    """What `finish` kept, if it is still the same."""
    sums = read_manifest(folder).get("sha256")
    if not isinstance(sums, dict):
        raise damaged(folder / MANIFEST, "it has no checksums of the results")
    found = {}
    for name in RESULTS:
        if not os.path.exists(folder / name):
            raise damaged(folder / name, "it is missing")
        found[name] = read(folder / name)
        if hashlib.sha256(found[name]).hexdigest() != sums.get(name):
            raise damaged(folder / name, "it is not what was written")
    return found


def read_summary(folder: Path) -> Summary:
    """Of a finished run."""
    if not os.path.exists(folder / MANIFEST):
        raise UsageError(f"a run must be the folder that `coterie run` has written, got {str(folder)!r}")
    read_manifest(folder, VERSION, to_be_run=False)
    if not os.path.exists(folder / SUMMARY):
        raise UsageError(f"{folder}: must hold a finished run, got one that was interrupted: run it again to go on")
    return json.loads(read_results(folder)[SUMMARY])


def save_part(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Not made safe from a power cut, which would take longer than a small batch: what is lost is run again."""
    buffer = io.BytesIO()
    np.savez(buffer, **columns, **{HOLDS: np.array(list(columns))})  # type: ignore[arg-type]
    write(path, buffer.getvalue(), durable=False)


def load_part(path: Path, replications: int) -> dict[str, np.ndarray] | None:
    """The columns of a batch, or None where there is none: a file that a power cut has left empty is none."""
    if not os.path.exists(path) or not (content := read(path)):
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            columns = dict(stored)
        whole = set(columns.pop(HOLDS).tolist()) == columns.keys()
    except Exception as error:  # of whatever kind the damage is
        raise damaged(path, "it cannot be read", "without this file its batch is run again; ") from error
    if not whole or any(values.shape[:1] != (replications,) for values in columns.values()):
        raise damaged(path, "columns or runs are missing", "without this file its batch is run again; ")
    return columns


def damaged(path: Path, what: str, remedy: str = "") -> StateError:
    folder = path.parent.parent if PART.fullmatch(path.name) else path.parent
    last = "--fresh starts again" if is_run(folder) else "remove it, or name another folder"
    return StateError(f"{path}: damaged, {what}: {remedy}{last}")


def clear(folder: Path) -> None:
    """Remove what a run has left, and nothing else."""
    if _names(folder) and not is_run(folder):
        raise StateError(f"{folder}: must be empty or hold a run to be begun afresh, got other files: nothing was removed")
    if (folder / PARTS).is_symlink():
        raise StateError(f"{folder / PARTS}: must be a folder, got a link: nothing was removed")
    _remove_parts(folder)
    _remove(folder / name for name in FILES)


def _take_back(folder: Path, made: Iterable[Path]) -> None:
    """What a run has made, with the folders that were not there before it."""
    with contextlib.suppress(StorageError):  # why it was refused is the better thing to say
        clear(folder)
    for place in made:
        with contextlib.suppress(OSError):  # something else lies there and stays
            place.rmdir()


def is_run(folder: Path) -> bool:
    """By its manifest. Where that is damaged, by what only a run leaves, with nothing else beside it."""
    with contextlib.suppress(OSError):
        found = _parsed((folder / MANIFEST).read_bytes())
        if isinstance(found, dict) and found.keys() >= {"study", "hash", "version"}:
            return True
    names, parts = _names(folder), _names(folder / PARTS)
    told = "replications.parquet" in names or any(map(PART.fullmatch, parts))
    return told and names <= {*FILES, PARTS} and all(map(PART.fullmatch, parts))


def json_text(content: Any) -> str:
    return json.dumps(content, indent=1, allow_nan=False)


def _parsed(content: bytes) -> Any:
    """None: it is no JSON."""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(content)
    return None


def _names(folder: Path) -> set[str]:
    """Of all that lies there, but for what was left half-written."""
    with refused(folder, "read"):
        return {name for name in os.listdir(folder) if not _cut(folder).fullmatch(name)} if folder.is_dir() else set()


def _cut(folder: Path) -> re.Pattern[str]:
    return CUT if folder.name == PARTS else SCRATCH


def _check_kinds(folder: Path) -> None:
    """Found before anything runs: at the end it would be too late."""
    if os.path.isfile(folder / PARTS):
        raise StorageError(f"{folder / PARTS}: must be a folder, got a file")
    for name in FILES:
        if os.path.isdir(folder / name):
            raise StorageError(f"{folder / name}: must be a file, got a folder")


def _sweep(folder: Path) -> None:
    """What was left half-written by a process that was killed. The folder is ours, and nobody else writes here now."""
    for place in (folder, folder / PARTS):
        if place.is_dir():
            _remove(entry for entry in place.iterdir() if _cut(place).fullmatch(entry.name))


def _remove_parts(folder: Path) -> None:
    parts = folder / PARTS
    if not parts.is_symlink():
        _remove(parts / name for name in _names(parts) if PART.fullmatch(name))
        with contextlib.suppress(OSError):  # there is none, or something else lies there and stays
            parts.rmdir()


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        with refused(path, "removed"):
            path.unlink(missing_ok=True)
