"""The ledger: what a node has spent, kept per (arm, chain).

A reward belongs to one arm. Entries of one (arm, chain) that cover disjoint stretches of rewards cost the dearest of them
(parallel composition); where covers overlap, costs add. A reward lies in every chain of its arm, so chains add up.
Booking is O(1): it is sound for any order of covers and exact for blocks, trees and prefixes.
"""

import numpy as np
from numpy import dtype, float64, int64

from coterie.kernel import capacity, node, record


def ledger_record(arms: int, chains: int) -> dtype:
    """`last` covered reward, number of `entries`, `loss` (sum or maximum of prices), `squares` (the same of their squares)."""
    shape = (capacity(arms), chains)
    return record(last=(int64, shape), entries=(int64, shape), loss=(float64, shape), squares=(float64, shape))


@node
def book(ledger, arm, chain, first, last, price):
    if first > ledger.last[arm, chain]:
        ledger.loss[arm, chain] = max(ledger.loss[arm, chain], price)
        ledger.squares[arm, chain] = max(ledger.squares[arm, chain], price * price)
        ledger.last[arm, chain] = last
    else:
        ledger.loss[arm, chain] += price
        ledger.squares[arm, chain] += price * price
        ledger.last[arm, chain] = max(ledger.last[arm, chain], last)
    ledger.entries[arm, chain] += 1


def loss_per_reward(ledgers: np.ndarray) -> np.ndarray:
    """Pure-DP loss of the dearest reward of each ledger in an array of them."""
    return ledgers["loss"].sum(axis=-1).max(axis=-1)
