"""S(r), C(r) and H_r of the elimination family, epoch by epoch, against the formulas written anew from the paper.

The server is driven by forged reports: every agent reports exactly S(r) times given means, so that what it decides is a
matter of arithmetic. The oracle shares no code with the implementation.
"""

from math import ceil, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import binom

from coterie.algorithms import find
from coterie.algorithms.elimination import chernoff, noise_term, radius
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.kernel import UNIT

MEANS = [0.9, 0.85, 0.8, 0.7, 0.5, 0.3, 0.1]


def build(agents=50, arms=len(MEANS), horizon=100_000, name="cdp-mab", true_gap=0.0, **options):
    entry = find(name)
    return entry.build(entry.options(**options), Setting(agents, arms, horizon, gap=true_gap))


class Server:
    """The server's hooks around forged reports."""

    def __init__(self, method):
        self.p, self.reporters = method.p, method.reporters
        self.agent = Agent(method.server, method.p, Keyed(0, -1), rehearsal=True)
        for i in range(method.p.agents):
            self.agent.know(i, voices=1)

    def decide(self, t):
        """What it announces for epoch t: (active arms, S(t - 1), n_t)."""
        words = np.frombuffer(self.agent.announce(t), np.int64)
        return tuple(map(int, words[3:])), int(words[2]), int(words[1])

    def hear(self, t, arms, samples, means):
        totals = [round(UNIT * samples * means[k]) for k in arms]
        for i in range(self.reporters):
            self.agent.hear(t, i, np.array([len(arms), *totals], np.int64).tobytes())

    def radius(self, epoch):
        """C(epoch), after all its reports were heard."""
        self.agent.algorithm.weigh(self.agent.open, self.agent.peers, self.p, epoch + 1)
        return float(radius(self.agent.open, self.p, epoch))


class Epoch:
    """The target, the noise term, S(r) and C(r) by the specification, from what is known before the epoch."""

    def __init__(self, r, active, before, p, *, N, b, form, together, rounds=None, gap=None):
        self.target = 2.0**-r if rounds is None else gap ** (r / rounds)
        L_I, L_K = log(8 * active * r**2 * p.horizon), log(8 * p.arms * r**2 * p.horizon)
        self.blur = noise_bound(form, b, N, r if together else r * N, r, L_K)
        raw = max(8 * L_I / (N * self.target**2), 4 * self.blur / self.target)
        self.samples = max(ceil(raw), before + 1)
        self.sampling = sqrt(L_I / (2 * N * self.samples))
        self.radius = self.sampling + self.blur / self.samples


def noise_bound(form, b, N, m, r, L):
    if form == "printed":
        return r * b * sqrt(8 * L) / sqrt(N)
    if form == "subexp":
        return b * max(sqrt(m), sqrt(L)) * sqrt(8 * L) / N
    return b / N * smallest(lambda u: (L - m * log(1 - u * u)) / u)


def smallest(f, low=1e-12, high=1 - 1e-12):
    """The minimum of a function with one valley, by ternary search."""
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if f(left) < f(right) else (left, high)
    return f((low + high) / 2)


CASES = {
    "as printed": dict(options=dict(mode="paper"), N=50, b=1 / 50, form="printed"),
    "as printed, small epsilon": dict(options=dict(mode="paper", epsilon=0.001), N=50, b=20, form="printed"),
    "as printed, four in ten report": dict(options=dict(mode="paper", participation=0.4), N=20, b=1 / 20, form="printed"),
    "as printed, five rounds": dict(options=dict(mode="paper", rounds=5, gap=0.05), N=50, b=1 / 50, form="printed"),
    "local": dict(options=dict(epsilon=0.5), N=50, b=2, form="chernoff"),
    "local, subexp": dict(options=dict(epsilon=0.5, radius="subexp"), N=50, b=2, form="subexp"),
    "local, printed": dict(options=dict(epsilon=0.5, radius="printed"), N=50, b=2, form="printed"),
    "local, three agents": dict(options=dict(epsilon=0.1), agents=3, N=3, b=10, form="chernoff"),
    "local, three agents, subexp": dict(options=dict(epsilon=0.1, radius="subexp"), agents=3, N=3, b=10, form="subexp"),
    "secure aggregation": dict(options=dict(epsilon=0.1, noise="secagg"), N=50, b=10, form="chernoff", together=True),
    "secure aggregation, subexp": dict(
        options=dict(epsilon=0.1, noise="secagg", radius="subexp"), N=50, b=10, form="subexp", together=True
    ),
    "no noise": dict(options=dict(epsilon=inf), N=50, b=0, form="chernoff"),
    "alone": dict(options=dict(epsilon=0.5), name="single-mab", N=1, b=2, form="chernoff"),
    "without a server, four rounds": dict(options=dict(rounds=4, gap=0.1), name="ddp-mab", N=50, b=1, form="chernoff"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_epoch_has_the_specified_samples_radius_and_survivors(case):
    options, together = case["options"], case.get("together", False)
    method = build(case.get("agents", 50), name=case.get("name", "cdp-mab"), **options)
    limits = {"rounds": options.get("rounds"), "gap": options.get("gap")}
    server, active, before = Server(method), tuple(range(len(MEANS))), 0
    for r in range(1, 30):
        arms, samples, pulls = server.decide(r)
        assert (arms, samples) == (active, before)
        if len(active) == 1:
            break
        wanted = Epoch(r, len(active), before, method.p, N=case["N"], b=case["b"], form=case["form"], together=together, **limits)
        assert samples + pulls == wanted.samples
        server.hear(r, arms, wanted.samples, MEANS)
        assert server.radius(r) == pytest.approx(wanted.radius, rel=1e-9)
        active = tuple(k for k in active if max(MEANS[j] for j in active) - MEANS[k] < 2 * wanted.radius)
        before = wanted.samples
        if r == limits["rounds"]:
            active = active[:1]  # MEANS fall: the best survivor is the first
    assert active == (0,)
    assert r > 3


@pytest.mark.parametrize("participation", [1.0, 0.2])
@pytest.mark.parametrize("epsilon", [0.0005, 0.01, 1.0])
def test_paper_mode_has_the_papers_own_formulas(epsilon, participation):
    method = build(mode="paper", epsilon=epsilon, participation=participation)
    N, T, K, server, total = method.reporters, 100_000, len(MEANS), Server(method), 0
    assert N == 50 * participation
    for r in range(1, 7):
        arms, _, pulls = server.decide(r)
        d, size = 2.0**-r, len(arms)
        first = 8 * log(8 * size * r**2 * T) / (N * d**2)
        second = 8 * r * sqrt(2 * log(8 * K * r**2 * T)) / (N**1.5 * epsilon * d)
        total = max(ceil(max(first, second)), total + 1)
        assert pulls == total - int(server.agent.message.samples)
        server.hear(r, arms, total, [0.5] * K)
        noise = r * sqrt(8 * log(8 * K * r**2 * T)) / (N**1.5 * epsilon * total)
        assert server.radius(r) == pytest.approx(sqrt(log(8 * size * r**2 * T) / (2 * N * total)) + noise, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    agents=some.integers(1, 300),
    arms=some.integers(2, 12),
    horizon=some.integers(10, 10**7),
    epsilon=some.floats(1e-3, 100),
    mode=some.sampled_from(["paper", "private"]),
    form=some.sampled_from(["printed", "subexp", "chernoff"]),
    rounds=some.none() | some.integers(1, 8),
)
def test_samples_grow_and_both_parts_of_the_radius_stay_below_a_quarter_of_the_target(
    agents, arms, horizon, epsilon, mode, form, rounds
):
    limits = {} if rounds is None else {"rounds": rounds, "gap": 0.05}
    method = build(agents, arms, horizon, mode=mode, epsilon=epsilon, radius=form, **limits)
    server, before = Server(method), 0
    for r in range(1, (rounds or 8) + 1):
        active, samples, pulls = server.decide(r)
        assert len(active) == arms and samples == before and pulls >= 1
        before = samples + pulls
        server.hear(r, active, before, [0.5] * arms)
        target = 2.0**-r if rounds is None else 0.05 ** (r / rounds)
        sampling = sqrt(log(8 * arms * r**2 * horizon) / (2 * agents * before))
        noise = server.radius(r) - sampling
        slack = 1 + 1e-9
        assert sampling <= target / 4 * slack
        assert -1e-12 <= noise <= target / 4 * slack
        assert sampling + noise <= target / 2 * slack


def test_an_arm_falls_at_exactly_twice_the_radius():
    """Two arms, one step of the grid around the threshold."""
    for options in ({"mode": "paper"}, {"epsilon": 0.3}, {"epsilon": inf}):
        method = build(arms=2, **options)
        probe = Server(method)
        _, _, samples = probe.decide(1)
        probe.hear(1, (0, 1), samples, [1.0, 1.0])
        steps = ceil(2 * probe.radius(1) * UNIT * samples)  # the smallest distance of reports that reaches the threshold
        for distance, survivors in ((steps, (0,)), (steps - 1, (0, 1))):
            server = Server(method)
            server.decide(1)
            for i in range(50):
                report = np.array([2, UNIT * samples, UNIT * samples - distance], np.int64)
                server.agent.hear(1, i, report.tobytes())
            assert server.decide(2)[0] == survivors


def test_after_the_last_round_the_best_survivor_is_kept_and_pulled_to_the_end():
    close = [0.500, 0.501, 0.502, 0.501, 0.500, 0.499, 0.2]
    server = Server(build(mode="paper", rounds=3, gap=0.3))
    for r in (1, 2, 3):
        arms, samples, pulls = server.decide(r)
        server.hear(r, arms, samples + pulls, close)
    assert len(arms) > 2
    assert server.decide(4) == ((2,), samples + pulls, 100_000)


def test_a_tie_after_the_last_round_goes_to_the_lowest_arm():
    server = Server(build(mode="paper", rounds=1, gap=0.3))
    arms, _, pulls = server.decide(1)
    server.hear(1, arms, pulls, [0.1, 0.2, 0.5, 0.4, 0.5, 0.5, 0.0])
    assert server.decide(2)[0] == (2,)


def test_of_tied_arms_all_survive():
    server = Server(build(mode="paper"))
    for r in range(1, 12):
        arms, samples, pulls = server.decide(r)
        assert arms == tuple(range(7))
        server.hear(r, arms, samples + pulls, [0.5] * 7)


@pytest.mark.parametrize("agents, horizon", [(50, 100_000), (1, 1000), (1, 10)])
def test_without_a_gap_the_smallest_one_worth_finding_is_used(agents, horizon):
    gap = min(0.5, sqrt(7 * log(7 * horizon) / (agents * horizon)))
    assert (gap == 0.5) == (horizon == 10)
    pulls = Server(build(agents, horizon=horizon, epsilon=inf, rounds=4)).decide(1)[2]
    assert pulls == ceil(8 * log(8 * 7 * horizon) / (agents * gap ** (2 / 4)))


def test_a_gap_that_is_true_is_the_settings():
    given_gap = build(mode="paper", rounds=3, gap=0.04)
    assert build(mode="paper", rounds=3, gap="true", true_gap=0.04).p == given_gap.p
    assert given_gap.p != build(mode="paper", rounds=3, gap=0.05).p


def test_without_privacy_nothing_of_noise_is_left():
    """epsilon = inf is the only setting without noise: epsilon = 1 is not."""
    free = build(epsilon=inf)
    assert free.p == build(noise="none").p
    assert noise_term(free.p, 3, 50.0, 150.0) == 0.0
    assert noise_term(build(mode="paper", epsilon=1.0).p, 3, 50.0, 150.0) > 0.0


# --- the radius forms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [1, 2, 10, 150, 5000, 10**6])
@pytest.mark.parametrize("L", [1.5, 8.0, 20.0, 60.0])
def test_chernoffs_form_is_the_minimum_over_all_u(L, draws):
    """By brute force on a grid that is refined twice."""
    value = lambda u: (L - draws * np.log1p(-u * u)) / u  # noqa: E731
    low, high = 1e-6, 1 - 1e-6
    for _ in range(3):
        grid = np.linspace(low, high, 20_001)
        best = int(np.argmin(value(grid)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20_000)]
    assert chernoff(L, float(draws)) == pytest.approx(value(grid).min(), rel=1e-6)


@settings(max_examples=200, deadline=None)
@given(agents=some.integers(1, 2000), epoch=some.integers(1, 40), horizon=some.integers(1, 10**9), epsilon=some.floats(1e-3, 1e3))
def test_chernoffs_form_is_the_smallest_valid_one(agents, epoch, horizon, epsilon):
    draws = float(agents * epoch)
    by_chernoff, by_subexp, as_printed = (
        noise_term(build(agents, horizon=horizon, epsilon=epsilon, radius=form).p, epoch, float(agents), draws)
        for form in ("chernoff", "subexp", "printed")
    )
    assert 0 < by_chernoff <= by_subexp
    if log(8 * len(MEANS) * epoch**2 * horizon) < agents:
        assert by_subexp <= as_printed * (1 + 1e-12)


def test_for_a_single_agent_the_printed_form_is_no_bound():
    """One draw exceeds H with probability exp(-H / b) / 2 exactly; the bound promises exp(-L) / 2 at most."""
    L = log(8 * len(MEANS) * 100_000)
    bounds = {form: noise_term(build(1, radius=form).p, 1, 1.0, 1.0) for form in ("chernoff", "subexp", "printed")}
    assert bounds["printed"] < L < bounds["chernoff"] < bounds["subexp"]


@pytest.mark.parametrize("agents, epoch, noise", [(1, 1, "local"), (3, 2, "local"), (20, 1, "local"), (20, 3, "secagg")])
def test_the_noise_of_an_average_stays_below_its_bound(agents, epoch, noise):
    """P(noise > H_r) <= exp(-L_K) = 1 / (8 K r^2 T). With K = 2 and T = 1 that can be counted; false alarm 1e-6."""
    trials, draws = 200_000, epoch if noise == "secagg" else epoch * agents
    promised = 1 / (8 * 2 * epoch**2)
    rng = np.random.default_rng(9)
    total = sum(rng.laplace(size=trials) for _ in range(draws)) / agents  # epsilon = 1, times S(r)
    for form in ("chernoff", "subexp"):
        bound = noise_term(build(agents, 2, 1, noise=noise, radius=form).p, epoch, float(agents), float(draws))
        above = int((total > bound).sum())
        assert 0 < above <= binom.isf(1e-6, trials, promised)
