"""What all algorithms of procurement share: orders, when to exchange, how long to explore, and what a study may set.

An order is what would be best if the upper confidence bounds were the qualities. `desk` is the record in which bounds and the
next order are worked out: `open` where all of it rests on released numbers, and `inner` where it rests on raw data.

Greedy SSA is that of Deva et al. 2021, rounded to whole units.
"""

from math import ceil, floor, inf, log, sqrt
from typing import Annotated, Literal

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie.contract import Algorithm, Claim, Method, Options, Setting, Terms, order, params
from coterie.errors import UsageError
from coterie.kernel import beta, capacity, nearest, node, side
from coterie.limits import EPSILON_LEAST, HORIZON_MOST, REWARD_MOST
from coterie.options import enters

COARSE = float(1 << 20)  # steps to one unit of quality in a sum that only has to tell a clear surplus
ROUNDING = 1e-9
ENTRIES = ()  # there is nothing to run in this file


def desk_fields(p):
    """What the next order is made of."""
    n = capacity(p.arms)
    numbers = ("upper", "lower", "surplus", "revenue", "amount", "quantity", "rate")
    return dict.fromkeys(numbers, (float64, n)) | {"ranking": (int64, n)}


@node
def probe(desk, open, p):
    """Exploration: a few units of every producer."""
    for k in range(p.arms):
        desk.ranking[k] = k
        desk.amount[k] = min(open.limit[k], float(p.probe))


@node
def buy(desk, open, p):
    """What is best by the bounds."""
    if not take_all_that_pays(desk, open, p):
        greedy(desk, open, p)


@node
def place(desk, p, plan):
    for k in range(p.arms):
        if desk.amount[k] > 0.0:
            order(plan, k, int(desk.amount[k]))


@node
def confidence(p, t):
    """The radius at W units is confidence / sqrt(W)."""
    return sqrt(1.5 * log(p.agents * t))


@node
def sampled(die, k, units, good):
    """Thompson sampling: a draw of Beta(1 + Y, 1 + W - Y) in place of an upper bound."""
    units = max(0.0, units)
    good = min(max(0.0, good), units)
    return beta(side(die, k), 1.0 + good, 1.0 + units - good)


@node
def take_all_that_pays(desk, open, p):
    """All units that earn something, if they are clearly good enough together: then the constraint is slack.

    Earnings are judged by upper bounds. So is quality, unless the oracle is to be safe.
    """
    surplus = 0
    for k in range(p.slots):
        quality = desk.lower[k] if p.safe else desk.upper[k]
        d, r = quality - p.alpha, p.rho * desk.upper[k] - open.cost[k]
        desk.surplus[k], desk.revenue[k] = d, r
        desk.amount[k] = open.limit[k] if r > 0.0 or (r == 0.0 and d >= 0.0) else 0.0
        surplus += nearest(desk.amount[k] * d * COARSE)
    return surplus > p.slots  # more than rounding can have added


@node
def greedy(desk, open, p):
    """Greedy SSA: what earns and is good is taken (S1); its surplus of quality, and then what buyers of quality (S3) bring at a
    price below the gain, is spent on what earns and is not good (S2). Whole units: down in S2, up in S3."""
    surplus = 0.0
    for k in range(p.arms):
        d, r = desk.surplus[k], desk.revenue[k]
        desk.quantity[k] = open.limit[k] if d >= 0.0 and r >= 0.0 else 0.0
        surplus += desk.quantity[k] * d
        desk.rate[k] = r / -d if d != 0.0 else 0.0
    rank(desk, p)
    a, b = spend(desk, open, p, surplus), p.arms - 1
    while True:
        while a < p.arms and not sells(desk, desk.ranking[a]):
            a += 1
        while b >= 0 and not buys(desk, desk.ranking[b]):
            b -= 1
        if a == p.arms or b < 0 or desk.rate[desk.ranking[a]] <= desk.rate[desk.ranking[b]]:
            break
        seller, buyer = desk.ranking[a], desk.ranking[b]
        asked = (open.limit[seller] - desk.quantity[seller]) * -desk.surplus[seller]
        brought = (open.limit[buyer] - desk.quantity[buyer]) * desk.surplus[buyer]
        if asked <= brought:
            desk.quantity[seller] = open.limit[seller]
            desk.quantity[buyer] += asked / desk.surplus[buyer]
            a += 1
        else:
            desk.quantity[buyer] = open.limit[buyer]
            desk.quantity[seller] += brought / -desk.surplus[seller]
            b -= 1
    for k in range(p.arms):
        whole = ceil(desk.quantity[k] - ROUNDING) if buys(desk, k) else floor(desk.quantity[k] + ROUNDING)
        desk.amount[k] = float(whole)


@node
def spend(desk, open, p, surplus):
    """Pay sellers from the surplus, those that earn most with it first; returns the place where it is used up."""
    for place in range(p.arms):
        k = desk.ranking[place]
        if sells(desk, k):
            asked = open.limit[k] * -desk.surplus[k]
            if asked > surplus:
                desk.quantity[k] = surplus / -desk.surplus[k]
                return place
            desk.quantity[k] = open.limit[k]
            surplus -= asked
    return p.arms


@node
def sells(desk, k):
    """S2: earns revenue, spends quality."""
    return desk.surplus[k] < 0.0 and desk.revenue[k] > 0.0


@node
def buys(desk, k):
    """S3: costs revenue, brings quality."""
    return desk.surplus[k] > 0.0 and desk.revenue[k] < 0.0


@node
def rank(desk, p):
    """Sort by revenue per unit of quality: sellers are walked from the front, buyers from the back. Bounds move little from one
    round to the next, so the last ranking is nearly right and insertion is cheap."""
    for later in range(1, p.arms):
        k, place = desk.ranking[later], later
        while place > 0 and goes_before(desk, k, desk.ranking[place - 1]):
            desk.ranking[place] = desk.ranking[place - 1]
            place -= 1
        desk.ranking[place] = k


@node
def goes_before(desk, k, other):
    """Of equals the lower number is walked first. Buyers stand behind all others, so that this is an order."""
    if desk.rate[k] != desk.rate[other]:
        return desk.rate[k] > desk.rate[other]
    if buys(desk, k) != buys(desk, other):
        return buys(desk, other)
    return k > other if buys(desk, k) else k < other


# --- what a study may set, and what it means ----------------------------------------------------------


Window = tuple[Annotated[int, Field(ge=1, le=HORIZON_MOST)], Annotated[int, Field(ge=1, le=HORIZON_MOST)]]


class ProcurementOptions(Options):
    """Those of P-FCB, and of FCB `double_n`. What is None has the paper's value in mode "paper". In the private mode it is
    decided by `build_private`, or refused."""

    xi: float = Field(0.3, ge=1e-6, le=REWARD_MOST, description="radius after the exploration",
        json_schema_extra=enters("E = ceil(3 ln(n T) / (2 n xi^2)) rounds of exploration, n agents"))
    exploration: Literal["common", "own"] | Annotated[int, Field(ge=1, le=HORIZON_MOST)] = Field(
        "common", description="rounds, or whose xi is",
        json_schema_extra=enters("E; own: n = 1 for an agent that learns alone"))
    probe: int | None = Field(None, ge=1, le=int(REWARD_MOST), description="units of each producer in a round of exploration",
        json_schema_extra=enters("units of each producer in rounds t <= E", default="1; all that can be had in mode private"))
    kappa: float = Field(1.0, ge=0, le=REWARD_MOST, description="multiplies the radius",
        json_schema_extra=enters("U = min(1, Y / W + kappa sqrt(3 ln(N t) / (2 W)))"))
    gamma: float = Field(0.0, ge=0, le=1, description="added to the least quality",
        json_schema_extra=enters("orders must have a mean quality of alpha + gamma"))
    count_agents: bool | None = Field(None, description="whether logarithms count the agents",
        json_schema_extra=enters("N = n (true) or 1 (false) in U", default="true; false where each learns alone"))
    estimate: Literal["ucb", "thompson"] = Field("ucb", description="what stands for a quality",
        json_schema_extra=enters("thompson: a draw of Beta(1 + Y, 1 + W - Y) in place of U"))
    oracle: Literal["optimistic", "safe"] = Field("optimistic", description="by which bounds quality is judged",
        json_schema_extra=enters("sum of l (q - alpha) >= 0 with q = U (optimistic) or the lower bound (safe)"))
    double_n: bool = Field(False, description="whether the radius of the pool is divided by the agents again",
        json_schema_extra=enters("U = Y / W + kappa sqrt(3 ln(N t) / (2 n W))"))
    schedule: Literal["powers", "start", "literal"] = Field("powers", description="of the exchanges",
        json_schema_extra=enters("powers: 2^i; start: first 2^i; literal: each round until 1, 2, 4, ... has caught up"))
    window: Window | None = Field(None, description="first and last round of exchanges",
        json_schema_extra=enters("first <= t <= last", default="[200, 40000]; the whole run in mode private"))
    learning: Literal["check", "invvar", "naive", "echo"] | None = Field(None, description="what is made of a message",
        json_schema_extra=enters(
            "W grows by omega2 w (check), by w^2 / (w + 4 s), s the variance of the noise (invvar), by w (naive)",
            default="'check' as printed, else 'invvar'"))
    omega1: float | None = Field(None, ge=0, le=REWARD_MOST, description="how near a message must be to the own estimate",
        json_schema_extra=enters(
            "accepted if y / w - Y / W is at most omega1 sqrt(3 ln(n t) / (2 W)), up or down",
            default="0.1 in mode paper"))
    omega2: float | None = Field(None, ge=0, le=REWARD_MOST, description="how often an accepted message counts",
        json_schema_extra=enters("W += omega2 w, Y += omega2 y", default="10 in mode paper"))
    judge: Literal["all", "own"] | None = Field(None, description="the units that messages are checked against",
        json_schema_extra=enters("W, Y of the check: all units, or the own ones", default="'all' in mode paper"))
    guard: bool | None = Field(None, description="whether a message without units is refused",
        json_schema_extra=enters("refused if w <= 0 or W <= 0", default="true in mode paper"))
    mode: Literal["private", "paper"] = Field("private", description="what the stated epsilon means")
    epsilon: float = Field(1.0, ge=EPSILON_LEAST, description="inf: no privacy",
        json_schema_extra=enters(
            "private: Laplace noise of scale k / epsilon, k the limit of supply; paper: sigma = k sqrt(2 ln(1.25 / "
            "delta)) / e_z"))
    delta: float | None = Field(None, ge=0, lt=1, description="0: Laplace noise",
        json_schema_extra=enters(
            "sigma = k / mu(epsilon, delta); paper: sigma = k sqrt(2 ln(1.25 / delta)) / e_z",
            default="0; 0.01 in mode paper"))
    calibration: Literal["paper", "tight", "elliptic"] | None = Field(None, description="of the noise",
        json_schema_extra=enters(
            "paper: as of epsilon; tight: sigma = sqrt(2) k / mu(epsilon, delta); elliptic: covariance (k / mu)^2 (4/3, "
            "2/3; 2/3, 4/3)",
            default="'paper' in mode paper"))
    base: Literal["2", "e"] | None = Field(None, description="of the logarithm in the paper's calibration",
        json_schema_extra=enters("e_z = epsilon / (2 log T) + epsilon / 2^(z + 1)", default="'2' in mode paper"))


def method(
    rule: Algorithm, o: ProcurementOptions, s: Setting, claim: Claim, explore: int, window: tuple[int, int], **computed: float
) -> Method:
    """With the parameters that all orders need."""
    if window[0] > window[1]:
        raise UsageError(f"window must be [first, last] with first <= last, got [{window[0]}, {window[1]}]")
    terms, slots = terms_of(s), capacity(s.arms)
    p = params(
        o, s,
        slots=slots,  # loops over all slots compile to whole vectors; spare ones have limit 0
        agents=1.0 if o.count_agents is False else float(s.agents),  # N in the logarithms
        alpha=terms.alpha + o.gamma, rho=terms.rho,
        explore=explore,  # rounds of `probe` units of every producer
        safe=o.oracle == "safe",  # the constraint is judged by lower bounds
        thompson=o.estimate == "thompson",
        first=window[0], last=window[1],  # exchanges lie in first .. last
        echo=o.learning == "echo",
        **computed,
    )  # fmt: skip
    spare = ((0, 0), (0, slots - s.arms))
    due = np.full(s.agents, first_due(o.schedule, window[0]))
    known = {"cost": np.pad(terms.cost, spare), "limit": np.pad(terms.limit, spare), "due": due}
    return Method(rule, p, claim, known=known, exploration=explore)


def claim_of(o: ProcurementOptions, delta: float, note: str) -> Claim:
    if o.epsilon == inf:
        return Claim(inf, note="no noise is added")
    control = "a control: what is sent is noise alone. " if o.learning == "echo" else ""
    return Claim(o.epsilon, delta, control + note)


def terms_of(s: Setting) -> Terms:
    if s.terms is None:
        raise UsageError("problem.kind must be 'procurement' for this algorithm, got one with arms")
    return s.terms


def exploration(o: ProcurementOptions, s: Setting, alone: bool = False) -> int:
    """E = ceil(3 ln(n T) / (2 n xi^2)), where the pool of n agents has the radius xi; at most T."""
    if isinstance(o.exploration, int):
        return min(o.exploration, s.horizon)
    n = 1 if alone and o.exploration == "own" else s.agents
    return min(s.horizon, max(1, ceil(3 * log(n * s.horizon) / (2 * n * o.xi * o.xi))))


def first_due(schedule: str, first: int) -> int:
    """With doubling after each exchange: powers of two from `first` on; first, 2 first, ...; or the paper's, which starts to
    double at 1 and so exchanges in every round from `first` on until it has caught up."""
    return {"powers": 1 << (first - 1).bit_length(), "start": first, "literal": 1}[schedule]


def exchange_rounds(schedule: str, window: tuple[int, int], horizon: int) -> list[int]:
    """
    >>> exchange_rounds("powers", (200, 40_000), 100_000)
    [256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
    """
    rounds, due, t = [], first_due(schedule, window[0]), window[0]
    while max(t, due) <= min(window[1], horizon):
        rounds.append(max(t, due))
        t, due = rounds[-1] + 1, 2 * due
    return rounds
