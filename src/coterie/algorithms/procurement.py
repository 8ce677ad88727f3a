"""P-FCB, made private: federated procurement under a quality constraint (after Solanki et al. 2022).

Every round every agent orders units of many producers, whose qualities it learns: see procurement_printed.py, where the form of
the paper is. There orders rest on raw data, so a changed unit changes later orders and later messages. Here orders rest on
released numbers only, one's own among them, and anyone may see them:

    release    for each producer the good units since the last release, with noise, once as many units have been bought as were
               released before. How many they are follows from earlier releases, so it needs no noise.
    exchange   in rounds 1, 2, 4, 8, ... every agent tells what it has released since the last exchange. It learns from its own
               releases as others do.
    order      what would be best if the upper confidence bounds were the qualities (procurement_orders.py)

Every outcome is in one release, so the whole run loses epsilon for what came of one round's order with one producer: with
Laplace noise where delta is 0, with normal noise otherwise.

A release of w units with noise of variance s counts as w^2 / (w + 4 s) units, as the variance of its estimate y / w is at most
(w / 4 + s) / w^2. `learning = "naive"` counts w, and `echo` is a control: messages are noise alone, and each is taken for the
receiver's own news with that noise.

Deviations from the paper: see above. The exploration orders all that can be had, since noise does not depend on the order.
"""

from math import log, sqrt

from numpy import float64, int64

from coterie.algorithms import procurement_printed as printed
from coterie.algorithms.procurement_orders import (
    ProcurementOptions,
    buy,
    claim_of,
    desk_fields,
    exchange_rounds,
    exploration,
    method,
    place,
    probe,
    sampled,
)
from coterie.contract import NOW, NOWHERE, Algorithm, Entry, Method, Setting, offer, offer_between
from coterie.errors import UsageError
from coterie.kernel import UNIT, capacity, node, record
from coterie.privacy.gauss import mu_of
from coterie.privacy.mechanisms import GAUSS, LAPLACE

ALL = 1 << 40  # more units than any producer sells


def open_record(p):
    """Units and good ones are weighed: see `weight_of`."""
    n = capacity(p.arms)
    counts = ("fresh", "released")  # units since the last release, and before
    known = ("own_units", "own_good", "learned_units", "learned_good", "grain", "estimate", "inverse", "least")
    news = ("new_units", "new_good", "new_noise", "told_units", "told_good", "told", "own_grain")
    numbers = dict.fromkeys(("cost", "limit", *counts, *known, *news), (float64, n))
    return record(due=int64, exchanges=int64, news=int64, **numbers, **desk_fields(p))


def message_record(p):
    n = capacity(p.arms)
    return record(units=(float64, n), good=(float64, n), grain=(float64, n))


# --- ordering ----------------------------------------------------------------------------------------------


@node
def choose(open, p, t, die, plan):
    if t <= p.explore:
        probe(open, open, p)
    else:
        bound(open, p, t)
        if p.thompson:
            for k in range(p.arms):
                units, good = open.own_units[k] + open.learned_units[k], open.own_good[k] + open.learned_good[k]
                open.upper[k] = sampled(die, k, units, good)
        buy(open, open, p)
    for k in range(p.slots):
        open.fresh[k] += open.amount[k]
    place(open, p, plan)


@node
def bound(open, p, t):
    """U = min(1, Y / W + kappa sqrt(max(3 ln(N t) / (2 W), x / (2 W) + 2 (x g / W)^2))); 1 where W is 0.

    W counts the noise, so the first radius is that of the paper. The second one is for Laplace noise of which few draws decide,
    the largest of the scale g / W: noise and sampling exceed it with a chance of at most exp(-x). See docs/p-fcb.md.
    """
    scale = 1.5 * log(p.agents * t)
    for k in range(p.slots):
        known = open.inverse[k] > 0.0
        radius = p.kappa * sqrt(max(scale * open.inverse[k], open.least[k]))
        open.upper[k] = min(1.0, open.estimate[k] + radius) if known else 1.0
        open.lower[k] = max(0.0, open.estimate[k] - radius) if known else 0.0


@node
def conclude(open, p):
    """What bounds are made of: it stays until the next release or message."""
    for k in range(p.slots):
        units, good = open.own_units[k] + open.learned_units[k], open.own_good[k] + open.learned_good[k]
        one = 1.0 / units if units > 0.0 else 0.0
        tail = p.tail * open.grain[k] * one
        open.estimate[k], open.inverse[k], open.least[k] = good * one, one, 0.5 * p.tail * one + 2.0 * tail * tail


# --- releasing and telling -----------------------------------------------------------------------------------


@node
def release(open, p, t, plan, out):
    """When the units of a producer have doubled. Their number follows from orders, and these from what was released."""
    late = 0
    for k in range(p.slots):
        late += 1 if (open.fresh[k] > 0.0) & (open.fresh[k] >= open.released[k]) else 0
    for k in range(p.arms if late > 0 else 0):
        if open.fresh[k] > 0.0 and open.fresh[k] >= open.released[k]:
            offer(out, k, p.price)
            if p.echo:
                offer_between(out, k, NOW, NOW, NOWHERE, p.price, 0)


@node
def publish(open, p, t, plan, out):
    for e in range(0, out.entries, 2 if p.echo else 1):
        k, scale = out.arm[e], out.sensitivity[e] / out.price[e]
        weight = weight_of(p, open.fresh[k], p.spread * scale)
        units, good = weight * open.fresh[k], weight * out.value[e] * (1.0 / UNIT)
        open.own_units[k] += units
        open.own_good[k] += good
        open.new_units[k] += units
        open.new_good[k] += good
        if p.echo:
            open.new_noise[k] += weight * out.value[e + 1] * (1.0 / UNIT)
        open.own_grain[k] = max(open.own_grain[k], weight * scale)
        open.grain[k] = max(open.grain[k], weight * scale)
        open.released[k] += open.fresh[k]
        open.fresh[k] = 0.0
    if out.entries > 0:
        conclude(open, p)
    open.news = 1 if p.first <= t <= p.last and t >= open.due else 0
    if open.news:
        hand_out(open, p)


@node
def weight_of(p, units, deviation):
    """Of a release of w units with noise of variance s: w / (w + 4 s)."""
    return 1.0 if p.naive else units / (units + 4.0 * deviation * deviation)


@node
def hand_out(open, p):
    """What was released since the last exchange is to be told. The schedule is public: see `first_due`."""
    open.exchanges += 1
    open.due *= 2
    for k in range(p.slots):
        open.told_units[k], open.told_good[k] = open.new_units[k], open.new_good[k]
        open.told[k] = open.new_noise[k] if p.echo else open.new_good[k]
        open.new_units[k], open.new_good[k], open.new_noise[k] = 0.0, 0.0, 0.0


@node
def speak(open, p, t, message):
    if open.news == 0:
        return 0
    for k in range(p.slots):
        message.units[k], message.good[k], message.grain[k] = open.told_units[k], open.told[k], open.own_grain[k]
    return p.words


@node
def lie(open, p, t, tale, die, message):
    """As many units as an honest agent would tell of, as good as the tale has them."""
    words = speak(open, p, t, message)
    for k in range(p.arms):
        message.good[k] = tale.value[k] * message.units[k]
    return words


@node
def hear(open, peer, p, t, message):
    for k in range(p.slots):
        units, good = message.units[k], message.good[k]
        if p.echo:
            units, good = open.told_units[k], open.told_good[k] + good
        sold = 1.0 if open.limit[k] > 0.0 else 0.0
        open.learned_units[k] += sold * units
        open.learned_good[k] += sold * good
        open.grain[k] = max(open.grain[k], sold * message.grain[k])
    conclude(open, p)


PRIVATE = Algorithm(
    "p_fcb", open_record, message_record, choose=choose, release=release, publish=publish, speak=speak, hear=hear, lie=lie,
    mechanism=LAPLACE, seldom=True,
)  # fmt: skip
NORMAL = PRIVATE._replace(name="p_fcb_normal", mechanism=GAUSS)


# --- what a study may set, and what it means ----------------------------------------------------------


FEDERATED = ProcurementOptions.without("double_n")
PRINTED_ONLY = ("omega1", "omega2", "judge", "guard", "calibration", "base")


def build(o: ProcurementOptions, s: Setting) -> Method:
    return build_private(o, s) if o.mode == "private" else printed.build_periodic(o, s)


def check(o: ProcurementOptions) -> None:
    for key in PRINTED_ONLY:
        if (value := getattr(o, key)) is not None:
            raise UsageError(f"{key} must be left out unless mode = 'paper', got {value!r}")
    if o.learning == "check":
        raise UsageError("learning must be 'invvar', 'naive' or 'echo' in mode = 'private', got 'check'")


def build_private(o: ProcurementOptions, s: Setting) -> Method:
    check(o)
    window, delta, naive = o.window or (1, s.horizon), o.delta or 0.0, o.learning == "naive"
    rule = NORMAL if delta else PRIVATE
    rule = rule._replace(name=f"{rule.name}_echo", width=2) if o.learning == "echo" else rule
    note = "what came of an order enters one release, once, and orders rest on releases only; capacities are public"
    made = method(
        rule, o, s, claim_of(o, delta, note), exploration(o, s), window,
        probe=o.probe or ALL,
        price=mu_of(o.epsilon, delta) if delta else o.epsilon,  # of a release: epsilon (Laplace) or mu (normal)
        spread=1.0 if delta else sqrt(2),  # standard deviation of the noise, in units of sensitivity / price
        tail=0.0 if delta or naive else log(s.agents * s.horizon),  # x: -log of the chance that Laplace noise leaves a bound
        words=2 * capacity(s.arms) + s.arms,  # of a message
        naive=naive,
    )  # fmt: skip
    return made._replace(facts={"exchanges": len(exchange_rounds(o.schedule, window, s.horizon))})


SMALL = {"window": (8, 64), "exploration": 6}
ENTRIES = (
    Entry("p-fcb", "agents pool noisy summaries of what they learn about the producers now and then", FEDERATED, build,
          ({**SMALL}, {**SMALL, "delta": 1e-6, "learning": "naive", "schedule": "start"}, {**SMALL, "learning": "echo"},
           {**SMALL, "mode": "paper"}, {**SMALL, "mode": "paper", "calibration": "elliptic", "learning": "invvar"},
           {**SMALL, "mode": "paper", "learning": "naive", "guard": False}, {**SMALL, "mode": "paper", "learning": "echo"}),
          "procurement"),
)
