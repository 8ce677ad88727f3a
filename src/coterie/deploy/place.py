"""The folder in which a member keeps its state: one process at a time, and one run."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from coterie import files
from coterie.deploy.keys import check_private
from coterie.errors import FencedError, StateError, UsageError

RUN = "run.json"


class Place(NamedTuple):
    folder: Path

    @property
    def rewards(self) -> Path:
        return self.folder / "rewards.db"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"


@contextlib.contextmanager
def place(folder: Path, federation: Any, name: str) -> Iterator[Place]:
    """The member's folder, for as long as the process runs; the system's lock on it ends with the process."""
    if not folder.exists():
        files.make_folder(folder)
        os.chmod(folder, 0o700)
    if not folder.is_dir():
        raise UsageError(f"{folder}: must be a folder, got a file")
    check_private(folder)
    files.check_writable(folder, "ledger.db", "rewards.db")
    with files.locked(folder, wait=False) as is_mine:
        if not is_mine:
            raise FencedError(f"{folder}: is in use by another process: one at a time")
        if (folder / RUN).exists():
            check_run(folder, federation, name)
        else:
            files.write(folder / RUN, json.dumps(_belongs(federation, name), indent=1) + "\n")
        yield Place(folder)


def _belongs(federation: Any, name: str) -> dict[str, str]:
    return {"name": name, "run": federation.run.hex(), **federation.digests}


def check_run(folder: Path, federation: Any, name: str) -> None:
    """A folder belongs to one member and one run: what it holds was released under that run's budget."""
    path, mine = folder / RUN, _belongs(federation, name)
    try:
        found = msgspec.json.decode(files.read(path), type=dict[str, str])
        differs = [part for part in ("name", "file", "source", "parameters", "run") if found[part] != mine[part]]
        bytes.fromhex(found["run"])
    except (ValueError, KeyError):
        raise StateError(f"{path}: is damaged; it says to which run the folder belongs") from None
    if "name" in differs:
        raise UsageError(f"{path.parent}: must be the folder of {mine['name']!r}, got that of {found['name']!r}")
    if differs:
        words = {"file": "the federation file", "source": "the algorithm's source", "parameters": "the algorithm's parameters"}
        which = " and ".join(words[part] for part in differs if part in words)
        got = f"got that of run {found['run'][:16]}, with another version of {which}"
        raise UsageError(f"{path.parent}: must be a folder of run {mine['run'][:16]}, {got}: a new run takes a new folder")
