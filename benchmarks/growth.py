"""What ten times, and a hundred times as many agents, arms or rounds cost: time and memory, each in a process of its own."""

import json
import resource
import subprocess
import sys
import time

from benchmarks import only_case
from benchmarks.page import Section

BASE = {"agents": 20, "arms": 8, "rounds": 2000}
ALGORITHMS = {"cdp-mab": {}, "gossip-ucb": {"graph": "ring"}, "coop-ucb": {"graph": "ring", "life": 2}}
FACTORS = (1, 10, 100)


def growth():
    """Agents, arms and rounds, times 10 and times 100: time and memory."""
    for name in ALGORITHMS:
        rows, memory = {}, {}
        for what in BASE:
            for factor in FACTORS if what == "agents" else FACTORS[1:]:
                label = f"{factor} x {what}" if factor > 1 else "these"
                rows[label], memory[label] = cell(name, BASE | {what: factor * BASE[what]})
        size = ", ".join(f"{count:,} {what}" for what, count in BASE.items())
        yield Section(f"{name} grows, from {size}", "CPU milliseconds of a run", {k: 1e3 * v for k, v in rows.items()})
        yield Section(f"{name} grows: memory", "MB of its own", memory, ratios=False)


def cell(name: str, size: dict[str, int]) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.growth", name, json.dumps(size)]
    return tuple(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def main(name: str, size: str) -> None:
    """CPU seconds of the quicker of two runs, and MB that they have added to the largest size so far."""
    given = json.loads(size)
    problem = {"instance": "uniform", "agents": given["agents"], "arms": given["arms"]}
    study = {"horizon": given["rounds"], "problem": problem, "network": ALGORITHMS[name], "algorithm": [{"name": name}]}
    case = only_case(study)
    case.simulate(0, 0, 0)
    before, times = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
    for _ in range(2):
        began = time.process_time()
        case.simulate(0, 0, 1)
        times.append(time.process_time() - began)
    print(json.dumps([min(times), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10]))


if __name__ == "__main__":
    main(*sys.argv[1:])
