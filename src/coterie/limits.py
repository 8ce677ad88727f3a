"""The largest and the smallest numbers there is room for: what lies beyond them is refused where it is given.

Sums are whole numbers of 64 bits on a grid of 2^-16, so rounds times the size of a reward stay below 2^46. A study of the most
agents that may be given plays 10^19 agent-rounds at most, which are counted by numbers of any length.
"""

from math import inf

HORIZON_MOST = 10**12
AGENTS_MOST = 10**7
ARMS_MOST = 10**5
REPLICATIONS_MOST = 10**8
REWARD_MOST = 1e6  # in size; also of other numbers that are given in rewards, and of factors
REWARDS_SUMMED_MOST = 2.0**46  # rounds times the size of a reward

# The least epsilon that may be promised, by any method. Below it nothing can be learned from what leaves (the mean of
# a million rewards is off by 1), and noise grows out of the grid: see privacy.door. Prices of single releases may be lower.
EPSILON_LEAST = 1e-6
EPSILON_MOST = 1e6  # where it is finite at all: no formula overflows below it
EPSILON_RANGE = f"a number in [{EPSILON_LEAST:g}, {EPSILON_MOST:g}] or inf"


def check_epsilon(epsilon: float) -> float:
    """The rule for every epsilon that is promised; a validator of options and of claims."""
    if EPSILON_LEAST <= epsilon <= EPSILON_MOST or epsilon == inf:
        return epsilon
    raise ValueError(f"must be {EPSILON_RANGE}, got {epsilon:g}")
