"""Does a file keep the contract? Looked at, played and compared before the compiler, which checks nothing, gets to see it.

A guest's file may hang, crash or stop the program; so all of this happens in a process of its own (`apart`), and what is wrong
is one line: the file, the line, the hook. `studies` has every file of a user's own checked once, before it imports it.
"""

import functools
from collections.abc import Iterator
from pathlib import Path

from coterie import algorithms
from coterie.checking import apart
from coterie.contract import Entry

__all__ = ["check", "ensure_checked", "find"]


def check(target: str, quick: bool = False) -> Iterator[str]:
    """Everything, step by step: what was found in order, in words. `target` is a name or a path; raises AlgorithmError."""
    if target.endswith(".py"):
        algorithms.digest(Path(target))  # a file or a name that does not exist is told here
    else:
        algorithms.find(target)
    yield from apart.steps(target, "interpreted")
    if not quick:
        yield from apart.steps(target, "compiled")


def find(name: str) -> Entry:
    """As `algorithms.find`, but a file of a user's own is checked first."""
    if name.endswith(".py"):
        ensure_checked(Path(name))
    return algorithms.find(name)


def ensure_checked(path: Path) -> None:
    """The interpreted part, once for what the file holds now."""
    _checked(str(path), algorithms.digest(path))


@functools.cache
def _checked(path: str, digest: str) -> None:
    for _ in apart.steps(path, "interpreted"):
        pass
