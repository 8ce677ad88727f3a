"""The process that compiles for this one, and how it is started; studies/ahead.py says what it does.

It has to import what this process does, which takes as long. So where nothing was ever compiled a command starts it first, and
both import at once. One that is told nothing ends with this process: its input then ends.
"""

import os
import subprocess
import sys

from coterie.cache import cache_folder

# Without a look at garbage now and then: the compiler makes many objects and leaves few.
PROGRAM = "import gc; gc.disable(); from coterie.studies.ahead import help; help()"
_early: list[subprocess.Popen] = []


def get_helper() -> subprocess.Popen:
    """One that waits for its list. It hears no Ctrl-C."""
    if _early:
        return _early.pop()
    paths = {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | paths,
        start_new_session=True,
    )  # fmt: skip


def expect_compiling(workers: int | None) -> None:
    """Most likely, on a machine where nothing was."""
    if (workers or os.cpu_count() or 1) > 1 and not cache_folder().exists():
        _early.append(get_helper())
