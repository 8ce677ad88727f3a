"""What a reward loses when sums of shares are opened, exactly, whoever is away when. Rewards are 0 or 1 and epsilon is 1.

A share is the difference of two negative binomial numbers of shape 1 / holders, and m of them are one of shape m / holders:
their laws are summed up here, without a draw. The adversary knows every other reward, and the noise of all colluders.
"""

import numpy as np
import pytest
from scipy.special import gammaln

from coterie.privacy.quorum import Quorum

EPSILON, SPAN = 1.0, 40  # sums are looked at from -SPAN to SPAN
EXACT = 1e-9


def law(shape: float, span: int = SPAN) -> np.ndarray:
    """P(-span .. span) of the noise of shape / (1 / holders) shares."""
    k, q = np.arange(8 * span), np.exp(-EPSILON)
    part = np.exp(gammaln(k + shape) - gammaln(shape) - gammaln(k + 1) + shape * np.log1p(-q) - EPSILON * k)
    middle = len(part) - 1
    return np.correlate(part, part, "full")[middle - span : middle + span + 1]


def loss_of_a_sum(shape: float) -> float:
    """The largest log-ratio of seeing any number with the reward 1 and with 0."""
    noise = np.log(law(shape))
    return float(abs(noise[1:] - noise[:-1]).max())


ABOUT = [Quorum(n, q, c) for n in (3, 5, 10) for q in range(n // 2 + 1, n + 1) for c in range(q - 1)]


@pytest.mark.parametrize("about", ABOUT, ids=str)
def test_a_reward_loses_at_most_epsilon_whoever_drops_out_when(about):
    """A reward is in the sum of one epoch: of whatever reports, as long as they are a quorum. In others it is not at all."""
    for reports in range(about.quorum, about.agents + 1):
        for known in range(about.colluders + 1):
            assert loss_of_a_sum((reports - known) / about.holders) <= EPSILON + EXACT


def test_the_bound_is_reached_by_a_sum_of_the_least_quorum_and_missed_by_one_less():
    about = Quorum(10, 7, 2)
    assert loss_of_a_sum(5 / about.holders) == pytest.approx(EPSILON, abs=1e-6)
    assert loss_of_a_sum(4 / about.holders) > EPSILON + 0.1
    assert loss_of_a_sum(1 / about.holders) > 2 * EPSILON


@pytest.mark.parametrize(("agents", "loss"), [(3, 1.68), (10, 1.91)])
def test_running_totals_lose_more_when_an_agent_is_away_and_epoch_sums_do_not(agents, loss):
    """One agent misses epoch 2. As totals, the sums of the two epochs are, of the noise of epoch 1,

        a = reward + own share + W,     b = W + V,

    where W are the others' shares of epoch 1 and V those of epoch 2: b takes most of the noise off a. As sums of epochs b is V.
    """
    own, others, span = law(1 / agents, 3 * SPAN), law((agents - 1) / agents, SPAN), law((agents - 1) / agents, 4 * SPAN)
    a, w, b = np.arange(-SPAN // 2, SPAN // 2), np.arange(-SPAN, SPAN + 1), np.arange(-SPAN, SPAN)
    later = span[b[:, None] - w + 4 * SPAN]

    def seen(reward: int) -> np.ndarray:
        return (own[a[:, None] - reward - w + 3 * SPAN] * others) @ later.T

    totals = abs(np.log(seen(1) / seen(0))).max()
    assert totals == pytest.approx(loss, abs=0.005)
    assert loss_of_a_sum(1.0) <= EPSILON + EXACT  # V is independent of the rest: the loss is that of epoch 1 alone
