"""UCB alone, as other libraries play it: one agent, one round after the other, in Python."""

import contextlib
import functools
import importlib
import io
import time
import warnings

import numpy as np

from benchmarks import only_case


def case(agents: int, horizon: int):
    problem = {"means": [0.1, 0.3, 0.5, 0.7, 0.9], "agents": agents}
    return only_case({"horizon": horizon, "problem": problem, "algorithm": [{"name": "ucb1"}]})


@functools.cache
def policies():
    """Its UCB; None: it is not installed, or not with libraries that it can use.

    Its last release asks scipy for a name that is gone, and needs no more than that it exists.
    """
    import scipy.special

    if not hasattr(scipy.special, "btdtri"):
        scipy.special.btdtri = scipy.special.betaincinv
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return importlib.import_module("SMPyBandits.Policies.UCB").UCB
    except Exception:
        return None


def reason() -> str:
    return "" if policies() else "SMPyBandits is not installed, or not with libraries that it can use: not measured."


def smpybandits(means, horizon: int) -> float | None:
    """CPU seconds of a round."""
    if (kind := policies()) is None:
        return None
    policy, rng = kind(len(means)), np.random.default_rng(0)
    policy.startGame()
    began = time.process_time()
    with np.errstate(all="ignore"):
        for _ in range(horizon):
            arm = policy.choice()
            policy.getReward(arm, float(rng.random() < means[arm]))
    return (time.process_time() - began) / horizon
