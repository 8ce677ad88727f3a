"""Read, not run: what can be told of an algorithm from the text of its file and the objects it made.

Every hook is followed into the helpers it calls, with the records it hands on, so a field that does not exist is found with its
line wherever it is read or written.
"""

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import builtin_registry

from coterie.errors import AlgorithmError
from coterie.guests import shown

CALLABLE_MODULES = ("math", "numpy", "coterie")  # what a hook may take functions and numbers from
NAMES = "`release` names what leaves by offer(out, arm, price)"
TRAVELS = ("message", "card", "mine", "theirs", "peer", "peers")
ALL_PARAMETERS = {*TRAVELS, "secret", "inner", "open", "p", "t", "die", "plan", "out", "tale"}

Fields = Mapping[str, frozenset[str]]  # of each parameter that is a record


class Function(NamedTuple):
    """A function with its text."""

    made: Any
    tree: ast.FunctionDef
    file: str

    def at(self, item: ast.AST | None = None) -> str:
        line = getattr(item, "lineno", self.tree.lineno)
        return f"{shown(self.file)}:{line}: {self.made.__name__}"

    @property
    def names(self) -> list[str]:
        return [argument.arg for argument in self.tree.args.args]


@functools.cache
def tree_of(file: str) -> ast.Module:
    return ast.parse(Path(file).read_bytes())


def function_of(made: Any, whose: str, hook: str) -> Function:
    """The text of a hook. The engine imports it by its name, so it must be found under it."""
    if not isinstance(made, FunctionType):
        kind = "a compiled function" if isinstance(made, CPUDispatcher) else f"{made!r:.40}"
        raise AlgorithmError(f"{whose}: {hook} must be a function that is marked @node, got {kind}")
    file = made.__code__.co_filename
    place = f"{shown(file)}:{made.__code__.co_firstlineno}: {hook}"
    is_found: bool = getattr(sys.modules.get(made.__module__), made.__name__, None) is made
    if not is_found:
        kind = "a lambda" if made.__name__ == "<lambda>" else f"a function inside {made.__qualname__.split('.')[0]!r}"
        kind = kind if "." in made.__qualname__ or made.__name__ == "<lambda>" else f"another name than {made.__name__!r}"
        raise AlgorithmError(f"{place} must be a function at the top of a file, under its own name, got {kind}")
    defined = [item for item in tree_of(file).body if isinstance(item, ast.FunctionDef) and item.name == made.__name__]
    if not defined:
        raise AlgorithmError(f"{place} must be a function that is written in a file, got one without text")
    if not is_marked(made):
        raise AlgorithmError(f"{shown(file)}:{defined[-1].lineno}: {hook} must be marked @node: the compiler takes no other")
    return Function(made, defined[-1], file)


def is_marked(made: FunctionType) -> bool:
    """Whether compiled code may call it."""
    return any(known is made for known, _ in builtin_registry.globals)


def parameters_of(made: Callable) -> list[str]:
    return list(inspect.signature(made).parameters)


def check_parameters(hook: Function, name: str, contract: Callable) -> None:
    """By number and name. What travels may have a name of its own (a report, a desk), but not that of something else."""
    wanted, got = parameters_of(contract), parameters_of(hook.made)
    own = [not (a == b or (a in TRAVELS and b not in ALL_PARAMETERS)) for a, b in zip(wanted, got, strict=False)]
    if len(wanted) == len(got) and not any(own):
        return
    if "secret" in got and "secret" not in wanted:
        changed = f"rewards are the engine's now, and {NAMES}"
        raise AlgorithmError(f"{hook.at()} must be {name}({', '.join(wanted)}), without the secret: {changed}")
    raise AlgorithmError(f"{hook.at()} must be {name}({', '.join(wanted)}), got ({', '.join(got)})")


def check_body(hook: Function, fields: Fields) -> None:
    """Of a hook and all helpers it calls: names, modules, helpers' marks and the fields of records."""
    seen, todo = set[tuple[Any, ...]](), [(hook, fields)]
    while todo:
        function, records = todo.pop()
        key = (function.made, *sorted((name, tuple(sorted(known))) for name, known in records.items()))
        if key not in seen:
            seen.add(key)
            _check_fields(function, records)
            todo += _helpers(function, records)


def _check_fields(function: Function, records: Fields) -> None:
    rebound = {item.id for item in ast.walk(function.tree) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    for item in ast.walk(function.tree):
        if isinstance(item, ast.Attribute):
            owner = item.value
            if isinstance(owner, ast.Subscript) and isinstance(owner.value, ast.Name):
                owner = owner.value  # one of many peers
            if isinstance(owner, ast.Name) and owner.id in records and owner.id not in rebound:
                known = records[owner.id]
                if item.attr not in known and item.attr != "shape":  # peers have one
                    listed = ", ".join(sorted(known)) or "none"
                    raise AlgorithmError(f"{function.at(item)}: {owner.id} has no field {item.attr!r}; it has {listed}")
        if isinstance(item, ast.Global | ast.Nonlocal):
            raise AlgorithmError(f"{function.at(item)} must keep everything in records, got a variable outside of it")


def _helpers(function: Function, records: Fields) -> Iterator[tuple[Function, Fields]]:
    """Functions of its own kind that it calls, with the records they are handed."""
    around = function.made.__globals__
    for item in ast.walk(function.tree):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load):
            _check_module(function, item, around.get(item.id), item.id)
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name):
            owner = around.get(item.value.id)
            if isinstance(owner, ModuleType):
                _check_module(function, item, getattr(owner, item.attr, None), f"{item.value.id}.{item.attr}")
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
            called = around.get(item.func.id)
            words = all(isinstance(word, ast.Constant) and isinstance(word.value, str) for word in item.args)
            if item.func.id == "print" and called is None and not words:
                raise AlgorithmError(f"{function.at(item)} prints more than words, which cannot be compiled")
            if isinstance(called, FunctionType) and item.func.id not in records:
                if not is_marked(called):
                    raise AlgorithmError(f"{function.at(item)} calls {item.func.id!r}, which must be marked @node")
                if not called.__module__.startswith(("coterie.contract", "coterie.kernel", "coterie.privacy")):
                    yield from _handed(called, item, records)


def _check_module(function: Function, item: ast.AST, found: Any, name: str) -> None:
    """Chance comes from `die` and time from `t`: another source would not end in the same bytes twice."""
    if not isinstance(found, ModuleType):
        return
    allowed = found.__name__.partition(".")[0] in CALLABLE_MODULES and not found.__name__.startswith("numpy.random")
    if not allowed:
        raise AlgorithmError(f"{function.at(item)} must use math, numpy and coterie only, and chance from `die`, got {name!r}")


def _handed(called: FunctionType, call: ast.Call, records: Fields) -> Iterator[tuple[Function, Fields]]:
    file = called.__code__.co_filename
    defined = [item for item in tree_of(file).body if isinstance(item, ast.FunctionDef) and item.name == called.__name__]
    if defined:
        helper = Function(called, defined[-1], file)
        pairs = zip(helper.names, call.args, strict=False)
        handed = {name: records[given.id] for name, given in pairs if isinstance(given, ast.Name) and given.id in records}
        yield helper, handed


# --- files of the first edition ------------------------------------------------------------------------

GONE = {
    "observe": "rewards are the engine's, and it counts them itself",
    "collect": "a role that `trusts` its server has its rewards handed on by the engine",
    "secret": "rewards are the engine's record",
    "covers": "the door knows what a sum covers",
}


def check_edition(file: Path) -> None:
    """What an older file says that is no longer asked for, before anything stumbles over it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return  # told when the file is imported
    for item in ast.walk(tree):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
            for word in item.keywords if item.func.id == "Algorithm" else ():
                if word.arg in GONE:
                    gone = f"{word.arg} is no part of an Algorithm any more: {GONE[word.arg]}; {NAMES}"
                    raise AlgorithmError(f"{shown(file)}:{word.value.lineno}: {gone}")
            if item.func.id == "Claim" and any(isinstance(a, ast.Constant) and isinstance(a.value, str) for a in item.args[:2]):
                wanted = "Claim(epsilon, delta) takes numbers: whom they hold against is derived"
                raise AlgorithmError(f"{shown(file)}:{item.lineno}: {wanted}")
