"""Speed, as ratios measured in one run: `python -m benchmarks`."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from coterie.studies import load_study
from coterie.studies.case import Case, make_case


def only_case(study: dict[str, Any]) -> Case:
    """Of a study with one row, its first instance."""
    specification = load_study(study).specification
    return make_case(specification, specification.rows[0], 0)


def best_of(repeats, work):
    """Least CPU seconds of several passes, the first of which warms up."""
    work()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """In a process of its own, so that memory is that of this work."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def megabytes() -> float:
    """Of this process at most. What the system tells of its resources includes the size of the process that started it."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 2**10


def forget_the_most() -> float:
    """From now on `megabytes` knows of no earlier time; what it is now."""
    Path("/proc/self/clear_refs").write_text("5")
    return megabytes()
