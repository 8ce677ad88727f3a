"""S(r), C(r) and H_r of the elimination family, epoch by epoch, against the formulas written anew from the paper.

The server is driven by forged reports: every agent reports exactly S(r) times given means, so that what it decides is a
matter of arithmetic. The oracle shares no code with the implementation.
"""

from math import ceil, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from coterie.algorithms import find
from coterie.algorithms.elimination import eliminate, radius
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.kernel import UNIT

MEANS = [0.9, 0.85, 0.8, 0.7, 0.5, 0.3, 0.1]
ARMS = 7


def build(agents=50, arms=ARMS, horizon=100_000, name="cdp-mab", true_gap=0.0, **options):
    entry = find(name)
    return entry.build(entry.options(**options), Setting(agents, arms, horizon, gap=true_gap))


class Server:
    """The server's hooks around forged reports."""

    def __init__(self, method):
        self.p, self.reporters, self.sums = method.p, method.reporters, method.server.sums
        self.agent = Agent(method.server, method.p, Keyed(keys_of(seeds_of(0), 0), -1), rehearsal=True)
        for i in range(method.p.agents):
            self.agent.know(i, voices=1)

    def decide(self, t):
        """What it announces for epoch t: (active arms, S(t - 1), n_t)."""
        words = np.frombuffer(self.agent.announce(t), np.int64)
        self.pulls = int(words[1])
        return tuple(map(int, words[3:])), int(words[2]), self.pulls

    def hear(self, t, arms, samples, means):
        totals = [round(UNIT * samples * means[k]) for k in arms]
        for i in range(self.reporters):
            words = self.enclosed(arms, samples, means) if self.sums else totals
            self.agent.hear(t, i, np.array([len(arms), *words], np.int64).tobytes())
        if self.sums:
            self.agent.release()

    def enclosed(self, arms, samples, means):
        """(arm, pulls, sum) of this epoch alone, and their number."""
        before = int(self.agent.open.samples) - self.pulls
        epoch = [(k, self.pulls, round(UNIT * samples * means[k]) - round(UNIT * before * means[k])) for k in arms]
        return [number for row in epoch for number in row] + [len(arms)]

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
    "as printed": {"options": {"mode": "paper"}, "N": 50, "b": 1 / 50, "form": "printed"},
    "as printed, small epsilon": {"options": {"mode": "paper", "epsilon": 0.001}, "N": 50, "b": 20, "form": "printed"},
    "as printed, four in ten report": {
        "options": {"mode": "paper", "participation": 0.4},
        "N": 20,
        "b": 1 / 20,
        "form": "printed",
    },
    "as printed, five rounds": {
        "options": {"mode": "paper", "rounds": 5, "gap": 0.05},
        "N": 50,
        "b": 1 / 50,
        "form": "printed",
    },
    "local": {"options": {"epsilon": 0.5}, "N": 50, "b": 2, "form": "chernoff"},
    "local, subexp": {"options": {"epsilon": 0.5, "radius": "subexp"}, "N": 50, "b": 2, "form": "subexp"},
    "local, printed": {"options": {"epsilon": 0.5, "radius": "printed"}, "N": 50, "b": 2, "form": "printed"},
    "local, three agents": {"options": {"epsilon": 0.1}, "agents": 3, "N": 3, "b": 10, "form": "chernoff"},
    "local, three agents, subexp": {
        "options": {"epsilon": 0.1, "radius": "subexp"},
        "agents": 3,
        "N": 3,
        "b": 10,
        "form": "subexp",
    },
    "secure aggregation": {
        "options": {"epsilon": 0.1, "noise": "secagg", "honest": 50, "radius": "chernoff"},
        "N": 50,
        "b": 10,
        "form": "chernoff",
        "together": True,
    },
    "secure aggregation, subexp": {
        "options": {"epsilon": 0.1, "noise": "secagg", "honest": 50, "radius": "subexp"},
        "N": 50,
        "b": 10,
        "form": "subexp",
        "together": True,
    },
    "no noise": {"options": {"epsilon": inf}, "N": 50, "b": 0, "form": "chernoff"},
    "alone": {"options": {"epsilon": 0.5}, "name": "single-mab", "N": 1, "b": 2, "form": "chernoff"},
    "without a server, four rounds": {
        "options": {"rounds": 4, "gap": 0.1},
        "name": "ddp-mab",
        "N": 50,
        "b": 1,
        "form": "chernoff",
    },
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_epoch_has_the_specified_samples_radius_and_survivors(case):
    options, together = case["options"], case.get("together", False)
    method = build(case.get("agents", 50), name=case.get("name", "cdp-mab"), **options)
    limits = {"rounds": options.get("rounds"), "gap": options.get("gap")}
    server, active, before = Server(method), tuple(range(ARMS)), 0
    for r in range(1, 30):
        arms, samples, pulls = server.decide(r)
        assert (arms, samples) == (active, before)
        if len(active) == 1:
            break
        wanted = Epoch(
            r, len(active), before, method.p, N=case["N"], b=case["b"], form=case["form"], together=together, **limits
        )
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
    N, T, K, server, total = method.reporters, 100_000, ARMS, Server(method), 0
    assert 50 * participation == N
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


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    agents=some.integers(1, 100),
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


def test_an_arm_falls_within_one_step_of_the_grid_of_twice_the_radius():
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


def test_an_arm_on_the_threshold_itself_is_dropped():
    server = Server(build(arms=3, epsilon=0.3))
    _, _, samples = server.decide(1)
    server.hear(1, (0, 1, 2), samples, [1.0] * 3)
    twice, scores = 2.0 * server.radius(1), server.agent.open.score
    scores[1], scores[2] = scores[0] - twice, np.nextafter(scores[0] - twice, 1)
    eliminate(server.agent.open, server.p, 1)
    assert server.agent.open.arm[: server.agent.open.survivors].tolist() == [0, 2]


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
