"""Federated procurement under a quality constraint (Solanki et al. 2022): NF, FCB and the private P-FCB.

Every round every agent orders units of many producers. It knows their costs and limits, and learns their qualities: a unit is
good with a probability that is the same for all agents. What it buys must be good on average. It orders what would be best if
the upper confidence bounds were the qualities. The agents differ in what they tell each other:

    nf-cb         nothing
    fcb           all they see, every round: the pool of all agents' units, everywhere
    fcb-periodic  the block of units since the last exchange, in a few rounds; no noise
    p-fcb         the same with normal noise

and in what they learn from a message (w units, of which y were good):

    check    accept it if y / w is near the own estimate, then count it `omega2` times (CheckAndUpdate of the paper)
    invvar   count it as as many units as its variance is worth
    naive    add it
    echo     a control: check on the receiver's own block with the sender's noise. It tells nothing about others, so what it
             gains comes from counting units that are none

Orders and the judgement of messages use the agent's own data without noise, so all of it stays in `secret` and orders must not
be seen. What a message reveals is accounted for exactly: see `block_losses` in privacy/gauss.py and privacy/triangle.py.

Deviations from the paper: the pinned decisions of its specification. Time and schedule advance once per round, not per agent;
n is what its exploration length has under the logarithm; a pool of all agents' units is not divided by their number again
(`double_n` does so); a message without units is refused. Greedy SSA is that of Deva et al. 2021, rounded to whole units.
Exchanges reach agents before the next round's orders; on a graph that is not complete messages travel as far as they live.
"""

from math import ceil, floor, inf, log, log2, sqrt
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie.contract import (
    NOW,
    Algorithm,
    Claim,
    Entry,
    Method,
    Options,
    Setting,
    Terms,
    offer,
    offer_between,
    order,
    remember,
)  # fmt: skip
from coterie.errors import UsageError
from coterie.kernel import UNIT, beta, capacity, nearest, node, record, side
from coterie.privacy.gauss import block_losses, epsilon_of, mu_of
from coterie.privacy.mechanisms import PAIR, TRIANGLE
from coterie.privacy.mechanisms.pairs import APART, CORRELATION, SPREAD

COARSE = float(1 << 20)  # steps to one unit of quality in a sum that only has to tell a clear surplus
ROUNDING = 1e-9
CHECK, INVVAR, NAIVE = 0, 1, 2
LEARNING = {"check": CHECK, "invvar": INVVAR, "naive": NAIVE, "echo": CHECK}


class Params(NamedTuple):
    arms: int
    slots: int  # capacity(arms): loops over all slots compile to whole vectors; spare ones have limit 0
    agents: float  # N in the logarithms
    share: float  # the radius is divided by its root: n with `double_n`, else 1
    alpha: float  # with gamma
    rho: float
    kappa: float
    explore: int  # rounds of `probe` units of every producer
    probe: int
    safe: int  # 1: the constraint is judged by lower bounds
    thompson: int
    first: int  # exchanges lie in first .. last
    last: int
    every: int  # 1: every round is one
    price: float  # of a number; 0: that of the paper, by the next three
    epsilon: float
    levels: float  # log T
    classical: float  # sqrt(2 ln(1.25 / delta))
    spread: float  # standard deviation of the noise in units of limit / price, and its correlation
    correlation: float
    words: int  # of a message
    learning: int
    echo: int
    omega1: float
    omega2: float
    own_window: int  # 1: messages are judged by the own units alone
    guard: int


def inner_record(p):
    """Units learned of others, and what the next order is made of."""
    n = capacity(p.arms)
    return record(
        learned_units=(float64, n), learned_good=(float64, n), upper=(float64, n), lower=(float64, n), surplus=(float64, n),
        revenue=(float64, n), amount=(float64, n), quantity=(float64, n), rate=(float64, n), ranking=(int64, n),
    )  # fmt: skip


def open_record(p):
    n = capacity(p.arms)
    return record(
        due=int64, exchanges=int64, news=int64, cost=(float64, n), limit=(float64, n), units=(int64, n),
        good=(int64, n), scale=(float64, n),
    )


def message_record(p):
    n = capacity(p.arms)
    return record(units=(int64, n), good=(int64, n), scale=(float64, n))


# --- ordering: exploration, bounds, oracle ---------------------------------------------------------------


@node
def peek(secret, inner, open, p, t, die, plan):
    if t <= p.explore:
        for k in range(p.arms):
            inner.ranking[k] = k
            inner.amount[k] = min(open.limit[k], float(p.probe))
    else:
        bound(secret, inner, p, t)
        if p.thompson:
            sample(secret, inner, p, die)
        if not take_all_that_pays(inner, open, p):
            greedy(inner, open, p)
    for k in range(p.arms):
        if inner.amount[k] > 0.0:
            order(plan, k, int(inner.amount[k]))


@node
def confidence(p, t):
    """The radius at W units is confidence / sqrt(W)."""
    return sqrt(1.5 * log(p.agents * t))


@node
def bound(secret, inner, p, t):
    """U = min(1, Y / W + kappa sqrt(3 ln(N t) / (2 W))), 1 where there are no units; and the lower bound likewise."""
    scale = p.kappa * confidence(p, t) / sqrt(p.share)
    for k in range(p.slots):
        units = secret.count[k] + inner.learned_units[k]
        known = units > 0.0
        one = 1.0 / units if known else 1.0
        estimate, radius = (secret.total[k] * (1.0 / UNIT) + inner.learned_good[k]) * one, scale * sqrt(one)
        inner.upper[k] = min(1.0, estimate + radius) if known else 1.0
        inner.lower[k] = max(0.0, estimate - radius) if known else 0.0


@node
def sample(secret, inner, p, die):
    """Thompson sampling: a draw of Beta(1 + Y, 1 + W - Y) in place of the upper bound."""
    for k in range(p.arms):
        units = max(0.0, secret.count[k] + inner.learned_units[k])
        good = min(max(0.0, secret.total[k] * (1.0 / UNIT) + inner.learned_good[k]), units)
        inner.upper[k] = beta(side(die, k), 1.0 + good, 1.0 + units - good)


@node
def take_all_that_pays(inner, open, p):
    """All units that earn something, if they are clearly good enough together: then the constraint is slack.

    Earnings are judged by upper bounds. So is quality, unless the oracle is to be safe.
    """
    surplus = 0
    for k in range(p.slots):
        quality = inner.lower[k] if p.safe else inner.upper[k]
        d, r = quality - p.alpha, p.rho * inner.upper[k] - open.cost[k]
        inner.surplus[k], inner.revenue[k] = d, r
        inner.amount[k] = open.limit[k] if r > 0.0 or (r == 0.0 and d >= 0.0) else 0.0
        surplus += nearest(inner.amount[k] * d * COARSE)
    return surplus > p.slots  # more than rounding can have added


@node
def greedy(inner, open, p):
    """Greedy SSA: what earns and is good is taken (S1); its surplus of quality, and then what buyers of quality (S3) bring at a
    price below the gain, is spent on what earns and is not good (S2). Whole units: down in S2, up in S3."""
    surplus = 0.0
    for k in range(p.arms):
        d, r = inner.surplus[k], inner.revenue[k]
        inner.quantity[k] = open.limit[k] if d >= 0.0 and r >= 0.0 else 0.0
        surplus += inner.quantity[k] * d
        inner.rate[k] = r / -d if d != 0.0 else 0.0
    rank(inner, p)
    a, b = spend(inner, open, p, surplus), p.arms - 1
    while True:
        while a < p.arms and not sells(inner, inner.ranking[a]):
            a += 1
        while b >= 0 and not buys(inner, inner.ranking[b]):
            b -= 1
        if a == p.arms or b < 0 or inner.rate[inner.ranking[a]] <= inner.rate[inner.ranking[b]]:
            break
        seller, buyer = inner.ranking[a], inner.ranking[b]
        asked = (open.limit[seller] - inner.quantity[seller]) * -inner.surplus[seller]
        brought = (open.limit[buyer] - inner.quantity[buyer]) * inner.surplus[buyer]
        if asked <= brought:
            inner.quantity[seller] = open.limit[seller]
            inner.quantity[buyer] += asked / inner.surplus[buyer]
            a += 1
        else:
            inner.quantity[buyer] = open.limit[buyer]
            inner.quantity[seller] += brought / -inner.surplus[seller]
            b -= 1
    for k in range(p.arms):
        whole = ceil(inner.quantity[k] - ROUNDING) if buys(inner, k) else floor(inner.quantity[k] + ROUNDING)
        inner.amount[k] = float(whole)


@node
def spend(inner, open, p, surplus):
    """Pay sellers from the surplus, those that earn most with it first; returns the place where it is used up."""
    for place in range(p.arms):
        k = inner.ranking[place]
        if sells(inner, k):
            asked = open.limit[k] * -inner.surplus[k]
            if asked > surplus:
                inner.quantity[k] = surplus / -inner.surplus[k]
                return place
            inner.quantity[k] = open.limit[k]
            surplus -= asked
    return p.arms


@node
def sells(inner, k):
    """S2: earns revenue, spends quality."""
    return inner.surplus[k] < 0.0 and inner.revenue[k] > 0.0


@node
def buys(inner, k):
    """S3: costs revenue, brings quality."""
    return inner.surplus[k] > 0.0 and inner.revenue[k] < 0.0


@node
def rank(inner, p):
    """Sort by revenue per unit of quality: sellers are walked from the front, buyers from the back. Bounds move little from one
    round to the next, so the last ranking is nearly right and insertion is cheap."""
    for later in range(1, p.arms):
        k, place = inner.ranking[later], later
        while place > 0 and goes_before(inner, k, inner.ranking[place - 1]):
            inner.ranking[place] = inner.ranking[place - 1]
            place -= 1
        inner.ranking[place] = k


@node
def goes_before(inner, k, other):
    """Of equals the lower number is walked first. Buyers stand behind all others, so that this is an order."""
    if inner.rate[k] != inner.rate[other]:
        return inner.rate[k] > inner.rate[other]
    if buys(inner, k) != buys(inner, other):
        return buys(inner, other)
    return k > other if buys(inner, k) else k < other


# --- telling: the block since the last exchange ------------------------------------------------------------


@node
def exchanges_now(open, p, t):
    """The schedule is public. After an exchange the next is due at twice the round: see `first_due`."""
    return p.every == 1 or (p.first <= t <= p.last and t >= open.due)


@node
def price_of(p, z):
    """Of a pair in the z-th exchange. That of the paper is eps_z / sqrt(2 ln(1.25 / delta)) for each of its two numbers."""
    return p.price if p.price > 0.0 else APART * spending(p.epsilon, p.levels, z) / p.classical


@node
def spending(epsilon, levels, z):
    """eps_z = eps / (2 log T) + eps / 2^(z + 1)."""
    return epsilon / (2.0 * levels) + epsilon / float(1 << (z + 1))


@node
def release(open, p, t, plan, out):
    """Units and good ones since the last exchange. An echo keeps that point, and the one before it, for `overhear`."""
    if exchanges_now(open, p, t):
        price = price_of(p, open.exchanges + 1)
        for k in range(p.arms):
            if p.echo:
                remember(out, k, 0, 1)
                offer_between(out, k, NOW, NOW, 0, price, 0)
            else:
                offer(out, k, price)


@node
def publish(open, p, t, plan, out):
    open.news = out.entries
    if out.entries > 0:
        open.exchanges += 1
        open.due *= 1 if p.every else 2
    for e in range(0, out.entries, 2):
        k = out.arm[e]
        open.units[k], open.good[k] = out.value[e], out.value[e + 1]
        open.scale[k] = p.spread * out.sensitivity[e] / out.price[e]


@node
def speak(open, p, t, message):
    if open.news == 0:
        return 0
    for k in range(p.slots):
        message.units[k], message.good[k], message.scale[k] = open.units[k], open.good[k], open.scale[k]
    return p.words


@node
def lie(open, p, t, tale, die, message):
    """As many units as an honest agent would tell of, as good as the tale has them."""
    words = speak(open, p, t, message)
    for k in range(p.arms):
        message.good[k] = int(tale.value[k] * message.units[k])
    return words


# --- learning ----------------------------------------------------------------------------------------------


@node
def overhear(secret, inner, open, peer, p, t, message):
    if p.learning == NAIVE:
        merge(secret, inner, p, message)
        return
    radius = p.omega1 * confidence(p, t - 1)  # the exchange was in the last round
    for k in range(p.arms):
        units, good = message.units[k] * (1.0 / UNIT), message.good[k] * (1.0 / UNIT)
        if p.echo:
            units += secret.mark_count[k, 0] - secret.mark_count[k, 1]
            good += (secret.mark_total[k, 0] - secret.mark_total[k, 1]) * (1.0 / UNIT)
        if open.limit[k] == 0.0 or (p.guard and units <= 0.0):
            weight = 0.0
        elif p.learning == CHECK:
            weight = p.omega2 if agrees(secret, inner, p, k, units, good, radius) else 0.0
        else:
            weight = worth(p, units, good, message.scale[k])
            good = min(max(0.0, good), units)
        inner.learned_units[k] += weight * units
        inner.learned_good[k] += weight * good


@node
def merge(secret, inner, p, message):
    """Add what was sent, where there is something to add it to."""
    for k in range(p.slots):
        units, good = message.units[k] * (1.0 / UNIT), message.good[k] * (1.0 / UNIT)
        known = secret.count[k] + inner.learned_units[k] > 0.0
        weight = 1.0 if known & ((units > 0.0) | (p.guard == 0)) else 0.0
        inner.learned_units[k] += weight * units
        inner.learned_good[k] += weight * good


@node
def agrees(secret, inner, p, k, units, good, radius):
    """|y / w - Y / W| <= omega1 sqrt(3 ln(n t) / (2 W)); nothing can be compared with no units."""
    own, own_good = float(secret.count[k]), secret.total[k] * (1.0 / UNIT)
    if not p.own_window:
        own, own_good = own + inner.learned_units[k], own_good + inner.learned_good[k]
    if own <= 0.0 or units == 0.0:
        return False
    return abs(good / units - own_good / own) <= radius / sqrt(own)


@node
def worth(p, units, good, scale):
    """The weight of a message: the number of units whose estimate would have the variance of y / w, divided by w.

    Var(y / w) = (q (1 - q) w + s_yy - 2 q s_wy + q^2 s_ww) / w^2, with q = y / w kept away from 0 and 1. Nothing is learned
    where the noise may be half of the units.
    """
    if units <= 0.0 or units < 2.0 * scale:
        return 0.0
    q, noise = min(max(0.02, good / units), 0.98), scale * scale
    variance = q * (1.0 - q) * units + noise * (1.0 - 2.0 * q * p.correlation + q * q)
    return q * (1.0 - q) * units / variance


CAVEAT = (
    "orders rest on the agent's own data without noise, so nobody else may see them; one order may change in an otherwise "
    "fixed stream of orders, and not the later orders it would lead to; capacities are public"
)
ALONE = Algorithm(
    "nf_cb", open_record, message_record, inner=inner_record, peek=peek, caveat=CAVEAT, mechanism=PAIR,
)  # fmt: skip
FEDERATED = ALONE._replace(
    name="fcb", release=release, publish=publish, speak=speak, overhear=overhear, lie=lie,
    marks=lambda p: 2, moves=lambda p: p.arms,
)  # fmt: skip
ELLIPTIC = FEDERATED._replace(name="fcb_elliptic", mechanism=TRIANGLE)


# --- what a study may set, and what it means ----------------------------------------------------------


class AloneOptions(Options):
    xi: float = Field(0.3, gt=0, description="radius after the exploration")
    exploration: Literal["common", "own"] | Annotated[int, Field(ge=1)] = "common"
    probe: int = Field(1, ge=1, description="units of each producer in a round of exploration")
    kappa: float = Field(1.0, ge=0, allow_inf_nan=False)
    gamma: float = Field(0.0, ge=0, le=1)
    count_agents: bool | None = None
    estimate: Literal["ucb", "thompson"] = "ucb"
    oracle: Literal["optimistic", "safe"] = "optimistic"


class PooledOptions(AloneOptions):
    double_n: bool = False


class PeriodicOptions(AloneOptions):
    schedule: Literal["powers", "start", "literal"] = "powers"
    window: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] = (200, 40_000)
    learning: Literal["check", "invvar", "naive", "echo"] | None = None
    omega1: float = Field(0.1, ge=0, allow_inf_nan=False)
    omega2: float = Field(10.0, ge=0, allow_inf_nan=False)
    judge: Literal["all", "own"] = Field("all", description="the units that messages are checked against")
    guard: bool = True


class PrivateOptions(PeriodicOptions):
    mode: Literal["private", "paper"] = "private"
    epsilon: float = Field(1.0, gt=0, description="inf: no privacy")
    delta: float = Field(0.01, gt=0, lt=1)
    calibration: Literal["paper", "tight", "elliptic"] | None = None
    base: Literal["2", "e"] = Field("2", description="of the logarithm in the paper's calibration")


class Choices(NamedTuple):
    """All options together: each algorithm takes the defaults of what it does not offer."""

    xi: float
    exploration: str | int
    probe: int
    kappa: float
    gamma: float
    count_agents: bool | None
    estimate: str
    oracle: str
    double_n: bool = False
    schedule: str = "powers"
    window: tuple[int, int] = (1, 1)
    learning: str | None = None
    omega1: float = 0.0
    omega2: float = 1.0
    judge: str = "all"
    guard: bool = True
    mode: str = "paper"
    epsilon: float = inf
    delta: float = 0.01
    calibration: str | None = None
    base: str = "2"


def build_alone(options: AloneOptions, s: Setting) -> Method:
    o, terms = Choices(**options.model_dump()), terms_of(s)
    claim = Claim(inf, note="nothing is sent")
    return method(ALONE, o._replace(count_agents=bool(o.count_agents)), s, terms, claim, exploration(o, s, alone=True))


def build_pooled(options: PooledOptions, s: Setting) -> Method:
    o, terms = Choices(**options.model_dump()), terms_of(s)
    claim = Claim(inf, note="all that an agent sees is sent, without noise")
    return method(FEDERATED, o._replace(learning="naive"), s, terms, claim, exploration(o, s), every=1)


def build_periodic(options: PeriodicOptions, s: Setting) -> Method:
    o, terms = Choices(**options.model_dump()), terms_of(s)
    paper = o.mode == "paper"
    o = o._replace(
        calibration=o.calibration or ("paper" if paper else "tight"), learning=o.learning or ("check" if paper else "invvar")
    )
    check(o, s)
    rule = ELLIPTIC if o.calibration == "elliptic" else FEDERATED
    made = method(rule, o, s, terms, claim_of(o), exploration(o, s))
    return made._replace(facts=facts(made.p, o, s))


def terms_of(s: Setting) -> Terms:
    if s.terms is None:
        raise UsageError("problem.kind must be 'procurement' for this algorithm, got one with arms")
    return s.terms


def check(o: Choices, s: Setting) -> None:
    if o.window[0] > o.window[1]:
        raise UsageError(f"window must be [first, last] with first <= last, got [{o.window[0]}, {o.window[1]}]")
    if o.mode == "private" and o.calibration == "paper":
        raise UsageError("calibration must be tight or elliptic in mode = 'private', got 'paper'")
    most = 1.0 / spending(1.0, levels_of(o, s), 1)
    if o.calibration == "paper" and most <= o.epsilon < inf:
        wanted = f"< {most:.4g} (or inf) for the paper's noise at horizon {s.horizon}: its formula needs eps_1 < 1"
        raise UsageError(f"epsilon must be {wanted}, got {o.epsilon:g}")


def exploration(o: Choices, s: Setting, alone: bool = False) -> int:
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


def levels_of(o: Choices, s: Setting) -> float:
    return max(1.0, log2(s.horizon) if o.base == "2" else log(s.horizon))


def method(rule: Algorithm, o: Choices, s: Setting, terms: Terms, claim: Claim, explore: int, every: int = 0) -> Method:
    slots, elliptic = capacity(s.arms), rule.mechanism is TRIANGLE
    p = Params(
        arms=s.arms, slots=slots, agents=1.0 if o.count_agents is False else float(s.agents),
        share=float(s.agents) if o.double_n else 1.0, alpha=terms.alpha + o.gamma, rho=terms.rho, kappa=o.kappa,
        explore=explore, probe=o.probe, safe=int(o.oracle == "safe"), thompson=int(o.estimate == "thompson"),
        first=o.window[0], last=o.window[1], every=every,
        price=inf if o.epsilon == inf else 0.0 if o.calibration == "paper" else mu_of(o.epsilon, o.delta), epsilon=o.epsilon,
        levels=levels_of(o, s), classical=sqrt(2 * log(1.25 / o.delta)),
        spread=SPREAD if elliptic else APART, correlation=CORRELATION if elliptic else 0.0,
        words=(2 if o.learning == "invvar" else 1) * slots + s.arms, learning=LEARNING[o.learning or "check"],
        echo=int(o.learning == "echo"), omega1=o.omega1, omega2=o.omega2, own_window=int(o.judge == "own"), guard=int(o.guard),
    )
    spare = ((0, 0), (0, slots - s.arms))
    known = {"cost": np.pad(terms.cost, spare), "limit": np.pad(terms.limit, spare)}
    due = np.full(s.agents, first_due(o.schedule, o.window[0]))
    return Method(rule, p, claim, known=known | {"due": due}, exploration=explore)


def claim_of(o: Choices) -> Claim:
    if o.epsilon == inf:
        return Claim(inf, note="no noise is added")
    notes = {
        "paper": "noise as printed, for all exchanges together; accounted is what one changed order loses",
        "tight": "each order enters one noised block, once",
        "elliptic": "each order enters one noised block, once; its two numbers share their noise",
    }
    control = "a control: what is sent is noise alone. " if o.learning == "echo" else ""
    return Claim(o.epsilon, o.delta, control + notes[str(o.calibration)])


def facts(p: Params, o: Choices, s: Setting) -> dict[str, float]:
    """What the messages lose exactly: by (epsilon, delta) for one changed order, and for more than one."""
    rounds = exchange_rounds(o.schedule, o.window, s.horizon)
    found: dict[str, float] = {"exchanges": len(rounds)}
    if o.epsilon == inf:
        return found
    losses = block_losses([price_of(p, z) for z in range(1, len(rounds) + 1)], s.arms, 10)
    found |= {f"mu_{name}": mu for name, mu in losses.items()}
    for name in ("event", "sequential"):
        found |= {f"epsilon_{name}_at_{delta:g}": epsilon_of(losses[name], delta) for delta in (1e-2, 1e-3, 1e-5)}
    if o.calibration == "paper":
        found["epsilon_sum"] = sum(spending(o.epsilon, p.levels, z) for z in range(1, len(rounds) + 1))
    return found


SMALL = {"window": (8, 64), "exploration": 6}
ENTRIES = (
    Entry("nf-cb", "procurement, every agent by itself", AloneOptions, build_alone,
          ({"exploration": 6}, {"exploration": 6, "oracle": "safe", "probe": 9}, {"exploration": 6, "estimate": "thompson"}),
          "procurement"),
    Entry("fcb", "procurement, all units of all agents pooled every round", PooledOptions, build_pooled,
          ({"exploration": 6}, {"exploration": 6, "double_n": True}), "procurement"),
    Entry("fcb-periodic", "procurement, blocks of units exchanged in a few rounds; no noise", PeriodicOptions, build_periodic,
          ({**SMALL}, {**SMALL, "schedule": "literal", "judge": "own"}), "procurement"),
    Entry("p-fcb", "procurement, noised blocks of units exchanged in a few rounds", PrivateOptions, build_periodic,
          ({**SMALL}, {**SMALL, "calibration": "elliptic"}, {**SMALL, "mode": "paper"},
           {**SMALL, "learning": "naive", "schedule": "start", "guard": False}, {**SMALL, "learning": "echo"}), "procurement"),
)
