"""Gossip_UCB three ways in one process: our engine, a direct numba translation, and a numpy loop as a researcher writes it.

The two others are written for this one algorithm, with Bernoulli rewards and the paper's radius.
"""

import numpy as np
from numba import njit

from benchmarks import only_case


def means(agents: int, arms: int) -> np.ndarray:
    return np.random.default_rng(0).random((agents, arms))


def case(name: str, agents: int, horizon: int, graph: str = "path", arms: int = 10, **options):
    study = {
        "horizon": horizon,
        "problem": {"means": means(agents, arms).tolist()},
        "network": {"graph": graph},
        "algorithm": [{"name": name, **options}],
    }
    return only_case(study)


@njit
def direct(seed, mu, first, neighbour, edges, horizon, marks):
    """Line by line from the pseudocode, agent by agent, compiled."""
    np.random.seed(seed)
    agents, arms = mu.shape
    overall = mu.sum(axis=0) / agents
    gaps = overall.max() - overall
    n, belief = np.ones((agents, arms), np.int64), np.ones((agents, arms), np.int64)
    total, x, th = np.zeros((agents, arms)), np.zeros((agents, arms)), np.zeros((agents, arms))
    for i in range(agents):
        for k in range(arms):
            total[i, k] = 1.0 if np.random.random() < mu[i, k] else 0.0
            x[i, k] = th[i, k] = total[i, k]
    regret, curve, mark = 0.0, np.zeros(len(marks)), 0
    for t in range(1, horizon + 1):
        before, old = belief.copy(), th.copy()
        for i in range(agents):
            for k in range(arms):
                belief[i, k] = max(belief[i, k], n[i, k])
                for e in range(first[i], first[i + 1]):
                    belief[i, k] = max(belief[i, k], before[neighbour[e], k])
            behind = 0
            for k in range(arms):
                if n[i, k] < belief[i, k] - agents:
                    behind += 1
            arm = 0
            if behind > 0:
                chosen = np.random.randint(behind)
                for k in range(arms):
                    if n[i, k] < belief[i, k] - agents:
                        if chosen == 0:
                            arm = k
                        chosen -= 1
            else:
                best = -np.inf
                for k in range(arms):
                    index = old[i, k] + np.sqrt(2 * agents / n[i, k] * np.log(t))
                    if index > best:
                        best, arm = index, k
            n[i, arm] += 1
            total[i, arm] += 1.0 if np.random.random() < mu[i, arm] else 0.0
            mean = total[i, arm] / n[i, arm]
            th[i, arm] += mean - x[i, arm]
            x[i, arm] = mean
            regret += gaps[arm]
        e = np.random.randint(len(edges))
        i, j = edges[e, 0], edges[e, 1]
        for k in range(arms):
            half = (old[j, k] - old[i, k]) / 2
            th[i, k] += half
            th[j, k] -= half
        if mark < len(marks) and marks[mark] == t:
            curve[mark] = regret
            mark += 1
    return curve


def numpy_loop(seed, mu, adjacency, edges, horizon):
    """Arrays over agents and arms, a Python loop over rounds."""
    rng, (agents, arms) = np.random.default_rng(seed), mu.shape
    gaps = mu.mean(axis=0).max() - mu.mean(axis=0)
    n, belief = np.ones((agents, arms)), np.ones((agents, arms))
    total = (rng.random((agents, arms)) < mu).astype(float)
    x, th, rows, regret = total.copy(), total.copy(), np.arange(agents), 0.0
    for t in range(1, horizon + 1):
        heard = np.where(adjacency[:, :, None], belief[None], 0).max(axis=1)
        belief, old = np.maximum(np.maximum(belief, n), heard), th.copy()
        arm = (old + np.sqrt(2 * agents / n * np.log(t))).argmax(axis=1)
        for i in np.flatnonzero((n < belief - agents).any(axis=1)):
            arm[i] = rng.choice(np.flatnonzero(n[i] < belief[i] - agents))
        n[rows, arm] += 1
        total[rows, arm] += rng.random(agents) < mu[rows, arm]
        mean = total[rows, arm] / n[rows, arm]
        i, j = edges[rng.integers(len(edges))]
        th[i] = th[j] = (old[i] + old[j]) / 2
        th[rows, arm] += mean - x[rows, arm]
        x[rows, arm] = mean
        regret += gaps[arm].sum()
    return regret
