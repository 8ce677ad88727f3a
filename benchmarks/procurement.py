"""NF and P-FCB three ways in one process: our engine, a direct numba translation, and a numpy loop as a researcher writes it.

The two others are written for NF alone.
"""

import numpy as np
from numba import njit

from coterie.studies import load_study
from coterie.studies.case import make_case


def suppliers(agents: int, producers: int, binding: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quality, cost and capacity. Where the constraint binds, nearly all is cheap and most is not good enough."""
    rng = np.random.default_rng(0)
    quality = rng.uniform(0.3, 0.45, producers) if binding else rng.random(producers)
    cost = rng.uniform(0, 0.1 if binding else 1, (agents, producers))
    return quality, cost, rng.integers(1, 51, (agents, producers))


def case(name: str, horizon: int, binding: bool = False, agents: int = 10, producers: int = 30, **options):
    quality, cost, capacity = suppliers(agents, producers, binding)
    fixed = {"quality": quality.tolist(), "cost": cost.tolist(), "capacity": capacity.tolist()}
    problem = {"kind": "procurement", "alpha": 0.4, "rho": 1.0, **fixed}
    study = load_study({"horizon": horizon, "problem": problem, "algorithm": [{"name": name, **options}]}).specification
    return make_case(study, study.rows[0], 0)


@njit
def greedy(upper, cost, capacity, alpha):
    """Greedy SSA with two sorts."""
    m = len(upper)
    d, r = upper - alpha, upper - cost
    x, surplus = np.zeros(m), 0.0
    for i in range(m):
        if d[i] >= 0 and r[i] >= 0:
            x[i] = capacity[i]
            surplus += capacity[i] * d[i]
    value = np.where((d < 0) & (r > 0), r / -d, -np.inf)
    price = np.where((d > 0) & (r < 0), r / -d, np.inf)
    sellers, buyers = np.argsort(-value), np.argsort(price)
    a, b = 0, 0
    while a < m and value[sellers[a]] > -np.inf:
        i = sellers[a]
        asked = (capacity[i] - x[i]) * -d[i]
        if surplus > 0:
            spent = min(asked, surplus)
            surplus -= spent
            x[i] += spent / -d[i]
            a += 1 if spent == asked else 0
            continue
        if b == m or price[buyers[b]] >= value[i]:
            break
        j = buyers[b]
        brought = (capacity[j] - x[j]) * d[j]
        traded = min(asked, brought)
        x[i] += traded / -d[i]
        x[j] += traded / d[j]
        a += 1 if asked <= brought else 0
        b += 1 if brought < asked else 0
    for i in range(m):
        x[i] = np.ceil(x[i] - 1e-9) if d[i] > 0 and r[i] < 0 else np.floor(x[i] + 1e-9)
    return x


@njit
def direct(seed, quality, cost, capacity, alpha, optimum, loss, explore, horizon):
    """Line by line from the pseudocode, agent by agent, compiled."""
    np.random.seed(seed)
    agents, m = cost.shape
    units, good, regret = np.zeros((agents, m)), np.zeros((agents, m)), 0.0
    upper = np.ones(m)
    for t in range(1, horizon + 1):
        for j in range(agents):
            if t <= explore:
                order = np.ones(m)
            else:
                for i in range(m):
                    upper[i] = min(1.0, good[j, i] / units[j, i] + np.sqrt(3 * np.log(t) / (2 * units[j, i])))
                order = greedy(upper, cost[j], capacity[j], alpha)
            surplus, revenue = 0.0, 0.0
            for i in range(m):
                units[j, i] += order[i]
                good[j, i] += np.random.binomial(int(order[i]), quality[i])
                surplus += order[i] * (quality[i] - alpha)
                revenue += order[i] * (quality[i] - cost[j, i])
            regret += optimum[j] - revenue if surplus >= -1e-9 else loss[j]
    return regret


def numpy_loop(seed, quality, cost, capacity, alpha, optimum, loss, explore, horizon):
    """Arrays over agents and producers where the constraint is slack, a Python loop over rounds and the rest."""
    rng, (agents, m), regret = np.random.default_rng(seed), cost.shape, 0.0
    units, good = np.zeros((agents, m)), np.zeros((agents, m))
    for t in range(1, horizon + 1):
        if t <= explore:
            orders = np.ones((agents, m))
        else:
            upper = np.minimum(1, good / units + np.sqrt(3 * np.log(t) / (2 * units)))
            orders = np.where(upper >= cost, capacity, 0).astype(float)
            for j in np.flatnonzero((orders * (upper - alpha)).sum(axis=1) < 0):
                orders[j] = greedy.py_func(upper[j], cost[j], capacity[j], alpha)
        units += orders
        good += rng.binomial(orders.astype(int), quality)
        allowed = orders @ (quality - alpha) >= -1e-9
        regret += np.where(allowed, optimum - (orders * (quality - cost)).sum(axis=1), loss).sum()
    return regret
