"""A folder for what can be made again: compiled code, text written to be compiled, verdicts. It saves time and nothing else:
one that cannot be written costs a compilation, and never a run.
"""

import functools
import logging
import os
import tempfile
from pathlib import Path

from coterie.errors import StorageError
from coterie.files import make_folder, refused, write


def cache_folder() -> Path:
    """The folder that is named, or, where that cannot be written, one that ends with the process."""
    folder = named_folder()
    return folder if folder and _is_writable(folder) else Path(_spare().name)


def named_folder() -> Path | None:
    """$COTERIE_CACHE, or a folder of our own in the user's cache; a user without a home has none."""
    try:
        named = os.environ.get("COTERIE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "coterie"
        return Path(named).expanduser().absolute()
    except RuntimeError as error:
        warn(str(error))
        return None


def keep(name: str, content: str | bytes) -> Path:
    """The path of a file of that content: in the cache, or, where there is no room, in one that ends with the process."""
    path, data = cache_folder() / name, content.encode() if isinstance(content, str) else content
    try:
        if not path.is_file() or path.read_bytes() != data:
            write(path, data, durable=False)
    except (StorageError, OSError) as error:
        warn(str(error))
        path = Path(_spare().name) / name
        write(path, data, durable=False)
    return path


@functools.cache
def _is_writable(folder: Path) -> bool:
    """It is tried once: what goes wrong later costs a compilation."""
    try:
        make_folder(folder)
        with refused(folder, "written"), tempfile.TemporaryFile(dir=folder):
            return True
    except (StorageError, ValueError) as error:
        warn(str(error))
        return False


@functools.cache
def _spare() -> tempfile.TemporaryDirectory:
    """It is removed when the process ends."""
    try:
        return tempfile.TemporaryDirectory(prefix="coterie-", ignore_cleanup_errors=True)
    except OSError as error:
        remedy = "COTERIE_CACHE must name a folder that can be written"
        raise StorageError(f"neither the cache nor a temporary folder can be written ({error.strerror}): {remedy}") from error


def warn(reason: str) -> None:
    """Once, on stderr unless the program has other plans for what `coterie` logs: what follows has the same cause."""
    if not _warned:
        _warned.append(reason)
        told = "compiled engines are not kept, so that every start takes longer: COTERIE_CACHE may name another folder"
        logging.getLogger("coterie").warning("coterie: %s (%s)", told, " ".join(reason.split()))


_warned: list[str] = []
