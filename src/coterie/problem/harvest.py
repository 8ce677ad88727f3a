"""What becomes of a plan. It is the engine's: no hook is handed it."""

from typing import Any

from numpy import dtype, float64, int64

from coterie.kernel import capacity, record


def harvest_record(p: Any) -> dtype:
    """`rounds` the plan takes; of each entry: the sum of its rewards, and the regret of one pull of each entry before it."""
    n = capacity(p.arms)
    return record(rounds=int64, total=(int64, n), lap=(float64, n + 4))
