"""Where compiled code is kept: all of it in one folder, which can be deleted at any time, and never beside the sources."""

import functools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator


@functools.cache
def cache_folder() -> Path:
    """$COTERIE_CACHE, or the user's cache folder, or a temporary one where that cannot be written."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("COTERIE_CACHE") or Path(home) / "coterie")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f".{os.getpid()}").touch()
        (folder / f".{os.getpid()}").unlink()
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="coterie-"))
    return folder


class _Locator(InTreeCacheLocator):
    def get_cache_path(self) -> str:
        return str(cache_folder() / self.get_suitable_cache_subpath(self._py_file))


class _Files(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class _Cache(FunctionCache):
    _impl_class = _Files


def cached(function: Callable) -> Any:
    """Compile a function that Python calls, and keep the code. What it calls must stand in the same file."""
    compiled: Any = njit(function)
    compiled._cache = _Cache(function)
    return compiled
