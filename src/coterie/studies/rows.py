"""A row of `summary.json`: what a run tells of one algorithm with one choice of parameters. All keys, with their types.

JSON has no infinity: an epsilon that is infinite or absent is null.
"""

from typing import Any, NotRequired, TypedDict


class Spread(TypedDict):
    """Over replications: `sem` is the standard error, `margin` half of the 95 % interval; null after one replication."""

    mean: float
    sem: float | None
    margin: float | None
    min: float
    max: float


class Curve(TypedDict):
    """Regret summed over agents: the mean, and the lowest and highest of all replications, at every checkpoint."""

    round: list[int]
    mean: list[float]
    low: list[float]
    high: list[float]


class ByAgent(TypedDict):
    """Of each agent, over the replications in which it told the truth; null: there was none."""

    regret: list[Any]
    found: list[Any]


class Communication(TypedDict):
    """Means over replications."""

    rounds: float
    messages: float
    bytes: float
    cost: float


class Loss(TypedDict):
    epsilon: float | None
    delta: float


class Privacy(TypedDict):
    """See `privacy.statement.statement`."""

    claimed: Loss | None
    accounted: Loss
    private: bool
    unit: str
    adversary: str
    note: str


class OwnFile(TypedDict):
    checked: bool
    audited: bool


class BoughtByAgent(TypedDict):
    """Of each agent that is shown."""

    slack: list[float]
    regret_after: list[float]
    violations: list[float]
    quality: list[float | None]
    revenue: list[float]
    best_revenue: list[float]


class Orders(TypedDict):
    """Units per round after the exploration [agent, producer], beside the best order and the capacity."""

    quality: list[float]
    mean: list[list[float]]
    best: list[list[float]]
    capacity: list[list[float]]


class Learned(TypedDict):
    """Units taken from others for one of its own, of each agent, and about each producer."""

    by_agent: list[float]
    about: list[list[float]] | None


class Ratio(TypedDict):
    of_means: float
    mean: float
    sem: float | None
    margin: float | None


class Against(TypedDict):
    """Regret relative to another row; null where that has none."""

    whole: Ratio | None
    after: Ratio | None


class Purchases(TypedDict):
    """What a row of a procurement tells beyond its regret (see `studies.purchases`)."""

    alpha: float
    exploration: int
    regret_after: Spread
    median_after: float
    violations: Spread
    by_agent: BoughtByAgent
    orders: Orders | None
    learned: Learned
    against: dict[str, Against]


class Floor(TypedDict):
    """What the regret of all agents cannot stay below in the long run: constant * ln(agents * round)."""

    constant: float
    kind: str  # alike | private | unlike: which of the three cases of theory.floor it is
    label: str  # asymptotic: at a finite round regret may lie below


class SummaryRow(TypedDict):
    label: str
    algorithm: str
    parameters: dict[str, Any]  # the algorithm's options
    faults: dict[str, Any]  # those that are switched on
    agents: int
    arms: int
    horizon: int
    replications: int
    regret: Spread  # summed over agents, at the horizon
    regret_per_agent: Spread
    curve: Curve
    best_arm_rate: Any  # a number, or null where there is no best arm
    by_agent: ByAgent
    communication: Communication
    privacy: Privacy
    extra: dict[str, Any]  # what a family measures
    procurement: NotRequired[Purchases]
    floor: NotRequired[Floor]  # where one is known
    warnings: list[str]
    own_file: NotRequired[OwnFile]
    seconds: float
    agent_rounds_per_second: float
