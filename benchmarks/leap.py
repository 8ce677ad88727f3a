"""PR-UCB that commits to its batches, on a sparse random graph: what a run takes, and how it grows with the horizon.

The target: 100,000 agents of mean degree 10 whose messages live one hop, 10 arms, a million rounds, in two minutes and 4 GB;
and a horizon ten times as long at 1.3 times the cost.
"""

import resource
import time

from benchmarks import only_case


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


def leap(agents: int = 100_000, horizon: int = 1_000_000) -> tuple[str, dict[str, float]]:
    """The target, and what ten times the horizon and stepping cost at a tenth of the agents."""
    began = time.process_time()
    large = case(agents, horizon)
    found = {"graph and links, s": time.process_time() - began, "run, s": seconds(large)}
    found["memory of the process at most, GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    few = agents // 10
    short, long = seconds(case(few, horizon, 12.0), 3), seconds(case(few, 10 * horizon, 12.0), 3)
    found["ten times the horizon, ratio"] = long / short
    stepped, leapt = (seconds(case(200, 20_000, 20.0, commit), 3) for commit in (False, True))
    found["stepping without commit, ratio"] = stepped / leapt
    return f"PR-UCB with commit, {agents:,} agents of mean degree 10, 10 arms, {horizon:,} rounds", found
