"""How reports become one score per arm: weights of components, and averages that withstand liars.

The server hears bytes. Honest agents report exactly S(r) times the true means; a liar praises the worst arm and runs
down the best one, as far as a report can.
"""

from math import ceil, inf, log, pi, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.algorithms.elimination import radius
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.kernel import UNIT

MEANS = [0.9, 0.6, 0.5, 0.4, 0.1]
BEST, WORST = 0, 4


def build(agents=5, name="cdp-mab", components=(), **options):
    entry = find(name)
    return entry.build(entry.options(epsilon=inf, **options), Setting(agents, len(MEANS), 100_000, components=components))


def start(method):
    server = Agent(method.server, method.p, Keyed(keys_of(seeds_of(0), 0), -1), rehearsal=True)
    for i in range(method.p.agents):
        server.know(i, voices=1, **({"weight": method.weights[i]} if method.weights else {}))
    return server


def decide(server, t):
    """Active arms of epoch t, and the samples of each when it is over."""
    words = np.frombuffer(server.announce(t), np.int64)
    return words[3:].tolist(), int(words[2] + words[1])


def report(server, t, sender, arms, samples, claims):
    totals = [round(UNIT * samples * claims[k]) for k in arms]
    server.hear(t, sender, np.array([len(arms), *totals], np.int64).tobytes())


def survivors_of(method, lie, liars=1):
    """The last active set. The first agents claim the reward `lie` for the worst arm and its opposite for the best."""
    server = start(method)
    for t in range(1, 13):
        arms, samples = decide(server, t)
        if len(arms) == 1:
            break
        for i in range(method.p.agents):
            claims = dict(enumerate(MEANS)) | ({WORST: lie, BEST: -lie} if i < liars else {})
            report(server, t, i, arms, samples, claims)
    return arms


@pytest.mark.parametrize("weighting, score", [("agents", 0.25 * 0.8 + 0.75 * 0.4), ("components", 0.5 * 0.8 + 0.5 * 0.4)])
def test_components_count_by_their_agents_or_as_printed_one_each(weighting, score):
    """One agent reports 0.8, a component of three 0.4."""
    server = start(build(4, "hdp-mab", components=(1, 3), weighting=weighting))
    arms, samples = decide(server, 1)
    for i in range(4):
        report(server, 1, i, arms, samples, [0.8 if i == 0 else 0.4] * 5)
    decide(server, 2)
    assert server.open.score[:5] == pytest.approx([score] * 5, abs=1e-4)  # reports are on a grid


WILD = [2.0, 1000.0, 1e7]


@pytest.mark.parametrize("lie", WILD)
@pytest.mark.parametrize("name", ["cdp-mab", "ddp-mab"])
@pytest.mark.parametrize("aggregation", ["median", "trimmed"])
def test_a_robust_average_withstands_one_liar(aggregation, name, lie):
    assert survivors_of(build(name=name, aggregation=aggregation, liars_assumed=0.2), lie) == [BEST]


@pytest.mark.parametrize("lie", WILD[1:])
def test_one_liar_moves_a_plain_mean_anywhere(lie):
    assert survivors_of(build(), lie) == [WORST]
    assert survivors_of(build(), lie, liars=0) == [BEST]


def test_a_liar_who_keeps_to_possible_rewards_can_still_promote_a_bad_arm_in_a_mean():
    server = start(build(agents=2))
    arms, samples = decide(server, 1)
    for i, claims in enumerate((MEANS, [0.0, 0.0, 0.0, 0.0, 1.0])):
        report(server, 1, i, arms, samples, claims)
    decide(server, 2)
    assert server.open.score[:5].max() == server.open.score[WORST]


def test_more_liars_than_assumed_are_not_withstood():
    assert survivors_of(build(aggregation="trimmed", liars_assumed=0.2), 1000.0, liars=2) == [WORST]


@pytest.mark.parametrize("agents, assumed, liars", [(100, 0.29, 29), (50, 0.14, 7), (10, 0.3, 3), (7, 0.4, 2)])
def test_a_trimmed_mean_cuts_as_many_reports_as_liars_are_assumed(agents, assumed, liars):
    """0.29 * 100 is a little less than 29 in floating-point numbers, and one liar who is not cut decides everything."""
    method = build(agents, aggregation="trimmed", liars_assumed=assumed)
    assert survivors_of(method, 1e5, liars) == [BEST]
    assert survivors_of(method, 1e5, liars + 1) == [WORST]


@pytest.mark.parametrize("aggregation, inflation", [("median", sqrt(pi / 2)), ("trimmed", 1 / 0.6)])
def test_the_radius_is_widened_by_what_a_robust_average_loses(aggregation, inflation):
    """A median has pi/2 times the variance of a mean, and a share of liars moves it by a quantile of single reports."""
    method = build(20, aggregation=aggregation, liars_assumed=0.2)
    server, L = start(method), log(8 * 5 * 100_000)
    arms, samples = decide(server, 1)
    assert samples == ceil(8 * L / (20 / 4))
    for i in range(20):
        report(server, 1, i, arms, samples, [0.5] * 5)
    server.algorithm.weigh(server.open, server.peers, method.p, 2)
    moved = NormalDist().inv_cdf(0.5 / 0.8) * 0.5 / sqrt(samples)
    assert radius(server.open, method.p, 1) == pytest.approx(inflation * sqrt(L / (2 * 20 * samples)) + moved, rel=1e-9)
