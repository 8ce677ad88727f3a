"""What ten times, and a hundred times as many agents, arms or rounds cost: time and memory, each in a process of its own."""

import time

from benchmarks import apart, forget_the_most, megabytes, only_case
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
                rows[label], memory[label] = apart(cell, name, BASE | {what: factor * BASE[what]})
        size = ", ".join(f"{count:,} {what}" for what, count in BASE.items())
        yield Section(f"{name} grows, from {size}", "CPU milliseconds of a run", {k: 1e3 * v for k, v in rows.items()})
        yield Section(f"{name} grows: memory", "MB of its own", memory, ratios=False)


def cell(name: str, size: dict[str, int]) -> tuple[float, float]:
    """CPU seconds of the quicker of two runs, and MB that a case and its runs take beside the program and the compiler."""
    problem = {"instance": "uniform", "agents": size["agents"], "arms": size["arms"]}
    study = {"horizon": size["rounds"], "problem": problem, "network": ALGORITHMS[name], "algorithm": [{"name": name}]}
    only_case(study).simulate(0, 0, 0)
    before, times = forget_the_most(), []
    case = only_case(study)
    for _ in range(2):
        began = time.process_time()
        case.simulate(0, 0, 1)
        times.append(time.process_time() - began)
    return min(times), megabytes() - before
