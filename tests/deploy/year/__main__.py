"""Tell one year, or some, with all that happens in them."""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from year.story import KINDS, Year

if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python tests/deploy/year", description=__doc__)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--seeds", type=int, default=1, help="so many, from --seed on")
    options.add_argument("--hours", type=float, default=250)
    options.add_argument("--kind", choices=KINDS)
    options.add_argument("--quiet", action="store_true")
    chosen = options.parse_args()
    for seed in range(chosen.seed, chosen.seed + chosen.seeds):
        with tempfile.TemporaryDirectory() as folder:
            year = Year(seed, chosen.hours, folder, chosen.kind, None if chosen.quiet else print)
            try:
                year.play()
                told = "nothing is violated"
            except AssertionError as violation:
                told = f"VIOLATION: {violation}"
        trace = year.trace.hexdigest()[:16]
        print(f"seed {seed}, {year.kind}: {year.faults.total()} faults, {year.asked} answers, {trace}: {told}")
