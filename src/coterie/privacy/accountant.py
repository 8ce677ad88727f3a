"""What the entries of a ledger cost, as an epsilon."""

import numpy as np

from coterie.privacy.gauss import epsilon_of
from coterie.privacy.ledger import loss_per_reward

NORMAL = ("gauss", "triangle", "root")  # mechanisms whose prices are mu and compose by squares


def accounted(ledgers: np.ndarray, mechanism: str, delta: float) -> np.ndarray:
    """Of the dearest reward in each ledger: pure epsilon, or for normal noise the epsilon at `delta`, rounded up."""
    if mechanism not in NORMAL:
        return loss_per_reward(ledgers)
    mu = np.sqrt(ledgers["squares"].sum(axis=-1).max(axis=-1))
    return np.vectorize(epsilon_of, otypes=[float])(mu, delta)
