"""PR-UCB that commits to its batches, on a sparse random graph: what a run takes, and how it grows with the horizon.

The target: 100,000 agents of mean degree 10 whose messages live one hop, 10 arms, a million rounds, in two minutes and 4 GB;
and a horizon ten times as long at 1.3 times the cost.
"""

import time

from benchmarks import apart, megabytes, only_case
from benchmarks.page import Section

AGENTS, HORIZON = 100_000, 1_000_000


def case(agents: int, horizon: int, degree: float = 10.0, commit: bool = True):
    study = {
        "horizon": horizon,
        "problem": {"instance": "uniform", "between": [0.1, 0.9], "agents": agents, "arms": 10},
        "network": {"graph": "erdos-renyi", "probability": degree / agents, "life": 1},
        "algorithm": [{"name": "pr-ucb", "commit": commit}],
    }
    return only_case(study)


def seconds(made, repeats: int = 1) -> float:
    """Least CPU time of one run, compiled beforehand."""
    made.simulate(0, 0, 0)
    found = []
    for _ in range(repeats):
        began = time.process_time()
        made.simulate(0, 0, 1)
        found.append(time.process_time() - began)
    return min(found)


def leap():
    """PR-UCB with commit, 100,000 agents and a million rounds: time, memory and growth."""
    title = f"PR-UCB with commit, {AGENTS:,} agents of mean degree 10, 10 arms, {HORIZON:,} rounds"
    yield Section(title, "", apart(measure), ratios=False)


def measure() -> dict[str, float]:
    """Memory is that of the large run; growth is measured at a tenth of the agents."""
    began = time.process_time()
    large = case(AGENTS, HORIZON)
    found = {"graph and links, CPU seconds": time.process_time() - began, "run, CPU seconds": seconds(large)}
    found["GB of the process at most"] = megabytes() / 2**10
    short, long = (seconds(case(AGENTS // 10, horizon, 12.0), 2) for horizon in (HORIZON, 10 * HORIZON))
    found["ten times the horizon (10,000 agents), times the CPU"] = long / short
    stepped, leapt = (seconds(case(200, 20_000, 20.0, commit), 3) for commit in (False, True))
    found["stepping without commit (200 agents, 20,000 rounds), times the CPU"] = stepped / leapt
    return found
