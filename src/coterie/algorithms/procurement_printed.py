"""Federated procurement under a quality constraint as printed (Solanki et al. 2022): NF, FCB and P-FCB on raw data.

Every round every agent orders units of many producers. It knows their costs and limits, and learns their qualities: a unit is
good with a probability that is the same for all agents. What it buys must be good on average. It orders what would be best if
the upper confidence bounds were the qualities (see procurement_orders.py). The agents differ in what they tell each other:

    nf-cb         nothing
    fcb           all they see, every round: the pool of all agents' units, everywhere
    fcb-periodic  the block of units since the last exchange, in a few rounds; no noise
    p-fcb         the same with normal noise (mode = "paper"; the private form is in procurement.py)

and in what they learn from a message (w units, of which y were good):

    check    accept it if y / w is near the own estimate, then count it `omega2` times (CheckAndUpdate of the paper)
    invvar   count it as as many units as its variance is worth
    naive    add it
    echo     a control: check on the receiver's own block with the sender's noise. It tells nothing about others, so what it
             gains comes from counting units that are none

Orders and the judgement of messages use the agent's own data without noise. So one changed unit changes later orders, and with
them later blocks: the noise of one block does not hide that, and no form in this file is private, whatever its noise.

Deviations from the paper: the pinned decisions of its specification. Time and schedule advance once per round, not per agent;
n is what its exploration length has under the logarithm; a pool of all agents' units is not divided by their number again
(`double_n` does so); a message without units is refused.
Exchanges reach agents before the next round's orders; on a graph that is not complete messages travel as far as they live.
"""

from math import inf, log, log2, sqrt
from typing import Any

from numpy import float64, int64

from coterie.algorithms.procurement_orders import (
    ProcurementOptions,
    buy,
    claim_of,
    confidence,
    desk_fields,
    exchange_rounds,
    exploration,
    method,
    place,
    probe,
    sampled,
)
from coterie.contract import NOW, Algorithm, Claim, Entry, Method, Setting, offer, offer_between, offer_each, remember
from coterie.errors import UsageError
from coterie.kernel import UNIT, capacity, node, real, record
from coterie.privacy.gauss import block_losses, epsilon_of, mu_of
from coterie.privacy.mechanisms import PAIR, TRIANGLE
from coterie.privacy.mechanisms.pairs import APART, CORRELATION, SPREAD

CHECK, INVVAR, NAIVE = 0, 1, 2
LEARNING = {"check": CHECK, "invvar": INVVAR, "naive": NAIVE, "echo": CHECK}


def inner_record(p):
    """Units learned of others, and what the next order is made of."""
    n = capacity(p.arms)
    return record(learned_units=(float64, n), learned_good=(float64, n), **desk_fields(p))


def open_record(p):
    n = capacity(p.arms)
    return record(
        due=int64, exchanges=int64, news=int64, cost=(float64, n), limit=(float64, n), units=(float64, n),
        good=(float64, n), scale=(float64, n),
    )


def message_record(p):
    n = capacity(p.arms)
    return record(units=(float64, n), good=(float64, n), scale=(float64, n))


# --- ordering ----------------------------------------------------------------------------------------------


@node
def peek(secret, inner, open, p, t, die, plan):
    if t <= p.explore:
        probe(inner, open, p)
    else:
        bound(secret, inner, p, t)
        if p.thompson:
            for k in range(p.arms):
                units, good = secret.count[k] + inner.learned_units[k], secret.total[k] * (1.0 / UNIT) + inner.learned_good[k]
                inner.upper[k] = sampled(die, k, units, good)
        buy(inner, open, p)
    place(inner, p, plan)


@node
def bound(secret, inner, p, t):
    """U = min(1, Y / W + kappa sqrt(3 ln(N t) / (2 W))), 1 where there are no units; and the lower bound likewise."""
    scale = p.kappa * confidence(p, t) / sqrt(p.share)
    for k in range(len(secret.count)):
        units = real(secret.count[k]) + inner.learned_units[k]
        known = units > 0.0
        one = 1.0 / units if known else 1.0
        estimate, radius = (real(secret.total[k]) * (1.0 / UNIT) + inner.learned_good[k]) * one, scale * sqrt(one)
        inner.upper[k] = min(1.0, estimate + radius) if known else 1.0
        inner.lower[k] = max(0.0, estimate - radius) if known else 0.0


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
        if p.every == 1:  # of others there is nothing new
            offer_each(out, plan, price)
        else:
            for k in range(p.arms):
                if p.echo:
                    remember(out, k, 0, 1)
                    offer_between(out, k, NOW, NOW, 0, price, 0)
                else:
                    offer(out, k, price)


@node
def publish(open, p, t, plan, out):
    open.news = 1 if p.every == 1 else out.entries
    if open.news > 0:
        open.exchanges += 1
        open.due *= 1 if p.every else 2
        for k in range(p.slots):
            open.units[k], open.good[k] = 0.0, 0.0
    for e in range(0, out.entries, 2):
        k = out.arm[e]
        open.units[k], open.good[k] = out.value[e] * (1.0 / UNIT), out.value[e + 1] * (1.0 / UNIT)
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
        message.good[k] = int(tale.value[k] * (message.units[k] * UNIT)) * (1.0 / UNIT)
    return words


# --- learning ----------------------------------------------------------------------------------------------


@node
def overhear(secret, inner, open, peer, p, t, message):
    if p.learning == NAIVE:
        merge(secret, inner, p, message)
        return
    radius = p.omega1 * confidence(p, t - 1)  # the exchange was in the last round
    for k in range(p.arms):
        units, good = message.units[k], message.good[k]
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
    least = 0.0 if p.guard else -inf
    for k in range(len(secret.count)):
        units, good = message.units[k], message.good[k]
        known = real(secret.count[k]) + inner.learned_units[k] > 0.0
        weight = 1.0 if known & (units > least) else 0.0
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


CAVEAT = "orders rest on the agent's own data without noise, so nobody else may see them; capacities are public"
NOT_PRIVATE = (
    "not private: a changed unit changes later orders, and messages tell of these. In one experiment they lost at least "
    "epsilon 8 at delta 0.01 where 1 is stated (2 agents, 2 producers, one unit in round 21)"
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


PAPER = {
    "window": (200, 40_000), "learning": "check", "omega1": 0.1, "omega2": 10.0, "judge": "all", "guard": True, "delta": 0.01,
    "calibration": "paper", "base": "2",
}  # fmt: skip
NO_NOISE = {"mode": "paper", "epsilon": inf} | {key: PAPER[key] for key in ("delta", "calibration", "base")}
PERIODIC = ProcurementOptions.without("double_n", **NO_NOISE).by_default(
    **{key: PAPER[key] for key in ("window", "omega1", "omega2", "judge", "guard")}
)
POOLED = ProcurementOptions.without("schedule", **NO_NOISE | PAPER | {"window": (1, 1), "learning": "naive"})
SOLE = POOLED.without("double_n", learning="check")


def build_alone(o: ProcurementOptions, s: Setting) -> Method:
    o = o.model_copy(update={"count_agents": bool(o.count_agents)})
    return printed_method(ALONE, o, s, Claim(inf, note="nothing is sent"), exploration(o, s, alone=True))


def build_pooled(o: ProcurementOptions, s: Setting) -> Method:
    claim = Claim(inf, note="all that an agent sees is sent, without noise")
    return printed_method(FEDERATED, o, s, claim, exploration(o, s), every=1)


def build_periodic(o: ProcurementOptions, s: Setting) -> Method:
    """FCB-periodic, and P-FCB in the mode "paper"."""
    o = as_printed(o)
    most = 1.0 / spending(1.0, levels_of(o, s), 1)
    if o.calibration == "paper" and most <= o.epsilon < inf:
        wanted = f"< {most:.4g} (or inf) for the paper's noise at horizon {s.horizon}: its formula needs eps_1 < 1"
        raise UsageError(f"epsilon must be {wanted}, got {o.epsilon:g}")
    rule = ELLIPTIC if o.calibration == "elliptic" else FEDERATED
    made = printed_method(rule, o, s, claim_of(o, o.delta or 0.0, NOT_PRIVATE), exploration(o, s))
    return made._replace(facts=facts(made.p, o, s))


def as_printed(o: ProcurementOptions) -> ProcurementOptions:
    """With the values of the paper where none are given."""
    if o.delta == 0:
        raise UsageError("delta must be > 0 in mode = 'paper', got 0")
    return o.model_copy(update={key: value for key, value in PAPER.items() if getattr(o, key) is None})


def levels_of(o: ProcurementOptions, s: Setting) -> float:
    return max(1.0, log2(s.horizon) if o.base == "2" else log(s.horizon))


def printed_method(rule: Algorithm, o: Any, s: Setting, claim: Claim, explore: int, every: int = 0) -> Method:
    """Of options that are all given."""
    elliptic = rule.mechanism is TRIANGLE
    return method(
        rule, o, s, claim, explore, o.window,
        share=float(s.agents) if o.double_n else 1.0,  # the radius is divided by its root
        probe=o.probe or 1,
        every=every,  # 1: every round is an exchange
        price=inf if o.epsilon == inf else 0.0 if o.calibration == "paper" else mu_of(o.epsilon, o.delta),  # of a number
        levels=levels_of(o, s), classical=sqrt(2 * log(1.25 / o.delta)),  # of the paper's price, where that is 0
        spread=SPREAD if elliptic else APART,  # standard deviation of the noise in units of limit / price
        correlation=CORRELATION if elliptic else 0.0,
        words=(2 if o.learning == "invvar" else 1) * capacity(s.arms) + s.arms,  # of a message
        learning=LEARNING[o.learning], omega1=o.omega1, omega2=o.omega2, guard=o.guard,
        own_window=o.judge == "own",  # messages are judged by the own units alone
    )  # fmt: skip


def facts(p: Any, o: Any, s: Setting) -> dict[str, float]:
    """What the messages would lose if orders did not depend on outcomes: for one changed order, and for more than one."""
    rounds = exchange_rounds(o.schedule, o.window, s.horizon)
    numbers: dict[str, float] = {"exchanges": len(rounds)}
    if o.epsilon == inf:
        return numbers
    losses = block_losses([price_of(p, z) for z in range(1, len(rounds) + 1)], s.arms, 10)
    numbers |= {f"mu_{name}": mu for name, mu in losses.items()}
    for name in ("event", "sequential"):
        numbers |= {f"epsilon_{name}_at_{delta:g}": epsilon_of(losses[name], delta) for delta in (1e-2, 1e-3, 1e-5)}
    if o.calibration == "paper":
        numbers["epsilon_sum"] = sum(spending(o.epsilon, p.levels, z) for z in range(1, len(rounds) + 1))
    return numbers


SMALL = {"window": (8, 64), "exploration": 6}
ENTRIES = (
    Entry("nf-cb", "every agent learns the producers' qualities alone and sends nothing", SOLE, build_alone,
          ({"exploration": 6}, {"exploration": 6, "oracle": "safe", "probe": 9}, {"exploration": 6, "estimate": "thompson"}),
          "procurement"),
    Entry("fcb", "agents pool what they learn about the producers in every round", POOLED, build_pooled,
          ({"exploration": 6}, {"exploration": 6, "double_n": True}), "procurement"),
    Entry("fcb-periodic", "agents pool what they learn about the producers now and then", PERIODIC, build_periodic,
          ({**SMALL}, {**SMALL, "schedule": "literal", "judge": "own"}), "procurement"),
)
