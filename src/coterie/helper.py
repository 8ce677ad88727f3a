"""The process that compiles for this one, and how it is started; studies/ahead.py says what it does.

It has to import what this process does, which takes as long. So where nothing was ever compiled a command starts it first, and
both import at once. From its first moment it ends when this process does: its input then ends. One that is inside a library
that never comes back does not notice; on Linux the system ends it.
"""

import contextlib
import gc
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

from coterie.cache import cache_folder
from coterie.tied import tie

PROGRAM = "from coterie.helper import begin; begin(); from coterie.studies.ahead import help; help()"
_early: dict[Path, subprocess.Popen] = {}  # by the folder that each keeps its work in


def get_helper() -> subprocess.Popen:
    """One that waits for its list. It hears no Ctrl-C, and keeps what it compiles where this process will look for it."""
    folder = cache_folder()
    if folder in _early:
        return _early.pop(folder)
    ours = {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place), "COTERIE_CACHE": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | ours,
        start_new_session=True,
    )  # fmt: skip


def end(helper: subprocess.Popen) -> None:
    """With the processes that it has become: all of its session. Once it is gone its number may be another's."""
    if helper.poll() is None and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # it ends at this very moment
            os.killpg(helper.pid, signal.SIGKILL)
    helper.kill()


def expect_compiling(workers: int | None) -> None:
    """Most likely, on a machine where nothing was."""
    if (workers or os.cpu_count() or 1) > 1 and not any(cache_folder().glob("coterie_*.py")):
        _early[cache_folder()] = get_helper()


def begin() -> None:
    """In the helper. It looks for garbage now and then only: the compiler makes many objects and leaves few."""
    end_with_the_input()
    gc.disable()


def end_with_the_input() -> None:
    """A thread does not live on in a process that is forked: it has to call this, too."""
    tie(signal.SIGKILL)
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> None:
    """Without taking anything from the input."""
    with contextlib.suppress(AttributeError):  # there is no such call on some systems: it ends when it has read its list
        poll = select.poll()
        poll.register(sys.stdin.fileno(), 0)
        poll.poll()
        os._exit(0)
