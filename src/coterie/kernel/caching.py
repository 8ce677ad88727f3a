"""Where compiled code is kept between runs: all of it in one folder, and never beside the sources. A cache saves time and
nothing else: one that cannot be written or is damaged costs a compilation, and never a run.
"""

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.serialize import dumps
from numba.extending import overload

from coterie.errors import StorageError
from coterie.files import locked, write
from coterie.kernel.compiling import OPTIONS

LITTLE = 300  # numbers


def cache_folder() -> Path:
    """$COTERIE_CACHE, or a folder of our own in the user's cache; of a user without a home, one that ends with the process."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        return Path(os.environ.get("COTERIE_CACHE") or Path(home) / "coterie").absolute()
    except RuntimeError as error:
        _warn(str(error))
        return Path(_spare().name)


def keep(name: str, text: str) -> Path:
    """The path of a file of that text: in the cache, or, where that cannot be, in a folder that ends with the process."""
    path = cache_folder() / name
    try:
        if not path.is_file() or path.read_bytes() != text.encode():
            write(path, text, durable=False)
    except (StorageError, OSError) as error:
        _warn(str(error))
        path = Path(_spare().name) / name
        write(path, text, durable=False)
    return path


def keep_compiled(run: Any) -> Any:
    """The same compiled function, which from now on looks for its code in the cache before it compiles.

    What another process is compiling is waited for, and then read. `compile(signature, wait=False)` does nothing instead.
    """
    try:
        run.compile = functools.partial(_compile_alone, run.py_func.__code__.co_filename, run.compile)
        run._cache = _Cache(run.py_func)
    except (RuntimeError, OSError):
        _warn(f"{Path(run.py_func.__code__.co_filename).parent}: cannot be written")
    return run


def cached(function: Callable) -> Any:
    """Compile a function that Python calls, and keep the code. What it calls must stand in the same file.

    Where there is little to go through it is interpreted instead: that is over before any code would be compiled.
    """
    machine = keep_compiled(njit(**OPTIONS)(function))

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return (function if sum(map(np.size, arguments)) <= LITTLE else machine)(*arguments)

    overload(call, strict=False)(lambda *arguments: function)
    return call


def _compile_alone(file: str, compile: Callable, signature: Any, wait: bool = True) -> Any:
    """One process at a time for each file of sources. A function that is compiled for another one is inside already."""
    held = vars(_held).setdefault("files", set())
    if file in held or not os.access(file, os.R_OK):
        return compile(signature)
    with locked(Path(file), wait) as is_mine:
        if not is_mine:
            return None
        held.add(file)
        try:
            return compile(signature)
        finally:
            held.remove(file)


_held = threading.local()


class _Locator(InTreeCacheLocator):
    def get_cache_path(self) -> str:
        return str(cache_folder() / self.get_suitable_cache_subpath(self._py_file))


class _Checked(CompileResultCacheImpl):
    """Code together with its checksum: the compiler would crash on damaged code."""

    _locator_classes = [_Locator]  # noqa: RUF012

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.checked"

    def reduce(self, cres: Any) -> Any:
        code = dumps(super().reduce(cres))
        return hashlib.sha256(code).digest(), code

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        checksum, code = payload
        if hashlib.sha256(code).digest() != checksum:
            raise ValueError("damaged code")
        return super().rebuild(target_context, pickle.loads(code))


class _Cache(FunctionCache):
    _impl_class = _Checked

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of whatever kind the damage is: what is compiled now takes its place
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _warn(f"{self.cache_path}: cannot be written: {getattr(error, 'strerror', None) or error}")


@functools.cache
def _spare() -> tempfile.TemporaryDirectory:
    """It is removed when the process ends."""
    try:
        return tempfile.TemporaryDirectory(prefix="coterie-")
    except OSError as error:
        remedy = "COTERIE_CACHE must name a folder that can be written"
        raise StorageError(f"neither the cache nor a temporary folder can be written ({error.strerror}): {remedy}") from error


@functools.cache
def _warn(reason: str) -> None:
    """Once for each reason, on stderr unless the program has other plans for what `coterie` logs."""
    told = "compiled engines are not kept, so that every start takes longer: COTERIE_CACHE may name another folder"
    logging.getLogger("coterie").warning("coterie: %s (%s)", told, " ".join(reason.split()))
