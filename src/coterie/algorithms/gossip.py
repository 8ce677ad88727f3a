"""Gossip on a graph (Zhu et al. 2021): Gossip_UCB and the private Fed_UCB.

Every agent sees rewards with a bias of its own; the best arm is that of the mean over all agents. Counts travel over every
edge in every round, and an agent that lags behind on an arm catches up. Estimates travel over one drawn edge a round: both ends
take the average. Each agent adds what is new in its own running mean, so the sum of all estimates is the sum of all means, at
every round. Estimates are integers in units of 2^-32, so that this is an equality and not an approximation.

What enters the estimates is a released running mean. How it is released (in a study: `mechanism`):

    plain    the exact sum (Gossip_UCB)
    blocks   the sum since the last release, whenever the count has doubled: every reward is in one release
    tree     a binary tree over the arm's own pulls: pull m releases the one dyadic interval that ends at m
    digits   a ternary tree with digits -1, 0, 1 over the own pulls: fewer pieces for the same prefix
    root     square-root factorisation of the prefix sums with normal noise, for (epsilon, delta)
    printed  the tree of the paper: over global rounds, and with the first reward of every arm outside it

Deviations from the paper: the pinned decisions of its specification; in `private` mode all rewards are noised, trees have
bit_length(T + 1) levels, and log n in the radius is taken of max(n, 2).
"""

from math import ceil, inf, log, log2, nan, sqrt
from typing import Any, Literal

from numpy import float64, int64
from pydantic import Field

from coterie import contract
from coterie.contract import (
    NOW,
    NOWHERE,
    START,
    Algorithm,
    Claim,
    Entry,
    Method,
    Options,
    Setting,
    offer,
    offer_all,
    offer_between,
    order,
    params,
    remember,
)  # fmt: skip
from coterie.errors import UsageError
from coterie.kernel import UNIT, apart, argmax, capacity, extend, highest, larger, level, node, ones, pick, record
from coterie.limits import EPSILON_LEAST
from coterie.options import enters
from coterie.privacy import mechanisms
from coterie.privacy.accountant import share_of
from coterie.privacy.gauss import mu_of
from coterie.privacy.mechanisms.streams import digits_height, digits_used, root_norm
from coterie.theory.gossip import fed_ucb_bound, gossip_ucb_bound

FINE = 1 << 32  # unit of means and estimates


def open_record(p):
    n = capacity(p.arms)
    return record(
        weight=float64, pulls=(int64, n), belief=(int64, n),  # n, n-tilde
        average=(int64, n), estimate=(int64, n),  # x-tilde (times weight), theta
        width=(float64, n), spread=(float64, n), blur=(float64, n), index=(float64, n),
        covered=(int64, n), variance=(float64, n), tail=(float64, n), noisy=(int64, (n, p.levels)),
    )


def message_record(p):
    return record(belief=(int64, capacity(p.arms)))


def card_record(p):
    return record(estimate=(int64, capacity(p.arms)))


def levels_of(p):
    return p.levels


def pulls_most(p):
    return p.pulls_most


# --- deciding: steps 1 to 3 --------------------------------------------------------------------------


@apart
def choose(open, p, t, die, plan):
    if t == 0:
        for k in range(p.arms):
            commit(open, plan, k)
        return
    behind = 0
    for k in range(p.slots):
        open.belief[k] = larger(open.belief[k], open.pulls[k])
        behind += lags(open, p, k)
    if behind > 0:
        commit(open, plan, straggler(open, p, pick(die, 0, behind)))
        return
    log_t = log(t)
    for k in range(p.slots):
        open.index[k] = open.estimate[k] / FINE + radius(open, p, log_t, k)
    commit(open, plan, argmax(open.index, p.arms))


@node
def lags(open, p, k):
    return 1 if open.pulls[k] < open.belief[k] - p.lag else 0


@node
def straggler(open, p, nth):
    for k in range(p.arms):
        nth -= lags(open, p, k)
        if nth < 0:
            return k
    return 0


@node
def commit(open, plan, k):
    open.pulls[k] += 1
    order(plan, k, 1)


@node
def radius(open, p, log_t, k):
    """sqrt(log t * (spread + log t * blur)). Nothing in it but t changes unless the arm is pulled: see refresh."""
    if p.blurred:
        return sqrt(log_t * (open.spread[k] + log_t * open.blur[k]))
    return sqrt(log_t) * open.width[k]


@node
def refresh(open, p, k):
    """The paper's radius has spread 2 N / n.

    The practical one: c sqrt(4 log t (s2 / (N n) + s2 / n^2 + V / (N n^2))), V the variance of the noise in the own sum.
    N stands for `voices` there.
    """
    n, N = float(open.covered[k]), float(p.agents)
    if p.tuned:
        both = p.proxy * n + open.variance[k]  # of the own sum; the mean over all agents has a `voices`th of it
        open.spread[k] = p.factor * 4.0 * (both / p.voices + p.proxy) / (n * n)
    else:
        open.spread[k] = 2.0 * N / n
    open.width[k] = sqrt(open.spread[k])


# --- talking: beliefs over every edge, estimates over the drawn one (step 5), news of the own mean (step 6) ---


@apart
def speak(open, p, t, message):
    for k in range(p.slots):
        message.belief[k] = open.belief[k]
    return p.arms


@apart
def hear(open, peer, p, t, message):
    for k in range(p.slots):
        open.belief[k] = larger(open.belief[k], message.belief[k])


@apart
def greet(open, p, t, card):
    for k in range(p.slots):
        card.estimate[k] = open.estimate[k]
    return p.arms


@apart
def meet(open, p, t, mine, theirs):
    for k in range(p.slots):
        open.estimate[k] += half(theirs.estimate[k] - mine.estimate[k])


@node
def fits(open, p, t, message):
    """Nobody has pulled an arm more often than there were turns. Who does not catch up may have heard of later ones."""
    most, possible = p.pulls_most if p.lag > p.pulls_most else t + 1, True
    for k in range(p.slots):
        possible &= 0 <= message.belief[k] <= (most if k < p.arms else 0)
    return possible


@node
def suits(open, p, t, card):
    possible = True
    for k in range(p.slots):
        most = p.widest if k < p.arms else 0.0
        possible &= -most <= card.estimate[k] <= most
    return possible


@node
def worth(open, p, t, k):
    return open.estimate[k] / FINE if open.covered[k] > 0 else nan


@apart
def lie(open, p, t, tale, die, message):
    """A liar claims more pulls of the arm it talks about than it has made: others then catch up."""
    speak(open, p, t, message)
    if tale.arm >= 0:
        message.belief[tale.arm] = larger(message.belief[tale.arm], t // tale.shares)
    return p.arms


@apart
def pose(open, p, t, tale, die, card):
    for k in range(p.arms):
        card.estimate[k] = int(tale.value[k] * FINE)
    return p.arms


@node
def half(difference):
    """Toward zero, so that the two ends of an edge move by exactly opposite amounts."""
    return difference // 2 if difference >= 0 else -(-difference // 2)


@node
def innovate(open, p, k, noisy_sum, count, variance):
    mean = int(float(noisy_sum) * (FINE / UNIT) / count * open.weight)
    open.estimate[k] += mean - open.average[k]
    open.average[k] = mean
    open.covered[k], open.variance[k] = count, variance
    refresh(open, p, k)


@node
def innovate_privately(open, p, k, noisy_sum, count, variance):
    """With the paper's radius noise has a part of its own in it: blur 256 N^2 (log T)^2 log n / (n^2 eps^2)."""
    innovate(open, p, k, noisy_sum, count, variance)
    if p.blurred:
        n, N = float(open.covered[k]), float(p.agents)
        log_n = log(max(n, p.least))
        open.blur[k] = 256.0 * N * N * p.log_horizon * p.log_horizon * log_n / (n * n * p.epsilon * p.epsilon)


@apart
def leave(open, p, t, card):
    """Hand over what the own estimate holds beyond the own mean, and keep the own mean: the law of sums stays true."""
    for k in range(p.slots):
        card.estimate[k] = open.estimate[k] - open.average[k]
        open.estimate[k] = open.average[k]


@apart
def inherit(open, p, t, card):
    for k in range(p.slots):
        open.estimate[k] += card.estimate[k]


# --- plain: the exact running mean -------------------------------------------------------------------


@apart
def plain_release(open, p, t, plan, out):
    for e in range(plan.entries):
        offer_all(out, plan.arm[e], inf)


@apart
def plain_publish(open, p, t, plan, out):
    for e in range(out.entries):
        innovate(open, p, out.arm[e], out.value[e], out.last[e], 0.0)


# --- blocks (proof: privacy/blocks.md) ---------------------------------------------------------------


@apart
def block_release(open, p, t, plan, out):
    for e in range(plan.entries):
        k = plan.arm[e]
        if open.pulls[k] >= 2 * open.covered[k]:
            offer(out, k, p.price)


@apart
def block_publish(open, p, t, plan, out):
    for e in range(out.entries):
        k = out.arm[e]
        open.noisy[k, 0] += out.value[e]
        innovate_privately(open, p, k, open.noisy[k, 0], out.last[e], open.variance[k] + laplace_variance(p))


@node
def laplace_variance(p):
    """Of one draw, in rewards."""
    return 2.0 * p.reach * p.reach / (p.price * p.price)


# --- tree over own pulls (proof: privacy/tree.md) ----------------------------------------------------
#
# 1..m is 1..before plus one dyadic interval, where `before` is m without its lowest set bit. Sums of 1..m are kept by the
# level of m: that of `before` is still there, because levels in between are lower.


@apart
def tree_release(open, p, t, plan, out):
    for e in range(plan.entries):
        m = open.pulls[plan.arm[e]]
        before = m & (m - 1)
        offer_between(out, plan.arm[e], level(before) if before > 0 else START, NOW, level(m), p.price, level(m))


@apart
def tree_publish(open, p, t, plan, out):
    for e in range(out.entries):
        k, m = out.arm[e], out.last[e]
        before = m & (m - 1)
        noisy_sum = out.value[e] + (open.noisy[k, level(before)] if before > 0 else 0)
        open.noisy[k, level(m)] = noisy_sum
        innovate_privately(open, p, k, noisy_sum, m, ones(m) * laplace_variance(p))


# --- streams: all running sums, with correlated noise, paid for once (mechanisms `digits` and `root`) ---------


@apart
def stream_release(open, p, t, plan, out):
    for e in range(plan.entries):
        offer_all(out, plan.arm[e], p.price)


@apart
def digits_publish(open, p, t, plan, out):
    scale = p.reach * p.norm / p.price
    for e in range(out.entries):
        innovate_privately(open, p, out.arm[e], out.value[e], out.first[e], 2.0 * scale * scale * digits_used(out.first[e]))


@apart
def root_publish(open, p, t, plan, out):
    sigma = p.reach * p.norm / p.price
    for e in range(out.entries):
        k, m = out.arm[e], out.first[e]
        open.tail[k] = 1.0 if m == 1 else open.tail[k] * (2.0 * m - 3.0) / (2.0 * m - 2.0)
        innovate_privately(open, p, k, out.value[e], m, open.variance[k] + sigma * sigma * open.tail[k] * open.tail[k])


# --- as printed: a tree over global rounds; the first reward of an arm stays outside it, without noise ---------
#
# Between two pulls of an arm, in rounds s and t, the prefix 1..t keeps the pieces of the common high bits of s and t. Of the
# others only two can hold a pull: the piece of the highest bit in which they differ, and the one that ends at t.


def printed_open(p):
    n = capacity(p.arms)
    return extend(open_record(p), last=(int64, n), initial=(int64, n), pieces=(int64, (n, p.levels)))


@apart
def printed_release(open, p, t, plan, out):
    """Mark b is the point up to the bits b and higher of t; mark p.levels is where the tree begins, behind the first reward."""
    for e in range(plan.entries):
        if t == 0:
            offer_between(out, plan.arm[e], START, NOW, p.levels, inf, 0)
        else:
            offer_pieces(open, p, t, out, plan.arm[e])


@node
def offer_pieces(open, p, t, out, k):
    s, top = open.last[k], highest(open.last[k] ^ t)
    common = (t >> (top + 1)) << (top + 1)
    known = level(common) if common > 0 else p.levels
    until_s = known if s <= common else level(s)
    if t == common + (1 << top):
        offer_between(out, k, known, NOW, level(t), p.price, top)
    else:
        if s > common:
            offer_between(out, k, known, until_s, NOWHERE, p.price, top)
        offer_between(out, k, until_s, NOW, level(t), p.price, level(t))
    for b in range(level(t) + 1, top + 1):
        if (t >> b) & 1:
            remember(out, k, until_s, b)


@apart
def printed_publish(open, p, t, plan, out):
    if t == 0:
        for e in range(out.entries):
            open.initial[out.arm[e]] = out.value[e]
            innovate_privately(open, p, out.arm[e], out.value[e], 1, 0.0)
        return
    k = plan.arm[0]
    top = highest(open.last[k] ^ t)
    common = (t >> (top + 1)) << (top + 1)
    noisy = open.noisy[k, level(common)] if common > 0 else 0
    pieces = open.pieces[k, level(common)] if common > 0 else 0
    for e in range(out.entries):
        noisy += out.value[e]
        pieces += 1
        if e == out.entries - 2:
            keep_prefix(open, k, t, top, noisy, pieces)
    if out.entries == 1:
        keep_prefix(open, k, t, top, noisy - out.value[0], pieces - 1)
    open.noisy[k, level(t)], open.pieces[k, level(t)] = noisy, pieces
    open.last[k] = t
    innovate_privately(open, p, k, open.initial[k] + noisy, open.pulls[k], pieces * laplace_variance(p))


@node
def keep_prefix(open, k, t, top, noisy, pieces):
    for b in range(level(t) + 1, top + 1):
        if (t >> b) & 1:
            open.noisy[k, b], open.pieces[k, b] = noisy, pieces


GOSSIP = Algorithm(
    "gossip_ucb", open_record, message_record, card=card_record, choose=choose, release=plain_release, publish=plain_publish,
    speak=speak, hear=hear, greet=greet, meet=meet, leave=leave, inherit=inherit, lie=lie, pose=pose, first_round=0,
    fits=fits, suits=suits, worth=worth, latest=True,
)  # fmt: skip
BLOCKS = GOSSIP._replace(name="fed_ucb_blocks", release=block_release, publish=block_publish)
TREE = GOSSIP._replace(name="fed_ucb_tree", release=tree_release, publish=tree_publish, chains=levels_of, marks=levels_of)
STREAM = GOSSIP._replace(release=stream_release, stream=pulls_most)
DIGITS = STREAM._replace(name="fed_ucb_digits", publish=digits_publish, mechanism=mechanisms.DIGITS)
ROOT = STREAM._replace(name="fed_ucb_root", publish=root_publish, mechanism=mechanisms.ROOT)
PRINTED = GOSSIP._replace(
    name="fed_ucb_printed", open=printed_open, release=printed_release, publish=printed_publish, width=2, chains=levels_of,
    marks=lambda p: p.levels + 1, moves=levels_of, fits=None,
)  # fmt: skip


# --- what a study may set, and what it means ----------------------------------------------------------


class FedOptions(Options):
    """Those of Fed_UCB; Gossip_UCB has what is left without privacy."""

    radius: Literal["paper", "tuned"] | None = Field(None, description="as printed, or one of practical size",
        json_schema_extra=enters(
            "paper: sqrt(2 N ln t (1 / n + 128 N ln(T)^2 ln t ln n / (n epsilon)^2)); tuned: factor sqrt(4 ln t (s / (N "
            "n) + s / n^2 + V(n) / (N n^2)))",
            default="'tuned'; 'paper' in mode paper"))
    factor: float = Field(1.0, ge=1e-6, le=1e6, description="multiplies the tuned radius",
        json_schema_extra=enters("C = factor sqrt(4 ln t (s / (N n) + s / n^2 + V(n) / (N n^2))), s = 1/4 on [0, 1]"))
    catch_up: bool = Field(True, description="whether an agent that lags behind on an arm pulls it",
        json_schema_extra=enters("arm k is pulled where n_k < largest known n_k - N"))
    edges: int = Field(1, ge=1, le=1000, description="edges drawn in a round",
        json_schema_extra=enters("theta_i = theta_j = (theta_i + theta_j) / 2 at the ends of so many edges"))
    active: float = Field(1.0, gt=0, le=1, description="probability that a drawn edge is active",
        json_schema_extra=enters("edges that meet in a round: active x edges on average"))
    isolated: bool = Field(False, description="whether every agent is alone", json_schema_extra=enters("N = 1 in the radius"))
    mode: Literal["private", "paper"] = Field("private", description="what the stated epsilon means",
        json_schema_extra=enters(
            "paper: the first reward of an arm enters without noise, log2(T) levels; private: all are noised"))
    epsilon: float = Field(1.0, ge=EPSILON_LEAST, description="inf: no privacy",
        json_schema_extra=enters(
            "V(n): 2 r / epsilon^2 after r blocks; 2 (levels / epsilon)^2 times the ones among the bits of n (tree)"))
    delta: float = Field(1e-6, gt=0, lt=1, description="for mechanism root only",
        json_schema_extra=enters("normal noise whose mu loses (epsilon, delta)"))
    mechanism: Literal["blocks", "tree", "digits", "root"] | None = Field(None, description="how running sums are released",
        json_schema_extra=enters(
            "V(n), the variance of the noise in a sum of n rewards",
            default="'blocks'; 'tree' in mode paper"))


ROUNDS_MOST_FOR_ROOT = 50_000  # its cost grows with the square of the pulls


def build(o: FedOptions, s: Setting) -> Method:
    paper = o.mode == "paper"
    releases = "plain" if o.epsilon == inf else o.mechanism or ("tree" if paper else "blocks")
    check(releases, paper, s)
    radius, alone = o.radius or ("paper" if paper else "tuned"), o.isolated or s.agents == 1
    rule = {"plain": GOSSIP, "blocks": BLOCKS, "tree": PRINTED if paper else TREE, "digits": DIGITS, "root": ROOT}[releases]
    if o.isolated:
        silent = {name: getattr(contract, name) for name in ("speak", "hear", "lie", "pose", "leave", "inherit")}
        rule = rule._replace(name=f"{rule.name}_alone", **silent)
    weights = [s.agents * weight for weight in s.weights if not alone] or [1.0] * s.agents
    return Method(
        rule, make_params(o, s, releases, paper, radius), claim(releases, paper, o), known={"weight": weights}, life=1,
        meetings=0 if alone else o.edges, active=o.active,
        bound=bound(s.agents, s.horizon, o.epsilon) if radius == "paper" and not alone else None,
    )


def make_params(o: FedOptions, s: Setting, releases: str, paper: bool, radius: str) -> Any:
    agents, pulls_most = 1 if o.isolated else s.agents, s.horizon + 1
    voices = 1.0 / sum(weight * weight for weight in s.weights) if s.weights and not o.isolated else float(agents)
    levels = pulls_most.bit_length()
    charged = max(1, ceil(log2(s.horizon))) if paper else levels
    mu = mu_of(o.epsilon, o.delta) if releases == "root" else 0.0
    prices = {"plain": inf, "tree": share_of(o.epsilon, charged), "root": mu}
    norms = {"digits": float(digits_height(pulls_most)), "root": root_norm(pulls_most) if releases == "root" else 0.0}
    return params(
        o, s,
        agents=agents,  # N in the radii
        voices=voices,  # 1 / sum of squared weights: N where all agents count alike
        slots=capacity(s.arms),  # loops over all slots compile to whole vectors; spare ones stay 0
        lag=agents if o.catch_up and not o.isolated else 2**62,  # how far an agent may fall behind; 2^62: no catching up
        log_horizon=log(s.horizon),
        price=prices.get(releases, o.epsilon),  # of one release, or of a stream
        levels=capacity(levels) if releases == "tree" else 1,  # room for a longer horizon: it needs no other engine
        norm=norms.get(releases, 1.0),  # of the columns of a stream's mechanism
        pulls_most=pulls_most,
        least=1.0 if paper else 2.0,  # log n in the radius is taken of max(n, least)
        tuned=radius == "tuned",
        blurred=radius == "paper" and o.epsilon < inf,  # the radius has a part that grows with log t squared
        factor=o.factor * o.factor,
        reach=s.reach,
        widest=widest(s, s.reach / prices.get(releases, o.epsilon) * levels),  # estimate of an honest agent
        proxy=s.proxy * s.proxy,  # sub-Gaussian variance of a reward: 1/4 on [0, 1]
    )  # fmt: skip


def widest(s: Setting, noise: float) -> float:
    """Meetings do not widen estimates, and an agent's innovations by T add up to less than 2 + 1.5 ln T of its widest means.

    noise: scales of all draws in a running mean.
    """
    mean = 2.0 * max(abs(s.low), abs(s.high)) + contract.NOISE_TAIL * noise
    weight = s.agents * max(s.weights, default=1.0 / s.agents)
    return min(FINE * s.agents * weight * mean * (2.0 + 1.5 * log(s.horizon + 1)), 2.0**61)


def bound(agents, horizon, epsilon):
    """Theorem 1, or 2 with noise: both are about the paper's radius."""
    if epsilon == inf:
        return lambda gaps, lambda_2: gossip_ucb_bound(gaps, agents, horizon, lambda_2)
    return lambda gaps, lambda_2: fed_ucb_bound(gaps, agents, horizon, lambda_2, epsilon)


def check(releases: str, paper: bool, s: Setting) -> None:
    if paper and releases in ("digits", "root"):
        raise UsageError(f"mechanism must be tree or blocks in mode = 'paper', got {releases!r}")
    if releases == "root" and s.horizon > ROUNDS_MOST_FOR_ROOT:
        raise UsageError(f"horizon must be <= {ROUNDS_MOST_FOR_ROOT} with mechanism = 'root', got {s.horizon}")


def claim(releases: str, paper: bool, o: FedOptions) -> Claim:
    notes = {
        "plain": "no noise is added",
        "blocks": "each reward enters one noised block, once",
        "tree": "each reward enters one noised interval of each level of the tree; their losses add up to the stated one",
        "digits": "all running sums of an arm are one stream with correlated noise, paid for once",
        "root": "all running sums of an arm are one stream with correlated normal noise, paid for once",
    }
    printed = paper and releases == "tree"
    note = "not private: first reward of each arm is sent without noise" if printed else notes[releases]
    return Claim(o.epsilon, o.delta if releases == "root" else 0.0, note)


PLAIN = FedOptions.without("mode", "delta", "mechanism", epsilon=inf)
ENTRIES = (
    Entry("gossip-ucb", "neighbours average their estimates in pairs; nothing is hidden", PLAIN, build,
          ({}, {"radius": "paper"}, {"isolated": True}, {"edges": 2, "active": 0.5}, {"catch_up": False})),
    Entry("fed-ucb", "neighbours average noisy estimates in pairs", FedOptions, build,
          ({}, {"mechanism": "tree"}, {"mechanism": "tree", "radius": "paper"}, {"mechanism": "digits"}, {"mechanism": "root"},
           {"mode": "paper"}, {"mode": "paper", "radius": "tuned"}, {"mode": "paper", "mechanism": "blocks"})),
)
