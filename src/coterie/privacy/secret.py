"""The secret: an engine's record of one node's rewards. The engine writes it, the door reads it, no algorithm is handed it.

    count, total            pulls of each arm, and the sum of their rewards on the integer grid
    mark_count, mark_total  the same at points of the past that an algorithm has asked to keep
    reach, spans            how far one reward can move a sum, in rewards: a fact of the problem. `spans` is of each arm, where
                            arms differ; else it is empty
    most, norm              of a stream: how many rewards of an arm it can hold, and the norm that goes with it (else 0 and 1)
    holders                 how many nodes together hold one draw of shared noise
    voices                  how many nodes that always act alike this record stands for, where a simulation folds them
    refused                 what the door did not let out, by its faults: see door.FAULTS
"""

from typing import Any

import numpy as np
from numpy import dtype, float64, int64

from coterie.kernel import UNIT, capacity, node, record


def secret_record(arms: int, marks: int, alike: bool) -> dtype:
    """`alike`: one reach serves all arms."""
    n = capacity(arms)
    return record(
        refused=int64, most=int64, holders=int64, voices=int64, norm=float64, reach=float64,
        count=(int64, n), total=(int64, n), spans=(float64, 0 if alike else n),
        mark_count=(int64, (n, marks)), mark_total=(int64, (n, marks)),
    )  # fmt: skip


def make_secrets(
    shape: Any, arms: int, marks: int, reach: Any, stream: int = 0, norm: float = 1.0, holders: int = 1, voices: Any = 1
) -> np.ndarray:
    """New secrets, with the facts the door goes by. `reach` is one number, or [..., arm]; `voices` one, or one for each."""
    reach = np.asarray(reach, float)
    secrets = np.zeros(shape, secret_record(arms, marks, alike=reach.ndim == 0))
    secrets["most"], secrets["norm"], secrets["holders"], secrets["voices"] = stream, norm, holders, voices
    secrets["reach"] = reach.max(axis=-1) if reach.ndim > 0 else reach
    if reach.ndim > 0:
        secrets["spans"][..., :arms] = reach
    return secrets


@node
def take_in(secret, arm, pulls, total):
    """`pulls` rewards of an arm sum to `total`."""
    secret.count[arm] += pulls
    secret.total[arm] += total


def envelope_record(arms: int) -> dtype:
    """What a node sends past all hooks to the server that adds it up: pulls and sums, raw or with their share of noise."""
    n = capacity(arms)
    return record(count=(int64, n), total=(int64, n))


@node
def enclose(secret, envelope, arms):
    """All rewards that a trusted server has not got yet; mark 0 is where it was last."""
    for k in range(arms):
        envelope.count[k] = secret.count[k] - secret.mark_count[k, 0]
        envelope.total[k] = secret.total[k] - secret.mark_total[k, 0]
        keep_point(secret, k, 0)


@node
def seal(out, envelope):
    """What has just passed the door goes into the envelope, and no hook sees it."""
    for e in range(out.entries):
        envelope.count[out.arm[e]] += out.last[e] - out.first[e] + 1
        envelope.total[out.arm[e]] += out.value[e]
        out.value[e] = 0


@node
def falsify(envelope, values, arms):
    """What a liar encloses: so many rewards of the value it wants to be believed, without noise."""
    for k in range(arms):
        envelope.total[k] = int(values[k] * UNIT) * envelope.count[k]


@node
def hand_in(envelope, aggregate, arms):
    """The server takes in what is enclosed. Returns the words that takes: three for each arm, and one for their number.

    A share of noise without pulls is enclosed, too.
    """
    words = 1
    for k in range(arms):
        if envelope.count[k] > 0 or envelope.total[k] != 0:
            take_in(aggregate, k, envelope.count[k], envelope.total[k])
            words += 3
    empty(envelope)
    return words


@node
def empty(envelope):
    for k in range(len(envelope.count)):
        envelope.count[k] = envelope.total[k] = 0


@node
def keep_point(secret, arm, mark):
    secret.mark_count[arm, mark] = secret.count[arm]
    secret.mark_total[arm, mark] = secret.total[arm]


@node
def reach_of(secret, arm):
    return secret.spans[arm] if len(secret.spans) > 0 else secret.reach
