"""The secret: an engine's record of one node's rewards. The engine writes it, the door reads it, no algorithm is handed it.

    count, total            pulls of each arm, and the sum of their rewards on the integer grid
    mark_count, mark_total  the same at points of the past that an algorithm has asked to keep
    reach, spans            how far one reward can move a sum, in rewards: a fact of the problem. `spans` is of each arm, where
                            arms differ; else it is empty
    most, norm              of a stream: how many rewards of an arm it can hold, and the norm that goes with it (else 0 and 1)
    holders                 how many nodes together hold one draw of shared noise
    refused                 what the door did not let out, by its faults: see door.FAULTS
"""

from typing import Any

import numpy as np
from numpy import dtype, float64, int64

from coterie.kernel import capacity, node, record


def secret_record(arms: int, marks: int, alike: bool) -> dtype:
    """`alike`: one reach serves all arms."""
    n = capacity(arms)
    return record(
        refused=int64, most=int64, holders=int64, norm=float64, reach=float64,
        count=(int64, n), total=(int64, n), spans=(float64, 0 if alike else n),
        mark_count=(int64, (n, marks)), mark_total=(int64, (n, marks)),
    )  # fmt: skip


def make_secrets(
    shape: Any, arms: int, marks: int, reach: Any, stream: int = 0, norm: float = 1.0, holders: int = 1
) -> np.ndarray:
    """New secrets, with the facts the door goes by. `reach` is one number, or [..., arm]."""
    reach = np.asarray(reach, float)
    secrets = np.zeros(shape, secret_record(arms, marks, alike=reach.ndim == 0))
    secrets["most"], secrets["norm"], secrets["holders"] = stream, norm, holders
    secrets["reach"] = reach.max(axis=-1) if reach.ndim > 0 else reach
    if reach.ndim > 0:
        secrets["spans"][..., :arms] = reach
    return secrets


@node
def take_in(secret, arm, pulls, total):
    """`pulls` rewards of an arm sum to `total`."""
    secret.count[arm] += pulls
    secret.total[arm] += total


@node
def hand_in(secret, aggregate, arms):
    """A trusted aggregator takes in what it has not got yet of a sender's rewards; mark 0 of the sender is where it was last.

    Returns the number of words that takes: three for each arm, and one for their number.
    """
    words = 1
    for k in range(arms):
        pulls = secret.count[k] - secret.mark_count[k, 0]
        if pulls > 0:
            take_in(aggregate, k, pulls, secret.total[k] - secret.mark_total[k, 0])
            keep_point(secret, k, 0)
            words += 3
    return words


@node
def keep_point(secret, arm, mark):
    secret.mark_count[arm, mark] = secret.count[arm]
    secret.mark_total[arm, mark] = secret.total[arm]


@node
def reach_of(secret, arm):
    return secret.spans[arm] if len(secret.spans) > 0 else secret.reach
