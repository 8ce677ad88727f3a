"""Who reports: drawn afresh in every epoch, or in turns. All agents explore in either case."""

from itertools import chain

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, hypergeom

from coterie.engines.agent import Agent
from coterie.engines.rehearsal import rehearse_star
from coterie.engines.simulate import simulate_star
from coterie.kernel import UNIT
from coterie.studies import load_study
from coterie.studies.case import make_case

AGENTS, ARMS = 10, 11


def case(means, horizon=50_000, **options):
    study = load_study(
        {
            "horizon": horizon,
            "problem": {"means": means},
            "algorithm": [{"name": "cdp-mab", **options}],
            "network": {"link_cost": {"server": 25}},
        }
    ).specification
    return make_case(study, study.rows[0], 0)


def simulate(case, horizon=None, replications=1, **how):
    horizon = horizon or case.horizon
    about = (case.method, case.problem, case.worlds, case.agents, horizon, np.array([horizon]))
    return simulate_star(*about, replications=replications, **how)


@pytest.mark.parametrize(
    "participation, agents, reporters",
    [
        (1, 10, 10),
        (0.2, 10, 2),
        (0.28, 25, 7),
        (0.07, 100, 7),
        (0.201, 10, 3),
        (0.001, 10, 1),
        (0.999, 10, 10),
        (0.58, 50, 29),
    ],
)
def test_the_number_of_reporters_is_rounded_up_but_not_by_rounding_errors(participation, agents, reporters):
    """0.28 * 25 and 0.07 * 100 are a little more than 7 in floating-point numbers."""
    about = case([[0.5] * 9 + [0.6]] * agents, participation=participation)
    assert about.method.reporters == about.method.p.averaged == reporters
    run = simulate(about, replications=2)
    traffic = about.traffic(run.tallies)
    assert (run.tallies["up_messages"] == reporters * run.tallies["rounds"]).all()
    assert (traffic.rounds > 0).all()
    assert (traffic.cost == 25 * reporters * traffic.rounds).all()


def fingerprints(**options):
    """Agent i earns 1 with arm i and 0 with all others, without noise: the server's sums show who reported.

    Of ten agents five report, so scores are 0 or 0.2. That is less than 2 C(1), near 0.25: no arm falls in epoch 1.
    """
    return case(np.eye(AGENTS, ARMS).tolist(), epsilon=float("inf"), participation=0.5, **options)


def who_reported(about, horizon, replications):
    run = simulate(about, horizon, replications)
    heard = run.servers["total"][:, 0, :AGENTS] > 0
    assert (heard.sum(axis=1) == 5).all()
    return heard, run


def ends_of_two_epochs(about):
    ends, now = [], 0
    for _ in range(2):
        client = simulate(about, now + 1).opens[0, 0]
        assert client["survivors"] == ARMS
        now += ARMS * int(client["pulls"])
        ends.append(now)
    return ends


def test_those_who_report_are_drawn_evenly_and_afresh_in_every_epoch():
    """Chi-square and binomial tests over 4,000 replications; false alarm below 1e-6 each."""
    about, trials = fingerprints(), 4000
    (first, _), (second, _) = (who_reported(about, end, trials) for end in ends_of_two_epochs(about))
    for heard in (first, second):
        for agent in range(AGENTS):
            assert binomtest(int(heard[:, agent].sum()), trials, 0.5).pvalue > 1e-7
        pairs = heard.T.astype(int) @ heard
        for i, j in zip(*np.triu_indices(AGENTS, 1), strict=True):
            assert binomtest(int(pairs[i, j]), trials, 0.5 * 4 / 9).pvalue > 1e-8
    both = np.bincount((first & second).sum(axis=1), minlength=6)
    expected = trials * hypergeom(AGENTS, 5, 5).pmf(np.arange(6))
    assert (
        chisquare(
            [both[0] + both[1], *both[2:4], both[4] + both[5]],
            [expected[0] + expected[1], *expected[2:4], expected[4] + expected[5]],
        ).pvalue
        > 1e-6
    )


def test_all_agents_explore_and_keep_their_history_whoever_reports():
    about = fingerprints()
    end = ends_of_two_epochs(about)[1]
    _, run = who_reported(about, end, 1)
    samples = int(run.opens[0, 0]["samples"] + run.opens[0, 0]["pulls"])
    own = run.opens[0]["total"][np.arange(AGENTS), np.arange(AGENTS)]
    assert (own == UNIT * samples).all()
    assert (run.ledgers["entries"][0, :, :ARMS] == 2).all()
    assert run.curves[0, 0] == pytest.approx(AGENTS * samples * 0.1)  # every pull of arm 10, by every agent


def test_a_draw_moves_no_reward_and_no_noise():
    """The first epoch of an agent is the same whoever reports."""
    means = [[0.08 * k + 0.05 for k in range(ARMS)]] * AGENTS
    some, all_of_them = (case(means, participation=share) for share in (0.5, 1.0))
    longer = simulate(some, 1).opens[0, 0]["pulls"]
    assert longer > simulate(all_of_them, 1).opens[0, 0]["pulls"]
    other = some._replace(method=some.method._replace(reporters=3))
    runs = [simulate(about, ARMS * int(longer)) for about in (some, other)]
    assert runs[0].opens.tobytes() == runs[1].opens.tobytes()
    assert runs[0].servers["reports"].tolist() == [[5]] and runs[1].servers["reports"].tolist() == [[3]]


# --- rotation with memory --------------------------------------------------------------------------------


def reporters_of(monkeypatch, about):
    """The agents the server hears, epoch by epoch."""
    heard: dict[int, list[int]] = {}
    listen = Agent.hear

    def spy(self, t, sender, data):
        if sender != "server":
            heard.setdefault(t, []).append(sender)
        listen(self, t, sender, data)

    monkeypatch.setattr(Agent, "hear", spy)
    rehearse_star(about.method, about.problem, about.worlds, about.agents, about.horizon)
    return list(heard.values())


def test_in_turns_everyone_reports_once_in_every_cycle(monkeypatch):
    about = case([[0.5, 0.52]] * 6, horizon=4000, participation=2 / 6, rotation=True)
    heard = reporters_of(monkeypatch, about)
    assert len(heard) > 3
    assert sorted(chain(*heard[:3])) == list(range(6))
    assert heard[3:] == heard[: len(heard) - 3]  # a fixed order
    assert list(chain(*heard[:3])) != list(range(6))  # but a random one


def test_where_the_turns_do_not_fit_everyone_is_heard_within_a_cycle(monkeypatch):
    about = case([[0.5, 0.52]] * 5, horizon=4000, participation=0.4, rotation=True)
    assert about.method.p.cycle == 3
    heard = reporters_of(monkeypatch, about)
    assert all(len(set(epoch)) == 2 for epoch in heard)
    assert all(set(chain(*heard[i : i + 3])) == set(range(5)) for i in range(len(heard) - 2))


def test_in_turns_nothing_is_dropped_before_all_were_heard():
    """Arm 9 is far ahead of the others for everyone; after one epoch it could be seen, after five all have spoken."""
    about = case([[0.05] * 10 + [0.95]] * AGENTS, participation=0.2, rotation=True, horizon=200_000)
    run, now, sizes = None, 0, []
    while not sizes or sizes[-1] > 1:
        run = simulate(about, now + 1, compiled=False)
        client = run.opens[0, 0]
        sizes.append(int(client["survivors"]))
        now += sizes[-1] * int(client["pulls"])
    assert sizes[:5] == [ARMS] * 5
    assert run.tallies["rounds"][0] == len(sizes) - 1 >= 5


def test_drawn_agents_drop_the_best_arm_where_agents_differ_and_turns_keep_it():
    """Arm 0 is best on average (0.6 against 0.5): six agents always gain with it, four never do.

    Two are drawn afresh in every epoch. A mixed pair sees a tie; the first pair of one kind decides, and it is of the
    six with probability 15 / (15 + 6). In turns all are heard. Binomial test over 300 replications, false alarm 1e-6.
    """
    likes, dislikes = [1.0, 0.5, 0.1, 0.1], [0.0, 0.5, 0.1, 0.1]
    kept = {}
    for rotation in (False, True):
        about = case([likes] * 6 + [dislikes] * 4, participation=0.2, rotation=rotation, horizon=1_000_000)
        left = simulate(about, replications=300).late.argmax(axis=2)
        assert (left == left[:, :1]).all() and (left <= 1).all()
        kept[rotation] = int((left[:, 0] == 0).sum())
    assert kept[True] == 300
    assert binomtest(kept[False], 300, 15 / 21).pvalue > 1e-6


def test_where_agents_are_alike_turns_cost_no_more_than_fresh_draws():
    """Turns average all ten agents, fresh draws two of them. The mean difference is many standard errors."""
    means = [[0.61, 0.69, 0.77, 0.85]] * AGENTS
    drawn, turns = (
        simulate(case(means, participation=0.2, rotation=rotation, horizon=200_000), replications=20).curves[:, 0]
        for rotation in (False, True)
    )
    assert turns.max() < drawn.min()
