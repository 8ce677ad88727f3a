"""What may be said about a run: a truth table."""

import json
from fractions import Fraction
from math import inf, nan

import pytest

from coterie.privacy.accountant import Loss
from coterie.privacy.statement import (
    EVERYONE,
    SEES_ALL,
    SEES_NO_CHOICES,
    SEES_NO_REPORT,
    SEES_SUMS,
    UNIT_OF_PRIVACY,
    Claim,
    Doors,
    guarantees,
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
        (Doors(single=False), SEES_SUMS),
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
        (Claim(1.0, 1.0), "delta"),
        (Claim(1.0, -1e-9), "delta"),
        (Claim(1.0, nan), "delta"),
    ],
)
def test_numbers_that_cannot_be_promised_are_told(claim, fault):
    assert claim.fault.startswith(f"{fault} of a claim must be a number")
    assert "\n" not in claim.fault


def test_numbers_that_can_be_promised_have_no_fault():
    assert [Claim(*numbers).fault for numbers in ((1e-9,), (inf,), (3.0, 0.5))] == ["", "", ""]


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
    assert [one.trusts for one in guarantees(Claim(1.0), doors, ONE)][1] == "the server"


def test_shares_protect_only_where_nobody_sees_a_single_report():
    found = guarantees(Claim(1.0), Doors("server", single=False), ONE)
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
    assert guarantees(Claim(1.0), Doors(unit="one order"), ONE, rewards=7)[0].unit == "one order"


def test_words_and_json_say_the_same():
    for loss, told in ((ONE, "2.72"), (ONE.times(50), "protects nothing"), (BARE, "not kept from learning")):
        for one in guarantees(Claim(1.0, 1e-6), Doors("server"), loss):
            written = json.loads(json.dumps(one.document(), allow_nan=False))
            assert told in written["words"] and one.unit in written["words"] and one.sees in written["words"]
            assert written["epsilon"] == (None if one.epsilon == inf else one.epsilon)
    alone = guarantees(Claim(1.0), Doors("alone"), ONE)[0]
    assert "learns nothing" in alone.words()
