"""What events cost: against brute force over every reward, the ledger of every algorithm, and another library."""

from collections import defaultdict
from fractions import Fraction
from math import exp, inf, log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.algorithms import entries
from coterie.contract import Setting, Terms
from coterie.engines.chance import Keyed
from coterie.engines.rehearsal import rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links
from coterie.errors import UsageError
from coterie.privacy.accountant import (
    WITHOUT_NOISE,
    Loss,
    booked_loss,
    concentrated_epsilon,
    dearest,
    once,
    root_up,
    rounded_up,
    share_of,
    spent,
)
from coterie.privacy.events import Event, events_of
from coterie.privacy.gauss import delta_of, epsilon_of
from coterie.privacy.ledger import book, ledger_record
from coterie.privacy.mechanisms import LAPLACE, MECHANISMS
from coterie.problem import bernoulli, procurement

PRICES = st.floats(1e-3, 10.0)
COVERS = st.tuples(st.integers(0, 20), st.integers(0, 9)).map(lambda c: (c[0], c[0] + c[1]))


def event(first, last, price=1.0, mechanism="laplace", arm=0, agent=0, chain=0):
    return Event(agent, arm, chain, first, last, mechanism, 1.0, price)


EVENTS = st.builds(
    lambda cover, price, mechanism, arm, agent, chain: event(*cover, price, mechanism, arm, agent, chain),
    COVERS, PRICES, st.sampled_from(["laplace", "gauss", "shares"]), st.integers(0, 2), st.integers(0, 1), st.integers(0, 2),
)  # fmt: skip


def brute_force(events, delta):
    """Every reward of every arm by itself."""
    worst = 0.0
    for agent, arm, place in {(e.agent, e.arm, n) for e in events for n in range(e.first, e.last + 1)}:
        mine = [e for e in events if (e.agent, e.arm) == (agent, arm) and e.first <= place <= e.last]
        pure = [Fraction(e.price) for e in mine if e.mechanism != "gauss"]
        squares = [Fraction(e.price) ** 2 for e in mine if e.mechanism == "gauss"]
        worst = max(worst, Loss(sum(pure), sum(x * x for x in pure), sum(squares)).epsilon(delta))
    return worst


@given(st.lists(EVENTS, max_size=8), st.sampled_from([0.0, 1e-6, 0.1]))
def test_the_dearest_reward_pays_for_all_that_covers_it_and_for_nothing_else(events, delta):
    assert spent(events, delta) == brute_force(events, delta)


@given(st.lists(EVENTS, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_events_does_not_matter(events, random):
    mixed = random.sample(events, len(events))
    assert sorted(dearest(mixed)) == sorted(dearest(events))


@given(st.lists(PRICES, min_size=1, max_size=8))
def test_disjoint_covers_compose_in_parallel_and_repeated_ones_one_after_the_other(prices):
    apart = [event(3 * n, 3 * n + 2, price) for n, price in enumerate(prices)]
    assert spent(apart) == max(prices)
    assert dearest([event(1, 9, price) for price in prices])[0].pure == sum(map(Fraction, prices))


def test_sums_are_exact_and_rounded_up_once():
    """0.1 is a little more than a tenth: ten of them are a little more than 1, which floating-point addition loses."""
    ten = [event(1, 1, 0.1) for _ in range(10)]
    assert sum([0.1] * 10) < 1.0 < spent(ten) == np.nextafter(1.0, 2.0)


@pytest.mark.parametrize("price", [1e101, 1e200, 1e308])
def test_a_price_beyond_all_sense_protects_nothing_and_breaks_nothing(price):
    found = dearest([Event(0, 0, 0, 1, 1, "laplace", 1.0, price)])
    assert found == [WITHOUT_NOISE]
    ledger = np.zeros((), ledger_record(2, 1))
    ledger["loss"], ledger["entries"] = price, 1
    assert booked_loss(ledger, LAPLACE) == WITHOUT_NOISE


def test_a_number_without_noise_leaves_nothing_to_protect():
    assert spent([event(1, 1), event(5, 5, inf)]) == inf
    assert spent([event(1, 1), event(5, 5, inf, "gauss")], 1e-6) == inf


def test_an_unknown_mechanism_or_a_senseless_number_is_refused():
    prices = [{"price": price} for price in (0.0, -1.0, float("nan"))]
    for wrong in ({"mechanism": "gumbel"}, {"first": 4}, {"first": -1}, *prices):
        with pytest.raises(UsageError, match="of an event must be") as refused:
            event(**{"first": 1, "last": 2, **wrong})
        assert "\n" not in str(refused.value)
    with pytest.raises(UsageError, match="sensitivity"):
        Event(0, 0, 0, 1, 1, "laplace", inf, 1.0)


def test_every_kind_of_noise_is_accounted_as_its_note_says():
    paid = [name for name, mechanism in MECHANISMS.items() if mechanism.covers != "nothing"]
    pure = {name for name in paid if spent([event(1, 1, 0.5, name)]) == 0.5}
    normal = {name for name in paid if spent([event(1, 1, 0.5, name)], 1e-6) == epsilon_of(0.5, 1e-6)}
    assert pure == {"laplace", "shares", "digits"}
    assert normal == {"gauss", "pair", "triangle", "root"}
    assert set(paid) - pure - normal == {"kept"} and spent([event(1, 1, 0.5, "kept")], 0.1) == inf


def test_an_event_cannot_be_changed():
    with pytest.raises(AttributeError):
        event(1, 1).price = 0.5


def test_a_stream_pays_once_and_must_keep_its_price():
    sums = [event(1, 50, 0.7, "digits")] * 5
    assert spent(sums) == spent(sums[:1]) == 0.7
    assert spent([*sums, event(1, 50, 0.7, "digits", arm=1)]) == 0.7
    with pytest.raises(UsageError, match="one cover and price"):
        spent([*sums, event(1, 50, 0.8, "digits")])


def test_normal_noise_composes_by_squares_to_the_curve_of_one_release():
    two = [event(1, 1, 0.3, "gauss"), event(1, 1, 0.4, "gauss")]
    assert spent(two, 1e-5) == pytest.approx(epsilon_of(0.5, 1e-5), rel=1e-12)
    assert spent([event(1, 1, 0.5, "gauss")]) == inf  # no pure epsilon


def test_both_kinds_of_noise_together_cost_no_more_than_either_bound():
    loss = dearest([event(1, 1, 0.2), event(1, 1, 0.3, "gauss")])[0]
    both = loss.epsilon(1e-6)
    assert epsilon_of(0.3, 1e-6) < both <= 0.2 + epsilon_of(0.3, 1e-6) + 1e-12
    assert both <= concentrated_epsilon(float(loss.rho), 1e-6)


def test_many_small_losses_are_smaller_at_a_delta():
    small = [event(1, 1, 0.01)] * 400
    assert spent(small) == pytest.approx(4.0)
    assert spent(small, 1e-6) < 1.1
    assert spent([event(1, 1, 3.0)], 1e-6) <= 3.0


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.05])
def test_concentrated_privacy_converts_between_the_exact_curve_and_the_simple_bound(rho, delta):
    """Normal noise of that rho is exactly as bad as its curve; Bun and Steinke's bound is above."""
    found = concentrated_epsilon(rho, delta)
    assert epsilon_of(sqrt(2 * rho), delta) <= found <= rho + 2 * sqrt(rho * log(1 / delta))
    orders = 1 + np.geomspace(1e-4, 1e7, 200_001)
    grid = orders * rho + np.log1p(-1 / orders) - np.log(orders * delta) / (orders - 1)
    assert found == pytest.approx(max(0.0, grid.min()), rel=1e-6, abs=1e-12)


def test_a_person_with_several_rewards_loses_as_many_times_as_much():
    """Normal noise: mu is lost m times where one release covers all m rewards."""
    assert Loss(Fraction(1, 2), Fraction(1, 4)).times(6).epsilon() == 3.0
    assert Loss(normal_squares=Fraction(1, 4)).times(6).epsilon(1e-6) == epsilon_of(3.0, 1e-6)


@given(st.floats(1e-6, 1e3), st.integers(1, 60))
def test_a_share_is_the_largest_of_which_all_cost_no_more_than_the_whole(epsilon, parts):
    price = share_of(epsilon, parts)
    assert parts * Fraction(price) <= Fraction(epsilon) < parts * Fraction(np.nextafter(price, inf).item())


@given(st.fractions(0, 10**9))
def test_what_is_rounded_up_is_the_least_number_that_is_not_below(value):
    assert Fraction(rounded_up(value)) >= value
    assert value == 0 or Fraction(np.nextafter(rounded_up(value), -1).item()) < value


@given(st.floats(1e-6, 1e6))
def test_a_root_is_the_least_number_whose_square_is_not_below(number):
    assert root_up(Fraction(number) ** 2) == number
    assert Fraction(root_up(Fraction(number))) ** 2 >= Fraction(number)


# --- against the ledgers of all algorithms --------------------------------------------------------------------


TERMS = Terms(np.full((4, 3), 0.1), np.full((4, 3), 5), alpha=0.4, rho=1.0)
AGENTS, ARMS = 4, 3
SETTING = Setting(AGENTS, ARMS, 4000, gap=0.12, components=(3, 1), terms=TERMS, reward_values=(0.0, 1.0))
CASES = [(name, example) for name, entry in entries().items() for example in entry.examples]


def build(name, example):
    return entries()[name].build(entries()[name].options(**example), SETTING)


def kind_of(name, example):
    """Who plays in which mode, by what noise, and whether the server is trusted with it."""
    method = build(name, example)
    trusted = method.server is not None and method.server.trusted
    return method.node.name, method.node.mechanism.name, trusted, example.get("mode")


FIRST = {kind_of(*case): case for case in reversed(CASES)}  # of each kind; the others are run by hand
PARAMS = [pytest.param(*case, marks=[pytest.mark.slow] * (case != FIRST[kind_of(*case)])) for case in CASES]


def record(name, example, monkeypatch):
    """[(role, its ledger, its events)] of every node of a rehearsal."""
    entry, events, noise = entries()[name], {}, Keyed.noise
    method = build(name, example)

    def recording(self, mechanism, secret, t, out):
        events.setdefault(id(secret), []).extend(events_of(out, mechanism, self.node))
        noise(self, mechanism, secret, t, out)

    monkeypatch.setattr(Keyed, "noise", recording)
    means = np.array([[0.8, 0.68, 0.2]])
    worlds = procurement.world(means[0], *TERMS) if entry.problem == "procurement" else bernoulli.world(means)
    problem = procurement if entry.problem == "procurement" else bernoulli
    if method.structure == "peers":
        hops = np.abs(np.subtract.outer(np.arange(AGENTS), np.arange(AGENTS)))
        receiver, sender = np.nonzero(hops == 1)
        edges = np.column_stack([np.arange(AGENTS - 1), np.arange(1, AGENTS)])
        links = Links(np.searchsorted(receiver, np.arange(AGENTS + 1)), sender, hops[receiver, sender], edges, method.meetings)
        done = rehearse_mesh(method, problem, worlds, AGENTS, 70, links, seed=5)
    else:
        done = rehearse_star(method, bernoulli, worlds, AGENTS, SETTING.horizon, seed=5)
    return [(node.algorithm, node.ledger, events.get(id(node.secret), [])) for node in done.agents + done.servers]


def rebooked(events):
    """The booking rule of the ledger, in exact arithmetic: of each arm its (loss, squares), added up over chains."""
    exact = SimpleNamespace(last=defaultdict(int), entries=defaultdict(int), loss=defaultdict(int), squares=defaultdict(int))
    for found in once(events):
        price = Fraction(found.price) if found.price < inf else inf
        book(exact, found.arm, found.chain, found.first, found.last, price)
    arms = {arm for arm, _ in exact.loss}
    return {arm: [sum(v for (k, _), v in field.items() if k == arm) for field in (exact.loss, exact.squares)] for arm in arms}


BOUNDED = ("fed_ucb_printed",)  # may release a piece of a level after later ones: there the ledger is an upper bound


@pytest.mark.parametrize(("name", "example"), PARAMS, ids=str)
def test_the_accountant_agrees_with_the_ledger_to_the_last_digit(name, example, monkeypatch):
    """The record itself is in floating point: it rounds squares, and sums where covers overlap."""
    nodes = [node for node in record(name, example, monkeypatch) if node[2]]
    quiet = name == "nf-cb" or (example.get("mode"), example.get("learning")) == ("paper", "echo")
    assert bool(nodes) == (not quiet)  # these send nothing, or noise alone
    for role, ledger, events in nodes:
        for arm, (loss, squares) in rebooked(events).items():
            [found] = dearest([event for event in events if event.arm == arm])
            if role.mechanism.adds_up == "never":
                assert found == WITHOUT_NOISE
                continue
            exact = (found.normal_squares, squares) if role.mechanism.adds_up == "squares" else (found.pure, loss)
            assert exact[0] <= exact[1] if role.name.startswith(BOUNDED) else exact[0] == exact[1]
            assert ledger.loss[arm].sum() == pytest.approx(float(loss), rel=1e-12)
            assert ledger.squares[arm].sum() == pytest.approx(float(squares), rel=1e-12)


def test_the_ledger_of_the_printed_tree_bounds_what_its_noise_costs(monkeypatch):
    """Apart from the first rewards, which leave without noise and cost inf in both."""
    for _, _, events in record("fed-ucb", {"mode": "paper"}, monkeypatch):
        assert spent(events) == inf
        noised = [event for event in events if event.price < inf]
        assert max(loss for loss, _ in rebooked(noised).values()) >= dearest(noised)[0].pure > 0


def test_covers_out_of_order_are_overstated_by_the_ledger_and_not_by_the_accountant():
    late = [event(5, 6), event(1, 2)]
    assert rebooked(late)[0][0] == 2 and spent(late) == 1.0


# --- against dp_accounting -------------------------------------------------------------------------------------


def composed(kind, events):
    """An accountant of dp_accounting that has seen the events; sensitivities 1, noise 1 / price."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    accountant = {"pld": PLDAccountant, "rdp": RdpAccountant}[kind]()
    noise = {"laplace": dp_event.LaplaceDpEvent, "gauss": dp_event.GaussianDpEvent}
    for found in events:
        accountant.compose(noise[found.mechanism](1 / found.price))
    return accountant


@pytest.mark.parametrize("prices", [[0.5], [0.3, 0.4], [0.05] * 30, [1.0, 0.2, 0.7]])
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_normal_noise_agrees_with_privacy_loss_distributions_and_is_below_renyi(prices, delta):
    events = [event(1, 1, price, "gauss") for price in prices]
    ours = spent(events, delta)
    assert ours == pytest.approx(composed("pld", events).get_epsilon(delta), rel=1e-3)
    assert ours <= composed("rdp", events).get_epsilon(delta)


@pytest.mark.parametrize("price", [0.1, 1.0, 3.0])
def test_one_laplace_release_agrees_with_privacy_loss_distributions(price):
    """Not at delta 0: that library cuts off tails. The curve of one release is delta = 1 - exp((epsilon - price) / 2)."""
    assert composed("pld", [event(1, 1, price)]).get_epsilon(1e-9) == pytest.approx(spent([event(1, 1, price)]), rel=1e-3)


@pytest.mark.parametrize("prices", [[0.1] * 20, [0.5, 0.25, 0.125]])
def test_sums_of_laplace_releases_are_bounds_on_privacy_loss_distributions(prices):
    """At a delta the other library, which knows the whole law, may only be lower."""
    events = [event(1, 1, price) for price in prices]
    library = composed("pld", events)
    assert library.get_epsilon(1e-9) <= spent(events) * (1 + 1e-3)
    assert library.get_epsilon(1e-5) <= spent(events, 1e-5) * (1 + 1e-9)


def test_mixed_noise_is_a_bound_on_privacy_loss_distributions():
    events = [event(1, 1, 0.3), event(1, 1, 0.2), event(1, 1, 0.5, "gauss")]
    assert composed("pld", events).get_epsilon(1e-5) <= spent(events, 1e-5) * (1 + 1e-9)


def test_delta_of_the_gaussian_curve_is_that_of_the_library():
    library = composed("pld", [event(1, 1, 0.8, "gauss")])
    assert delta_of(0.8, 1.5) == pytest.approx(library.get_delta(1.5), rel=1e-3)
    assert exp(-700) < delta_of(0.8, 1.5)
