"""How compiled code is kept between runs: all of it in one folder, and never beside the sources. What is damaged is compiled
anew.
"""

import functools
import hashlib
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.serialize import dumps
from numba.extending import overload

from coterie.cache import cache_folder, warn
from coterie.files import locked
from coterie.kernel.compiling import OPTIONS
from coterie.kernel.waiting import elsewhere

LITTLE = 300  # numbers


def keep_compiled(run: Any) -> Any:
    """The same compiled function, which from now on looks for its code in the cache before it compiles.

    What another process is compiling is waited for, and then read. `compile(signature, wait=False)` does nothing instead.
    """
    try:
        run.compile = functools.partial(_compile_alone, run.py_func.__code__.co_filename, run.compile)
        run._cache = _Cache(run.py_func)
    except (RuntimeError, OSError):
        warn(f"{cache_folder()}: cannot be written")
    return run


def cached(function: Callable) -> Any:
    """Compile a function that Python calls, and keep the code. What it calls must stand in the same file.

    Where there is little to go through it is interpreted instead: that is over before any code would be compiled. The main
    thread waits for another one, or Ctrl-C would be heard only when all is done.
    """
    machine = keep_compiled(njit(**OPTIONS)(function))

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if sum(map(np.size, arguments)) <= LITTLE:
            return function(*arguments)
        return elsewhere(lambda: machine(*arguments))

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
    """By what a file says, and not by its place or time: a cache can be copied to another folder or machine of its kind."""

    def get_cache_path(self) -> str:
        return str(cache_folder() / f"{Path(self._py_file).stem}-{self.get_source_stamp()[:16]}")

    def get_source_stamp(self) -> str:
        return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()


class _Checked(CompileResultCacheImpl):
    """Code together with its checksum: the compiler would crash on damaged code, and on that of other arguments."""

    _locator_classes = [_Locator]  # noqa: RUF012

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.checked"

    def reduce(self, cres: Any) -> Any:
        code = dumps(super().reduce(cres))
        return self._checksum(code), code

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        checksum, code = payload
        if self._checksum(code) != checksum:
            raise ValueError("damaged code")
        return super().rebuild(target_context, pickle.loads(code))

    def _checksum(self, code: bytes) -> bytes:
        """With the source: code of another engine is as bad."""
        return hashlib.sha256(self._locator.get_source_stamp().encode() + code).digest()


class _Cache(FunctionCache):
    _impl_class = _Checked

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # of whatever kind the damage is: what is compiled now takes its place
            return None
        return found if found is None or tuple(found.signature.args) == tuple(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._begin_anew_where_damaged()
            super().save_overload(sig, data)
        except Exception as error:
            warn(f"{self.cache_path}: cannot be written: {getattr(error, 'strerror', None) or error}")

    def _begin_anew_where_damaged(self) -> None:
        """Not sooner: a process that ends, or has no memory left, must not take from others what they have compiled."""
        try:
            self._cache_file._load_index()
        except Exception:
            self.flush()
