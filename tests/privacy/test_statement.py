"""What may be said about a run: a truth table."""

import json
from fractions import Fraction
from math import exp, inf, nan

import pytest
from scipy.optimize import linprog

from coterie.privacy import gauss
from coterie.privacy.accountant import Loss
from coterie.privacy.statement import (
    EVERYONE,
    ONE_ORDER,
    SEES_ALL,
    SEES_NO_CHOICES,
    SEES_NO_REPORT,
    SEES_SUMS,
    SEES_SUMS_OUTSIDE,
    UNIT_OF_PRIVACY,
    Claim,
    Doors,
    Promise,
    best_guess,
    epsilon_text,
    guarantees,
    odds_text,
    promise,
    promise_words,
    rounded_up_text,
    statement,
)

UNBOUNDED = "rewards are not bounded"


@pytest.mark.parametrize(
    ("claimed", "void", "booked", "private", "accounted"),
    [
        (1.0, "", 1.0, True, 1.0),
        (1.0, "", 0.25, True, 0.25),
        (1.0, "", 0.0, True, 0.0),
        (1.0, "", 1.0 + 1e-14, True, 1.0 + 1e-14),  # sums of prices are rounded
        (1.0, "", 1.0001, False, 1.0001),
        (1.0, "", 50.0, False, 50.0),
        (1.0, "", inf, False, None),
        (1.0, "", nan, False, None),
        (1.0, UNBOUNDED, 1.0, False, None),
        (1.0, UNBOUNDED, inf, False, None),
        (inf, "", 1.0, False, 1.0),
        (inf, "", inf, False, None),
        (inf, UNBOUNDED, 1.0, False, None),
    ],
)
def test_private_means_that_a_finite_loss_was_booked_within_the_claim(claimed, void, booked, private, accounted):
    said = statement(Claim(claimed), Doors("server", void=void), booked)
    assert said["private"] is private
    assert said["claimed"] == (None if claimed == inf else {"epsilon": claimed, "delta": 0.0})
    assert said["accounted"]["epsilon"] == accounted
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_the_reason_why_no_finite_loss_holds_is_told_where_one_was_claimed():
    assert UNBOUNDED in statement(Claim(1.0), Doors(void=UNBOUNDED), 1.0)["note"]
    assert "without noise" in statement(Claim(1.0), Doors(), inf)["note"]
    assert statement(Claim(inf), Doors(), inf)["note"] == ""


def test_unit_adversary_note_and_caveat_are_told():
    said = statement(Claim(1.0, 1e-6, "each reward is used once"), Doors("server", caveat="choices are hidden"), 1.0)
    assert said["unit"] == UNIT_OF_PRIVACY
    assert said["adversary"] == SEES_NO_CHOICES
    assert said["note"] == "each reward is used once. choices are hidden"
    assert said["claimed"]["delta"] == said["accounted"]["delta"] == 1e-6


def test_a_caveat_limits_the_adversary_whatever_is_claimed():
    said = statement(Claim(1.0), Doors(caveat="orders follow raw data"), 1.0)
    assert "no arm, count or time" in said["adversary"] and "orders follow raw data" in said["note"]
    assert statement(Claim(1.0), Doors(), 1.0)["adversary"] == SEES_ALL


@pytest.mark.parametrize(
    ("doors", "adversary"),
    [
        (Doors(), SEES_ALL),
        (Doors(single=False, honest=8, agents=10), SEES_SUMS),
        (Doors(single=False), SEES_SUMS_OUTSIDE),
        (Doors(trusted=True), SEES_NO_REPORT),
        (Doors(trusted=True, caveat="why"), SEES_NO_CHOICES),
        (Doors(single=False, caveat="why"), SEES_NO_CHOICES),
    ],
)
def test_the_adversary_follows_from_the_ways_out(doors, adversary):
    assert statement(Claim(1.0), doors, 1.0)["adversary"] == adversary


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        (Claim(0.0), "epsilon"),
        (Claim(-1.0), "epsilon"),
        (Claim(nan), "epsilon"),
        (Claim(1.0, 0.011), "delta"),
        (Claim(1.0, -1e-9), "delta"),
        (Claim(1.0, nan), "delta"),
    ],
)
def test_numbers_that_cannot_be_promised_are_told(claim, fault):
    assert claim.fault.startswith(f"{fault} of a claim must be a number")
    assert "\n" not in claim.fault


def test_numbers_that_can_be_promised_have_no_fault():
    assert [Claim(*numbers).fault for numbers in ((1e-6,), (inf,), (3.0, 0.01))] == ["", "", ""]


# --- promises: what became of them, and the words for it --------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "void", "booked", "found", "words"),
    [
        (1.0, "", 1.0, Promise.KEPT, "promised and kept"),
        (1.0, "", 1.0 + 1e-14, Promise.KEPT, "promised and kept"),
        (5.0, "", 3.0, Promise.KEPT, "promised and kept"),
        (5.0, "", 3.0001, Promise.WEAK, "kept, but weak"),
        (5.0, "", 5.0, Promise.WEAK, "kept, but weak"),
        (0.1, "", 5.0, Promise.BROKEN, "broken: promised 0.1, 5 holds"),
        (1.0, "", 1.00001, Promise.BROKEN, "broken: promised 1, 1.001 holds"),
        (1.0, "", inf, Promise.BROKEN, "broken: promised 1, no limit holds"),
        (1.0, UNBOUNDED, 0.5, Promise.BROKEN, "broken: promised 1, no limit holds"),
        (inf, "", 0.5, Promise.NOTHING, "nothing promised"),
        (inf, "", inf, Promise.NOTHING, "nothing promised"),
    ],
)
def test_a_promise_is_kept_weak_broken_or_none(claimed, void, booked, found, words):
    said = statement(Claim(claimed), Doors(void=void), booked)
    assert promise(said) is found and promise_words(said) == words
    assert found.kept is said["private"]


@pytest.mark.parametrize("change", [{"private": False}, {"accounted": {"epsilon": 1.0, "delta": 1e-6}}])
def test_a_promise_is_kept_only_if_flag_epsilon_and_delta_all_say_so(change):
    assert promise(statement(Claim(1.0), Doors(), 1.0) | change) is Promise.BROKEN


def test_nothing_promised_and_no_limit_are_different_words():
    said = statement(Claim(inf), Doors(), inf)
    assert (epsilon_text(said["claimed"]), epsilon_text(said["accounted"])) == ("nothing", "no limit")


@pytest.mark.parametrize("epsilon", [1e-9, 0.1 + 0.2, 1 / 3, 1.00049, 27.282546959448027, 204.906, 123456.7])
def test_an_epsilon_and_its_odds_never_look_smaller_than_they_are(epsilon):
    shown = float(rounded_up_text(epsilon).replace(",", ""))
    assert epsilon * (1 - 1e-11) <= shown <= epsilon * 1.001
    if epsilon < 14:
        assert exp(epsilon) * (1 - 1e-11) <= float(odds_text(epsilon).replace(",", "")) <= exp(epsilon) * 1.011


@pytest.mark.parametrize(
    ("doors", "trust"),
    [
        (Doors(), "nobody"),
        (Doors("server", trusted=True), "the server to keep raw sums to itself and to add the noise"),
        (
            Doors("server", single=False),
            "secure aggregation to show no single report, and that all agents add their share of noise and do not look",
        ),
        (
            Doors("server", single=False, agents=10),
            "secure aggregation to show no single report, and that all 10 agents add their share of noise and do not look",
        ),
        (
            Doors("server", single=False, agents=10, honest=8),
            "secure aggregation to show no single report, and that at least 8 of 10 agents add their share of noise and do not "
            "look",
        ),
        (Doors(caveat="why"), "the agent to keep its choices to itself"),
        (
            Doors("server", trusted=True, caveat="why"),
            "the server to keep raw sums to itself and to add the noise; the agent to keep its choices to itself",
        ),
    ],
)
def test_whom_one_has_to_trust_follows_from_the_ways_out(doors, trust):
    assert doors.trust == trust


def test_who_adds_a_needed_share_of_noise_is_not_kept_from_learning():
    """It takes its own share off: of two shares the other one alone has cost at least 2.8 where 1 was stated."""
    for honest in (0, 10):
        needed = Doors("server", single=False, agents=10, honest=honest)
        server, neighbour, _ = guarantees(Claim(1.0), needed, ONE)
        assert (server.epsilon, neighbour.epsilon) == (1.0, inf) and "no agent" in needed.adversary
    spared = Doors("server", single=False, agents=10, honest=9)
    assert guarantees(Claim(1.0), spared, ONE)[1].epsilon == 1.0 and "no agent" not in spared.adversary


# --- guarantees: who learns what -------------------------------------------------------------------------------


ONE, BARE, TRIFLE = Loss(Fraction(1), Fraction(1)), Loss(inf, inf, inf), Loss(normal_squares=Fraction(1, 4))


def learned(doors, loss, **about):
    """{party: epsilon}"""
    return {found.party: found.epsilon for found in guarantees(Claim(1.0), doors, loss, **about)}


@pytest.mark.parametrize(
    ("structure", "parties"),
    [
        ("peers", ["a neighbour", EVERYONE]),
        ("synchronise", ["a neighbour", EVERYONE]),
        ("server", ["the server", "a neighbour", EVERYONE]),
        ("hybrid", ["the server and the sinks", "a neighbour", EVERYONE]),
    ],
)
def test_local_noise_protects_from_everybody_and_asks_for_no_trust(structure, parties):
    found = guarantees(Claim(1.0), Doors(structure), ONE)
    assert [one.party for one in found] == parties
    assert {(one.epsilon, one.trusts) for one in found} == {(1.0, "nobody")}


def test_who_plays_alone_tells_a_neighbour_nothing_but_its_arms_tell():
    assert learned(Doors("alone"), ONE) == {"a neighbour": 0.0, EVERYONE: 1.0}


def test_a_trusted_server_learns_all_and_its_decisions_cost_what_its_own_door_says():
    doors = Doors("server", trusted=True)
    assert learned(doors, ONE) == {"the server": inf, "a neighbour": 1.0, EVERYONE: inf}
    assert [one.trusts for one in guarantees(Claim(1.0), doors, ONE)][1].startswith("the server to keep raw sums")


def test_shares_protect_only_where_nobody_sees_a_single_report():
    found = guarantees(Claim(1.0), Doors("server", single=False, honest=8, agents=10), ONE)
    assert [one.epsilon for one in found] == [1.0, 1.0, inf]
    assert "secure aggregation" in found[0].trusts and "share of the noise" in found[2].why


def test_choices_from_raw_rewards_are_shown_to_those_who_see_choices():
    found = guarantees(Claim(1.0, 1e-6), Doors("peers", caveat="orders follow raw data"), TRIFLE)
    assert [one.epsilon for one in found] == [TRIFLE.epsilon(1e-6), inf]
    assert found[1].why == "orders follow raw data" and "choices" in found[0].trusts


@pytest.mark.parametrize(
    ("doors", "loss", "why"), [(Doors("peers", void=UNBOUNDED), ONE, UNBOUNDED), (Doors("server"), BARE, "without noise")]
)
def test_nothing_is_promised_where_no_finite_loss_holds(doors, loss, why):
    found = guarantees(Claim(1.0), doors, loss)
    assert {one.epsilon for one in found} == {inf}
    assert all(why in one.why for one in found)


def test_units_are_named_and_cost_what_their_rewards_do():
    about = Claim(1.0), Doors(), ONE
    assert learned(*about[1:], rewards=7)[EVERYONE] == 7.0
    assert guarantees(*about)[0].unit == UNIT_OF_PRIVACY
    assert "7 rewards" in guarantees(*about, rewards=7)[0].unit
    assert guarantees(*about, 7, "all rewards of one agent")[0].unit == "all rewards of one agent"
    assert guarantees(Claim(1.0), Doors(unit=ONE_ORDER), ONE)[0].unit == ONE_ORDER
    assert "of 7 rounds' orders of" in guarantees(Claim(1.0), Doors(unit=ONE_ORDER), ONE, rewards=7)[0].unit


def test_many_rewards_lose_more_by_normal_noise_than_in_proportion():
    """The exact curve of the Gaussian mechanism with m times the mu, and not m times the epsilon."""
    one, ten = (guarantees(Claim(1.0, 1e-6), Doors(), TRIFLE, rewards)[-1].epsilon for rewards in (1, 10))
    assert ten == pytest.approx(gauss.epsilon_of(10 * 0.5, 1e-6))
    assert ten > 1.2 * 10 * one


def test_words_and_json_say_the_same():
    for loss, told in ((ONE, "2.72"), (ONE.times(50), "e^50 (epsilon 50), which is weak"), (BARE, "not kept from learning")):
        for one in guarantees(Claim(1.0, 1e-6), Doors("server"), loss):
            written = json.loads(json.dumps(one.document(), allow_nan=False))
            assert told in written["words"] and one.unit in written["words"] and one.sees in written["words"]
            assert written["epsilon"] == (None if one.epsilon == inf else one.epsilon)
    alone = guarantees(Claim(1.0), Doors("alone"), ONE)[0]
    assert "learns nothing" in alone.words()


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_best_guess_is_that_of_the_worst_mechanism_with_two_answers(epsilon, delta):
    """Right in (p + 1 - q) / 2 of cases, if it answers 'first' with p under the first value and with q under the second."""
    grow = exp(epsilon)  # p <= grow q + delta, and 1 - q <= grow (1 - p) + delta
    found = linprog([-0.5, 0.5], [[1, -grow], [grow, -1]], [delta, grow - 1 + delta], bounds=[(0, 1), (0, 1)])
    assert best_guess({"epsilon": epsilon, "delta": delta}) == pytest.approx(0.5 - found.fun)


def test_a_guess_is_at_least_blind_at_most_certain_and_without_a_limit_unknown():
    assert best_guess({"epsilon": 0.0, "delta": 0.0}) == 0.5 and best_guess({"epsilon": 1e9, "delta": 0.0}) == 1.0
    assert best_guess({"epsilon": None, "delta": 0.0}) is None
