"""Does a file keep the contract? Looked at, played and compared before the compiler, which checks nothing, gets to see it.

A guest's file may hang, crash or stop the program; so all of this happens in a process of its own (`apart`), and what is wrong is
one line: the file, the line, the hook. `studies` has every file of a user's own checked once, before it imports it.
"""

import functools
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from coterie import algorithms
from coterie.checking import apart
from coterie.contract import Entry
from coterie.errors import UsageError

__all__ = ["check", "ensure_checked", "find"]

Report = Callable[[str], None]


def check(target: str, quick: bool = False) -> Iterator[str]:
    """Everything, step by step: what was found in order, in words. `target` is a name or a path; raises AlgorithmError."""
    if not target.endswith(".py"):
        algorithms.find(target)  # a name that does not exist is told here
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
    try:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise UsageError(f"algorithm must be the path of a file that exists, got {str(path)!r}") from None
    _checked(str(path), content)


@functools.cache
def _checked(path: str, content: str) -> bool:
    for _ in apart.steps(path, "interpreted"):
        pass
    return True
