"""PR-UCB piece by piece: the ballot against numpy, the index against its formula, batches and their cost, what liars say."""

from collections import Counter
from functools import cache, partial
from math import ceil, inf

import numpy as np
import pytest
from numpy import int64
from scipy.optimize import brentq
from scipy.stats import binom, kstest, laplace

from coterie.algorithms import find
from coterie.algorithms.pr_ucb import SCOUTS, VoteOptions, bound, ladder, lie
from coterie.building import doors_of
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.faults import tale_record
from coterie.engines.memory import seeds_of
from coterie.engines.rehearsal import keyed_agent, rehearse_mesh
from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.kernel import UNIT, one
from coterie.network import ring
from coterie.privacy.secret import take_in
from coterie.privacy.statement import statement
from coterie.problem import bernoulli
from coterie.studies.case import reach
from coterie.theory.votes import vote_tail

AGENTS, ARMS, MEANS = 11, 5, np.array([[0.8, 0.6, 0.5, 0.4, 0.2]])


def build(horizon=1000, liars=0.0, agents=AGENTS, **options):
    return find("pr-ucb").build(VoteOptions(**options), Setting(agents, ARMS, horizon, liars=liars, reward_values=(0.0, 1.0)))


def start(method, i=0):
    """Agent i, which knows all others."""
    agent = Agent(method.node, method.p, Keyed(seeds_of(0), i), rehearsal=True)
    for field, values in method.known.items():
        agent.open[field] = values[i]
    for j in range(method.p.voters):
        if j != i:
            agent.know(j, origin=j)
    return agent


def vote(agent, t, sender, arm, rung, total):
    agent.hear(t, sender, np.array([arm, rung, total], int64).tobytes())


# --- the ballot -------------------------------------------------------------------------------------------


def radius(box, k, eps, beta, horizon):
    """Of the latest votes on arm k, {(voter, arm): (size, mean)}: the root over radii, with every honest vote by itself."""
    sizes = sorted(size for (_, arm), (size, _) in box.items() if arm == k)
    honest = sizes[: len(sizes) - int(beta * len(sizes) + 1e-9)]
    needed = (len(sizes) + 1) // 2 - len(sizes) + len(honest)
    miss = horizon**-0.25
    share = max(miss * needed / len(honest), min((needed - 1) / len(honest), quantile(miss, needed, len(honest))))
    voted = Counter(honest)

    def excess(radius):
        off = sum(votes * vote_tail(np.array([radius]), size, 1 / eps, 0.5, True)[0] for size, votes in voted.items())
        return off - share * len(honest)

    return float(brentq(excess, 0, 1e3, xtol=1e-12))


def quantile(miss, needed, honest):
    """The probability at which a binomial number reaches `needed` with probability `miss`."""
    return float(brentq(lambda p: binom.sf(needed - 1, honest, p) - miss, 0, 1))


STEP = 1.12  # between radii of a table


@pytest.mark.parametrize("way", ["median", "mean"])
@pytest.mark.parametrize("eps, beta", [(1.0, 0.3), (0.2, 0.0)])
def test_votes_that_are_cast_and_replaced_give_the_median_or_mean_of_the_latest_and_their_radius(way, eps, beta):
    """Ties, even and odd numbers of votes, and noisy votes far outside [0, 1] all occur. Other people's votes alone here."""
    method, rng, box = build(epsilon=eps, votes=way, liars_assumed=beta, own_clip=False, batch=2), np.random.default_rng(3), {}
    agent, numbers = start(method), set()
    for step in range(300):
        sender, k, rung = int(rng.integers(1, AGENTS)), int(rng.integers(ARMS)), int(rng.integers(4))
        size = int(agent.p.tables.sizes[rung])
        total = int(rng.integers(-3, 6)) * UNIT * size if step % 3 else round(UNIT * size * rng.normal(0.5, 2))
        vote(agent, 900, sender, k, rung, total)
        box[sender, k] = size, total / UNIT / size
        means = np.array([mean for (_, arm), (_, mean) in box.items() if arm == k])
        numbers.add(len(means))
        centre = np.median(means) if way == "median" else means.mean()
        assert agent.open.votes[k] == len(means)
        assert agent.open.ballot[k, : len(means)].tolist() == sorted(means)
        width = bound(agent.open, agent.p, k, 1.0) - centre
        assert agent.open.centre[k] == pytest.approx(centre, abs=1e-8)
        assert bound(agent.open, agent.p, k, -1.0) == pytest.approx(centre - width, abs=1e-8)
        if step % 10 == 0:
            least = radius(box, k, eps, beta, 1000)
            assert least * (1 - 1e-9) <= width <= least * STEP
    assert numbers == set(range(1, AGENTS))


WRONG = {
    "an arm below 0": (-1, 0, 500), "an arm too many": (ARMS, 0, 500), "a rung below 0": (0, -1, 500),
    "a rung too many": (0, 10**6, 500), "a batch older than the run": (0, 4, 63),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_claims_that_no_honest_agent_can_make_are_dropped_with_their_vote(name):
    agent, (arm, rung, t) = start(build()), WRONG[name]
    vote(agent, 100, 1, 0, 0, UNIT)
    before = agent.open.tobytes(), agent.peers.tobytes()
    vote(agent, t, 1, arm, rung, 7 * UNIT)
    vote(agent, t, 2, arm, rung, 7 * UNIT)
    assert (agent.open.tobytes(), agent.peers.tobytes()) == before


def test_a_batch_as_old_as_the_run_is_believed():
    agent = start(build())
    vote(agent, 64, 1, 0, 4, 64 * UNIT)
    assert agent.p.tables.sizes[4] == 64 and agent.open.votes[0] == 1 and agent.open.ballot[0, 0] == 1.0


def test_an_arm_without_votes_is_worth_anything():
    agent = start(build())
    vote(agent, 9, 1, 0, 0, UNIT)
    bounds = [bound(agent.open, agent.p, k, 1.0) for k in range(ARMS)]
    assert bounds[0] < inf and bounds[1:] == [inf] * 4
    assert bound(agent.open, agent.p, 1, -1.0) == -inf


@pytest.mark.parametrize("others", [-50.0, 0.45, 50.0])
@pytest.mark.parametrize("clips", [True, False])
def test_the_own_release_confines_the_index(others, clips):
    """To own +- the radius by which it is off with probability 1 / T: votes of others cannot move it further."""
    agent, eps, horizon = start(build(epsilon=0.5, own_clip=clips, batch=2)), 0.5, 1000
    for pull in (1, 2):  # a first batch of b0 = 2, all of arm 0
        agent.open.arm, agent.open.filled[0] = 0, pull
        take_in(agent.secret, 0, 1, UNIT // 2)
        agent.pass_door()
    own = float(agent.open.own[0])
    assert agent.open.votes[0] == 1 and agent.open.filled[0] == 0 and agent.open.rung[0] == 1
    for sender in range(1, 8):
        vote(agent, 50, sender, 0, 0, round(others * 2 * UNIT))
    index = others + radius({(i, 0): (2, 0.0) for i in range(8)}, 0, eps, 0.3, horizon)
    width = brentq(lambda r: vote_tail(np.array([r]), 2, 1 / eps, 0.5, True)[0] - 1 / horizon, 0.1, 50)
    expected = float(np.clip(index, own - width, own + width)) if clips else index
    assert bound(agent.open, agent.p, 0, 1.0) == pytest.approx(expected, abs=(STEP - 1) * width)
    assert clips == (expected != index) or others == 0.45


# --- batches and what they cost ---------------------------------------------------------------------------


@cache
def run(horizon, **options):
    method = build(horizon, **options)
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, horizon, np.array([horizon]))
    return method, simulate_mesh(*about, reach([ring(AGENTS)], 2, 2), seed=4, compiled=False)


@pytest.mark.parametrize("options", [{}, {"epsilon": 0.3, "growth": 1.5, "batch": 4}, {"votes": "scouts", "epsilon": 0.5}])
@pytest.mark.parametrize("horizon", [30, 160])
def test_every_reward_is_in_one_release_at_most_so_the_loss_is_epsilon_at_every_horizon(horizon, options):
    method, ended = run(horizon, **options)
    losses = ended.ledgers["loss"][0, :, :ARMS, 0]
    assert set(losses.ravel().tolist()) <= {0.0, method.p.epsilon}
    assert losses.max() == method.p.epsilon
    doors = doors_of(method, Setting(AGENTS, ARMS, horizon))
    assert statement(method.claim, doors, losses.max())["private"] is True
    assert ended.ledgers["entries"].max() > 1


@pytest.mark.parametrize("options", [{}, {"epsilon": 0.3, "growth": 1.5, "batch": 4}])
def test_batches_have_the_sizes_of_the_ladder_and_releases_cover_them(options):
    """All pulls but those of the unfinished batch are covered: the rungs below the present one, end to end."""
    method, ended = run(160, **options)
    o, ledger, sizes = ended.opens[0], ended.ledgers[0], ladder(method.p.tables.sizes[0], options.get("growth", 2.0), 160)
    for i in range(AGENTS):
        for k in range(ARMS):
            done = int(o["rung"][i, k])
            assert ledger["entries"][i, k, 0] == done
            assert ledger["last"][i, k, 0] == sum(sizes[:done])
            assert o["pulls"][i, k] == sum(sizes[:done]) + o["filled"][i, k]
            assert 0 <= o["filled"][i, k] < sizes[done]
    assert o["rung"].max() >= 3


COMMITTED = [{"commit": True}, {"commit": True, "epsilon": 0.3, "growth": 1.5, "batch": 4}]


class Diary(Agent):
    """An agent that keeps its plans."""

    def begin(self, t):
        super().begin(t)
        plan, self.kept = self.plan, getattr(self, "kept", [])
        self.kept.append((t, [(int(plan.arm[e]), int(plan.pulls[e])) for e in range(plan.entries)]))


@pytest.mark.parametrize("options", [*COMMITTED, {"commit": True, "votes": "scouts"}])
def test_who_commits_plays_whole_batches_one_after_the_other(options):
    """Every plan is the next size of its arm's ladder, first all arms in order (scouts: the own one), without a gap."""
    method, horizon = build(160, **options), 160
    about = (method, bernoulli, bernoulli.world(MEANS), AGENTS, horizon, reach([ring(AGENTS)], 2, 2))
    agents = rehearse_mesh(*about, seed=4, make=partial(keyed_agent, kind=Diary)).agents
    sizes, first = ladder(method.p.tables.sizes[0], options.get("growth", 2.0), horizon), method.p.tables.sizes[0]
    for i, agent in enumerate(agents):
        rungs, now = [0] * ARMS, 1
        for t, plan in agent.kept:
            ((arm, pulls),) = plan
            assert (t, pulls) == (now, sizes[rungs[arm]])
            rungs[arm], now = rungs[arm] + 1, now + pulls
        assert now > horizon
        begun = [plan[0][0] for t, plan in agent.kept if t <= ARMS * first]
        assert begun[0] == i % ARMS if method.p.scouts else begun == list(range(ARMS))


@pytest.mark.parametrize("options", COMMITTED)
def test_committed_batches_are_released_when_they_are_full_and_no_other_pulls_are_booked(options):
    method, ended = run(160, **options)
    o, ledger, sizes = ended.opens[0], ended.ledgers[0], method.p.tables.sizes
    for i in range(AGENTS):
        for k in range(ARMS):
            done = sum(sizes[: o["rung"][i, k]])
            assert ledger["last"][i, k, 0] == ended.secrets["count"][0, i, k] == done
            assert ledger["entries"][i, k, 0] == o["rung"][i, k]
    assert (np.count_nonzero(o["filled"], axis=1) <= 1).all()  # the batch that the horizon cuts
    assert ended.late[0].sum() == AGENTS * 16 and set(ledger["loss"].ravel()) <= {0.0, method.p.epsilon}


@pytest.mark.parametrize("epsilon, first", [(1.0, 4), (0.3, 14), (0.1, 40), (3.0, 4), (inf, 4)])
def test_the_first_batch_has_four_pulls_over_epsilon_or_four_and_all_arms_are_played_for_as_long(epsilon, first):
    method, agent = build(epsilon=epsilon), start(build(epsilon=epsilon))
    assert method.p.tables.sizes[0] == first
    arms = []
    for t in range(1, ARMS * first + 1):
        agent.begin(t)
        ticket, arm = agent.ask()
        agent.tell(ticket, 0)
        agent.finish()
        arms.append(arm)
    assert arms == [t % ARMS for t in range(ARMS * first)]
    assert agent.ledger.entries[:ARMS, 0].tolist() == [1] * ARMS


@pytest.mark.parametrize("first, growth", [(1, 2.0), (10, 2.0), (3, 1.5), (1, 1.1), (2, 16.0)])
def test_the_ladder_grows_by_the_factor_and_ends_where_the_horizon_cannot_fill_a_batch(first, growth):
    sizes = ladder(first, growth, 1000)
    plain = [ceil(first * growth**e) for e in range(len(sizes))]
    assert sizes == sorted(set(sizes)) and sizes[-2] <= 1000 < sizes[-1]
    assert sizes == plain or len(set(plain)) < len(plain)  # small steps that do not even give another size are one longer
    assert all(size >= wanted for size, wanted in zip(sizes, plain, strict=True))


def test_noise_has_the_scale_of_one_over_epsilon():
    """On the sum of a batch, whatever its size; Kolmogorov's distance of 400 draws, false alarm 1e-6."""
    method, draws = build(epsilon=0.5, batch=2), []
    for i in range(400):
        agent = Agent(method.node, method.p, Keyed(seeds_of(i), 0), rehearsal=True)
        agent.open.filled[0] = 2
        agent.pass_door()
        draws.append(agent.open.said_total[0] / UNIT)
    assert kstest(draws, laplace(scale=2.0).cdf).pvalue > 1e-6


# --- scouts -----------------------------------------------------------------------------------------------


def test_scouts_release_their_own_arm_alone():
    method, ended = run(160, votes="scouts", epsilon=0.5)
    entries, scout = ended.ledgers["entries"][0, :, :ARMS, 0], np.arange(AGENTS) % ARMS
    assert method.node == SCOUTS
    assert (entries[np.arange(AGENTS), scout] > 0).all()
    assert entries.sum() == entries[np.arange(AGENTS), scout].sum()
    others = np.arange(8)[None] != scout[:, None]
    assert (ended.ledgers["loss"][0, :, :, 0][others] == 0).all()
    assert (ended.opens["pulls"][0][others] > 0).any()  # the leader is played by all


def test_scouts_play_their_own_arm_first_and_then_it_or_the_leader():
    agent = start(build(votes="scouts", epsilon=4.0, batch=4), i=2)
    for t in range(1, 5):
        agent.begin(t)
        ticket, arm = agent.ask()
        assert arm == 2
        agent.tell(ticket, 0)
        agent.finish()
    for sender, arm, value in ((1, 1, 0.9), (6, 1, 0.9), (3, 3, 0.5)):
        vote(agent, 400, sender, arm, 6, round(value * 256 * UNIT))
    for t in range(401, 500):  # until its own arm has been seen to be bad
        agent.begin(t)
        ticket, arm = agent.ask()
        agent.tell(ticket, 0)
        agent.finish()
        assert arm in (1, 2)
    assert arm == 1


def test_only_scouts_of_an_arm_are_counted_for_it():
    agent = start(build(votes="scouts", epsilon=4.0, batch=4), i=2)
    for sender, arm in ((1, 1), (6, 1), (3, 1), (1, 3)):
        vote(agent, 400, sender, arm, 3, UNIT)
    assert agent.open.votes[:5].tolist() == [0, 2, 0, 0, 0]


# --- liars ------------------------------------------------------------------------------------------------


CLAIMED = [(1.0, 1, 4), (1.0, 8, 4), (1.0, 15, 4), (1.0, 16, 8), (1.0, 1000, 256), (0.1, 159, 40), (0.1, 160, 80)]


@pytest.mark.parametrize("epsilon, t, size", CLAIMED)
def test_a_liar_claims_the_largest_batch_up_to_half_the_age_of_the_run(epsilon, t, size):
    agent, tale = start(build(epsilon=epsilon)), one(tale_record(build().p))
    tale.arm, tale.value[:5] = 0, (0.0, 0.25, 0.5, 0.75, 1.0)
    assert lie(agent.open, agent.p, t, tale, 0, agent.message) == 3
    arm, rung, total = (int(word) for word in (agent.message.arm, agent.message.rung, agent.message.total))
    assert agent.p.tables.sizes[rung] == size
    assert total == tale.value[arm] * UNIT * size


def test_a_liar_talks_about_every_arm_in_turn():
    agent, tale = start(build()), one(tale_record(build().p))
    arms = Counter()
    for t in range(1, 101):
        lie(agent.open, agent.p, t, tale, 0, agent.message)
        arms[int(agent.message.arm)] += 1
    assert arms == dict.fromkeys(range(ARMS), 20)


def test_half_of_liars_are_refused_and_more_than_assumed_are_warned_of():
    with pytest.raises(UsageError, match=r"liars must be below 0\.5, where a median breaks down, got 0\.5"):
        build(liars=0.5)
    assert "liars_assumed = 0.1 is below the share of liars, 0.2" in build(liars=0.2, liars_assumed=0.1).warnings[0]
    assert build(liars=0.2).warnings == ()
    assert build(agents=149, votes="scouts").warnings == ("scouts want 30 votes on every arm: 149 agents give 29",)
    assert build(agents=150, votes="scouts").warnings == ()
