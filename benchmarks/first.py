"""What a newcomer waits for: `coterie run hospitals` with nothing compiled, and once more."""

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.page import Section

START = "from coterie.cli import start; start()"


def first_command():
    """`coterie run hospitals` with nothing compiled, and then warm."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (timed(folder, name) for name in ("cold", "warm"))
    rows = {f"{name}, {unit}": value for name, found in (("cold", cold), ("warm", warm)) for unit, value in found.items()}
    yield Section("coterie run hospitals", "seconds", rows, ratios=False)


def timed(folder: str, name: str) -> dict[str, float]:
    """With all its processes."""
    command = [sys.executable, "-c", START, "run", "hospitals", "--out", f"{folder}/{name}", "--progress", "none"]
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"COTERIE_CACHE": f"{folder}/cache"})
    used, wall = os.times(), time.perf_counter() - began
    cpu = used.children_user + used.children_system - before.children_user - before.children_system
    return {"wall": wall, "CPU": cpu}
