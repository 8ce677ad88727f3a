"""A folder for what can be made again: compiled code, text written to be compiled, verdicts. It saves time and nothing else:
one that cannot be written costs a compilation, and never a run.
"""

import functools
import logging
import os
import tempfile
from pathlib import Path

from coterie.errors import StorageError
from coterie.files import write


def cache_folder() -> Path:
    """$COTERIE_CACHE, or a folder of our own in the user's cache; of a user without a home, one that ends with the process."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        return Path(os.environ.get("COTERIE_CACHE") or Path(home) / "coterie").absolute()
    except RuntimeError as error:
        warn(str(error))
        return Path(_spare().name)


def keep(name: str, text: str) -> Path:
    """The path of a file of that text: in the cache, or, where that cannot be, in a folder that ends with the process."""
    path = cache_folder() / name
    try:
        if not path.is_file() or path.read_bytes() != text.encode():
            write(path, text, durable=False)
    except (StorageError, OSError) as error:
        warn(str(error))
        path = Path(_spare().name) / name
        write(path, text, durable=False)
    return path


@functools.cache
def _spare() -> tempfile.TemporaryDirectory:
    """It is removed when the process ends."""
    try:
        return tempfile.TemporaryDirectory(prefix="coterie-")
    except OSError as error:
        remedy = "COTERIE_CACHE must name a folder that can be written"
        raise StorageError(f"neither the cache nor a temporary folder can be written ({error.strerror}): {remedy}") from error


@functools.cache
def warn(reason: str) -> None:
    """Once for each reason, on stderr unless the program has other plans for what `coterie` logs."""
    told = "compiled engines are not kept, so that every start takes longer: COTERIE_CACHE may name another folder"
    logging.getLogger("coterie").warning("coterie: %s (%s)", told, " ".join(reason.split()))
