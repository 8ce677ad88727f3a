"""How often a guess can be right."""

import math
from collections.abc import Mapping
from typing import Any


def success_bound(guarantee: Mapping[str, Any]) -> float:
    """Largest share of cases in which a guess between two equally likely, neighbouring inputs can be right.

    (e^epsilon + delta) / (e^epsilon + 1), the accuracy of the best test under (epsilon, delta)-privacy.

    >>> round(success_bound({"epsilon": 1.0, "delta": 0.0}), 4)
    0.7311
    """
    low = 1 / (1 + math.exp(min(guarantee["epsilon"], 700.0)))
    return min(1.0, 1 - low + guarantee["delta"] * low)
