"""peer-ucb and solo-ucb: a common clock, batches that are on their way, and an agent by itself."""

from math import ceil, inf

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.algorithms.pooled import begin_window, learn, peer_choose, peer_open, peer_publish
from coterie.contract import Setting, out_record, plan_record
from coterie.kernel import UNIT, one
from coterie.studies import load_study
from coterie.studies.case import make_case


def made(name="peer-ucb", agents=6, arms=4, horizon=100_000, **options):
    entry = entries()[name]
    return entry.build(entry.options(**options), Setting(agents=agents, arms=arms, horizon=horizon))


def peer(method, number=0):
    open = one(peer_open(method.p))
    open.number = number
    return open


def simulate(name, agents=6, horizon=20_000, replications=4, graph="complete", **options):
    study = {"horizon": horizon, "problem": {"means": [0.8, 0.6, 0.4, 0.1], "agents": agents},
             "network": {"graph": graph}, "algorithm": [{"name": name, **options}]}  # fmt: skip
    specification = load_study(study).specification
    return make_case(specification, specification.rows[0], 0).simulate(5, 0, replications)


def test_windows_follow_from_the_clock_alone():
    """An agent that was away for most of the run finds the same ends of windows as one that was always there."""
    method = made()
    always, away, t = peer(method), peer(method, 3), 1
    ends = []
    while t < 5000:
        begin_window(always, method.p, t)
        ends.append((int(always.until), int(always.window)))
        t = always.until + 1
    begin_window(away, method.p, ends[-2][0] + 7)
    assert (away.until, away.window) == ends[-1]
    lengths = np.diff([0] + [end for end, _ in ends])
    assert lengths[0] == method.p.first
    expected = [max(method.p.first, ceil(method.p.pace * (end + 1))) for end, _ in ends[:-1]]
    assert lengths[1:].tolist() == expected


@pytest.mark.parametrize(("agents", "arms", "pace"), [(20, 10, 0.1), (6, 4, 0.075), (3, 30, 0.005)])
def test_windows_are_shorter_where_agents_are_fewer_than_arms(agents, arms, pace):
    assert made(agents=agents, arms=arms).p.pace == pytest.approx(pace)


def test_what_is_known_alike_is_shared_out_alike():
    """Agents that have heard the same take the seats that all of them have worked out, each its own."""
    method = made(agents=6, arms=4)
    seen = []
    for number in range(6):
        open = peer(method, number)
        for k, (count, mean) in enumerate([(5000, 0.8), (900, 0.6), (400, 0.4), (300, 0.1)]):
            open.count[k], open.total[k], open.draws[k] = count, round(count * mean) * UNIT, 5
        begin_window(open, method.p, 1200)
        seen.append((open.seats.tolist(), int(open.leader), int(open.arm)))
    assert len({(tuple(seats), leader) for seats, leader, _ in seen}) == 1
    seats = seen[0][0]
    assert sorted(arm for *_, arm in seen) == [k for k in range(4) for _ in range(seats[k])]
    assert seen[0][1] == 0


def test_batches_on_their_way_are_counted_until_they_arrive_or_a_window_has_passed():
    method = made()
    open = peer(method)
    begin_window(open, method.p, 1)
    ordered = open.lately.tolist()
    assert sum(ordered) > 0 and not open.pending.any()
    learn(open, 0, 3, 2 * UNIT)
    assert open.lately[0] == ordered[0] - 3 and (open.count[0], open.draws[0]) == (3, 1.0)
    begin_window(open, method.p, int(open.until) + 1)
    assert open.pending.tolist() == [ordered[0] - 3, *ordered[1:]]
    learn(open, 1, 10**6, 0)
    assert open.pending[1] == 0 and open.lately[1] == 0


def test_an_explorer_fills_one_batch_and_then_plays_the_leader_to_the_end_of_the_window():
    method = made(agents=2, arms=2)
    open, plan, out = peer(method), one(plan_record(method.p)), one(out_record(method.node, method.p))
    plan.arms = 2
    open.count[:2], open.total[:2], open.draws[:2] = (4000, 60), (3200 * UNIT, 30 * UNIT), 3
    t = 3000
    peer_choose(open, method.p, t, 0, plan)
    while open.arm == open.leader:  # until it is this agent's turn to explore
        t, plan.entries = int(open.until) + 1, 0
        open.quota = 0
        peer_choose(open, method.p, t, 0, plan)
    batch = int(plan.pulls[0])
    assert plan.arm[0] == open.arm != open.leader and batch == min(open.until - t + 1, max(method.p.first, ceil(0.5 * 60)))
    out.entries, out.arm[0], out.value[0] = 1, open.arm, 20 * UNIT
    peer_publish(open, method.p, t + batch - 1, plan, out)
    plan.entries = 0
    peer_choose(open, method.p, t + batch, 0, plan)
    assert plan.arm[0] == open.leader and t + batch + plan.pulls[0] - 1 <= open.until


def test_peers_find_the_best_arm_and_pay_once():
    run = simulate("peer-ucb")
    assert (run.late.argmax(axis=2) == 0).all()
    assert run.ledgers["loss"].max() == 1.0
    assert run.tallies["up_messages"].max() < 6 * 400  # releases, and not rounds


def test_alone_nobody_hears_of_others():
    """The regret of six is six times that of one, in the mean; and without noise it is far below that with it."""
    alone, noised = (simulate("solo-ucb", replications=8, epsilon=epsilon).totals for epsilon in (inf, 0.3))
    assert alone.shape == (8, 6) and alone.mean() < noised.mean() / 3
    assert abs(alone[:, 0].mean() - alone.mean()) < 6 * alone.std() / np.sqrt(8)
