"""What has to be compiled, and what is being compiled: for those who wait for it.

A compiled engine is that of an algorithm for one set of types: sizes of records are part of them, so another number of arms, or
a horizon that needs one more level, may be another engine. Those on disk are read and not compiled.
"""

from collections.abc import Callable, Mapping
from inspect import unwrap
from typing import Any, NamedTuple

from numba import typeof
from numba.core import event
from numba.extending import is_jitted

from coterie.engines.bind import bind

GENERATED = "coterie_"  # so begin the names of modules that engines are written to


class Engine(NamedTuple):
    """One that a run will call."""

    dispatcher: Any
    signature: tuple

    @property
    def ready(self) -> bool:
        return self.signature in self.dispatcher.overloads

    @property
    def module(self) -> str:
        return self.dispatcher.py_func.__module__

    def is_there(self) -> bool:
        return self.ready or self.on_disk()

    def compile(self, wait: bool = True) -> None:
        """What another process compiles at the moment is waited for, or left to it."""
        self.dispatcher.compile(self.signature, wait=wait)

    def on_disk(self) -> bool:
        """By the compiler's own index. Where that cannot be told, it will have to be compiled."""
        try:
            cache = self.dispatcher._cache
            key = cache._index_key(self.signature, self.dispatcher.targetctx.codegen())
            return key in cache._cache_file._load_index()
        except Exception:  # these are the compiler's own affairs, and another release may keep them elsewhere
            return False


class Compiling(NamedTuple):
    """What the compiler is at. Of `total` engines that were found missing, `left` are not there yet."""

    name: str
    left: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"compiling {self.name}" + (f" ({self.left} of {self.total} left)" if self.total > 1 else "")


class _Listener(event.Listener):
    """The compiler has a lock of its own: it works on one engine at a time, and on what that calls."""

    def on_start(self, event: Any) -> None:
        at_work.append(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event: Any) -> None:
        at_work.remove(event.data["dispatcher"].py_func.__module__)


at_work: list[str] = []
_missing: dict[Engine, str] = {}
_there = set[Engine]()  # those that are missing no more: to look at the disk takes time
_elsewhere: list[Callable[[], bool]] = []
event.register("numba:compile", _Listener())


def engine_of(simulate: Callable[..., Any]) -> Engine | None:
    """The engine that `simulate(binding=...)` would call; None: it is interpreted."""
    found = list[Engine]()

    def binding(*given: Any, **named: Any) -> Callable[..., None]:
        run = unwrap(bind(*given, **named), stop=is_jitted)
        return lambda *arguments: found.append(Engine(run, tuple(map(typeof, arguments)))) if is_jitted(run) else None

    simulate(binding=binding)
    return found[0] if found else None


def missing(engines: Mapping[Engine | None, Any]) -> dict[Engine, Any]:
    """Those that have to be compiled first."""
    return {engine: about for engine, about in engines.items() if engine and not engine.is_there()}


def expect(engines: Mapping[Engine, str], elsewhere: Callable[[], bool] = lambda: False) -> None:
    """These are missing, under these names: from now on `compiling` says how many are left.

    elsewhere: whether other processes are at work on them.
    """
    _missing.clear()
    _missing.update(engines)
    _there.clear()
    _elsewhere[:] = [elsewhere]


def compiling() -> Compiling | None:
    """What is being compiled now: here, or by others for us."""
    own = [module for module in list(at_work) if module.startswith(GENERATED)]
    helped = any(is_so() for is_so in _elsewhere)
    if not own and not helped:
        return None
    _there.update(engine for engine in list(_missing) if engine not in _there and engine.is_there())
    left = {engine: name for engine, name in list(_missing.items()) if engine not in _there}
    names = {engine.module: name for engine, name in _missing.items()}
    if own:
        name = names.get(own[0])
        return Compiling(name, len(left), len(_missing)) if name else Compiling(name_of(own[0]))
    return Compiling(next(iter(left.values())), len(left), len(_missing)) if left else None


def name_of(module: str) -> str:
    """Of the algorithm, as far as a module's name tells it.

    >>> name_of("coterie_pool_coop_ucb_0123456789abcdef")
    'coop-ucb'
    """
    return module.removeprefix(GENERATED).partition("_")[2].rpartition("_")[0].replace("_", "-")
