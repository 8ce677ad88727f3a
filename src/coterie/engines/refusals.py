"""What the compiler or a compiled hook refuses, in one line of ours: the file, the line, the hook and what it stumbled over."""

import ast
import functools
import re
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from numba.core.errors import NumbaError

from coterie.errors import AlgorithmError
from coterie.guests import reason_of, shown

PLACE = re.compile(r'File "(?P<file>.+?)", line (?P<line>\d+):| at (?P<at>\S+) \((?P<where>\d+)\)')
CAUSES = (  # what the compiler says, and what we say; the first that fits
    (r"Unknown attribute '(\w+)'", "uses .{}, which cannot be compiled"),
    (r"Untyped global name '(\w+)'", "uses {!r}, which cannot be compiled"),
    (r"(?:global )?name '(\w+)' is not defined", "uses {!r}, which is not defined"),
    (r"Cannot unify .+? for '([a-z_]+)", "must give {!r} one kind of value: compiled code has one type for each name"),
    (r"implementation of function Function\(<(?:[a-z-]+ )*'?(\w+)", "calls {!r} with what it cannot take"),
)
OWN = re.compile(r"^0x|^closure_|^\$|_$|^intrinsic$|^impl$|^resolve_|^getattr$")  # names that the compiler made up


def careful(run: Callable[..., Any], hooks: Mapping[str, Callable]) -> Callable[..., Any]:
    """The same engine; where a hook cannot be compiled, or fails when it is called, that is an error of its file."""

    @functools.wraps(run)
    def called(*arguments: Any) -> Any:
        try:
            return run(*arguments)
        except NumbaError as error:
            raise AlgorithmError(refusal(str(error), hooks)) from error
        except Exception as error:
            if guests := sorted({file_of(hook) for hook in hooks.values() if not hook.__module__.startswith("coterie.")}):
                raise AlgorithmError(f"{shown(guests[0])}: a hook stops a compiled run: {reason_of(error)}") from error
            raise

    return called


def refusal(text: str, hooks: Mapping[str, Callable]) -> str:
    """The compiler tells the innermost place first; the first that lies in a file of hooks is the author's."""
    files = {Path(file_of(hook)).resolve(): file_of(hook) for hook in hooks.values()}
    names = {hook.__name__: name.removeprefix("server_") for name, hook in hooks.items()}
    for found in PLACE.finditer(text):
        path, line = Path(found["file"] or found["at"]).resolve(), int(found["line"] or found["where"])
        if path in files:
            function = function_at(path, line)
            return f"{shown(files[path])}:{line}: {names.get(function, function)} {cause(text[: found.start()])}"
    return f"{shown(next(iter(files.values())))}: a hook cannot be compiled: {cause(text)}"


def cause(text: str) -> str:
    """Of what stands before the place: its end is about the place, its beginning about the calls around it.

    Where the innermost call is one of the compiler's own, the one around it counts.
    """
    starts = [found.start() for found in re.finditer(r"nopython frontend\)", text)] or [0]
    for start, end in reversed(list(pairwise([*starts, len(text)]))):
        for pattern, words in CAUSES:
            found = re.search(pattern, text[start:end])
            if found and not OWN.search(found[1]):
                return words.format(found[1])
    return "does something that cannot be compiled: hooks take numbers and records, and write records"


def function_at(file: Path, line: int) -> str:
    items = ast.parse(file.read_bytes()).body
    functions = [item for item in items if isinstance(item, ast.FunctionDef)]
    return next((item.name for item in functions if item.lineno <= line <= (item.end_lineno or 0)), "")


def file_of(hook: Callable) -> str:
    return str(sys.modules[hook.__module__].__file__)
