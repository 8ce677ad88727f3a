"""What may go wrong: liars, contaminated messages, losses, dropouts, agents that come and go.

A liar learns and pulls like everyone else; only what it says is false. What it wants to be believed is a tale (`attacks`),
which the algorithm's hooks `lie` and `pose` put into the words of the algorithm. Liars speak in every round. A contaminated
message (Huber) is an honest one whose value is replaced.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64

from coterie.contract import lie, pose  # bound
from coterie.engines.attacks import HONEST, invent  # bound
from coterie.kernel import FAULT, LIE, capacity, fold, node, record, side, stream, uniform


class Weather(NamedTuple):
    """The faults of one run."""

    active: float = 1.0  # probability that a drawn edge is active
    loss: float = 0.0  # of messages and meetings
    one_way: int = 0  # 1: each direction of a meeting is lost by itself, so that meetings are not atomic
    away: np.ndarray = np.zeros((0, 2), int64)  # [agent]: first round away, first round back
    dropout: float = 0.0  # probability that an agent sits out a round: it hears, but neither pulls nor speaks
    liar: np.ndarray = np.zeros(0, int64)  # [agent]: 1 if it lies
    attack: int = HONEST
    truth: np.ndarray = np.zeros(0)  # [arm]: its mean, which liars know
    contamination: float = 0.0  # probability that the value of a message is replaced
    contaminant: float = 1.0  # by this one

    @property
    def lies(self) -> bool:
        return bool(self.liar.any()) or self.contamination > 0


def tale_record(p: Any) -> np.dtype:
    return record(arm=int64, shares=int64, value=(float64, capacity(p.arms)))


@node
def out_of(t, start, i, keys, weather):
    """Whether an agent sits out this round. Nobody sits out the first."""
    return t > start and uniform(side(stream(keys.world, -2, FAULT, t), i), 0) < weather.dropout


@node
def corrupt(open, p, t, now, horizon, weather, i, tale, keys, message, words):
    """The words that agent i says in place of `words`: a liar's, a contaminated message's, or its own. `now` is the round."""
    die, told = stream(keys.dice, i, LIE, t), -1
    if deceives(tale, p, t, now, horizon, weather, i, die, words):
        told = lie(open, p, t, tale, fold(die, 0), message)
    return told if told >= 0 else words


@node
def disguise(open, p, t, now, horizon, weather, i, tale, keys, card, words):
    """The same for a card."""
    die, told = fold(stream(keys.dice, i, LIE, t), 1), -1
    if deceives(tale, p, t, now, horizon, weather, i, die, words):
        told = pose(open, p, t, tale, fold(die, 0), card)
    return told if told >= 0 else words


@node
def deceives(tale, p, t, now, horizon, weather, i, die, words):
    """Whether what agent i is about to say shall be false; the tale then says what in its place."""
    if weather.liar[i] == 1 and invent(tale, p, t, now, horizon, weather.attack, weather.truth, die):
        return True
    if words > 0 and uniform(side(die, 0), 0) < weather.contamination:
        contaminate(tale, p, weather.contaminant)
        return True
    return False


@node
def contaminate(tale, p, value):
    tale.arm, tale.shares = -1, 1
    for k in range(p.arms):
        tale.value[k] = value
