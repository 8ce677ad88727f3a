"""How an engine is called, so that it can be given up: by its pulse, which it looks at after every round.

One that is inside the compiler sees it later.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie.engines.memory import STOPPED
from coterie.kernel.waiting import elsewhere


class GivenUp(Exception):
    """A run that was told to stop: it has no results."""


def call(run: Callable[..., Any], arguments: tuple, pulse: np.ndarray, compiled: bool = True) -> None:
    """From any thread."""

    def stop() -> None:
        pulse[STOPPED] = 1

    if compiled:
        elsewhere(lambda: run(*arguments), stop)
    else:
        run(*arguments)
    if pulse[STOPPED]:
        raise GivenUp
