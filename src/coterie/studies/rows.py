"""`summary.json`: what a run tells of one algorithm with one choice of parameters, and its answer. All keys, with their types.

JSON has no infinity: an epsilon that is infinite or absent is null. Pages and tables show these numbers and reckon none.
"""

from typing import Any, Literal, NotRequired, TypedDict


class Spread(TypedDict):
    """Over replications: `sem` is the standard error, `margin` half of the 95 % interval; null after one replication."""

    mean: float
    sem: float | None
    margin: float | None
    min: float
    max: float


class Curve(TypedDict):
    """Regret summed over agents at every checkpoint: the mean with half of its 95 % interval, and the lowest and highest.

    `per_decision` is what one honest agent has lost so far with each of its decisions.
    """

    round: list[int]
    mean: list[float]
    margin: list[float | None]
    low: list[float]
    high: list[float]
    per_decision: list[float]
    per_decision_margin: list[float | None]


class ByAgent(TypedDict):
    """Of each agent, over the replications in which it told the truth; null: there was none."""

    regret: list[Any]
    margin: list[Any]  # half of the 95 % interval of the mean
    found: list[Any]  # the share of replications in which it settled on the best arm
    count: list[int]  # in so many of them it did,
    of: list[int]  # of so many


class Found(TypedDict):
    """A share as a count."""

    count: int
    of: int


class PromiseOf(TypedDict):
    """What became of a row's promise of privacy, by `privacy.statement.promise`."""

    state: Literal["kept", "weak", "broken", "nothing"]
    promised: float | None
    holds: float | None  # null: no limit
    guess: float | None  # the largest share of right guesses of one reward, under what holds; null: no limit


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
    """See `privacy.statement.statement`. Where a table names persons, its numbers are those of the one with most rewards."""

    claimed: Loss | None
    accounted: Loss
    rewards: NotRequired[int]  # of one person, where it has more than one
    per_reward: NotRequired[Loss]
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
    violations: Spread  # rounds of one agent
    below: Spread  # the same as a share of its rounds
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
    method: str  # algorithm and mode: what has one colour
    alone: bool  # sends nothing
    parameters: dict[str, Any]  # the algorithm's options
    faults: dict[str, Any]  # those that are switched on
    agents: int
    arms: int
    horizon: int
    replications: int
    regret: Spread  # summed over agents, at the horizon
    regret_per_agent: Spread
    per_decision: Spread  # regret of one decision of an honest agent
    curve: Curve
    best_arm_rate: Any  # a number, or null where there is no best arm
    found: Found | None  # replications in which every honest agent settled on the best arm
    found_by: Found | None  # honest agents that did, over all replications
    by_agent: ByAgent
    communication: Communication
    privacy: Privacy
    promise: PromiseOf
    extra: dict[str, Any]  # what a family measures
    procurement: NotRequired[Purchases]
    floor: NotRequired[Floor]  # where one is known
    warnings: list[str]
    own_file: NotRequired[OwnFile]
    seconds: float
    agent_rounds_per_second: float


Beside = Literal["less", "more", "close"]  # close: the 95 % interval holds 0, or there is none


class Difference(TypedDict):
    """Of `per_decision`, row minus the one it is held against, run by run: both meet the same instances and seeds."""

    row: int
    against: int
    mean: float
    margin: float | None  # half of the 95 % interval, t(n-1); null under 5 runs
    verdict: Beside
    runs: int


class Unit(TypedDict):
    decisions: int  # a power of ten in which the best row loses at least 1
    text: str  # per 1,000 decisions
    decimals: int  # that regret is told with, in this unit


class Figure(TypedDict):
    value: str
    label: str


class Group(TypedDict):
    """Rows that differ in what is swept only, or in who lies how: one line, or one panel."""

    name: str  # what their labels share
    rows: list[int]


class Swept(TypedDict):
    """The one setting in which rows differ, with the value of each row in the hero's order; null: it has none."""

    key: str
    values: list[Any]
    log: bool


class Answer(TypedDict):
    """What the study found, in one sentence, and how to show it. Rows are told by their places in `rows`."""

    kind: Literal["privacy", "sweep", "liars", "hops", "procurement", "other"]
    verdict: Literal["yes", "no", "close"] | None  # null: the sentence is neither
    sentence: str
    red: str | None  # promises that are broken
    caveats: list[str]
    headline: int | None
    alone: int | None
    together: int | None
    names: list[str]  # of all rows, as people say them
    order: list[int]  # in which rows are shown and numbered, in all pictures
    groups: list[Group]
    unit: Unit
    figures: list[Figure]
    swept: Swept | None
    differences: list[Difference]


class Summary(TypedDict):
    """All of `summary.json`."""

    study: dict[str, Any]
    answer: Answer
    rows: list[SummaryRow]
