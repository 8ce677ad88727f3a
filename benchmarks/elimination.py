"""CDP-MAB three ways in one process: our engine, a numpy loop as a researcher writes it, and a direct numba translation.

All three run the printed form on the grid instance, with regret at 100 checkpoints. The two others are written for this one
algorithm; they draw from numpy's generators, so their runs agree with ours in law and not in bytes.
"""

from math import ceil, log, sqrt

import numpy as np
from numba import njit

from benchmarks import best_of, megabytes, only_case


def case(agents: int, arms: int, horizon: int, **options):
    study = {
        "horizon": horizon,
        "problem": {"instance": "grid", "agents": agents, "arms": arms},
        "algorithm": [{"name": "cdp-mab", **options}],
    }
    return only_case(study)


def a_million() -> dict[str, float]:
    """Agents: time and memory of one run."""
    large = case(1_000_000, 100, 1_000_000_000)
    return {"CPU seconds": best_of(3, lambda: large.simulate(0, 0, 1)), "MB at most": megabytes()}


def numpy_loop(seed, agents, means, horizon, epsilon, marks):
    """As a researcher would write it: arrays over agents, a Python loop over epochs."""
    rng, arms = np.random.default_rng(seed), len(means)
    gaps, active = means.max() - means, np.arange(arms)
    total, samples, t, r, regret, curve = np.zeros((agents, arms)), 0, 0, 0, 0.0, np.zeros(len(marks))
    while t < horizon:
        r += 1
        pulls, noise = horizon, 0.0
        if len(active) > 1:
            large, all_arms = log(8 * len(active) * r * r * horizon), log(8 * arms * r * r * horizon)
            noise = r * sqrt(8 * all_arms) / (agents**1.5 * epsilon)
            target = max(ceil(max(8 * large * 4.0**r / agents, 4 * noise * 2.0**r)), samples + 1)
            pulls, samples = target - samples, target
        inside = (marks > t) & (marks <= t + pulls * len(active))
        laps, rest = np.divmod(marks[inside] - t, len(active))
        lap = np.concatenate([[0.0], np.cumsum(gaps[active])])
        curve[inside] = agents * (regret + laps * lap[-1] + lap[rest])
        if t + pulls * len(active) > horizon or len(active) == 1:
            return curve
        t, regret = t + pulls * len(active), regret + pulls * lap[-1]
        rewards = rng.binomial(pulls, means[active], (agents, len(active)))
        total[:, active] += rewards + rng.laplace(0, 1 / (agents * epsilon), (agents, len(active)))
        score = total[:, active].mean(axis=0) / samples
        radius = sqrt(large / (2 * agents * samples)) + noise / samples
        active = active[score > score.max() - 2 * radius]
    return curve


@njit
def direct(seed, agents, means, horizon, epsilon, marks):
    """The same, agent by agent and reward sum by reward sum, compiled."""
    np.random.seed(seed)
    arms = len(means)
    gaps, active, survivors = means.max() - means, np.arange(arms), arms
    total, score, curve = np.zeros((agents, arms)), np.zeros(arms), np.zeros(len(marks))
    samples, t, r, mark, regret = 0, 0, 0, 0, 0.0
    while t < horizon:
        r += 1
        pulls, noise, large = horizon, 0.0, 0.0
        if survivors > 1:
            large, all_arms = log(8 * survivors * r * r * horizon), log(8 * arms * r * r * horizon)
            noise = r * sqrt(8 * all_arms) / (agents**1.5 * epsilon)
            target = max(ceil(max(8 * large * 4.0**r / agents, 4 * noise * 2.0**r)), samples + 1)
            pulls, samples = target - samples, target
        while mark < len(marks) and marks[mark] <= t + pulls * survivors:
            value = regret
            for e in range(survivors):
                value += gaps[active[e]] * ((marks[mark] - t + survivors - 1 - e) // survivors)
            curve[mark] = agents * value
            mark += 1
        if t + pulls * survivors > horizon or survivors == 1:
            return curve
        t += pulls * survivors
        best = -np.inf
        for e in range(survivors):
            k = active[e]
            regret += pulls * gaps[k]
            score[k] = 0.0
            for i in range(agents):
                total[i, k] += np.random.binomial(pulls, means[k]) + np.random.laplace(0, 1 / (agents * epsilon))
                score[k] += total[i, k] / (agents * samples)
            best = max(best, score[k])
        radius, kept = sqrt(large / (2 * agents * samples)) + noise / samples, 0
        for e in range(survivors):
            if score[active[e]] > best - 2 * radius:
                active[kept] = active[e]
                kept += 1
        survivors = kept
    return curve
