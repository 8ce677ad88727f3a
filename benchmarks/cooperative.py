"""Coop-UCB three ways in one process: our engine, a direct numba translation, and a numpy loop as a researcher writes it.

The two others are written for this one algorithm and Bernoulli rewards: every message is delivered to every agent that it
reaches, in the round in which it is due; the numpy loop sums a ring of the last rounds' states with a matrix for each distance.
"""

import numpy as np
from numba import njit

from benchmarks import only_case


def case(name: str, agents: int, horizon: int, life: int = 2, **options):
    study = {
        "horizon": horizon,
        "problem": {"instance": "uniform", "between": [0.1, 0.9], "agents": agents, "arms": 5},
        "network": {"graph": "erdos-renyi", "probability": 0.1, "life": life},
        "algorithm": [{"name": name, **options}],
    }
    return only_case(study)


@njit
def direct(seed, mu, first, sender, delay, horizon, marks):
    """Line by line: what arrives is added message by message, then all decide, pull and tell."""
    np.random.seed(seed)
    agents, arms, ring = len(first) - 1, len(mu), delay.max() + 1
    gaps = mu.max() - mu
    told_arm, told = np.zeros((ring, agents), np.int64), np.zeros((ring, agents))
    n, s = np.zeros((agents, arms)), np.zeros((agents, arms))
    regret, curve, mark = 0.0, np.zeros(len(marks)), 0
    for t in range(1, horizon + 1):
        for i in range(agents):
            for link in range(first[i], first[i + 1]):
                if t > delay[link]:
                    slot, j = (t - delay[link]) % ring, sender[link]
                    n[i, told_arm[slot, j]] += 1.0
                    s[i, told_arm[slot, j]] += told[slot, j]
        for i in range(agents):
            arm, best = (t - 1) % arms, -np.inf
            for k in range(arms if t > arms else 0):
                index = s[i, k] / n[i, k] + np.sqrt(2.0 * np.log(t) / n[i, k])
                if index > best:
                    best, arm = index, k
            reward = 1.0 if np.random.random() < mu[arm] else 0.0
            n[i, arm] += 1.0
            s[i, arm] += reward
            told_arm[t % ring, i], told[t % ring, i] = arm, reward
            regret += gaps[arm]
        if mark < len(marks) and marks[mark] == t:
            curve[mark] = regret
            mark += 1
    return curve


def numpy_loop(seed, mu, first, sender, delay, horizon):
    """Arrays over agents and arms, a Python loop over rounds; own counts and sums of the last rounds, a matrix per distance."""
    rng, agents, arms = np.random.default_rng(seed), len(first) - 1, len(mu)
    receiver, ring = np.repeat(np.arange(agents), np.diff(first)), int(delay.max()) + 1
    hops = np.zeros((ring, agents, agents))
    hops[delay, receiver, sender] = 1.0
    counts, sums = np.zeros((ring, agents, arms)), np.zeros((ring, agents, arms))
    rows, regret = np.arange(agents), 0.0
    for t in range(1, horizon + 1):
        n, s = counts[(t - 1) % ring].copy(), sums[(t - 1) % ring].copy()
        own = n.copy(), s.copy()
        for d in range(1, min(ring, t)):
            n += hops[d] @ counts[(t - d) % ring]
            s += hops[d] @ sums[(t - d) % ring]
        with np.errstate(divide="ignore", invalid="ignore"):
            index = np.where(n > 0, s / n + np.sqrt(2 * np.log(t) / n), np.inf)
        arm = index.argmax(axis=1) if t > arms else np.full(agents, (t - 1) % arms)
        reward = rng.random(agents) < mu[arm]
        own[0][rows, arm] += 1
        own[1][rows, arm] += reward
        counts[t % ring], sums[t % ring] = own
        regret += (mu.max() - mu[arm]).sum()
    return regret
