"""What all tests share: one cache of compiled engines for all workers, examples that are always the same, a test of fit.

The cache lives on from run to run: engines are compiled only where their sources have changed.
"""

import errno
import io
import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy.stats import chisquare

os.environ.setdefault("COTERIE_CACHE", str(Path(tempfile.gettempdir()) / "coterie-tests"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does; every process of a test would start some in vain
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # every command that a test starts would compile all our sources again
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored
settings.register_profile("coterie", deadline=None, derandomize=True)  # a first example may have to wait for the compiler
settings.load_profile("coterie")

LEVELS = np.concatenate([[1e-4, 1e-3], np.linspace(0.01, 0.99, 99), [1 - 1e-3, 1 - 1e-4]])


@pytest.fixture(scope="session")
def chance_of_fit():
    """Chi-squared: how likely whole numbers fit a law of scipy at most this well, if they are drawn from it.

    Cells end at quantiles, far into both tails, and are kept large enough for the test's own approximation.
    """

    def p_value(draws, law):
        drawn = len(draws)
        levels = LEVELS[np.minimum(LEVELS, 1 - LEVELS) * drawn >= 20]
        ends = np.unique(np.ceil(law.ppf(levels)))[:-1]  # the last cell is open, so it is not the smallest
        expected = drawn * np.diff(law.cdf(ends), prepend=0.0, append=1.0)
        counts = np.bincount(np.searchsorted(ends, draws), minlength=len(expected))
        assert len(expected) > 1
        assert expected.min() >= 8
        return chisquare(counts, expected).pvalue

    return p_value


@pytest.fixture
def full_disk(monkeypatch):
    """Called with a number: after so many more new files the disk is full, half-way through the next one."""
    opened = Path.open

    class HalfFull(io.FileIO):
        def write(self, data):
            super().write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill(files=0):
        left = [None] * files

        def open_or_refuse(path, mode="r", *rest, **more):
            if "x" not in mode:
                return opened(path, mode, *rest, **more)
            if not left:
                return HalfFull(path, "x")
            left.pop()
            return opened(path, mode, *rest, **more)

        monkeypatch.setattr(Path, "open", open_or_refuse)

    return fill
