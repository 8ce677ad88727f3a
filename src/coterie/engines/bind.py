"""Specialise an engine for an algorithm: write it down as an ordinary module, then import it.

A module on disk (and not a closure) is what the compiler can cache. Its name holds a hash of all sources it inlines, because
the compiler's own cache does not look into imported files. Lines of the engine that end in `# bound` are replaced by imports
of the algorithm's own hooks; absent hooks are the empty defaults and vanish in the compiler.
"""

import functools
import hashlib
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import coterie.kernel
import coterie.privacy
import coterie.problem
from coterie import contract
from coterie.cache import keep
from coterie.contract import HOOKS, SWITCHES, Algorithm
from coterie.engines import attacks, faults, memory, plans, turn
from coterie.engines.refusals import careful
from coterie.kernel.caching import keep_compiled
from coterie.kernel.calling import by_address
from coterie.kernel.compiling import OPTIONS, whole

FLAGS = ("FOLDED", "CROWDS", "CHURNS", "COMMITS", "DROPS", "LIES", "LOSES", "NEWS", "SELDOM", "SINGLY", "SEALED", "TRUSTED")
COVERS = {"PAIRED": "pair", "STREAMED": "stream"}
_LOCK = threading.Lock()


def bind(
    engine: ModuleType,
    node: Algorithm,
    problem: ModuleType,
    server: Algorithm | None = None,
    flags: Mapping[str, bool] = MappingProxyType({}),
    compiled: bool = True,
) -> Callable[..., Any]:
    """The engine's `run` with the algorithm's hooks in place of the do-nothing ones; `flags` are constants of the engine."""
    with _LOCK:  # workers are threads
        return _bind(engine, node, problem, server, tuple(flags.items()), compiled)


@functools.cache
def _bind(
    engine: ModuleType, node: Algorithm, problem: ModuleType, server: Algorithm | None, flags: tuple, compiled: bool
) -> Callable[..., Any]:
    roles = {"": node, "server_": server or Algorithm("no_server")}
    hooks = {prefix + name: hook for prefix, role in roles.items() for name, hook in _hooks(role).items()}
    text = _specialise(engine, hooks, roles, problem, dict(flags))
    module = _module(engine.__name__.rpartition(".")[2], node.name, text, tuple(h.__module__ for h in hooks.values()))
    return careful(machine_code(module.run), hooks) if compiled else module.run


@functools.cache
def machine_code(run: Callable) -> Callable[..., Any]:
    return by_address(keep_compiled(whole(run)))


def _hooks(role: Algorithm) -> dict[str, Callable]:
    table = {name: getattr(role, name) for name in HOOKS}
    table |= {name: getattr(role, name) or getattr(contract, name) for name in SWITCHES}
    return table | {"add_noise": role.mechanism.add, "book": role.mechanism.book}


def _specialise(engine: ModuleType, hooks: dict, roles: dict, problem: ModuleType, flags: Mapping[str, bool]) -> str:
    lines = [f'"""Generated from {engine.__name__} for {roles[""].name}."""']
    lines += [f"from {hook.__module__} import {hook.__name__} as {name}" for name, hook in hooks.items()]
    lines += [f"from {problem.__name__} import draw, lay_out, regret, regret_until, violates"]
    lines += [f"{name} = {value}" for name, value in (dict.fromkeys(FLAGS, False) | dict(flags)).items()]
    for prefix, role in roles.items():
        lines += [f"{prefix.upper()}{name.upper()}S = {getattr(role, name) is not None}" for name in SWITCHES]
        lines += [f"{prefix.upper()}{name} = {role.mechanism.covers == covers}" for name, covers in COVERS.items()]
    for module in (turn, attacks, faults, engine):
        lines += [line for line in _source(module.__name__).splitlines() if not line.endswith("# bound")]
    return "\n".join(lines) + "\n"


def _module(engine: str, algorithm: str, text: str, hook_modules: tuple[str, ...]) -> ModuleType:
    own = (_source(name) for name in sorted(_with_imports(hook_modules)))
    digest = hashlib.sha256("\0".join([text, repr(OPTIONS), _foundation(), *own]).encode()).hexdigest()[:16]
    return import_text(f"coterie_{engine}_{algorithm}_{digest}", text)


def _with_imports(modules: tuple[str, ...]) -> set[str]:
    """The files of hooks, and those algorithm files that they take functions from."""
    origins = {getattr(value, "__module__", None) or "" for name in modules for value in vars(sys.modules[name]).values()}
    return set(modules) | {origin for origin in origins if origin.startswith("coterie.algorithms.")}


def import_text(name: str, text: str) -> ModuleType:
    """A module of that text, which is kept in the cache. The name must tell all that the module depends on."""
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(keep(f"{name}.py", text))
        exec(compile(text, module.__file__, "exec"), vars(module))  # not imported: a cache of bytes could be damaged
        sys.modules[name] = module
    return sys.modules[name]


@functools.cache
def _foundation() -> str:
    """All our own sources that may be inlined into an engine."""
    folders = [Path(package.__path__[0]) for package in (coterie.kernel, coterie.privacy, coterie.problem)]
    files = [Path(str(module.__file__)) for module in (contract, memory, plans)]
    files += [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return "\0".join(file.read_text(encoding="utf-8") for file in files)


def _source(module: str) -> str:
    file = sys.modules[module].__file__
    assert file
    return Path(file).read_text(encoding="utf-8")
