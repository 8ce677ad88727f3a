"""Elimination in epochs (Li and Song 2022): CDP-MAB, DDP-MAB, HDP-MAB and the single agent.

In epoch r every agent pulls each surviving arm n_r times and releases the noised sums once. All reports are averaged, and arms
whose average lies 2 C(r) or more below the best are dropped. The structures differ in how reports travel, not in what is
computed: a server (CDP), every agent by peer-to-peer synchronisation (DDP), sinks of components and a server (HDP), each agent
for itself (single). So there is one client and one server; in DDP every agent runs the server's hooks on the same reports.

A client sends `total`, the sum of all its noised epoch sums of an arm: S(r) times the running mean of the paper.

Deviations from the paper
- `private` mode adds Laplace noise of scale 1/epsilon to each epoch sum. The printed scale 1/(N epsilon) (`paper` mode) costs
  N epsilon for every reward. `secagg` and `central` put the same noise on the sum of all reports.
- The default radius bounds the noise by Chernoff's method, valid for every number of agents; `printed` needs ln(8 K r^2 T) < N.
  `joint`, the default with secure sums, bounds noise and rewards together, which is less than the sum of the two bounds.
- HDP weighs components by their size. The printed unweighted mean is `weighting = "components"`, for comparison.
- A run whose sums would leave 62 bits commits to the best arm so far (beyond 3 * 10^13 samples of an arm).
"""

from collections.abc import Iterator
from math import ceil, inf, isnan, log, nan, pi, sqrt
from statistics import NormalDist
from typing import Annotated, Any, Literal

import numpy as np
from numpy import float64, int64
from pydantic import Field

from coterie import contract
from coterie.contract import (
    Algorithm,
    Claim,
    Entry,
    Method,
    Options,
    Setting,
    can_sum_to,
    has_room,
    offer,
    offer_each,
    order,
    params,
)  # fmt: skip
from coterie.errors import UsageError
from coterie.kernel import UNIT, argmax, capacity, node, pick, record
from coterie.limits import EPSILON_LEAST, HORIZON_MOST
from coterie.options import SumOptions, enters
from coterie.privacy.aggregate import aggregate_delta, reading_probability
from coterie.privacy.mechanisms import SHARES, SUMS
from coterie.privacy.quorum import check_unused, quorum_of

PRINTED, SUBEXP, CHERNOFF, JOINT = 0, 1, 2, 3


# --- the client: explore, privatise, keep history -------------------------------------------------


def client_open(p):
    n = capacity(p.arms)
    return record(
        survivors=int64, pulls=int64, samples=int64, arm=(int64, n),
        total=(int64, n), done=(int64, n),  # of each arm, and the samples it covers
    )  # fmt: skip


def report_record(p):
    return record(said=int64, total=(int64, capacity(p.arms)))


@node
def hear_decision(open, peer, p, t, decision):
    open.survivors, open.pulls, open.samples = decision.survivors, decision.pulls, decision.samples
    for e in range(open.survivors):
        open.arm[e] = decision.arm[e]


@node
def choose(open, p, t, die, plan):  # step 1; a client that has missed epochs catches up on those arms that survive
    for e in range(open.survivors):
        order(plan, open.arm[e], open.samples + open.pulls - min(open.done[open.arm[e]], open.samples))


@node
def release(open, p, t, plan, out):  # step 2: every reward is in one epoch sum
    offer_each(out, plan, p.price)


@node
def publish(open, p, t, plan, out):  # step 3
    for e in range(out.entries):
        open.total[out.arm[e]] += out.value[e]
    count_samples(open, p, t, plan, out)


@node
def count_samples(open, p, t, plan, out):
    done = open.samples + open.pulls
    for e in range(plan.entries):
        open.done[plan.arm[e]] = done


@node
def idle(open, p, t, die):  # step 4: the own best survivor, ties at random
    best, ties, arm = open.total[open.arm[0]], 0, 0
    for e in range(open.survivors):
        k = open.arm[e]
        if open.total[k] > best:
            best, ties = open.total[k], 0
        if open.total[k] == best:
            ties += 1
            if pick(die, e, ties) == 0:
                arm = k
    return arm


@node
def speak_report(open, p, t, report):
    report.said = open.survivors
    for e in range(open.survivors):
        report.total[e] = open.total[open.arm[e]]
    return 1 + open.survivors


@node
def decision_fits(open, p, t, decision):
    """Samples never fall, and arms that were dropped never come back."""
    if not (0 < decision.survivors <= p.arms and 0 < decision.pulls <= p.horizon + p.samples_most):
        return False
    if not open.samples <= decision.samples <= 2 * p.samples_most:
        return False
    last = -1
    for e in range(decision.survivors):
        k, known = decision.arm[e], open.survivors == 0
        for f in range(open.survivors):
            known |= open.arm[f] == k
        if not (last < k < p.arms and known):
            return False
        last = k
    return True


@node
def own_worth(open, p, t, k):
    """By the own releases: a client is not told the estimates of all."""
    return open.total[k] / (UNIT * float(open.done[k])) if open.done[k] > 0 else nan


@node
def lie_report(open, p, t, tale, die, report):
    report.said = open.survivors
    for e in range(open.survivors):
        report.total[e] = int(tale.value[open.arm[e]] * UNIT) * (open.samples + open.pulls)
    return 1 + open.survivors


# --- the server: aggregate, eliminate, schedule -----------------------------------------------------


def server_open(p):
    n = capacity(p.arms)
    return record(
        survivors=int64, samples=int64, reports=int64,
        target=float64, spread=float64, shallow=float64, draws=float64,
        arm=(int64, n), total=(int64, n), score=(float64, n),
        history=(int64, n), counted=(int64, n),  # of each arm, where sums are handed in: of all epochs, and the pulls in them
    )


def decision_record(p):
    return record(survivors=int64, pulls=int64, samples=int64, arm=(int64, capacity(p.arms)))


def desk_record(p):
    return record(voices=int64)


@node
def hear_report(open, peer, p, t, report):
    for e in range(open.survivors):
        open.total[e] += report.total[e]
    open.reports += peer.voices


@node
def report_fits(open, p, t, report):
    """Sums over all samples so far, with a draw of noise of each epoch at most."""
    if report.said != open.survivors:
        return False
    possible = True
    for e in range(open.survivors):
        possible &= can_sum_to(report.total[e], open.samples, p.low, p.high, t * p.noise) and has_room(open.total[e])
    return possible


@node
def worth(open, p, t, k):
    for e in range(open.survivors):
        if open.arm[e] == k and t > 1:
            return open.score[e]
    return nan


@node
def weigh_all(open, peers, p, t):  # step 5: the plain mean
    scale = 1.0 / (UNIT * float(max(open.samples, 1)) * float(max(open.reports, 1)))
    for e in range(open.survivors):
        open.score[e] = open.total[e] * scale
    equally_deep(open, p, t - 1)


@node
def equally_deep(open, p, epoch):
    """What stands behind the scores when every report covers all samples so far."""
    reports = float(max(open.reports, 1))
    open.spread = 1.0 / (reports * max(open.samples, 1))
    open.shallow = float(open.samples)
    open.draws = epoch * (p.draws if p.draws > 0.0 else reports)


@node
def speak_decision(open, p, t, decision):  # steps 6 and 7; called at the start of epoch t
    if t == 1:
        open.survivors, open.target = p.arms, 1.0
        for k in range(p.arms):
            open.arm[k] = k
    elif open.reports > 0:
        eliminate(open, p, t - 1)
        if (p.limit > 0 and t > p.limit) or open.samples > p.samples_most:
            keep_best(open)
    decision.samples = open.samples
    if open.survivors > 1:
        schedule(open, p, t)
        decision.pulls = open.samples - decision.samples
    else:
        decision.pulls = p.horizon
    decision.survivors = open.survivors
    for e in range(open.survivors):
        decision.arm[e] = open.arm[e]
        open.total[e] = 0
    open.reports = 0
    return 3 + open.survivors


@node
def eliminate(open, p, epoch):
    threshold = best_score(open) - 2.0 * radius(open, p, epoch)
    kept = 0
    for e in range(open.survivors):
        if open.score[e] > threshold:
            open.arm[kept], open.score[kept] = open.arm[e], open.score[e]
            kept += 1
    open.survivors = kept


@node
def best_score(open):
    best = open.score[0]
    for e in range(open.survivors):
        best = max(best, open.score[e])
    return best


@node
def keep_best(open):
    open.arm[0] = open.arm[argmax(open.score, open.survivors)]
    open.survivors = 1


@node
def schedule(open, p, t):
    """S(r) = max{ceil(Sraw), S(r-1) + 1}, Sraw = max{8 L_I / (N d^2), 4 H_r / d}; no more than there is room for."""
    if (t - 1) % p.cycle == 0:  # where reporters take turns, once all have had theirs
        open.target *= p.shrink
    reports = float(p.averaged)
    blur = noise_term(p, t, reports, t * (p.draws if p.draws > 0.0 else reports))
    sampling = 8.0 * log_term(open.survivors, t, p) * p.width * p.width / (reports * open.target * open.target)
    wanted = min(max(sampling, 4.0 * blur / open.target), p.samples_most + 1.0)
    open.samples = max(ceil(wanted), open.samples + 1)


@node
def radius(open, p, epoch):
    """C(r) = sqrt(L_I / (2 N S)) + H_r / S, widened where the average is robust."""
    if p.form == JOINT and p.noise > 0.0:
        return joint_term(p, log_term(open.survivors, epoch, p), 1.0 / open.spread, open.draws)
    sampling = p.width * sqrt(0.5 * log_term(open.survivors, epoch, p) * open.spread)
    plain = sampling + noise_term(p, epoch, float(open.reports), open.draws) / open.shallow
    if p.shift == 0.0:
        return p.inflate * plain
    single = sqrt(0.25 * p.width * p.width / open.shallow + 2.0 * epoch * p.noise * p.noise / (open.shallow * open.shallow))
    return p.inflate * plain + p.shift * single


@node
def log_term(arms, epoch, p):
    """L = ln(8 |I| r^2 T)."""
    return log(8.0 * arms * epoch * epoch * p.horizon)


@node
def noise_term(p, epoch, reports, draws):
    """H_r: the accumulated noise of `draws` draws of scale b, over N, stays below it."""
    if p.noise == 0.0:
        return 0.0
    L = log_term(p.arms, epoch, p)
    if p.form == PRINTED:
        return epoch * p.noise * sqrt(8.0 * L) / sqrt(reports)
    if p.form == SUBEXP:
        return p.noise * max(sqrt(draws), sqrt(L)) * sqrt(8.0 * L) / reports
    return p.noise / reports * chernoff(L, draws, 0.0)


@node
def joint_term(p, L, pulls, draws):
    """The deviation of a mean of so many pulls with so many draws of noise in their sum, both bounded at once."""
    return p.noise / pulls * chernoff(L, draws, 0.125 * pulls * p.width * p.width / (p.noise * p.noise))


@node
def chernoff(L, draws, rewards):
    """min over 0 < u < 1 of (L + a u^2 - m ln(1 - u^2)) / u: m draws of Laplace noise, and a for the rewards beside them.

    In units of the noise's scale b; n rewards of sub-Gaussian deviation s have a = n s^2 / (2 b^2). At the minimum v = u^2
    solves a v + 2 m v / (1 - v) + m ln(1 - v) = L.
    """
    low, high = 0.0, 1.0 if rewards <= L else L / rewards
    for _ in range(50):
        v = 0.5 * (low + high)
        if rewards * v + 2.0 * draws * v / (1.0 - v) + draws * log(1.0 - v) < L:
            low = v
        else:
            high = v
    v = 0.5 * (low + high)
    return (L + rewards * v - draws * log(1.0 - v)) / sqrt(v)


# --- a server that keeps every agent's last report ---------------------------------------------------


def file_record(p):
    return record(voices=int64, weight=float64, samples=int64, total=(int64, capacity(p.arms)))


@node
def hear_and_file(open, peer, p, t, report):
    for e in range(open.survivors):
        peer.total[open.arm[e]] = report.total[e]
    peer.samples = open.samples
    open.reports += 1


@node
def mean_of(peer, k):
    return peer.total[k] / (UNIT * float(peer.samples))


@node
def weigh_components(open, peers, p, t):  # as printed for HDP: components count equally, whatever their size
    for e in range(open.survivors):
        open.score[e] = 0.0
        for i in range(len(peers)):
            if peers[i].samples == open.samples and open.reports > 0:
                open.score[e] += peers[i].weight * mean_of(peers[i], open.arm[e])
    equally_deep(open, p, t - 1)


@node
def weigh_memory(open, peers, p, t):
    """All last reports, old and new; nothing is dropped before every agent has been heard once."""
    heard, depth, open.shallow, open.draws = 0, 0.0, float(open.samples), 0.0
    for i in range(len(peers)):
        if peers[i].samples > 0:
            heard += 1
            depth += 1.0 / peers[i].samples
            open.shallow = min(open.shallow, float(peers[i].samples))
            open.draws += t - 1
    open.reports = heard if heard == len(peers) else 0
    open.spread = depth / (float(heard) * heard) if heard > 0 else 0.0
    for e in range(open.survivors if open.reports > 0 else 0):
        open.score[e] = 0.0
        for i in range(len(peers)):
            open.score[e] += mean_of(peers[i], open.arm[e]) / heard


@node
def weigh_robust(open, peers, p, t):
    """Arm by arm the mean of the middle reports: `trim` of them are cut off at each end, or all but the median."""
    fresh = np.empty(len(peers))
    for e in range(open.survivors if open.reports > 0 else 0):
        n = 0
        for i in range(len(peers)):
            if peers[i].samples == open.samples:
                fresh[n] = mean_of(peers[i], open.arm[e])
                n += 1
        ordered = np.sort(fresh[:n])
        cut = min(int(p.trim * n + 1e-9), (n - 1) // 2)
        total = 0.0
        for i in range(cut, n - cut):
            total += ordered[i]
        open.score[e] = total / (n - 2 * cut)
    equally_deep(open, p, t - 1)


# --- a server that is handed sums, raw or with shares of noise: what it adds up goes with a report, past all hooks ---------


@node
def speak_briefly(open, p, t, report):
    report.said = open.survivors
    return 1


@node
def count_report(open, peer, p, t, report):
    open.reports += peer.voices


@node
def brief_fits(open, p, t, report):
    return report.said == open.survivors


@node
def sums_release(open, p, t, plan, out):
    for e in range(open.survivors):
        offer(out, open.arm[e], p.reach / p.noise)


@node
def sums_publish(open, p, t, plan, out):
    """Sums of epochs add up. So many pulls and draws of noise count as are in them: someone may have been away."""
    for e in range(out.entries):
        open.history[out.arm[e]] += out.value[e]
        open.counted[out.arm[e]] += out.last[e] - out.first[e] + 1
    open.draws += p.draws * (float(open.reports) / p.averaged)


@node
def weigh_sums(open, peers, p, t):
    fewest = open.counted[open.arm[0]]
    for e in range(open.survivors):
        k = open.arm[e]
        open.score[e] = open.history[k] * (1.0 / (UNIT * float(max(open.counted[k], 1))))
        fewest = min(fewest, open.counted[k])
    open.spread = 1.0 / max(fewest, 1)
    open.shallow = float(max(fewest, 1)) / max(open.reports, 1)


CLIENT = Algorithm(
    "elimination_client", client_open, report_record, hears=decision_record, choose=choose, idle=idle, release=release,
    publish=publish, speak=speak_report, hear=hear_decision, lie=lie_report, fits=decision_fits, worth=own_worth,
)  # fmt: skip
SERVER = Algorithm(
    "elimination_server", server_open, decision_record, desk_record, hears=report_record, speak=speak_decision,
    hear=hear_report, weigh=weigh_all, fits=report_fits, worth=worth,
)  # fmt: skip
FILING = SERVER._replace(peer=file_record, hear=hear_and_file)
BRIEF = CLIENT._replace(
    publish=count_samples, speak=speak_briefly, lie=contract.lie, idle=contract.idle, worth=contract.worth,
)  # fmt: skip
TRUSTING, SHARING = BRIEF._replace(release=contract.release, trusts=True, fits=None), BRIEF._replace(mechanism=SHARES)
SUMMING = SERVER._replace(hear=count_report, weigh=weigh_sums, release=sums_release, publish=sums_publish, fits=None)
TRUSTED, OPENING = SUMMING._replace(trusted=True), SUMMING._replace(mechanism=SUMS, sums=True, fits=brief_fits)


# --- what a study may set, and what it means ----------------------------------------------------------


class EliminationOptions(SumOptions):
    """Those of CDP-MAB, and of HDP-MAB the last one."""

    mode: Literal["private", "paper"] = Field("private", description="what the stated epsilon means",
        json_schema_extra=enters("b = 1 / epsilon (private), 1 / (N epsilon) (paper)"))
    epsilon: float = Field(1.0, ge=EPSILON_LEAST, description="inf: no privacy",
        json_schema_extra=enters(
            "C(r) = sqrt(ln(8 A r^2 T) / (2 N S)) + H(b) / S with A arms left and S pulls of each; b as noise says"))
    rounds: int | None = Field(None, ge=1, le=HORIZON_MOST, description="most rounds of communication",
        json_schema_extra=enters(
            "d_r = gap^(r / rounds) in place of 2^-r; S(r) = max(8 ln(8 A r^2 T) / (N d_r^2), 4 H / d_r)",
            default="no limit"))
    gap: Literal["true"] | Annotated[float, Field(ge=1e-6, lt=1)] | None = Field(None, description="between the best two arms",
        json_schema_extra=enters(
            "d_r = gap^(r / rounds); 'true' is the instance's own",
            default="sqrt(K ln(K T) / (M T)), 0.5 at most"))
    radius: Literal["printed", "subexp", "chernoff", "joint"] | None = Field(None, description="how noise is bounded",
        json_schema_extra=enters(
            "H: r b sqrt(8 L / N) (printed), b max(sqrt(m), sqrt(L)) sqrt(8 L) / N (subexp), min over 0 < u < 1 of b (L - "
            "m ln(1 - u^2)) / (u N) (chernoff); L = ln(8 K r^2 T), m draws; joint: one such bound of rewards and noise",
            default="'chernoff'; 'printed' in mode paper, 'joint' with secagg"))
    noise: Literal["paper", "local", "secagg", "central", "none"] | None = Field(None, description="who adds how much of it",
        json_schema_extra=enters(
            "b = 1 / epsilon (local), 1 / (N epsilon) (paper); one draw of 1 / epsilon in the sum of all (secagg, "
            "central)",
            default="'local'; 'paper' in mode paper; 'none' at epsilon inf"))
    aggregation: Literal["mean", "median", "trimmed"] = Field("mean", description="what the server makes of reports",
        json_schema_extra=enters("an arm is dropped where max y - y >= 2 C(r); y: mean, median or trimmed mean of reports"))
    liars_assumed: float = Field(0.0, ge=0, lt=0.5, description="share of reports that may be lies",
        json_schema_extra=enters(
            "C(r) grows by Phi^-1(1 / (2 (1 - liars_assumed))) deviations of a report; trimmed: so much is cut off at "
            "each end"))
    participation: float = Field(1.0, gt=0, le=1, description="share of agents that report in an epoch",
        json_schema_extra=enters("N = ceil(participation M)"))
    rotation: bool = Field(False, description="whether those who report take turns",
        json_schema_extra=enters("N = M: the last report of each agent counts"))
    weighting: Literal["agents", "components"] = Field("agents", description="what counts alike in the mean",
        json_schema_extra=enters("y = sum of M_q y_q / M (agents), or sum of y_q / Q (components)"))


class OwnNoise(EliminationOptions):
    """Where no server adds reports up, every agent noises its own."""

    noise: Literal["paper", "local", "none"] | None = Field(None, description="who adds how much of it",
        json_schema_extra=enters(
            "b = 1 / epsilon (local), 1 / (N epsilon) (paper)",
            default="'local'; 'paper' in mode paper; 'none' at epsilon inf"))


def build(structure: str, o: EliminationOptions, s: Setting) -> Method:
    team = 1 if structure == "alone" else s.agents
    reporters = max(1, ceil(o.participation * team - 1e-9))
    noise = "none" if o.epsilon == inf else o.noise or ("paper" if o.mode == "paper" else "local")
    form = o.radius or ("joint" if noise == "secagg" else "printed" if o.mode == "paper" else "chernoff")
    check(o, noise, form, reporters < team)
    if s.weights and team > 1:
        raise UsageError("problem.weights must be left out: elimination averages all agents alike")
    rotate = o.rotation and reporters < team
    crew = quorum_of(team, o.honest, o.quorum, o.colluders) if noise == "secagg" else None
    p = make_params(o, s, noise, form, team, reporters, rotate, crew.holders if crew else 1)
    server, weights = SERVER, tuple[float, ...]()
    if o.weighting == "components":
        server, weights = FILING._replace(weigh=weigh_components), equal_components(s)
    elif rotate or o.aggregation != "mean":
        server = FILING._replace(weigh=weigh_memory if rotate else weigh_robust)
    else:
        server = {"central": TRUSTED, "secagg": OPENING}.get(noise, SERVER)
    client = {"central": TRUSTING, "secagg": SHARING}.get(noise, CLIENT)
    return Method(
        client, p, claim(noise, o.epsilon, p.averaged),
        server=server, structure=structure, reporters=reporters, rotate=rotate, weights=weights,
        folds=server in (SERVER, OPENING) and reporters == team == s.agents,
        holders=crew.holders if crew else 1, quorum=crew.quorum if crew else 0,
        warnings=tuple(warnings(o, noise, form, p, s, reporters < team)),
    )


def make_params(
    o: EliminationOptions, s: Setting, noise: str, form: str, team: int, reporters: int, rotate: bool, holders: int
) -> Any:
    averaged, cycle = (team, ceil(team / reporters)) if rotate else (reporters, 1)
    if o.rounds is not None and o.rounds < cycle:
        raise UsageError(f"rounds must be a whole number >= {cycle} (one turn of all agents), got {o.rounds}")
    guess = min(0.5, sqrt(s.arms * log(s.arms * s.horizon) / (team * s.horizon)))
    gap = s.gap if o.gap == "true" else float(o.gap or guess)
    if isnan(gap):
        raise UsageError("gap must be a number in [1e-06, 1) where means come from data, got 'true': it would tell of rewards")
    price = {"none": inf, "paper": averaged * o.epsilon, "central": inf}.get(noise, o.epsilon)
    return params(
        o, s, agents=s.agents, horizon=s.horizon, low=s.low, high=s.high, reach=s.reach,
        averaged=averaged,  # N: reports behind an average, as planned
        cycle=cycle,  # epochs until every agent has been heard, where reporters take turns; else 1
        shrink=0.5 if o.rounds is None else gap ** (1.0 / (o.rounds // cycle)),  # d_r = d_{r-1} * shrink
        limit=o.rounds or 0,  # R: most rounds of communication; 0: no limit
        price=price,  # epsilon of one release; inf: no noise
        noise=0.0 if noise == "none" else s.reach / (o.epsilon if noise == "central" else price),  # b: its scale; 0: none
        draws={"secagg": team / holders, "central": 1.0}.get(noise, 0.0),  # in the sum of reports; 0: one each
        form={"printed": PRINTED, "subexp": SUBEXP, "chernoff": CHERNOFF, "joint": JOINT}[form],  # of the radius
        width=2.0 * s.proxy,  # twice the sub-Gaussian standard deviation of a reward: 1 on [0, 1]
        inflate={"mean": 1.0, "median": sqrt(pi / 2.0), "trimmed": 1.0 / (1.0 - 2.0 * o.liars_assumed)}[o.aggregation],
        shift=NormalDist().inv_cdf(0.5 / (1.0 - o.liars_assumed)),  # how far liars move it, in deviations of one report
        trim={"mean": 0.0, "median": 0.5, "trimmed": o.liars_assumed}[o.aggregation],  # share of reports cut off at each end
        samples_most=2**62 // (2 * UNIT * s.agents),
    )  # fmt: skip


def equal_components(s: Setting) -> tuple[float, ...]:
    sizes = s.components or (s.agents,)
    return tuple(1.0 / (len(sizes) * size) for size in sizes for _ in range(size))


def check(o: EliminationOptions, noise: str, form: str, partial: bool) -> None:
    """Combinations that have no meaning."""
    if noise in ("secagg", "central"):
        if form == "printed":
            raise UsageError(f"radius must be joint, chernoff or subexp with noise = {noise!r}, got 'printed'")
        if partial:
            raise UsageError(f"participation must be 1 with noise = {noise!r}, got {o.participation}")
        if o.aggregation != "mean":
            hidden = "nobody sees single reports"
            raise UsageError(f"aggregation must be mean with noise = {noise!r} ({hidden}), got {o.aggregation!r}")
    check_unused(noise, honest=o.honest, quorum=o.quorum, colluders=o.colluders)
    if o.aggregation == "mean" and o.liars_assumed > 0:
        why = "one liar moves a mean anywhere"
        raise UsageError(f"liars_assumed must be 0 with aggregation = 'mean' ({why}), got {o.liars_assumed}")
    if o.aggregation == "trimmed" and o.liars_assumed == 0:
        raise UsageError("liars_assumed must be a number > 0 and < 0.5 with aggregation = 'trimmed', got 0")
    if o.aggregation != "mean" and partial:
        raise UsageError(f"participation must be 1 with aggregation = {o.aggregation!r}, got {o.participation}")
    if form == "joint" and (o.aggregation != "mean" or o.rotation or o.weighting != "agents"):
        raise UsageError("radius must be chernoff or subexp where reports count differently or old ones again, got 'joint'")
    if o.rotation and o.participation == 1:
        raise UsageError("rotation is used only together with participation < 1, got participation = 1")
    if o.gap is not None and o.rounds is None:
        raise UsageError(f"gap is used only together with rounds, got gap = {o.gap!r} without rounds")


def claim(noise: str, epsilon: float, averaged: int) -> Claim:
    notes = {
        "none": "no noise is added",
        "local": "each reward enters one noised sum, once",
        "paper": "each reward enters one noised sum, once",
        "secagg": "holds only if secure aggregation shows the sum of all reports and no single one, which carries a share of "
        "the noise only, and only if as many agents as stated are honest",
        "central": "the server is trusted: it receives raw sums and adds the noise",
    }
    divided = noise == "paper" and averaged > 1
    return Claim(inf if noise == "none" else epsilon, note=printed_note(epsilon, averaged) if divided else notes[noise])


def printed_note(epsilon: float, averaged: int) -> str:
    loss = averaged * epsilon
    read, left = 100.0 * reading_probability(1.0 / loss), 100.0 * aggregate_delta(epsilon, averaged, 1.0 / loss)
    return (
        f"as printed, the noise is divided by the number of reporting agents: each reward loses {averaged} x {epsilon:g} = "
        f"{loss:g}, not {epsilon:g}. The noise on a sum of 0/1 rewards has scale {1.0 / loss:.3g}, so whoever sees a message "
        f"reads the exact sum by rounding with probability {read:.4g} %. More agents make it weaker, and secure aggregation "
        f"does not restore the stated value: at epsilon {epsilon:g} the sum of all reports fails with probability {left:.3g} %"
    )


def warnings(o: EliminationOptions, noise: str, form: str, p: Any, s: Setting, partial: bool) -> Iterator[str]:
    if partial and not o.rotation and not s.homogeneous:
        yield (
            "participation < 1 is sound for homogeneous rewards only: the mean of those drawn differs from the mean of all by "
            "an amount the radius does not cover; set rotation = true"
        )
    if o.weighting == "components":
        yield "weighting = 'components' is for comparison only: no radius is valid for unequal weights"
    if form == "printed" and noise in ("paper", "local") and log(8.0 * s.arms * s.horizon) >= p.averaged:
        valid = "radius = 'chernoff' always is one"
        yield f"the printed radius needs ln(8 K r^2 T) < N = {p.averaged} to be a valid bound; {valid}"
    if o.aggregation != "mean" and not s.homogeneous:
        yield f"aggregation = {o.aggregation!r} estimates the middle of the agents' means, which differs from their mean"
    if s.unbounded:
        yield "rewards are unbounded: no finite noise is a guarantee; give problem.clip = [low, high]"


def entry(name: str, structure: str, summary: str, options: type[Options], *examples: dict) -> Entry:
    every: tuple[dict, ...] = ({}, {"mode": "paper"}, {"epsilon": inf}, *examples)
    return Entry(name, summary, options, lambda o, s: build(structure, o, s), every)


POOLED = OwnNoise.without("participation", "rotation", "honest", "quorum", "colluders", "weighting")
HYBRID = OwnNoise.without("participation", "rotation", "honest", "quorum", "colluders", "aggregation", "liars_assumed")
ENTRIES = (
    entry("cdp-mab", "server", "agents drop bad arms together; a server averages their reports",
          EliminationOptions.without("weighting"),
          {"participation": 0.5}, {"participation": 0.4, "rotation": True}, {"rounds": 3, "gap": 0.1}, {"noise": "central"},
          {"noise": "secagg", "radius": "subexp"}, {"aggregation": "median", "liars_assumed": 0.2},
          {"aggregation": "trimmed", "liars_assumed": 0.2}),
    entry("ddp-mab", "synchronise", "agents drop bad arms together by exchanging reports among themselves, without a server",
          POOLED, {"rounds": 4}),
    entry("hdp-mab", "hybrid", "agents drop bad arms together; one agent of each group collects reports for a server", HYBRID,
          {"weighting": "components"}),
    entry("single-mab", "alone", "every agent drops bad arms alone and sends nothing", HYBRID.without("weighting")),
)
