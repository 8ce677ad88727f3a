"""Children that do not outlive their parent, whatever ends it: on Linux the system sees to it."""

import ctypes
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
_system = (
    ctypes.CDLL(None) if sys.platform == "linux" else None
)  # loaded here: a child between fork and exec should load nothing


def tie(number: int = signal.SIGTERM) -> None:
    """This process gets such a signal when the thread that has started it is gone. Elsewhere than on Linux it gets none."""
    if _system is not None:
        _system.prctl(PR_SET_PDEATHSIG, number)


TIED: Callable[[], None] | None = tie if _system else None  # for `preexec_fn`
