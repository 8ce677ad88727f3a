"""A budget over random streams of events: what is spent never falls and never exceeds it, and a refusal changes nothing."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.algorithms import entries
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.chance import System
from coterie.errors import BudgetError, UsageError
from coterie.kernel import UNIT, one
from coterie.privacy.accountant import spent
from coterie.privacy.budget import Budget
from coterie.privacy.events import Event
from coterie.privacy.gauss import epsilon_of, mu_of
from coterie.privacy.mechanisms import GAUSS


def event(first, last, price=1.0, mechanism="laplace", arm=0, chain=0):
    return Event(0, arm, chain, first, last, mechanism, 1.0, price)


PRICES = st.sampled_from([0.05, 0.1, 0.3, 1 / 3, 0.7, 1.0, 4.0, inf])
COVERS = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda c: (c[0], c[0] + c[1]))
EVENTS = st.builds(
    lambda cover, price, mechanism, arm, chain: event(*cover, price, mechanism, arm, chain),
    COVERS, PRICES, st.sampled_from(["laplace", "gauss"]), st.integers(0, 2), st.integers(0, 1),
)  # fmt: skip
RELEASES = st.lists(st.lists(EVENTS, min_size=1, max_size=3), max_size=12)


def pay(budget, releases):
    """What was spent after each release, and which were accepted."""
    course, accepted = [], []
    for release in releases:
        try:
            budget.spend(release)
            accepted.append(release)
        except BudgetError:
            pass
        course.append(budget.spent)
    return course, accepted


@given(RELEASES, st.sampled_from([(1.0, 0.0), (0.5, 1e-6), (3.0, 1e-6)]))
def test_what_is_spent_never_falls_and_never_exceeds_the_budget(releases, limit):
    budget = Budget(*limit)
    course, accepted = pay(budget, releases)
    assert course == sorted(course)
    assert max(course, default=0.0) <= limit[0]
    assert budget.events == [event for release in accepted for event in release]
    assert budget.spent == spent(budget.events, budget.delta)


@given(RELEASES, st.sampled_from([(1.0, 0.0), (3.0, 1e-6)]))
def test_a_release_is_refused_exactly_where_the_accountant_says_it_is_too_much(releases, limit):
    """The budget keeps a step function for each arm; the accountant looks at all events anew."""
    budget = Budget(*limit)
    for release in releases:
        too_much = spent([*budget.events, *release], budget.delta) > budget.epsilon
        before = list(budget.events)
        if too_much:
            with pytest.raises(BudgetError, match="must stay within the budget"):
                budget.spend(release)
            assert budget.events == before
        else:
            budget.spend(release)


@given(st.lists(st.tuples(st.integers(1, 5), PRICES), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_disjoint_events_does_not_matter(blocks, random):
    ends = np.cumsum([length for length, _ in blocks])
    apart = [event(int(end) - length + 1, int(end), price) for (length, price), end in zip(blocks, ends, strict=True)]
    mixed = random.sample(apart, len(apart))
    (one_way, accepted), (other_way, others) = (pay(Budget(2.0), [[e] for e in order]) for order in (apart, mixed))
    assert one_way[-1] == other_way[-1] == max([e.price for e in apart if e.price <= 2.0], default=0.0)
    assert sorted(e.first for [e] in accepted) == sorted(e.first for [e] in others)


def test_a_release_is_paid_for_as_a_whole_or_not_at_all():
    budget = Budget(1.0)
    with pytest.raises(BudgetError):
        budget.spend([event(1, 1, 0.6), event(1, 1, 0.6)])
    assert budget.spent == 0.0
    budget.spend([event(1, 1, 0.6), event(2, 2, 0.6)])
    assert budget.spent == 0.6


def test_the_last_digit_decides():
    tenth = float(Fraction(0.1))
    budget = Budget(1.0)
    for _ in range(9):
        budget.spend([event(1, 1, tenth)])
    with pytest.raises(BudgetError):
        budget.spend([event(1, 1, tenth)])  # ten times 0.1, as a floating-point number, is more than 1


@given(st.floats(0.01, 10), st.sampled_from([1e-9, 1e-6, 1e-2]))
def test_normal_noise_made_for_a_budget_fits_into_it(epsilon, delta):
    """To the last digit: the search for mu and the search for epsilon round to the safe side of each other."""
    budget = Budget(epsilon, delta)
    budget.spend([event(1, 5, mu_of(epsilon, delta), "gauss")])
    assert budget.spent == pytest.approx(epsilon, rel=1e-9) and budget.spent <= epsilon
    with pytest.raises(BudgetError):
        budget.spend([event(5, 9, epsilon / 100, "gauss")])


def test_a_stream_pays_once_however_many_of_its_sums_are_asked_for():
    budget = Budget(1.0)
    for _ in range(20):
        budget.spend([event(1, 50, 1.0, "digits")])
    assert budget.spent == 1.0 and len(budget.events) == 20
    with pytest.raises(UsageError, match="one cover and price"):
        budget.spend([event(1, 50, 0.5, "digits")])


@pytest.mark.parametrize("epsilon", [0, -1, 1e-9, inf, nan])
def test_a_budget_is_a_finite_number_of_at_least_a_millionth(epsilon):
    with pytest.raises(UsageError, match="epsilon of a budget must be a finite number >= 1e-06"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-0.1, 1.0, nan])
def test_the_delta_of_a_budget_is_a_probability(delta):
    with pytest.raises(UsageError, match=r"delta of a budget must be a number in \[0, 1\)"):
        Budget(1.0, delta)


# --- the deployed agent --------------------------------------------------------------------------------------


def gossiper(budget, **options):
    """A deployed agent of fed-ucb that hears nobody, with 2 arms and room for 30 rounds."""
    entry = entries()["fed-ucb"]
    method = entry.build(entry.options(**options), Setting(agents=1, arms=2, horizon=30))
    agent = Agent(method.node, method.p, System(), budget=budget)
    agent.open.weight = 1.0
    return agent


def play(agent, t):
    """One round in which every reward is 1; what the agent then says."""
    agent.begin(t)
    while any(agent.left):
        agent.tell(agent.ask()[0], 1.0)
    agent.finish()
    return agent.speak(t)


def test_an_agent_whose_budget_covers_its_price_never_notices_it():
    """Also where the price is a share that does not divide evenly: 5 levels of a tree."""
    for options in ({}, {"mechanism": "tree"}, {"mechanism": "tree", "epsilon": 0.7}):
        agent = gossiper(Budget(options.get("epsilon", 1.0)), **options)
        said = [play(agent, t) for t in range(31)]
        assert not agent.exhausted and None not in said
        assert 0 < agent.budget.spent <= agent.budget.epsilon
        assert agent.ledger.entries.sum() == len(agent.budget.events)


def test_a_release_beyond_the_budget_is_refused_before_noise_and_decisions_go_on():
    """A tree of 5 levels with a budget for 2 of them: the fourth pull of an arm would cost its first reward a third."""
    agent = gossiper(Budget(0.4 + 1e-9), mechanism="tree")
    course = []
    for t in range(31):
        before = agent.open.estimate.copy()
        said = play(agent, t)
        if agent.exhausted:
            assert said is None and agent.out.entries == 0
            assert (agent.open.estimate == before).all()
        course.append((agent.exhausted, agent.ledger.loss.sum(axis=1).max(), int(agent.plan.arm[0])))
    exhausted = [x for x, _, _ in course]
    assert not exhausted[0] and exhausted[-1] and exhausted == sorted(exhausted)
    assert 0 < max(loss for _, loss, _ in course) <= 0.4 + 1e-9
    assert agent.budget.spent <= agent.budget.epsilon
    assert agent.open.pulls.sum() == 32  # it played to the end: two pulls at the start, and one in every round


def test_no_noise_is_drawn_for_a_release_that_is_refused(monkeypatch):
    from coterie.privacy import exact

    drawn = []
    monkeypatch.setattr(exact, "discrete_laplace", lambda scale: drawn.append(scale) or 0)
    agent = gossiper(Budget(0.5))
    for t in range(5):
        play(agent, t)
    assert agent.exhausted and drawn == [] and agent.ledger.entries.sum() == 0


def test_a_deployed_agent_draws_normal_noise_and_pays_by_squares():
    """Blocks of normal noise: every reward is in one of them."""
    agent = gossiper(Budget(epsilon_of(1.0, 1e-6), 1e-6))
    agent.algorithm = agent.algorithm._replace(mechanism=GAUSS)
    said = [play(agent, t) for t in range(31)]
    assert not agent.exhausted and None not in said
    assert {event.mechanism for event in agent.budget.events} == {"gauss"}
    assert agent.budget.spent == agent.budget.epsilon
    assert (agent.open.noisy[:2, 0] % UNIT != 0).all()  # a chance of 1e-9 that noise is a whole number of rewards on both arms


@settings(max_examples=10)
@given(st.floats(0.3, 3.0))
def test_a_trusted_server_without_budget_still_announces_decisions(epsilon):
    entry = entries()["cdp-mab"]
    method = entry.build(entry.options(noise="central"), Setting(agents=2, arms=3, horizon=1000))
    server = Agent(method.server, method.p, System(), budget=Budget(epsilon))
    for i in range(2):
        server.know(i, voices=1)
    assert server.announce(1)
    report = one(method.node.message(method.p))
    report.said = 3
    raw = np.array([number for k in range(3) for number in (k, 10, 7 * UNIT)] + [3])  # (arm, pulls, sum) ..., how many
    for i in range(2):
        server.hear(1, i, report.tobytes() + raw.tobytes())
    server.release()
    assert server.exhausted == (epsilon < 1.0) == (server.ledger.entries.sum() == 0)
    assert server.announce(2)
